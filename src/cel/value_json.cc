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

std::string ScalarJson(const Value& value) {
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
    case ValueKind::kError: return Tagged("error", Quoted(value.text()));
    case ValueKind::kType: return Tagged("type", Quoted(value.text()));
    case ValueKind::kFormat:
      // Upstream prints a struct with the address of a function in it.
      return Tagged(
          TypeName(value),
          fmt::format("\"{{{} 0x0 {}}}\"", value.format->title, value.format->regex_size));
    default: return Tagged(TypeName(value), Quoted(GoText(value)));
  }
}

// Writes values until `limit` bytes are written; nested values may be shared, so that a small one
// can be endless as text.
class Writer {
 public:
  Writer(std::string& out, std::size_t limit) : out_(out), limit_(limit) {}

  bool Write(const Value& value) {
    switch (value.kind) {
      case ValueKind::kOptional:
        if (value.optional == nullptr) {
          out_ += R"({"t":"optional"})";
          return Fits();
        }
        out_ += R"({"t":"optional","v":)";
        return Write(*value.optional) && Close();
      case ValueKind::kMap: out_ += R"({"t":"map","v":)"; return WriteMap(*value.map) && Close();
      case ValueKind::kList:
        out_ += R"({"t":"list","v":)";
        return WriteList(*value.list) && Close();
      default: out_ += ScalarJson(value); return Fits();
    }
  }

 private:
  [[nodiscard]] bool Fits() const { return out_.size() <= limit_; }
  bool Close() {
    out_ += '}';
    return Fits();
  }
  bool WriteMap(const MapRep& map) {
    std::vector<std::pair<std::string, const MapEntry*>> order;
    for (const MapEntry& entry : map.values()) {
      order.emplace_back(KeyOrder(entry.key), &entry);
    }
    std::ranges::sort(order, {}, &std::pair<std::string, const MapEntry*>::first);
    std::string_view before = "[[";
    for (const auto& [text, entry] : order) {
      out_ += std::exchange(before, ",[");
      if (!Write(entry->key)) {
        return false;
      }
      out_ += ',';
      if (!Write(entry->value)) {
        return false;
      }
      out_ += ']';
    }
    out_ += order.empty() ? "[]" : "]";
    return Fits();
  }
  bool WriteList(const ListRep& list) {
    std::string_view before = "[";
    for (const Value& item : list.values()) {
      out_ += std::exchange(before, ",");
      if (!Write(item)) {
        return false;
      }
    }
    out_ += list.values().empty() ? "[]" : "]";
    return Fits();
  }

  std::string& out_;
  std::size_t limit_;
};

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

bool AppendValueJson(const Value& value, std::size_t limit, std::string& out) {
  return Writer(out, limit).Write(value);
}

}  // namespace allot::cel
