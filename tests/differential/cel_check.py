#!/usr/bin/env python3
"""Random device expressions through allot and through the real Kubernetes package; every difference is shown.

usage: cel_check.py ALLOT [COUNT] [SEED]

ALLOT is run as `ALLOT cel eval --jsonl`; the package's program is named by $ALLOT_ORACLE_CEL. Without it the check is
skipped (exit code 77). The expressions come from a grammar over the functions of the device environment and from
recorded ones with random damage, which reaches the parser's error recovery.
"""

import gzip
import json
import os
import random
import re
import subprocess
import sys

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "data", "celgold.jsonl.gz")
A = 'device.attributes["gpu.example.com"]'
C = 'device.capacity["gpu.example.com"]'
PATTERNS = ['r"^[A-Z]+"', '"[0-9]+$"', '"a|b"', '"("']
DAMAGE = ["(", ")", "[", "]", "{", "}", ".", "?", ":", ",", "!", "-", "+", "*", "==", "&&", "||", "null", "in", "1u",
          '"a"', "x", "`a.b`", " ", "\n", '"', "\\", "#", "has"]


class Grammar:
    def __init__(self, rng):
        self.rng = rng

    def pick(self, *forms):
        return self.rng.choice(forms)

    def boolean(self, depth):
        if depth <= 0:
            return self.pick("true", "false", A + ".ready", A + ".off", f"has({A}.n)", f"has({A}.missing)",
                             '"gpu.example.com" in device.attributes', "device.allowMultipleAllocations")
        d = depth - 1
        b, i, s, q, v, l = self.boolean, self.integer, self.string, self.quantity, self.semver, self.ints
        form = self.rng.randrange(16)
        return [
            lambda: f"({b(d)} && {b(d)})",
            lambda: f"({b(d)} || {b(d)})",
            lambda: f"!({b(d)})",
            lambda: f"({b(d)} ? {b(d)} : {b(d)})",
            lambda: f"({i(d)} {self.pick('<', '<=', '>', '>=', '==', '!=')} {i(d)})",
            lambda: f"({s(d)} {self.pick('<', '==', '!=', '>=')} {s(d)})",
            lambda: f"{s(d)}.{self.pick('startsWith', 'endsWith', 'contains')}({s(d)})",
            lambda: f"{s(d)}.matches({self.pick(*PATTERNS)})",
            lambda: f"{q(d)}.{self.pick('isGreaterThan', 'isLessThan')}({q(d)})",
            lambda: f"({q(d)} == {q(d)})",
            lambda: f"{v(d)}.{self.pick('isGreaterThan', 'isLessThan')}({v(d)})",
            lambda: f"({i(d)} in {l(d)})",
            lambda: f"{l(d)}.{self.pick('exists', 'all', 'exists_one')}(x, x {self.pick('>', '==', '<')} {i(0)})",
            lambda: f"{A}.?{self.pick('ready', 'missing', 'n')}.orValue({b(d)})",
            lambda: f"cel.bind(y, {i(d)}, y > {i(0)})",
            lambda: f"{A}.ids.includes({i(d)})",
        ][form]()

    def integer(self, depth):
        if depth <= 0:
            return self.pick("0", "1", "-7", "42", "9223372036854775807", A + ".n", A + ".neg", A + ".big", A + ".missing")
        d = depth - 1
        form = self.rng.randrange(8)
        return [
            lambda: f"({self.integer(d)} {self.pick('+', '-', '*', '/', '%')} {self.integer(d)})",
            lambda: f"size({self.string(d)})",
            lambda: f"{self.quantity(d)}.{self.pick('asInteger()', 'sign()')}".replace(".sign()", ".asInteger()"),
            lambda: f"{self.quantity(d)}.compareTo({self.quantity(d)})",
            lambda: f"{self.semver(d)}.{self.pick('major', 'minor', 'patch')}()",
            lambda: f"{self.string(d)}.{self.pick('indexOf', 'lastIndexOf')}({self.string(d)})",
            lambda: f"{self.ints(d)}[{self.integer(0)}]",
            lambda: f"int({self.string(d)})",
        ][form]()

    def string(self, depth):
        if depth <= 0:
            return self.pick('"a"', '""', '"H100"', A + ".model", A + ".s", A + ".uni", "device.driver")
        d = depth - 1
        form = self.rng.randrange(7)
        return [
            lambda: f"({self.string(d)} + {self.string(d)})",
            lambda: f"{self.string(d)}.{self.pick('lowerAscii', 'upperAscii', 'trim', 'reverse')}()",
            lambda: f"{self.string(d)}.substring({self.integer(0)})",
            lambda: f"{self.string(d)}.replace({self.string(0)}, {self.string(0)})",
            lambda: f"string({self.integer(d)})",
            lambda: f"[{self.string(d)}, {self.string(0)}].join({self.string(0)})",
            lambda: f'"%s-%d".format([{self.string(d)}, {self.integer(0)}])',
        ][form]()

    def quantity(self, depth):
        if depth <= 0:
            return self.pick('quantity("1Gi")', 'quantity("1500m")', 'quantity("bad")', C + ".memory", C + ".cores",
                             C + ".frac", C + ".huge", C + ".missing")
        return f"{self.quantity(0)}.{self.pick('add', 'sub')}({self.pick(self.quantity(0), self.integer(0))})"

    def semver(self, _):
        return self.pick('semver("1.2.3")', 'semver("550.0.0-rc.1")', 'semver("x")', A + ".v", A + ".pre", A + ".missing")

    def ints(self, depth):
        if depth <= 0:
            return self.pick("[1, 2, 3]", "[]", A + ".ids", "[5, 5]")
        d = depth - 1
        return self.pick(f"{self.ints(d)}.map(x, x + {self.integer(0)})", f"{self.ints(d)}.filter(x, x > {self.integer(0)})",
                         f"({self.ints(d)} + {self.ints(d)})", f"{self.ints(d)}.sort()", f"{self.ints(d)}.distinct()",
                         f"lists.range({self.pick('0', '3', '5')})", f"{self.ints(d)}.reverse()")


def damage(rng, text):
    for _ in range(rng.choice([1, 1, 2, 3])):
        at = rng.randrange(len(text) + 1)
        if rng.random() < 0.5:
            text = text[:at] + rng.choice(DAMAGE) + text[at:]
        else:
            text = text[:at] + text[at + rng.choice([1, 1, 2, 4]):]
    return text


def normal(record):
    text = json.dumps(record, sort_keys=True)
    return re.sub(r'internal error:(?:[^"\\]|\\.)*', "internal error:", re.sub(r" 0x[0-9a-f]+", "", text))


def main():
    oracle = os.environ.get("ALLOT_ORACLE_CEL", "")
    if not oracle or not os.access(oracle, os.X_OK):
        print("skipped: $ALLOT_ORACLE_CEL names no program")
        return 77
    allot = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    rng = random.Random(seed)
    grammar = Grammar(rng)
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    lines = [json.dumps(r) for r in records if "device_name" in r]
    names = [r["device_name"] for r in records if "device_name" in r]
    known = [r["expr"] for r in records if 0 < len(r.get("expr", "")) < 200]
    cases = {}
    for i in range(count):
        if rng.random() < 0.8:
            expression, raw = rng.choice([(grammar.boolean, False), (grammar.integer, True), (grammar.string, True),
                                          (grammar.ints, True), (grammar.quantity, True)])
            expression = expression(rng.randrange(1, 4))
        else:
            expression, raw = damage(rng, rng.choice(known)), True
        case = {"id": f"d-{i}", "expr": expression, "devices": rng.sample(names, 2)}
        if raw:
            # The package's program shows a stale value for a device it cannot bind.
            case["raw"] = True
            case["devices"] = [name for name in case["devices"] if name not in ("badver", "novalue")] or ["full"]
        if rng.random() < 0.2:
            case["env"] = "new"
        if rng.random() < 0.1:
            case["cost_limit"] = rng.randrange(60)
        cases[case["id"]] = case
        lines.append(json.dumps(case))
    data = "\n".join(lines) + "\n"

    def run(command):
        done = subprocess.run(command, input=data, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{command} failed: {done.stderr[:500]}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    wrong = unstable = gaps = 0
    for want, got in zip(run([oracle]), run([allot, "cel", "eval", "--jsonl"])):
        if want.get("unstable") or want.get("compile_error", "").startswith("panic:"):
            unstable += 1
        elif normal(want) != normal(got):
            if "Syntax error" in want.get("compile_error", "") and "Syntax error" in got.get("compile_error", ""):
                gaps += 1  # errors of macros behind a syntax error: docs/reference/cel.md
                continue
            wrong += 1
            if wrong <= 20:
                print(f"{cases[want['id']]}\n  want {json.dumps(want)}\n  got  {json.dumps(got)}")
    print(f"{count} expressions, seed {seed}: {wrong} differ, {gaps} in further syntax errors, {unstable} unstable upstream")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
