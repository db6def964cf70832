#!/usr/bin/env python3
"""Makes src/api/<group>/<version>.gen.{h,cc} from schemas/<group>/<version>.yaml.

Usage: generate.py [--check] [ROOT].  With --check nothing is written and a stale file fails the run.
The generated files are committed, so a build needs no Python package.
"""
import json
import pathlib
import random
import re
import sys

import yaml

import generate_registry

SCALARS = {
    "string": ("schema::Str", "kString"), "bool": ("bool", "kBool"), "int32": ("std::int32_t", "kInt32"),
    "int64": ("std::int64_t", "kInt64"), "double": ("double", "kDouble"), "bytes": ("schema::Str", "kBytes"),
    "quantity": ("quantity::Quantity", "kQuantity"), "intstr": ("schema::IntOrString", "kIntOrString"),
    "time": ("quantity::Time", "kTime"), "microtime": ("quantity::Time", "kMicroTime"),
    "duration": ("schema::Duration", "kDuration"), "raw": ("schema::RawJson", "kRaw"),
    "fieldsv1": ("schema::RawJson", "kFieldsV1"), "any": ("schema::RawJson", "kRaw"), "json": ("schema::RawJson", "kRaw"),
}
KEYWORDS = {"default", "namespace", "operator", "class", "public", "private", "protected", "template", "typename",
            "continue", "delete", "new", "export", "register", "signed", "unsigned", "int", "bool", "char", "double",
            "float", "long", "short", "switch", "this", "union", "using", "virtual", "volatile", "while", "auto"}


def snake(name):
    """nodeName -> node_name, podIPs -> pod_ips, scaleIO -> scale_io."""
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    name = re.sub(r"([A-Z]+)([A-Z](?!s(?:$|[A-Z_]))[a-z])", r"\1_\2", name)
    name = name.replace("$", "").replace("-", "_").lower()
    return name + "_" if name in KEYWORDS else name


def text(value):
    """A C++ string literal."""
    return json.dumps(value, ensure_ascii=True)


class Field:
    """One member of a generated struct with everything its table row says."""

    def __init__(self, schema, spec):
        self.spec = spec
        inner, self.shape = spec["type"], "kValue"
        if match := re.fullmatch(r"list<(.*)>", inner):
            inner, self.shape = match[1], "kList"
        elif match := re.fullmatch(r"map<string,(.*)>", inner):
            inner, self.shape = match[1], "kMap"
        elif spec.get("ptr"):
            self.shape = "kPointer"
        self.message = None
        if inner in SCALARS:
            self.cpp, self.kind = SCALARS[inner]
        elif inner == "list<string>" and self.shape == "kMap":
            self.cpp, self.kind = "schema::List<schema::Str>", "kStringList"
        else:
            self.message, self.kind = schema.resolve(inner), "kMessage"
            self.cpp = self.message[1] if self.message[0] == schema.namespace else "::".join(self.message)
        self.member = snake(spec["name"] or (self.message[1] if self.message else inner))

    def declaration(self):
        kinds = {"kValue": "{0}", "kPointer": "const {0}*", "kList": "schema::List<{0}>", "kMap": "schema::Map<{0}>"}
        init = {"kValue": "{}", "kPointer": " = nullptr"}.get(self.shape, "{}")
        return f"{kinds[self.shape].format(self.cpp)} {self.member}{init};"


class Schema:
    """One schema file."""

    def __init__(self, path):
        data = yaml.safe_load(path.read_text())
        self.path, self.group, self.version, self.namespace = path, data["group"], data["version"], data["namespace"]
        self.prefix = self.namespace if self.version == "v1" else f"{self.namespace}::{self.version}"
        self.types = {}
        for entry in data["types"]:
            self.types[entry["type"]] = (entry, [Field(self, f) for f in entry["fields"]])

    def resolve(self, ref):
        """(namespace, type) of a type reference; `core/v1.NodeSelector` or a bare name of this file."""
        if "/" not in ref:
            return (self.namespace, ref)
        group, rest = ref.split("/")
        return (group, rest.split(".")[1])

    def includes(self):
        return sorted({f.message[0] for _, fields in self.types.values() for f in fields
                       if f.message and f.message[0] != self.namespace})

    def ordered(self):
        """Types so that every struct held by value comes before its holder."""
        done, order = set(), []

        def visit(name):
            if name in done:
                return
            done.add(name)
            for field in self.types[name][1]:
                if field.message and field.message[0] == self.namespace and field.shape == "kValue":
                    visit(field.message[1])
            order.append(name)

        for name in self.types:
            visit(name)
        return order


def wrap(doc, indent):
    words, line, lines = doc.split(), "", []
    for word in words:
        if len(indent) + 4 + len(line) + len(word) > 100:
            lines.append(line.rstrip())
            line = ""
        line += word + " "
    if line:
        lines.append(line.rstrip())
    return "".join(f"{indent}/// {part}\n" for part in lines)


def header(schema):
    out = [f"// Generated by tools/generate.py from {schema.path.as_posix()}. Do not edit.\n#pragma once\n\n",
           "#include <cstdint>\n\n"]
    files = ["api/desc.h", "schema/type_desc.h", "schema/types.h"] + [f"api/{g}/v1.gen.h" for g in schema.includes()]
    out += [f'#include "{f}"\n' for f in sorted(files)]
    out.append(f"\nnamespace allot::api::{schema.prefix} {{\n\n")
    order = schema.ordered()
    out += [f"struct {name};\n" for name in order]
    for name in order:
        entry, fields = schema.types[name]
        out.append("\n" + wrap(entry["doc"], "") + f"struct {name} {{\n")
        if entry.get("kind"):
            out.append("  schema::Str kind{};\n  schema::Str api_version{};\n")
        for field in fields:
            out.append(wrap(field.spec["doc"], "  ") + f"  {field.declaration()}\n")
        out.append("};\n")
    out.append("\n")
    out += [f"extern const schema::TypeDesc k{name}Desc;\n" for name in order]
    out.append(f"\n}}  // namespace allot::api::{schema.prefix}\n\nnamespace allot::api {{\n\n")
    for name in order:
        out.append(f"template <>\ninline const schema::TypeDesc& Desc<{schema.prefix}::{name}>() {{\n"
                   f"  return {schema.prefix}::k{name}Desc;\n}}\n")
    out.append("\n}  // namespace allot::api\n")
    return "".join(out)


def row(schema, name, field):
    spec = field.spec
    parts = [f'.name = {text(spec["name"])}', f".kind = schema::ValueKind::{field.kind}",
             f".shape = schema::Shape::{field.shape}"]
    if omit := spec.get("omit"):
        parts.append(f".omit = schema::Omit::k{omit.capitalize()}")
    for key, member in (("always", "always"), ("required", "required"), ("inline", "is_inline")):
        if spec.get(key):
            parts.append(f".{member} = true")
    if spec.get("pb"):
        parts.append(f'.protobuf = {spec["pb"]}')
    parts.append(f".offset = offsetof({name}, {field.member})")
    if field.message:
        target = f"k{field.message[1]}Desc"
        parts.append(".message = &" + (target if field.message[0] == schema.namespace else f"{field.message[0]}::{target}"))
    if spec.get("list") in ("set", "map"):
        parts.append(f'.list_type = schema::ListType::k{spec["list"].capitalize()}')
    if keys := spec.get("keys"):
        parts.append(f".list_keys = kTexts<{', '.join(literal(k) for k in keys)}>")
    named = spec.get("named")
    if not named and spec["name"] == "uid" and name not in ("UserInfo", "SubjectAccessReviewSpec"):
        named = "types.UID"
    if named:
        parts.append(f'.named = {text(named.split("/")[-1])}')
    for key, member in (("patch", "patch_strategy"), ("mergeKey", "patch_merge_key")):
        if spec.get(key):
            parts.append(f".{member} = {text(spec[key])}")
    if "default" in spec:
        parts.append(f'.default_value = {text(json.dumps(spec["default"]))}')
    for key, member in (("enum", "enum_values"), ("gates", "gates")):
        if values := spec.get(key):
            parts.append(f".{member} = kTexts<{', '.join(literal(v) for v in values)}>")
    if union := spec.get("union"):
        parts.append(f'.union_name = {text(union if isinstance(union, str) else ",".join(union))}')
    if spec["doc"]:
        parts.append(f'.doc = {text(spec["doc"])}')
    return "    {" + ", ".join(parts) + "},\n"


def name_key(name):
    """The number a JSON name is hashed by; the same as schema::NameKey."""
    data, size = name.encode(), len(name.encode())

    def load(start, count):
        return int.from_bytes(data[start:start + count], "little")

    if size >= 8:
        first, last = load(0, 8), load(size - 8, 8)
        key = first ^ ((last << 32 | last >> 32) & (2**64 - 1))
    elif size >= 4:
        key = load(0, 4) | load(size - 4, 4) << 32
    else:
        key = data[0] | data[size // 2] << 8 | data[size - 1] << 16 if size else 0
    return (key + size) & (2**64 - 1)


def perfect_hash(names):
    """(multiplier, shift, slots): no two names share the slot key * multiplier >> shift."""
    keys = [name_key(name) for name in names]
    if len(set(keys)) != len(keys):
        sys.exit(f"names that hash alike: {names}")
    bits = max(1, (len(names) - 1).bit_length())
    source = random.Random(1)
    while True:
        for _ in range(20000):
            multiplier = source.getrandbits(64) | 1
            slots = [(key * multiplier & (2**64 - 1)) >> (64 - bits) for key in keys]
            if len(set(slots)) == len(slots):
                return multiplier, 64 - bits, slots
        bits += 1


def flattened(schema, name):
    """JSON fields of a type in order: (index expression, offset expression, embedded Go type, JSON name)."""
    entry, fields = schema.types[name]
    first = 2 if entry.get("kind") else 0
    out = [(f"&k{name}Fields[{i}]", f"k{name}Fields[{i}].offset", "TypeMeta", n)
           for i, n in enumerate(("kind", "apiVersion")[:first])]
    for i, field in enumerate(fields, first):
        if field.spec.get("inline"):
            base = f"k{name}Fields[{i}].offset"
            out += [(at, f"{base} + {offset}", field.message[1], n)
                    for at, offset, _, n in flattened(schema, field.message[1])]
        else:
            out.append((f"&k{name}Fields[{i}]", f"k{name}Fields[{i}].offset", "", field.spec["name"]))
    return out


def lookups(schema, name):
    """The tables that make wire names and numbers into fields."""
    entry, fields = schema.types[name]
    json_fields = flattened(schema, name)
    out = [f"constexpr std::array<schema::JsonField, {len(json_fields)}> k{name}Json = {{{{\n"]
    out += [f"    {{{at}, {offset}, {text(embedded)}}},\n" for at, offset, embedded, _ in json_fields]
    out.append("}};\n")
    multiplier, shift, slots = perfect_hash([n for _, _, _, n in json_fields])
    table = [255] * (1 << (64 - shift))
    for index, slot in enumerate(slots):
        table[slot] = index
    out.append(f"constexpr std::array<std::uint8_t, {len(table)}> k{name}Slots = {{{', '.join(map(str, table))}}};\n")
    first = 2 if entry.get("kind") else 0
    numbers = {f.spec["pb"]: i for i, f in enumerate(fields, first) if f.spec.get("pb")}
    dense = [numbers.get(n, 255) for n in range(max(numbers, default=-1) + 1)]
    out.append(f"constexpr std::array<std::uint8_t, {len(dense)}> k{name}Numbers = {{{', '.join(map(str, dense))}}};\n")
    init = (f".json_fields = k{name}Json, .slots = k{name}Slots.data(), .hash_multiplier = {multiplier}U, "
            f".hash_shift = {shift}, .by_number = k{name}Numbers")
    return "".join(out), init


def literal(value):
    return f"Literal({text(value)})"


def source(schema):
    out = [f"// Generated by tools/generate.py from {schema.path.as_posix()}. Do not edit.\n",
           f'#include "api/{schema.namespace}/{schema.version}.gen.h"\n\n#include <array>\n#include <cstddef>\n\n',
           '#include "api/literal.h"\n\n', f"namespace allot::api::{schema.prefix} {{\n"]
    for name, (entry, fields) in schema.types.items():
        count = len(fields) + (2 if entry.get("kind") else 0)
        out.append(f"\nnamespace {{\nconstexpr std::array<schema::FieldDesc, {count}> k{name}Fields = {{{{\n")
        if entry.get("kind"):
            out.append(f'    {{.name = "kind", .omit = schema::Omit::kEmpty, .offset = offsetof({name}, kind)}},\n'
                       f'    {{.name = "apiVersion", .omit = schema::Omit::kEmpty, .offset = offsetof({name}, api_version)}},\n')
        out += [row(schema, name, f) for f in fields]
        out.append("}};\n}  // namespace\n")
    for name, (entry, _) in schema.types.items():
        tables, init = lookups(schema, name)
        out.append(f"\nnamespace {{\n{tables}}}  // namespace\n")
        out.append(f"constexpr schema::TypeDesc k{name}Desc = {{.group = {text(schema.group)}, "
                   f".version = {text(schema.version)}, .name = {text(name)}, .doc = {text(entry['doc'])}, "
                   f".is_kind = {str(bool(entry.get('kind'))).lower()}, .size = sizeof({name}), "
                   f".alignment = alignof({name}), .fields = k{name}Fields, {init}}};\n")
    out.append(f"\n}}  // namespace allot::api::{schema.prefix}\n")
    return "".join(out)


def main(argv):
    check = "--check" in argv
    root = pathlib.Path(([a for a in argv if a != "--check"] or ["."])[0])
    files = generate_registry.files(root)
    for path in sorted(root.glob("schemas/*/*.yaml")):
        schema = Schema(path)
        schema.path = path.relative_to(root)
        folder = root / "src/api" / schema.namespace
        files += [(folder / f"{schema.version}.gen.h", header(schema)), (folder / f"{schema.version}.gen.cc", source(schema))]
    stale = 0
    for file, content in files:
        if file.exists() and file.read_text() == content:
            continue
        if check:
            print(f"{file}: stale; run tools/generate.py")
            stale = 1
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
