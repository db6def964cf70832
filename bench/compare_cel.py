#!/usr/bin/env python3
"""Joins the figures of compare_cel.sh to one table: least CPU time of both, and the ratios.

usage: compare_cel.py ORACLE_OUTPUT OUR_JSON...
"""
import json
import re
import sys

# The selectors of cel_devices.h that the real package's program measures, in order.
NAMES = ["driver ==", "string attribute ==", "three terms &&", "quantity compareTo", "semver isGreaterThan", "list includes",
         "matches"]
ATTRIBUTES = 10


def read_oracle(path):
    """{(what, attributes): least CPU ns} and {selector: least CPU ms of 100,000 devices}."""
    single, fleet = {}, {}
    for line in open(path, encoding="utf-8"):
        if line.startswith("| ") and not line.startswith("| selector"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            single[(cells[0], cells[1])] = float(cells[4])
        many = re.match(r"100000 devices, (\d+) attributes, (.*): wall .*; cpu min (\d+) ms", line)
        if many and int(many[1]) == ATTRIBUTES:
            fleet[many[2]] = float(many[3]) * 1e6
    return single, fleet


def read_ours(paths):
    """{(benchmark, selector number): least CPU ns}."""
    least = {}
    for path in paths:
        for run in json.load(open(path, encoding="utf-8"))["benchmarks"]:
            name = re.match(r"BM_(\w+)/(\d+)$", run["name"])
            if run["run_type"] != "iteration" or not name:
                continue
            unit = {"ns": 1, "us": 1e3, "ms": 1e6}[run["time_unit"]]
            key = (name[1], int(name[2]))
            least[key] = min(least.get(key, float("inf")), run["cpu_time"] * unit)
    return least


def main():
    single, fleet = read_oracle(sys.argv[1])
    ours = read_ours(sys.argv[2:])
    print("| selector | compile: real | allot | ratio | one device: real | slots | ratio | unprepared | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    for number, name in enumerate(NAMES):
        compile_real, compile_ours = single[("compile " + name, "")], ours[("Compile", number)]
        real, slots, test = single[(name, str(ATTRIBUTES))], ours[("Slots", number)], ours[("Test", number)]
        print(f"| `{name}` | {compile_real / 1e3:.0f} us | {compile_ours / 1e3:.1f} us | {compile_real / compile_ours:.0f} | "
              f"{real / 1e3:.1f} us | {slots:.0f} ns | {real / slots:.0f} | {test:.0f} ns | {real / test:.0f} |")
    print()
    print("| selector, 100,000 devices | real | allot, first | ratio | allot, warm | ratio |")
    print("|---|---|---|---|---|---|")
    for name, real in fleet.items():
        number = NAMES.index(name)
        first, warm = ours[("FleetFirst", number)], ours[("FleetWarm", number)]
        print(f"| `{name}` | {real / 1e6:.0f} ms | {first / 1e3:.0f} us | {real / first:,.0f} | {warm / 1e3:.1f} us | "
              f"{real / warm:,.0f} |")


if __name__ == "__main__":
    main()
