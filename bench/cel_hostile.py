#!/usr/bin/env python3
"""The CPU time of hostile device expressions of up to 10 KiB, compiled and evaluated; the worst come first.

usage: cel_hostile.py ALLOT [PATTERN] [--worst N] [--limit SECONDS]

Each expression is given to `ALLOT cel eval --jsonl` in a process of its own, whose start (some 10 ms) is part of its time. PATTERN
selects expressions by name. Exit code 1: one of them took longer than the limit or ended the process.
"""

import argparse
import json
import os
import re
import subprocess
import sys

LONGEST = 10 * 1024


def fill(before, unit, after, separator=""):
    """As many units as fit into an expression."""
    count = (LONGEST - len(before + after)) // len(unit + separator)
    return before + separator.join([unit] * count) + after


def chain(step, count, first, body):
    """cel.bind upon cel.bind: y0 is `first`, every further one `step` of the one before (P), of the last one (LAST) comes `body`."""
    text = body.replace("LAST", f"y{count}")
    for i in range(count, 0, -1):
        text = f"cel.bind(y{i}, {step.replace('P', f'y{i - 1}')}, {text})"
    return f"cel.bind(y0, {first}, {text})"


def compiled():
    """What keeps lexer, parser, checker and regular expressions busy."""
    yield "parentheses", "(" * 240 + "1" + ")" * 240
    yield "lists in lists", "[" * 200 + "1" + "]" * 200
    yield "maps in maps", "{1:" * 100 + "1" + "}" * 100
    yield "loops in loops", "[1].all(x," * 30 + "true" + ")" * 30
    yield "conditionals", fill("", "true?1:", "1")
    yield "signs", "!" * 10200 + "true"
    for unit in ("1 ", "(", "@", "a.b.", ".all(x,", "[{", "x?", "'", "`", "\\", "has(", "{?", "..", "1:"):
        yield f"errors of {unit}", fill("", unit, "")
    for unit in ("1", "[]", "{}", "a", "f(1)", "1+'a'", "?optional.of(1)", "[],{},1,'a',[[]],[{}],{1:[]},[1],['a']"):
        yield f"list of {unit}", fill("[", unit, "]", ",")
    yield "fields", fill("google.protobuf.Struct{", "fields:{}", "}", ",")
    yield "alternatives", "'a'.matches('" + "|".join(f"a{i}" for i in range(1500)) + "')"
    yield "patterns", fill("[", "'a'.matches('a{999}')", "].size()", ",")
    for step in ("[P,P]", "{'a':P,'b':P}", "{P:P}", "optional.of(P)", "[P].map(q,{1:q})", "[[P],[]]", "P==P?[P]:[P]"):
        yield f"types of {step}", chain(step, 120, "[]", "type(LAST)")


LOOPS = """
s.size()>0|s.charAt(i)!='z'|s.substring(i).size()>=0|s.lowerAscii()!=''|s.trim()!=''|s.reverse()!=''|s==s|s<=s|s.startsWith(s)|bytes(s).size()>0
strings.quote(s)!=''|{s:1}.size()>0|s in {'a':1}|s in [s]|[s]==[s]|dyn(s)+dyn(s)!=''|!isIP(s)|!isCIDR(s)|!isURL(s)|!isSemver(s)|!isQuantity(s)
format.dns1123Label().validate(s).hasValue()|format.labelValue().validate(s).hasValue()|!s.matches('c')|!s.matches('(x+x+)+y')|s.find('c')==''
s.findAll('a').size()>0|'%s%s'.format([s,s])!=''|'%x'.format([s])!=''|[s].distinct().size()==1|[s,s].sort().size()>0|s.contains('bb')||true
s.indexOf('bb')<0|s.lastIndexOf('bb')<0|s.indexOf(s+s)<0|s.lastIndexOf(s+s)<0|s.split('').size()>0|s.split('b').size()>0|s.replace('','xyz')!=''
s.replace('a',s)!=''|s.split('').join(s)!=''|lists.range(1000).map(x,s).join()!=''|optional.of(s).hasValue()|type(s)==string
""".strip().replace("\n", "|").replace("||true", "@")
LISTS = """
l==l|[l]==[l]|!(-1 in l)|l.indexOf(-1)<0|l.sum()>0|l.min()==0|l.isSorted()|l.sort().size()>0|l.distinct().size()>0|l.slice(0,50).size()>0|(l+l).size()>0
l.reverse().size()>0|[l,l].flatten().size()>0|sets.contains(l,l)|sets.equivalent(l,l)|!sets.intersects(l,[-1])|l.map(y,y).size()>0|'%s'.format([l])!=''
!l.includes(-1)|l.all(y,l.all(z,z>=0))|l.sortBy(y,-y).size()>0|l.transformMapEntry(k,v,{v:v}).size()>0|{1:l}=={1:l}|q.add(q).isInteger()|q.compareTo(q)==0
q.asApproximateFloat()>0.0|q.compareTo(quantity('1e9999'))!=0|isQuantity('1e9999')|timestamp(i).getHours('Europe/Berlin')>=0|string(timestamp(i))!=''
string(1.0/3.0)!=''|double('1e-320')>0.0|url('https://a/b?c=d').getQuery().size()>0|'a'.matches('a{'+string(i%900+1)+'}')@|'a'.matches('[^'+string(i)+']\\\\pL{20}')@
'%.100f'.format([1.5])!=''|'%.9999f'.format([1e300])!=''|google.protobuf.Struct{fields:{'a':null}}!=null
""".strip().replace("\n", "|")
SHARED = """
LAST==LAST|LAST in [LAST]|[LAST,LAST].distinct().size()|[LAST].indexOf(LAST)|sets.equivalent([LAST],[LAST])|optional.of(LAST)==optional.of(LAST)
LAST|'%s'.format([LAST])|[1][dyn(LAST)]|{dyn(LAST):1}|dyn(LAST).flatten(70)|dyn(LAST).sum()|[dyn(LAST),dyn(LAST)].min()|dyn(LAST).includes(LAST)
google.protobuf.Value{list_value:dyn([LAST])}|google.protobuf.Struct{fields:{'a':dyn(LAST)}}=={}|[dyn(LAST),dyn(LAST)].sort()|LAST+LAST
""".strip().replace("\n", "|")


def evaluated():
    """What keeps the interpreter busy: long texts, long lists, values that share their parts."""
    for doublings in (5, 12, 16, 19):
        for body in LOOPS.split("|"):
            loop = "lists.range(100000).all(i," + body.replace("@", "||true") + ")"
            yield f"{2 << doublings} bytes: {body}", f"cel.bind(s,{chain('P+P', doublings, repr('ab'), 'LAST')},{loop})"
    for size in (100, 10000, 400000):
        for body in LISTS.split("|"):
            loop = "lists.range(100000).all(i," + body.replace("@", "||true") + ")"
            yield f"{size} items: {body}", f"cel.bind(l,lists.range({size}),cel.bind(q,quantity('1e9999').add(1),{loop}))"
    for step, first in (("[P,P]", "[1]"), ("{1:P,2:P}", "{1:1}"), ("[dyn(P),dyn(P)]", "[]"), ("[optional.of(P)]+[optional.of(P)]", "[optional.of(1)]")):
        for body in SHARED.split("|"):
            yield f"{step} x 60: {body}", chain(step, 60, first, body)
    for first in ("'ab'", "b'ab'", "dyn('ab')", "[1]", "dyn([1])"):
        yield f"doubling {first}", chain("P+P", 60, first, "LAST.size()")


def measure(binary, name, expression, limit):
    """CPU seconds, memory in MiB, and the answer's first words."""
    record = json.dumps({"id": name, "expr": expression, "raw": True}) + "\n"
    command = ["sh", "-c", f'ulimit -t {int(limit * 10) + 1}; exec "$0" cel eval --jsonl', binary]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        process.stdin.write(record)
        process.stdin.close()
        answer = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = status
    text = "ended by a signal"
    if answer:
        parsed = json.loads(answer)
        outcome = parsed.get("compile_error") or parsed["results"][0].get("error") or "a value"
        text = outcome.replace("\n", " ")[:60]
    return used.ru_utime + used.ru_stime, used.ru_maxrss // 1024, text, not answer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("allot")
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--worst", type=int, default=12)
    parser.add_argument("--limit", type=float, default=1.0)
    options = parser.parse_args()
    rows = []
    for name, expression in [*compiled(), *evaluated()]:
        if len(expression.encode()) <= LONGEST and re.search(options.pattern, name):
            rows.append((*measure(options.allot, name, expression, options.limit), name))
    rows.sort(reverse=True)
    slow = [row for row in rows if row[0] > options.limit or row[3]]
    print(f"{len(rows)} expressions, {len(slow)} over {options.limit} s\n| expression | CPU | memory | answer |\n|---|---|---|---|")
    for seconds, memory, answer, _, name in rows[: max(options.worst, len(slow))]:
        print(f"| `{name}` | {seconds:.2f} s | {memory} MiB | {answer} |")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
