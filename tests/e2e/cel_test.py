"""allot cel: what it refuses, and how it answers records it cannot read."""
import json
import subprocess
import unittest

from plane import BINARY

RECORDS = """{"id": "a", "expr": "true"}
{
{"id": "b"}
{"id": "c", "expr": 1}
{"id": "d", "expr": "true", "env": "old"}
{"id": "e", "expr": "true", "device": {"attributes": {"x": {"int": true}}}}
[]
{"id": "f", "expr": "1 == 2"}
"""
DEVICE = '{"attributes": {"x": {"int": 12345678901234567890}}}'

# (arguments, standard input, exit code, part of stderr)
CASES = [
    (["eval", "true", "--env", "foo"], "", 2, '--env: found "foo", expected stored or new'),
    (["check", "true", "--env", "foo"], "", 2, '--env: found "foo", expected stored or new'),
    (["eval", "--jsonl", "true"], "", 2, "--jsonl takes all from the records"),
    (["eval", "true", "-d", "-"], DEVICE, 1, "device: attributes.x.int: found 1.234568e+19, expected a 64-bit integer"),
    (["eval", "true", "-d", "-"], "", 1, "a device must be a JSON object"),
    (["eval", "true", "-d", "-"], '{"driver": 1}', 1, "device: driver: found 1, expected a string"),
    (["eval", "true", "-d", "-"], "driver: a\n---\ndriver: b\n", 1, "found 2 documents, expected one device"),
    (["eval", "true", "-d", "-"], "kind: ResourceSlice", 1, "found a whole ResourceSlice, expected one device"),
    (["eval", "true", "-d", "/dev/zero"], "", 1, "/dev/zero: more than 16 MiB"),
    (["check", "-f", "/dev/zero"], "", 1, "/dev/zero: more than 16 MiB"),
    (["eval", "-f", "-", "-d", "-"], "true", 2, "cannot both be read from standard input"),
    (["check", "--env", "new", "true " + " " * 10240], "", 1, "has 10245 bytes, may not be more than 10240"),
    (["eval", "--env", "new", "-f", "-"], "true " + " " * 10240, 1, "has 10245 bytes, may not be more than 10240"),
    (["check", "\x1b[31m"], "", 1, "\\x1b[31m"),
    (["eval", 'timestamp(0).getHours("Europe") == 0'], "", 1, "error: is a directory"),
    (["eval", "true", "-d", "-"], "attributes: {x: {int: 5}}", 0, "cost: 0"),
]


class CelTest(unittest.TestCase):
    def run_cel(self, arguments, stdin):
        return subprocess.run([BINARY, "cel", *arguments], input=stdin, capture_output=True, text=True, timeout=60)

    def test_cases(self):
        for arguments, stdin, code, err in CASES:
            with self.subTest(arguments=arguments, stdin=stdin):
                done = self.run_cel(arguments, stdin)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)
                self.assertIn(err, done.stderr)

    def test_errors_do_not_repeat_a_long_expression(self):
        done = self.run_cel(["check", "-f", "-"], "a" * 40000 + " )" + "b" * 40000)
        self.assertEqual(done.returncode, 1)
        self.assertLess(len(done.stderr), 2000)
        self.assertIn("mismatched input", done.stderr)

    def test_a_bad_record_is_answered_and_the_next_ones_too(self):
        done = self.run_cel(["eval", "--jsonl"], RECORDS)
        self.assertEqual(done.returncode, 1)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([(answer.get("id"), answer.get("line"), answer.get("error")) for answer in answers],
                         [("a", None, None), (None, 2, "unexpected end of JSON input"), (None, 3, "neither expr nor device_name is set"),
                          (None, 4, "expr is not a string"), (None, 5, 'env: found "old", expected "stored" or "new"'),
                          (None, 6, "device.attributes.x.int: found true, expected a 64-bit integer"), (None, 7, "not an object"), ("f", None, None)])
        self.assertEqual(len(done.stderr.splitlines()), 6)


if __name__ == "__main__":
    unittest.main()
