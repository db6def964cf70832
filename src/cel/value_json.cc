#include "cel/value_json.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cel/named_format.h"
#include "cel/operations.h"
#include "quantity/go_text.h"

namespace allot::cel {
namespace {

std::string Tagged(std::string_view tag, std::string_view json) {
  return fmt::format(R"({{"t":"{}","v":{}}})", tag, json);
}

std::string Quoted(std::string_view text) {
  std::string out;
  AppendJsonString(text, out);
  return out;
}

// What Go's fmt prints of a key's form, by which the entries of a map are ordered.
std::string KeyOrder(const Value& key) {
  switch (key.kind) {
    case ValueKind::kDouble:
      return fmt::format("map[bits:{:016x} t:double v:{}]",
                         std::bit_cast<std::uint64_t>(key.number),
                         FormatDouble(key.number));
    case ValueKind::kBool: return fmt::format("map[t:bool v:{}]", key.boolean);
    case ValueKind::kInt: return fmt::format("map[t:int v:{}]", key.integer);
    case ValueKind::kUint: return fmt::format("map[t:uint v:{}]", key.uinteger);
    case ValueKind::kString: return fmt::format("map[t:string v:{}]", key.text());
    default: return fmt::format("map[t:{} v:{}]", TypeName(key), GoText(key));
  }
}

std::string MapJson(const MapRep& map) {
  std::vector<std::pair<std::string, const MapEntry*>> order;
  for (const MapEntry& entry : map.values()) {
    order.emplace_back(KeyOrder(entry.key), &entry);
  }
  std::ranges::sort(order, {}, &std::pair<std::string, const MapEntry*>::first);
  std::string out = "[";
  for (const auto& [text, entry] : order) {
    out += out.size() > 1 ? ",[" : "[";
    out += ValueToJson(entry->key) + "," + ValueToJson(entry->value) + "]";
  }
  return out + "]";
}

std::string ListJson(const ListRep& list) {
  std::string out = "[";
  for (const Value& item : list.values()) {
    if (out.size() > 1) {
      out += ',';
    }
    out += ValueToJson(item);
  }
  return out + "]";
}

}  // namespace

void AppendJsonString(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text[0]);
    if (c < 0x80) {
      text.remove_prefix(1);
      switch (c) {
        case '"': out += "\\\""; break;
        case '\\': out += "\\\\"; break;
        case '\n': out += "\\n"; break;
        case '\r': out += "\\r"; break;
        case '\t': out += "\\t"; break;
        case '\b': out += "\\b"; break;
        case '\f': out += "\\f"; break;
        default:
          if (c < 0x20) {
            out += fmt::format("\\u{:04x}", c);
          } else {
            out += static_cast<char>(c);
          }
      }
      continue;
    }
    const quantity::Rune rune = quantity::DecodeRune(text);
    if (rune.value == 0xFFFD && rune.width == 1) {
      out += "\\ufffd";
    } else if (rune.value == 0x2028 || rune.value == 0x2029) {
      out += rune.value == 0x2028 ? "\\u2028" : "\\u2029";
    } else {
      out += text.substr(0, rune.width);
    }
    text.remove_prefix(rune.width);
  }
  out += '"';
}

std::string ValueToJson(const Value& value) {
  switch (value.kind) {
    case ValueKind::kNull: return R"({"t":"null"})";
    case ValueKind::kBool: return Tagged("bool", value.boolean ? "true" : "false");
    case ValueKind::kInt: return Tagged("int", fmt::format("\"{}\"", value.integer));
    case ValueKind::kUint: return Tagged("uint", fmt::format("\"{}\"", value.uinteger));
    case ValueKind::kDouble:
      return fmt::format(R"({{"bits":"{:016x}","t":"double","v":"{}"}})",
                         std::bit_cast<std::uint64_t>(value.number),
                         FormatDouble(value.number));
    case ValueKind::kString: return Tagged("string", Quoted(value.text()));
    case ValueKind::kBytes: {
      std::string hex;
      for (const char c : value.text()) {
        hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
      }
      return Tagged("bytes", Quoted(hex));
    }
    case ValueKind::kTimestamp:
      return Tagged("timestamp",
                    fmt::format(R"({{"n":{},"s":{}}})", value.time->nanos, value.time->seconds));
    case ValueKind::kDuration:
      return Tagged("duration",
                    fmt::format(R"({{"n":{},"s":{}}})",
                                value.integer % 1'000'000'000,
                                value.integer / 1'000'000'000));
    case ValueKind::kOptional:
      return value.optional == nullptr ? R"({"t":"optional"})"
                                       : Tagged("optional", ValueToJson(*value.optional));
    case ValueKind::kError: return Tagged("error", Quoted(value.text()));
    case ValueKind::kType: return Tagged("type", Quoted(value.text()));
    case ValueKind::kMap: return Tagged("map", MapJson(*value.map));
    case ValueKind::kList: return Tagged("list", ListJson(*value.list));
    case ValueKind::kFormat:
      // Upstream prints a struct with the address of a function in it.
      return Tagged(
          TypeName(value),
          fmt::format("\"{{{} 0x0 {}}}\"", value.format->title, value.format->regex_size));
    default: return Tagged(TypeName(value), Quoted(GoText(value)));
  }
}

}  // namespace allot::cel
