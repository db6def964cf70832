#!/usr/bin/env python3
"""The hop table of docs/architecture.md names functions; each must exist in the module named before it.

Also: every module of src/LAYERS with a folder is in the module table, every ADR is one page, and every cause of a
diagnosis is in docs/reference/diagnosis.md.
usage: architecture_test.py ROOT
"""
import pathlib
import re
import sys


def main(root):
    text = (root / "docs/architecture.md").read_text()
    modules = [line.split(":")[0] for line in (root / "src/LAYERS").read_text().splitlines() if re.match(r"[a-z]", line)]
    problems = []
    hops = re.findall(r"^\| \d [^|]*\| ([^|]*)\|", text, re.M)
    named = 0
    for hop in hops:
        module = None
        for word in re.findall(r"`(\w+)`", hop):
            if word in modules:
                module = word
                continue
            folders = [root / "src" / module] if module else [root / "src" / m for m in ("apiserver", "client")]
            sources = [f for folder in folders for f in folder.rglob("*.h")] + [f for folder in folders for f in folder.rglob("*.cc")]
            named += 1
            if not any(re.search(rf"\b{word}\s*[(<]|\bclass {word}\b", f.read_text()) for f in sources):
                problems.append(f"hop '{hop.strip()}' names {word}, which {module or 'no module'} does not have")
    if named < 8:
        problems.append(f"only {named} functions found in the hop table")
    for module in modules:
        if (root / "src" / module).is_dir() and f"`{module}`" not in text:
            problems.append(f"module {module} is missing from docs/architecture.md")
    causes = re.findall(r'return "(\w+)";', (root / "src/allocator/diagnosis.cc").read_text())
    catalogue = (root / "docs/reference/diagnosis.md").read_text()
    problems += [f"cause {c} is missing from docs/reference/diagnosis.md"
                 for c in causes if c != "Unknown" and not re.search(rf"^\|[^|]*\b{c}\b", catalogue, re.M)]
    for adr in (root / "docs/adr").glob("*.md"):
        if len(adr.read_text().splitlines()) > 60:
            problems.append(f"{adr.name} is longer than a page")
    print("\n".join(problems) or f"{named} functions of {len(hops)} hops exist")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
