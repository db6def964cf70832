"""Random device expressions: from a grammar that knows every function, from recorded ones with parts exchanged, from
recorded ones with damaged text; and
regular expressions."""

import re

A = 'device.attributes["gpu.example.com"]'
C = 'device.capacity["gpu.example.com"]'

LEAVES = {
    "bool": ["true", "false", f"{A}.ready", f"{A}.off", f"has({A}.n)", f"has({A}.missing)", f"has({A}.n.x)",
             '"gpu.example.com" in device.attributes', '"none" in device.capacity', "device.allowMultipleAllocations",
             f'"model" in {A}', f"{A}.missing"],
    "int": ["0", "1", "-1", "2", "3", "-7", "42", "0x1F", "100", "9223372036854775807", "-9223372036854775808", f"{A}.n",
            f"{A}.neg", f"{A}.big", f"{A}.low", f"{A}.zero", f"{A}.missing", 'device.attributes["other.example.com"].n'],
    "uint": ["0u", "1u", "3u", "42u", "18446744073709551615u", "0x1Fu"],
    "double": ["0.0", "1.0", "-1.5", "2.5", "1e3", "1e-7", "1e300", "0.1", '0.0 / 0.0', "1.0 / 0.0", "-0.0", "123456.789"],
    "string": ['"a"', '""', '"H100"', "'b c'", '"abcABC"', '"héllo ✓"', '"a,b,,c"', '"  pad\\t"', '"0123456789"', 'r"a\\d"',
               f"{A}.model", f"{A}.s", f"{A}.uni", f"{A}.empty", "device.driver", f"{A}.names[0]", '"1.2.3"', '"10.0.0.1"',
               '"1Gi"', '"https://u@h.example:8080/p/a%20b?q=1&q=2&r#f"', '"2024-02-29T12:34:56.789+01:30"', '"1h2m3.5s"',
               '"true"', '"12"', '"1e3"', '"-5"'],
    "bytes": ['b"a"', 'b""', 'b"\\xff\\x00"', "b'é'", 'bytes("x")'],
    "duration": ['duration("1s")', 'duration("90m")', 'duration("-1.5s")', 'duration("0")', 'duration("2562047h")'],
    "timestamp": ['timestamp("2024-02-29T12:34:56.789Z")', 'timestamp("2026-08-26T23:59:59+02:00")', "timestamp(0)",
                  'timestamp("0001-01-01T00:00:00Z")', 'timestamp("9999-12-31T23:59:59.999999999Z")',
                  'timestamp("1969-12-31T23:59:59.5-08:00")'],
    "zone": ['"UTC"', '""', '"Europe/Berlin"', '"America/New_York"', '"Asia/Kolkata"', '"+02:30"', '"-00:30"', '"02:60"',
             '"nope/x"', '"a:b"', '"America/St_Johns"', '"Australia/Lord_Howe"'],
    "quantity": ['quantity("1Gi")', 'quantity("1500m")', 'quantity("bad")', 'quantity("0")', 'quantity("-3")',
                 'quantity("1.5")', 'quantity("12E")', 'quantity("1e3")', 'quantity("9999999999999999999")', f"{C}.memory",
                 'quantity("<amount>")', f"{C}.cores", f"{C}.frac", f"{C}.huge", f"{C}.missing"],
    "semver": ['semver("1.2.3")', 'semver("550.0.0-rc.1")', 'semver("x")', 'semver("v1.2", true)', 'semver("01.2.3")',
               'semver("1.0.0+b.7")', f"{A}.v", f"{A}.pre", 'device.attributes["other.example.com"].v', f"{A}.missing"],
    "url": ['url("https://a.example:80/p?q=1&q=2")', 'url("/rel/path")', 'url("bad")', 'url("http://[::1]:8080/x y")'],
    "ip": ['ip("10.0.0.1")', 'ip("::1")', 'ip("fe80::1")', 'ip("bad")', 'ip("224.0.0.1")', 'ip("2001:db8::A")'],
    "cidr": ['cidr("10.0.0.0/8")', 'cidr("10.1.2.3/16")', 'cidr("::/0")', 'cidr("2001:db8::/32")', 'cidr("bad/1")'],
    "format": ["format.dns1123Label()", "format.dns1123Subdomain()", "format.uuid()", "format.uri()", "format.date()",
               "format.qualifiedName()", "format.labelValue()", "format.byte()", "format.datetime()",
               "format.dns1035Label()", "format.dns1123LabelPrefix()", "format.dns1035LabelPrefix()",
               "format.dns1123SubdomainPrefix()", 'format.named("uuid").value()', 'format.named("x").value()'],
    "type": ["int", "string", "bool", "double", "uint", "bytes", "list", "map", "null_type", "type", "net.IP", "net.CIDR",
             "optional_type", "google.protobuf.Duration", "google.protobuf.Timestamp"],
    "null": ["null"],
    "ints": ["[1, 2, 3]", "[]", f"{A}.ids", "[5, 5, -1]", "lists.range(4)", "[3]"],
    "strings": ['["a", "b"]', "[]", f"{A}.names", '["b", "a", "b"]', '["x"]', '"a,b".split(",")'],
    "doubles": ["[1.0, 2.5]", "[0.1, 0.2]", "[1.0, 0.0 / 0.0]"],
    "bools": ["[true, false]", f"{A}.flags", "[true]"],
    "semvers": [f"{A}.vers", '[semver("1.0.0"), semver("0.1.0")]'],
    "map": ['{"a": 1, "b": 2}', "{}", '{"a": 1}', '{1: 2, 3: 4}', '{true: 1}', '{"x": -1, "a": 5}', '{1u: 1}', A, C],
    "optional": ["optional.of(1)", "optional.none()", f"{A}.?n", f"{A}.?missing", f'{A}[?"n"]', "[1, 2][?1]", "[1][?5]",
                 '{"a": 1}.?a', '{"a": 1}[?"b"]', 'device.attributes[?"none"].?x', "optional.ofNonZeroValue(0)"],
    "dyn": ["dyn(1)", 'dyn("a")', "dyn([1, 2])", "dyn(null)", f"{A}.n", f"{A}.model", f"{A}.names", f"{A}.v", "dyn(1.5)",
            'dyn({"a": 1})', 'dyn(quantity("1"))', f"{C}.memory", f"{A}.ids", "dyn(2u)", 'dyn(b"x")', "dyn(device)"],
    "regex": ['"a"', 'r"^[A-Z]+"', '"[0-9]+$"', '"a|b"', '"("', '"(?i)h"', r'r"\d+"', '"[^a]?b"', '""', '"x*"', '"(?P<n>a)b"',
              '"(?<n>a)"', r'r"\pL+"', '"a{1,3}"', '"[[:alpha:]]"', r'r"\b"', '"*a"', r'r"\C"', '"a{2,1}"', r'r"(a)\1"', '"[z-a]"'],
    "clause": ["%s", "%d", "%f", "%.2f", "%e", "%.3e", "%x", "%X", "%o", "%b", "%%", "%z", "a", " ", "%.0f", "%5d"],
}
LEAVES["any"] = [leaf for kind in ("bool", "int", "uint", "double", "string", "bytes", "duration", "timestamp", "quantity",
                                   "semver", "url", "ip", "cidr", "format", "type", "null", "ints", "strings", "doubles",
                                   "map", "optional", "dyn") for leaf in LEAVES[kind]]

COMPARE = ("==", "!=", "<", "<=", ">", ">=")
FORMS = {
    "bool": ["({bool} && {bool})", "({bool} || {bool})", "!({bool})", "({bool} ? {bool} : {bool})", "({int} <op> {int})",
             "({uint} <op> {uint})", "({double} <op> {double})", "({string} <op> {string})", "({bytes} <op> {bytes})",
             "({duration} <op> {duration})", "({timestamp} <op> {timestamp})", "({int} <op> {double})", "({int} <op> {uint})",
             "({uint} <op> {double})", "({dyn} <op> {dyn})", "({any} == {any})", "(dyn({any}) <op> {any})",
             "{string}.startsWith({string})", "{string}.endsWith({string})", "{string}.contains({string})",
             "{string}.matches({regex})", "matches({string}, {regex})", "{quantity}.isGreaterThan({quantity})",
             "{quantity}.isLessThan({quantity})", "({quantity} == {quantity})", "{quantity}.isInteger()", 'quantity("<huge>").isGreaterThan(quantity("<huge>"))', 'isQuantity("<huge>")',
             "isQuantity({string})", "{semver}.isGreaterThan({semver})", "{semver}.isLessThan({semver})",
             "({semver} == {semver})", "isSemver({string})", "isSemver({string}, {bool})", "isURL({string})", "({url} == {url})",
             "isIP({string})", "isCIDR({string})", "ip.isCanonical({string})", "{ip}.isLoopback()", "{ip}.isUnspecified()",
             "{ip}.isGlobalUnicast()", "{ip}.isLinkLocalUnicast()", "{ip}.isLinkLocalMulticast()", "({ip} == {ip})",
             "{cidr}.containsIP({ip})", "{cidr}.containsIP({string})", "{cidr}.containsCIDR({cidr})",
             "{cidr}.containsCIDR({string})", "({cidr} == {cidr})", "({int} in {ints})", "({string} in {strings})",
             "({string} in {map})", "({any} in {dyn})", "{ints}.exists(x, x <op> {int})", "{ints}.all(x, x <op> {int})",
             "{ints}.exists_one(x, x <op> {int})", "{strings}.exists(s, s.startsWith({string}))",
             "{ints}.all(i, v, i <op> v)", "{map}.exists(k, v, v <op> {int})", "{map}.existsOne(k, v, {bool})",
             "{map}.exists_one(k, v, {bool})", "{map}.all(k, k == k)", "{dyn}.exists(x, {bool})", "{ints}.isSorted()",
             "{strings}.isSorted()", "{ints}.includes({int})", "{strings}.includes({string})", "{dyn}.includes({any})",
             "sets.contains({ints}, {ints})", "sets.intersects({strings}, {strings})", "sets.equivalent({ints}, {ints})",
             "{optional}.hasValue()", "{format}.validate({string}).hasValue()", "format.named({string}).hasValue()",
             "cel.bind(y, {int}, y <op> {int})", "cel.bind(y, {any}, {bool})", f"{A}.?ready.orValue({{bool}})",
             "bool({string})", "({type} == type({any}))", "has({map}.a)", "({optional} == {optional})", "({map} == {map})",
             "({ints} == {ints})", "{semvers}.exists(v, v.isGreaterThan({semver}))", "{bools}.exists(b, b)",
             "{strings}.sortBy(s, size(s)) == {strings}", "(null == {any})",
             "device.attributes.exists(d, d == {string})", "device.attributes.all(d, m, m.exists(n, n == {string}))"],
    "int": ["({int} + {int})", "({int} - {int})", "({int} * {int})", "({int} / {int})", "({int} % {int})", "-({int})",
            "size({string})", "{ints}.size()", "{map}.size()", "size({bytes})", "size({dyn})", "{string}.size()",
            "{quantity}.asInteger()", 'sign(quantity("<huge>").sub(quantity("<huge>")))', "sign({quantity})", "{quantity}.compareTo({quantity})", "{semver}.major()",
            "{semver}.minor()", "{semver}.patch()", "{semver}.compareTo({semver})", "{string}.indexOf({string})",
            "{string}.indexOf({string}, {int})", "{string}.lastIndexOf({string})", "{string}.lastIndexOf({string}, {int})",
            "{ints}[{int}]", "{map}[{string}]", "{map}.a", "int({string})", "int({double})", "int({uint})", "int({timestamp})",
            "int({duration})", "({bool} ? {int} : {int})", "{optional}.orValue({int})", "{optional}.value()",
            "{timestamp}.getFullYear()", "{timestamp}.getMonth({zone})", "{timestamp}.getDayOfYear({zone})",
            "{timestamp}.getDate({zone})", "{timestamp}.getDayOfMonth()", "{timestamp}.getDayOfWeek({zone})",
            "{timestamp}.getHours({zone})", "{timestamp}.getMinutes({zone})", "{timestamp}.getSeconds()",
            "{timestamp}.getMilliseconds({zone})", "{duration}.getHours()", "{duration}.getMinutes()",
            "{duration}.getSeconds()", "{duration}.getMilliseconds()", "{ints}.sum()", "{ints}.min()", "{ints}.max()",
            "{ints}.indexOf({int})", "{ints}.lastIndexOf({int})", "{ip}.family()", "{cidr}.prefixLength()",
            "cel.bind(z, {int}, z + {int})", "{ints}.first().value()", "{ints}.last().orValue({int})", "{dyn}.min()", "{dyn}.sum()",
            "{optional}.optMap(o, {int}).orValue({int})"],
    "uint": ["({uint} + {uint})", "({uint} - {uint})", "({uint} * {uint})", "({uint} / {uint})", "({uint} % {uint})",
             "uint({int})", "uint({double})", "uint({string})"],
    "double": ["({double} + {double})", "({double} - {double})", "({double} * {double})", "({double} / {double})",
               "double({int})", "double({string})", "double({uint})", "{quantity}.asApproximateFloat()",
               'quantity("<huge>").asApproximateFloat()', 'quantity("<huge>").add(quantity("<huge>")).asApproximateFloat()', "{doubles}.sum()",
               "{doubles}.max()", "-({double})"],
    "string": ["({string} + {string})", "{string}.lowerAscii()", "{string}.upperAscii()", "{string}.trim()",
               "{string}.substring({int})", "{string}.substring({int}, {int})", "{string}.charAt({int})",
               "{string}.replace({string}, {string})", "{string}.replace({string}, {string}, {int})", "string({int})",
               "string({double})", "string({uint})", "string({bool})", "string({bytes})", "string({timestamp})",
               "string({duration})", "string({ip})", "string({cidr})", "{strings}.join()", "{strings}.join({string})",
               "[{string}, {string}].join({string})", "strings.quote({string})", "{string}.find({regex})", "{url}.getScheme()",
               "{url}.getHost()", "{url}.getHostname()", "{url}.getPort()", "{url}.getEscapedPath()",
               "({bool} ? {string} : {string})", "{strings}[{int}]", '"<clause>".format([{any}])',
               '"<clause><clause>".format([{any}, {any}])', '"<clause>-<clause>".format([{int}, {string}])',
               '"<clause>".format({dyn})', "{string}.format([{any}])", "{strings}.max()", "{strings}.min()",
               "{format}.validate({string}).orValue([]).join()"],
    "bytes": ["({bytes} + {bytes})", "bytes({string})", "({bool} ? {bytes} : {bytes})"],
    "duration": ["({duration} + {duration})", "({duration} - {duration})", "({timestamp} - {timestamp})", "duration({string})",
                 "-({duration})", "[{duration}, {duration}].sum()", "[{duration}, {duration}].max()"],
    "timestamp": ["({timestamp} + {duration})", "({duration} + {timestamp})", "({timestamp} - {duration})",
                  "timestamp({string})", "timestamp({int})", "[{timestamp}, {timestamp}].min()"],
    "quantity": ["{quantity}.add({quantity})", "{quantity}.sub({quantity})", "{quantity}.add({int})", "{quantity}.sub({int})",
                 "quantity({string})", "({bool} ? {quantity} : {quantity})"],
    "semver": ["semver({string})", "semver({string}, {bool})", "({bool} ? {semver} : {semver})"],
    "url": ["url({string})"],
    "ip": ["ip({string})", "{cidr}.ip()"],
    "cidr": ["cidr({string})", "{cidr}.masked()"],
    "format": [],
    "type": ["type({any})", "type({type})"],
    "null": [],
    "zone": ["({zone} + {string})"],
    "regex": ["({regex} + {string})"],
    "clause": [],
    "ints": ["[{int}, {int}]", "[{int}]", "{ints}.map(x, x + {int})", "{ints}.map(x, x <op> {int}, x * 2)",
             "{ints}.filter(x, x <op> {int})", "({ints} + {ints})", "{ints}.sort()", "{ints}.distinct()", "{ints}.reverse()",
             "{ints}.slice({int}, {int})", "[{ints}, {ints}].flatten()", "[[{ints}]].flatten({int})", "lists.range({int})",
             "{ints}.sortBy(x, -x)", "{ints}.transformList(i, v, i + v)", "{ints}.transformList(i, v, v <op> {int}, v)",
             "{map}.map(k, 1)", "[{int}, ?optional.of({int})]", "optional.unwrap([optional.of({int}), optional.none()])",
             "{strings}.map(s, size(s))", "[{optional}].unwrapOpt()", "({bool} ? {ints} : {ints})"],
    "strings": ["[{string}, {string}]", "{string}.split({string})", "{string}.split({string}, {int})",
                "{string}.findAll({regex})", "{string}.findAll({regex}, {int})", "{strings}.sort()", "{strings}.map(s, s + {string})",
                "{strings}.filter(s, {bool})", "({strings} + {strings})", "{strings}.distinct()", "{strings}.reverse()",
                "{format}.validate({string}).orValue([])", "{map}.map(k, string(k))", "{url}.getQuery()[{string}]"],
    "doubles": ["[{double}, {double}]", "{doubles}.map(d, d * 2.0)", "{doubles}.sort()"],
    "bools": ["[{bool}, {bool}]", "{ints}.map(x, x <op> {int})"],
    "semvers": ["[{semver}, {semver}]"],
    "map": ['{"k": {int}}', "{{string}: {int}}", "{{int}: {int}, {int}: {int}}", "{ints}.transformMap(i, v, v + 1)",
            "{map}.transformMap(k, v, {bool}, {int})", '{strings}.transformMapEntry(i, v, {v: i})', "{url}.getQuery()",
            '{?"a": {optional}}', '{"a": {int}, ?"b": optional.of({int})}', "({bool} ? {map} : {map})",
            "{ints}.transformMapEntry(i, v, v <op> {int}, {v: i})"],
    "optional": ["optional.of({any})", "optional.ofNonZeroValue({any})", "{optional}.or({optional})", "{ints}[?{int}]",
                 "{map}[?{string}]", "{map}.?a", "{ints}.first()", "{ints}.last()", "{optional}.optMap(o, o)",
                 "{optional}.optFlatMap(o, {optional})", "{optional}.?x", "{strings}.first()", "format.named({string})",
                 "{format}.validate({string})"],
    "dyn": ["dyn({any})", "[dyn({any})][0]", f'{A}["{{n}}"]', "{dyn}.x", "{dyn}[{any}]", "({dyn} + {dyn})", "cel.bind(q, {any}, dyn(q))"],
    "any": ["{bool}", "{int}", "{uint}", "{double}", "{string}", "{bytes}", "{duration}", "{timestamp}", "{quantity}", "{semver}",
            "{url}", "{ip}", "{cidr}", "{type}", "{ints}", "{strings}", "{doubles}", "{bools}", "{map}", "{optional}", "{dyn}",
            "[{any}]", "[{any}, {any}]", '{"a": {any}}', "{any}.{f}()", "{any}.{f}({any})", "{f}({any})", "{any}.{f}({any}, {any})"],
}
NAMES = ["n", "model", "v", "ids", "names", "missing", "s", "ready", "neg", "vers", "flags", "pre", "uni", "one"]
FUNCTIONS = """size int uint double bool string bytes dyn type duration timestamp quantity isQuantity sign semver isSemver url isURL ip
isIP cidr isCIDR contains startsWith endsWith matches charAt indexOf lastIndexOf lowerAscii upperAscii replace split substring trim join
format find findAll compareTo isGreaterThan isLessThan add sub asInteger isInteger asApproximateFloat major minor patch getScheme getHost
getHostname getPort getEscapedPath getQuery family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast
containsIP containsCIDR masked prefixLength validate isSorted sum min max includes slice flatten sort reverse distinct first last hasValue
value or orValue unwrapOpt getFullYear getMonth getDayOfYear getDate getDayOfMonth getDayOfWeek getHours getMinutes getSeconds
getMilliseconds all exists exists_one existsOne map filter transformList transformMap transformMapEntry optMap optFlatMap sortBy bind
has""".split()
OPERATORS = ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "in"]
TOP = ["bool"] * 6 + ["int", "uint", "double", "string", "string", "bytes", "duration", "timestamp", "quantity", "semver", "url",
                      "ip", "cidr", "type", "ints", "strings", "doubles", "map", "optional", "dyn", "any", "any"]


def amount(rng, huge):
    """The text of a quantity. Those not huge stay below the 10^21 from which upstream prints another number."""
    whole = "".join(rng.choice("0123456789") for _ in range(rng.choice((0, 1, 2, 5, 17, 18, 19, 20) + (25, 40) * huge)))
    part = "." + "".join(rng.choice("0000123456789") for _ in range(rng.choice((0, 1, 3, 9, 10, 20))))
    text = rng.choice(("", "", "-", "+")) + whole + (part if rng.random() < 0.4 else "")
    suffixes = ("", "n", "u", "m", "e-1", "E-9", "e-12", "e-20", "")
    if huge or len(whole) < 3:
        suffixes += ("k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "e18")
    if huge:
        suffixes += (f"e{rng.randrange(-350, 350)}", f"e{rng.randrange(-40, 60)}")
    return text + rng.choice(suffixes)


class Grammar:
    """Expressions by type. A few percent of the parts have another type, or hide theirs behind dyn()."""

    def __init__(self, rng):
        self.rng = rng

    def fill(self, form, depth):
        def part(match):
            name = match.group(1)
            if name == "f":
                return self.rng.choice(FUNCTIONS)
            if name == "n":
                return self.rng.choice(NAMES)
            return self.make(name, depth)
        form = re.sub("<op>", lambda _: self.rng.choice(COMPARE), form)
        form = re.sub("<clause>", lambda _: self.rng.choice(LEAVES["clause"]), form)
        return re.sub(r"\{(" + "|".join([*FORMS, "f", "n"]) + r")\}", part, form)

    def make(self, kind, depth):
        roll = self.rng.random()
        if roll < 0.02:
            kind = self.rng.choice(TOP)
        elif roll < 0.05 and kind != "zone":
            return f"dyn({self.make(kind, depth)})"
        if depth <= 0 or not FORMS[kind] or self.rng.random() < 0.15:
            return self.amounts(self.rng.choice(LEAVES[kind]))
        return self.fill(self.amounts(self.rng.choice(FORMS[kind])), depth - 1)

    def amounts(self, form):
        return re.sub("<(amount|huge)>", lambda match: amount(self.rng, match.group(1) == "huge"), form)

    def expression(self):
        return self.make(self.rng.choice(TOP), self.rng.choice([1, 1, 2, 2, 3]))


TOKEN = re.compile(r"""[bBrR]{0,2}"(?:[^"\\\n]|\\.)*"|[bBrR]{0,2}'(?:[^'\\\n]|\\.)*'|\d+\.\d+(?:[eE][+-]?\d+)?|0x[0-9a-fA-F]+u?|\d+u?"""
                   r"""|[A-Za-z_]\w*|&&|\|\||[=!<>]=|\s+|.""", re.S)


class Mutator:
    """Recorded expressions with operators, functions, literals, types and parts exchanged, wrapped and joined."""

    def __init__(self, rng, known):
        self.rng = rng
        self.known = known
        self.grammar = Grammar(rng)

    def other(self):
        return self.grammar.expression() if self.rng.random() < 0.3 else self.rng.choice(self.known)

    def expression(self):
        text = self.rng.choice(self.known)
        for _ in range(self.rng.choice([1, 1, 1, 2, 2, 3])):
            text = self.rng.choice([self.token, self.token, self.token, self.part, self.part, self.wrap, self.join,
                                    self.argument])(text)
            if len(text) > 700:
                break
        return text

    def token(self, text):
        tokens = TOKEN.findall(text)
        places = [i for i, t in enumerate(tokens) if not t.isspace()]
        if not places:
            return text
        i = self.rng.choice(places)
        t = tokens[i]
        if t[-1] in "\"'" or t[0].isdigit():
            tokens[i] = self.rng.choice(LEAVES[self.rng.choice(["string", "int", "uint", "double", "bytes", "string", "int"])])
        elif t in OPERATORS:
            tokens[i] = self.rng.choice(OPERATORS)
        elif t.isidentifier():
            names = FUNCTIONS if i + 1 < len(tokens) and tokens[i + 1] == "(" else NAMES + FUNCTIONS[:12]
            tokens[i] = self.rng.choice(names)
        elif t in ".[(":
            tokens[i] = self.rng.choice([".", ".?", "[", "[?", "("]) if self.rng.random() < 0.2 else t
            tokens[i] += self.rng.choice(["?", ""]) if t == "[" else ""
        elif t in "!-":
            tokens[i] = self.rng.choice(["", "!", "-", "!!"])
        elif self.rng.random() < 0.3:
            tokens[i] = self.rng.choice([",", ":", "?", ")", "]", "", " "])
        return "".join(tokens)

    def spans(self, text):
        """Balanced parts: what stands in brackets, and single arguments."""
        open_at, out = [], []
        for i, c in enumerate(text):
            if c in "([{":
                open_at.append(i)
            elif c in ")]}" and open_at:
                start = open_at.pop()
                out.append((start + 1, i))
                inner, depth = start + 1, 0
                for j in range(start + 1, i):
                    depth += (text[j] in "([{") - (text[j] in ")]}")
                    if depth == 0 and text[j] in ",:":
                        out.append((inner, j))
                        inner = j + 1
                if inner > start + 1:
                    out.append((inner, i))
        return [s for s in out if s[1] > s[0]]

    def part(self, text):
        spans = self.spans(text)
        if not spans:
            return self.other()
        start, end = self.rng.choice(spans)
        old = text[start:end]
        new = self.rng.choice([self.other(), f"dyn({old})", f"({old} {self.rng.choice(OPERATORS)} {old})", f"[{old}]",
                               f"{old}.{self.rng.choice(FUNCTIONS)}()", f"{self.rng.choice(FUNCTIONS)}({old})"])
        return text[:start] + new + text[end:]

    def wrap(self, text):
        b = self.rng.choice(["true", "false", text, self.other()])
        return self.rng.choice([
            f"!({text})", f"({text}).size()", f"[{text}]", f'{{"k": {text}}}', f"dyn({text})", f"type({text})",
            f"string({text})", f"optional.of({text})", f"cel.bind(v, {text}, v)", f"cel.bind(v, {text}, v == v)",
            f"[{text}, {text}].map(x, x)", f"[1, 2].map(x, {text})", f"[{text}].exists(x, x == {text})", f"({b}) ? {text} : {text}",
            f"[1].all(i, v, {text})", f"({text}) in [{text}]", f"[{text}].sortBy(x, x)", f"[{text}, {text}].distinct()",
            f"{{{text}: 1}}", f"has(({text}).x)", f"({text}).{self.rng.choice(FUNCTIONS)}()", f"optional.of({text}).optMap(o, o)",
            f'"%s".format([{text}])', f"[?optional.of({text})]", f"({text}).{self.rng.choice(FUNCTIONS)}({self.other()})",
            f"[{text}].includes({text})", f"sets.contains([{text}], [{text}])", f"[{text}].transformMap(i, v, v)"])

    def join(self, text):
        return f"({text}) {self.rng.choice(OPERATORS)} ({self.other()})"

    def argument(self, text):
        spans = [s for s in self.spans(text) if text[s[0] - 1] == "("]
        if not spans:
            return self.wrap(text)
        start, end = self.rng.choice(spans)
        return self.rng.choice([text[:start] + text[end:], f"{text[:end]}, {self.other()}{text[end:]}",
                                f"{text[:start]}{self.other()}, {text[start:]}"])


class Patterns:
    """Regular expressions, valid and not, on short texts."""

    ATOMS = ["a", "b", "c", ".", "A", "é", "0", " ", "-", r"\\d", r"\\w", r"\\s", r"\\D", r"\\W", r"\\S", r"\\b", r"\\B", "^", "$",
             r"\\A", r"\\z", r"\\.", r"\\n", r"\\t", r"\\x41", r"\\x{e9}", r"\\pL", r"\\p{Greek}", r"\\PN", r"\\p{^Lu}", r"\\101",
             "[a-c]", "[^a]", "[[:alpha:]]", "[[:^digit:]]", r"[\\d_]", r"[\\pL-]", "[]a]", "[^]a]", "[a-]", "[-a]", r"[\\]]",
             r"\\Qa.b\\E", "(?:)", "()", "(?i)", "(?s)", "(?m)", "(?U)", "(?i:aB)", "(?-i:a)", "(?P<n>a)", "(?<m>b)", "ab", "cab"]
    BROKEN = ["(", ")", "[", "]", "{", "}", "*", "+", "?", r"\\", "(?", "(?P<", "(?<", "(?P<n", "(?P=n)", "(?=a)", "(?!a)", "(?<=a)",
              "(?<!a)", "(?i", "(?z)", "(?i-)", "[a", "[z-a]", r"[\\d-a]", "[[:nope:]]", "[[:alpha:", r"\\8", r"\\1", r"\\C", r"\\Z",
              r"\\G", r"\\x", r"\\x{", r"\\x{110000}", r"\\p", r"\\p{", r"\\pX", r"\\p{Nope}", r"\\c", r"\\Q", "{1}", "a{2,1}",
              "a{1000}", "a{1001}", "a{100000000}", "a{,2}", "a{1,", "a**", "a+*", "a?+", "(a{100}){11}", "(?P<n>a)(?P<n>b)", "|", "||", "(|)",
              "(*)", r"\\u00e9", r"\\'", r"\\e", r"\\/", r"\\-", r"\\_", r"\\é"]
    REPEATS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{2,}", "{0}", "{1,2}?", "{,2}", "{20}", "{0,1}"]
    TEXTS = ["", "a", "ab", "abc", "aAbB", "cab abc", "a-b_c", "éàé", "a\\nb", "0123", "a.b", "  ", "Ωmega αβγ", "aaaa", "ABCabc123",
             "foo(bar)", "x{2}", "K\\u212A", "\\u00ff", "\\U0001f600"]

    def __init__(self, rng):
        self.rng = rng

    def pattern(self, depth):
        out = ""
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            roll = self.rng.random()
            if roll < 0.07:
                out += self.rng.choice(self.BROKEN)
                continue
            part = (f"({self.pattern(depth - 1)})" if depth > 0 and roll < 0.35 else
                    f"{self.pattern(depth - 1)}|{self.pattern(depth - 1)}" if depth > 0 and roll < 0.45 else
                    self.rng.choice(self.ATOMS))
            out += part + (self.rng.choice(self.REPEATS) if self.rng.random() < 0.35 else "")
        return out

    def expression(self):
        text, pattern = self.rng.choice(self.TEXTS), self.pattern(self.rng.choice([0, 1, 2]))
        if self.rng.random() < 0.3:
            return f'"{text}".{self.rng.choice(["matches", "find", "findAll"])}("" + "{pattern}")'
        if self.rng.random() < 0.2:
            return f'"{text}".findAll("{pattern}", {self.rng.choice([-1, 0, 1, 2, 5])})'
        return f'"{text}".{self.rng.choice(["matches", "find", "findAll"])}("{pattern}")'


DAMAGE = ["(", ")", "[", "]", "{", "}", ".", "?", ":", ",", "!", "-", "+", "*", "==", "&&", "||", "null", "in", "1u", '"a"', "x",
          "`a.b`", " ", "\n", '"', "\\", "#", "has(", "has", "while", ".?", "[?", "{?", "99999999999999999999", "b'", "'''", "0x",
          "1.", "é", "//", ".all(x,", "cel.bind(", "google.protobuf.Duration{", "$", "|", "&", "`", "true", "9e999", "r\""]


def damage(rng, text):
    for _ in range(rng.choice([1, 1, 2, 3, 5])):
        at = rng.randrange(len(text) + 1)
        if rng.random() < 0.5:
            text = text[:at] + rng.choice(DAMAGE) + text[at:]
        else:
            text = text[:at] + text[at + rng.choice([1, 1, 2, 4]):]
    return text
