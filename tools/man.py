#!/usr/bin/env python3
"""Makes docs/man/allot*.1 from the help texts of the binary.  usage: man.py BINARY [--check]"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def text(binary, *arguments):
    return subprocess.run([binary, *arguments], capture_output=True, text=True, check=True).stdout


def escape(line):
    return line.replace("\\", "\\e").replace("-", "\\-")


def page(name, about, body):
    lines = [f'.TH {name.upper()} 1 "" "allot" "allot manual"', ".SH NAME", f"{escape(name)} \\- {escape(about)}", ".SH DESCRIPTION", ".nf"]
    lines += [("\\&" if line.startswith((".", "'")) else "") + escape(line) for line in body.rstrip().splitlines()]
    return "\n".join(lines + [".fi", ""])


def main(argv):
    binary, check = argv[0], "--check" in argv
    overview = text(binary, "help")
    pages = {"allot": ("device allocation for Kubernetes", overview)}
    for verb, about in re.findall(r"^  (\w+) +(.*)$", overview.split("Verbs:")[1], re.M):
        if verb != "help":
            pages[f"allot-{verb}"] = (about, text(binary, verb, "--help"))
    stale = 0
    for name, (about, body) in pages.items():
        file = ROOT / "docs/man" / f"{name}.1"
        content = page(name, about, body)
        if file.exists() and file.read_text() == content:
            continue
        if check:
            print(f"{file.relative_to(ROOT)}: stale; run tools/man.py BINARY")
            stale = 1
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
