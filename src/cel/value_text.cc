#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "cel/named_format.h"
#include "cel/net.h"
#include "cel/operations.h"

namespace allot::cel {
namespace {

// time.Time's String: "2020-01-01 00:00:00.5 +0100 +0100".
std::string GoTimeText(const quantity::OffsetTime& time) {
  const quantity::CivilTime civil = quantity::ToCivil(time.seconds + time.offset);
  std::string out = fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
                                civil.year,
                                civil.month,
                                civil.day,
                                civil.hour,
                                civil.minute,
                                civil.second);
  if (time.nanos != 0) {
    std::string fraction = fmt::format(".{:09}", time.nanos);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    out += fraction;
  }
  if (time.offset == 0) {
    return out + " +0000 UTC";
  }
  const int minutes = std::abs(time.offset) / 60;
  const std::string zone =
      fmt::format("{}{:02}{:02}", time.offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
  return out + " " + zone + " " + zone;
}

std::string BytesText(std::string_view bytes) {
  std::string out = "[";
  for (const char c : bytes) {
    out += out.size() > 1 ? " " : "";
    out += fmt::format("{}", static_cast<unsigned char>(c));
  }
  return out + "]";
}

// Appends until the text is longer than anything that can be kept: values may share their parts, so
// that a small one can be endless as text.
class TextWriter {
 public:
  explicit TextWriter(std::string& out) : out_(out) {}

  void Write(const Value& value) {
    switch (value.kind) {
      case ValueKind::kList: WriteList(*value.list); break;
      case ValueKind::kMap: WriteMap(*value.map); break;
      case ValueKind::kOptional:
        if (value.optional != nullptr) {
          out_ += "optional(";
          Write(*value.optional);
          out_ += ')';
          break;
        }
        [[fallthrough]];
      default: out_ += GoText(value);
    }
  }

 private:
  [[nodiscard]] bool Full() const { return out_.size() > Context::kMaxMemory; }
  void WriteList(const ListRep& list) {
    out_ += '[';
    for (std::size_t i = 0; i < list.size && !Full(); ++i) {
      out_ += i > 0 ? ", " : "";
      Write(list.items[i]);
    }
    out_ += ']';
  }
  void WriteMap(const MapRep& map) {
    out_ += '{';
    for (std::size_t i = 0; i < map.size && !Full(); ++i) {
      out_ += i > 0 ? ", " : "";
      Write(map.entries[i].key);
      out_ += ": ";
      Write(map.entries[i].value);
    }
    out_ += '}';
  }

  std::string& out_;
};

std::string NestedText(const Value& value) {
  std::string out;
  TextWriter(out).Write(value);
  return out;
}

std::string_view TypeDisplay(std::string_view name) {
  if (name == "list") {
    return "list(dyn)";
  }
  if (name == "map") {
    return "map(dyn, dyn)";
  }
  return name == "optional_type" ? "optional_type(dyn)" : name;
}

}  // namespace

std::string FormatDouble(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-Inf" : "+Inf";
  }
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(
      buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const std::size_t e = text.find('e');
  int exponent = 0;
  const std::string_view power = text.substr(e + (text[e + 1] == '+' ? 2 : 1));
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  // Go's shortest %g decides as if the precision were six digits.
  if (exponent < -4 || exponent >= 6) {
    return std::string(text);
  }
  std::array<char, 64> plain;
  const auto [plain_end, plain_error] =
      std::to_chars(plain.data(), plain.data() + plain.size(), value, std::chars_format::fixed);
  return {plain.data(), plain_end};
}

std::string DurationText(std::int64_t nanos) {
  // Go's Seconds(): whole seconds plus the rest as a double.
  const double seconds =
      static_cast<double>(nanos / 1'000'000'000) + static_cast<double>(nanos % 1'000'000'000) / 1e9;
  std::array<char, 64> buffer;
  const auto [end, error] = std::to_chars(
      buffer.data(), buffer.data() + buffer.size(), seconds, std::chars_format::fixed);
  return std::string(buffer.data(), end) + "s";
}

std::string GoText(const Value& value) {
  switch (value.kind) {
    case ValueKind::kError:
    case ValueKind::kString: return std::string(value.text());
    case ValueKind::kNull: return "0";
    case ValueKind::kBool: return value.boolean ? "true" : "false";
    case ValueKind::kInt: return fmt::format("{}", value.integer);
    case ValueKind::kUint: return fmt::format("{}", value.uinteger);
    case ValueKind::kDouble: return FormatDouble(value.number);
    case ValueKind::kBytes: return BytesText(value.text());
    case ValueKind::kList:
    case ValueKind::kMap: return NestedText(value);
    case ValueKind::kType: return std::string(TypeDisplay(value.text()));
    case ValueKind::kTimestamp: return GoTimeText(*value.time);
    case ValueKind::kDuration: return quantity::FormatDuration(value.integer);
    case ValueKind::kOptional:
      return value.optional == nullptr ? "optional.none()" : NestedText(value);
    case ValueKind::kQuantity:
      return value.quantity->text.empty() ? value.quantity->value.ToString()
                                          : std::string(value.quantity->text);
    case ValueKind::kSemver: return value.semver->ToString();
    case ValueKind::kUrl: return value.url->url->ToString();
    case ValueKind::kIp: return IpText(*value.ip);
    case ValueKind::kCidr: return CidrText(*value.cidr);
    case ValueKind::kFormat: return std::string(value.format->title);
    case ValueKind::kMessage: return "";
  }
  return "";
}

std::string_view GoTypeName(const Value& value) {
  switch (value.kind) {
    case ValueKind::kError: return "*types.Err";
    case ValueKind::kNull: return "types.Null";
    case ValueKind::kBool: return "types.Bool";
    case ValueKind::kInt: return "types.Int";
    case ValueKind::kUint: return "types.Uint";
    case ValueKind::kDouble: return "types.Double";
    case ValueKind::kString: return "types.String";
    case ValueKind::kBytes: return "types.Bytes";
    case ValueKind::kList:
      return value.list->growing        ? "*types.mutableList"
             : value.list->concatenated ? "*types.concatList"
                                        : "*types.baseList";
    case ValueKind::kMap:
      return value.map->growing         ? "*types.mutableMap"
             : value.map->default_empty ? "cel.mapper"
                                        : "*types.baseMap";
    case ValueKind::kType: return "*types.Type";
    case ValueKind::kTimestamp: return "types.Timestamp";
    case ValueKind::kDuration: return "types.Duration";
    case ValueKind::kOptional: return "*types.Optional";
    case ValueKind::kQuantity: return value.computed ? "*cel.Quantity" : "cel.Quantity";
    case ValueKind::kSemver: return "cel.Semver";
    case ValueKind::kUrl: return "cel.URL";
    case ValueKind::kIp: return "cel.IP";
    case ValueKind::kCidr: return "cel.CIDR";
    case ValueKind::kFormat: return "cel.Format";
    case ValueKind::kMessage: return "*types.protoObj";
  }
  return "";
}

std::string_view GoValueTypeName(const Value& value) {
  switch (value.kind) {
    case ValueKind::kError: return "*errors.errorString";
    case ValueKind::kNull: return "structpb.NullValue";
    case ValueKind::kBool: return "bool";
    case ValueKind::kInt: return "int64";
    case ValueKind::kUint: return "uint64";
    case ValueKind::kDouble: return "float64";
    case ValueKind::kString:
    case ValueKind::kType: return "string";
    case ValueKind::kBytes: return "[]uint8";
    case ValueKind::kList:
      return value.list->concatenated      ? "[]interface {}"
             : value.list->go_type.empty() ? "[]ref.Val"
                                           : value.list->go_type;
    case ValueKind::kMap:
      return value.map->go_type.empty() ? "map[ref.Val]ref.Val" : value.map->go_type;
    case ValueKind::kTimestamp: return "time.Time";
    case ValueKind::kDuration: return "time.Duration";
    case ValueKind::kOptional:
      return value.optional == nullptr ? "<nil>" : GoValueTypeName(*value.optional);
    case ValueKind::kQuantity: return "*resource.Quantity";
    case ValueKind::kSemver: return "semver.Version";
    case ValueKind::kUrl: return "*url.URL";
    case ValueKind::kIp: return "netip.Addr";
    case ValueKind::kCidr: return "netip.Prefix";
    case ValueKind::kFormat: return "cel.Format";
    case ValueKind::kMessage: return "*emptypb.Empty";
  }
  return "";
}

}  // namespace allot::cel
