"""Output that cannot be written is an error of every verb that prints."""
import os
import subprocess
import unittest

from plane import BINARY

CASES = [
    (["help"], ""),
    (["version"], ""),
    (["completion", "bash"], ""),
    (["get", "--help"], ""),
    (["cel", "eval", "true"], ""),
    (["cel", "check", "true"], ""),
    (["cel", "eval", "--jsonl"], '{"id": "a", "expr": "true"}\n'),
]


class OutputTest(unittest.TestCase):
    def run_allot(self, arguments, stdin, **options):
        return subprocess.run([BINARY, *arguments], input=stdin, stderr=subprocess.PIPE, text=True, timeout=60, **options)

    def test_a_full_disk(self):
        for arguments, stdin in CASES:
            with self.subTest(arguments=arguments), open("/dev/full", "w") as full:
                done = self.run_allot(arguments, stdin, stdout=full)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stderr.count("error: standard output: No space left on device\n"), 1, done.stderr)

    def test_a_closed_output(self):
        for arguments, stdin in CASES:
            with self.subTest(arguments=arguments):
                done = self.run_allot(arguments, stdin, preexec_fn=lambda: os.close(1))
                self.assertEqual(done.returncode, 1)
                self.assertIn("error: standard output: Bad file descriptor\n", done.stderr)

    def test_a_reader_that_went_away(self):
        for arguments, stdin in CASES:
            with self.subTest(arguments=arguments):
                reading, writing = os.pipe()
                os.close(reading)
                done = self.run_allot(arguments, stdin, stdout=writing)
                os.close(writing)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("standard output", done.stderr)


if __name__ == "__main__":
    unittest.main()
