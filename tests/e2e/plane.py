"""A control plane for tests: starts the binary on a free port with a fleet and ends it."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("ALLOT_BINARY", str(ROOT / "build/release/src/allot/allot"))


class Plane:
    def __init__(self, fleet="none", flags=(), kubeconfig=None):
        self.folder = tempfile.mkdtemp(prefix="allot-e2e-")
        self.kubeconfig = self.folder + "/kubeconfig" if kubeconfig is None else kubeconfig
        self.fleet, self.flags = fleet, list(flags)
        self.process = None
        self.start()

    def start(self):
        fleet = self.fleet if self.fleet == "none" else str(ROOT / "examples/fleets" / self.fleet)
        log = pathlib.Path(self.folder + "/log")
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                [BINARY, "up", "--data", self.folder + "/data", "--listen", "127.0.0.1:0", "--kubeconfig", self.kubeconfig,
                 "--fleet", fleet] + self.flags, stdout=out, stderr=subprocess.STDOUT)
        for _ in range(600):
            if b"allot is ready" in log.read_bytes():
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError("the server did not start:\n" + log.read_text())

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        started = time.monotonic()
        code = self.process.wait(timeout=30)
        return code, time.monotonic() - started

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, program, *arguments, stdin=None, check=True):
        """Runs kubectl or allot against this plane; returns (code, stdout, stderr)."""
        environment = dict(os.environ, KUBECONFIG=self.kubeconfig, HOME=self.folder)
        done = subprocess.run([program, *arguments], input=stdin, capture_output=True, text=True, env=environment, timeout=90)
        if check and done.returncode != 0:
            raise AssertionError(f"{program} {' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.returncode, done.stdout, done.stderr

    def allot(self, *arguments, **options):
        return self.run(BINARY, *arguments, **options)
