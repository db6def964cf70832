#!/usr/bin/env python3
"""Random device expressions through allot and through the real Kubernetes package; every difference is shown.

usage: cel_check.py ALLOT [COUNT] [SEED] [--mode grammar,mutate,damage,regex] [--show N]

ALLOT is run as `ALLOT cel eval --jsonl`; the package's program is named by $ALLOT_ORACLE_CEL. Without it the check is
skipped (exit code 77). The expressions come from a grammar over all functions of the device environment, from recorded ones
with parts exchanged, and from recorded ones with damaged text, which reaches the parser's error recovery.
"""

import argparse
import gzip
import json
import os
import random
import re
import subprocess
import sys
import threading

from cel_expressions import Grammar, Mutator, Patterns, damage

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "data", "celgold.jsonl.gz")
BATCH = 5000


def normal(record):
    """A record without what is no contract: texts of Go panics, addresses."""
    text = json.dumps(record, sort_keys=True)
    return re.sub(r'internal error:(?:[^"\\]|\\.)*', "internal error:", re.sub(r" 0x[0-9a-f]+", "", text))


def run(command, data, out):
    done = subprocess.run(command, input=data, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        out.append(f"{command} failed: {done.stderr[:500]}")
        return
    out.extend(json.loads(line) for line in done.stdout.splitlines())


class Cases:
    """Random cases: an expression, what it is used for, the environment, two devices."""

    def __init__(self, rng, modes, records):
        self.rng = rng
        self.modes = modes
        self.names = [r["device_name"] for r in records if "device_name" in r]
        self.known = [r["expr"] for r in records if 0 < len(r.get("expr", "")) < 300]
        self.grammar = Grammar(rng)
        self.mutator = Mutator(rng, self.known)
        self.patterns = Patterns(rng)

    def make(self, number):
        rng = self.rng
        mode = rng.choice(self.modes)
        expression = (self.grammar.expression() if mode == "grammar" else
                      self.mutator.expression() if mode == "mutate" else
                      self.patterns.expression() if mode == "regex" else damage(rng, rng.choice(self.known)))
        case = {"id": f"{mode}-{number}", "expr": expression, "devices": rng.sample(self.names, 2)}
        purpose = rng.random()
        if purpose < 0.6:
            # The package's program shows a stale value for a device it cannot bind.
            case["raw"] = True
            case["devices"] = [name for name in case["devices"] if name not in ("badver", "novalue")] or ["full"]
        elif purpose < 0.75:
            case["derived"] = True
        if rng.random() < 0.5:
            case["devices"][0] = "full"
        if rng.random() < 0.15:
            case["env"] = "new"
            if rng.random() < 0.5:
                case["gates"] = {gate: rng.random() < 0.5 for gate in ("DRAConsumableCapacity", "DRAListTypeAttributes")}
        if rng.random() < 0.1:
            case["cost_limit"] = rng.randrange(120)
        return case


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("allot")
    parser.add_argument("count", nargs="?", type=int, default=2000)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("--mode", default="grammar,mutate,damage,regex")
    parser.add_argument("--show", type=int, default=20)
    options = parser.parse_args()
    oracle = os.environ.get("ALLOT_ORACLE_CEL", "")
    if not oracle or not os.access(oracle, os.X_OK):
        print("skipped: $ALLOT_ORACLE_CEL names no program")
        return 77
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    devices = [json.dumps(r) for r in records if "device_name" in r]
    cases = Cases(random.Random(options.seed), options.mode.split(","), records)
    wrong = unstable = 0
    for first in range(0, options.count, BATCH):
        batch = [cases.make(i) for i in range(first, min(first + BATCH, options.count))]
        data = "\n".join(devices + [json.dumps(case) for case in batch]) + "\n"
        want, got = [], []
        other = threading.Thread(target=run, args=([options.allot, "cel", "eval", "--jsonl"], data, got))
        other.start()
        run([oracle], data, want)
        other.join()
        for answers in (want, got):
            if len(answers) != len(batch):
                sys.exit(f"{len(answers)} answers to {len(batch)} cases: {answers[:1]}")
        for case, a, b in zip(batch, want, got):
            if a.get("unstable") or a.get("compile_error", "").startswith("panic:"):
                unstable += 1
            elif normal(a) != normal(b):
                wrong += 1
                if wrong <= options.show:
                    print(f"{json.dumps(case)}\n  want {json.dumps(a)}\n  got  {json.dumps(b)}")
    print(f"{options.count} expressions, seed {options.seed}: {wrong} differ, {unstable} unstable upstream")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
