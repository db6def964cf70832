#include "cel/operations.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "cel/named_format.h"
#include "cel/net.h"
#include "quantity/go_text.h"

namespace allot::cel {
namespace {

constexpr double kTwo63 = 9223372036854775808.0;
constexpr double kTwo64 = 18446744073709551616.0;

template <typename T>
int Order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

int OrderDoubleInt(double d, std::int64_t i) {
  if (d < -kTwo63) {
    return -1;
  }
  return d > kTwo63 ? 1 : Order(d, static_cast<double>(i));
}

int OrderDoubleUint(double d, std::uint64_t u) {
  if (d < 0) {
    return -1;
  }
  return d > kTwo64 ? 1 : Order(d, static_cast<double>(u));
}

int OrderIntUint(std::int64_t i, std::uint64_t u) {
  if (i < 0 || u > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return -1;
  }
  return Order(i, static_cast<std::int64_t>(u));
}

bool IsNumber(const Value& value) {
  return value.Is(ValueKind::kInt) || value.Is(ValueKind::kUint) || value.Is(ValueKind::kDouble);
}

bool IsNan(const Value& value) {
  return value.Is(ValueKind::kDouble) && std::isnan(value.number);
}

// REQUIRES: both are numbers and none is NaN.
int OrderNumbers(const Value& a, const Value& b) {
  switch (a.kind) {
    case ValueKind::kInt:
      return b.Is(ValueKind::kInt)    ? Order(a.integer, b.integer)
             : b.Is(ValueKind::kUint) ? OrderIntUint(a.integer, b.uinteger)
                                      : -OrderDoubleInt(b.number, a.integer);
    case ValueKind::kUint:
      return b.Is(ValueKind::kInt)    ? -OrderIntUint(b.integer, a.uinteger)
             : b.Is(ValueKind::kUint) ? Order(a.uinteger, b.uinteger)
                                      : -OrderDoubleUint(b.number, a.uinteger);
    default:
      return b.Is(ValueKind::kInt)    ? OrderDoubleInt(a.number, b.integer)
             : b.Is(ValueKind::kUint) ? OrderDoubleUint(a.number, b.uinteger)
                                      : Order(a.number, b.number);
  }
}

// Long texts are work, too.
bool SameText(Context& context, const Value& a, const Value& b) {
  return a.text().size() == b.text().size() && context.ReadText(a.text().size()) &&
         a.text() == b.text();
}

Value EqualLists(Context& context, const ListRep& a, const ListRep& b) {
  if (a.size != b.size) {
    return Value::Bool(false);
  }
  Value error = Value::Bool(true);
  for (std::size_t i = 0; i < a.size; ++i) {
    const Value equal = Equal(context, a.items[i], b.items[i]);
    if (equal.IsFalse()) {
      return equal;
    }
    if (equal.IsError() && a.concatenated && !error.IsError()) {
      error = equal;
    }
  }
  return error;
}

Value EqualMaps(Context& context, const MapRep& a, const MapRep& b) {
  if (a.size != b.size) {
    return Value::Bool(false);
  }
  for (const MapEntry& entry : a.values()) {
    const Value* const mine = FindExact(a, entry.key);
    const Value* const other = Find(b, entry.key);
    if (other == nullptr ||
        Equal(context, mine == nullptr ? entry.value : *mine, *other).IsFalse()) {
      return Value::Bool(false);
    }
  }
  return Value::Bool(true);
}

Value EqualOptionals(Context& context, const Value& a, const Value& b) {
  if (a.optional == nullptr || b.optional == nullptr) {
    return Value::Bool(a.optional == b.optional);
  }
  return EqualTo(context, *a.optional, *b.optional);
}

// The Kubernetes types: comparing with another type is an error.
Value EqualObjects(const Value& a, const Value& b) {
  if (a.kind != b.kind || b.computed) {
    return MaybeNoSuchOverload(b);
  }
  switch (a.kind) {
    case ValueKind::kQuantity:
      return Value::Bool(quantity::ExactQuantity::Compare(a.quantity->value, b.quantity->value) ==
                         0);
    case ValueKind::kSemver: return Value::Bool(quantity::CompareSemver(*a.semver, *b.semver) == 0);
    case ValueKind::kUrl: return Value::Bool(a.url->url->ToString() == b.url->url->ToString());
    case ValueKind::kIp: return Value::Bool(*a.ip == *b.ip);
    case ValueKind::kCidr: return Value::Bool(*a.cidr == *b.cidr);
    default: return Value::Bool(a.format->title == b.format->title);
  }
}

}  // namespace

Value Equal(Context& context, const Value& left, const Value& right) {
  if (left.Is(ValueKind::kNull) || right.Is(ValueKind::kNull)) {
    return Value::Bool(left.kind == right.kind);
  }
  return EqualTo(context, left, right);
}

Value EqualTo(Context& context, const Value& left, const Value& right) {
  if (!context.Work(1)) {
    return Value::Bool(false);
  }
  if (IsNumber(left)) {
    return Value::Bool(IsNumber(right) && !IsNan(left) && !IsNan(right) &&
                       OrderNumbers(left, right) == 0);
  }
  switch (left.kind) {
    case ValueKind::kError: return left;
    case ValueKind::kNull: return Value::Bool(right.Is(ValueKind::kNull));
    case ValueKind::kBool:
      return Value::Bool(right.Is(ValueKind::kBool) && left.boolean == right.boolean);
    case ValueKind::kString:
    case ValueKind::kBytes:
    case ValueKind::kMessage:
    case ValueKind::kType:
      return Value::Bool(left.kind == right.kind && SameText(context, left, right));
    case ValueKind::kList:
      return right.Is(ValueKind::kList) ? EqualLists(context, *left.list, *right.list)
                                        : Value::Bool(false);
    case ValueKind::kMap:
      return right.Is(ValueKind::kMap) ? EqualMaps(context, *left.map, *right.map)
                                       : Value::Bool(false);
    case ValueKind::kTimestamp:
      return Value::Bool(right.Is(ValueKind::kTimestamp) &&
                         left.time->seconds == right.time->seconds &&
                         left.time->nanos == right.time->nanos);
    case ValueKind::kDuration:
      return Value::Bool(right.Is(ValueKind::kDuration) && left.integer == right.integer);
    case ValueKind::kOptional:
      return right.Is(ValueKind::kOptional) ? EqualOptionals(context, left, right)
                                            : Value::Bool(false);
    default: return EqualObjects(left, right);
  }
}

Value Compare(const Value& left, const Value& right) {
  if (IsNan(left)) {
    return Value::Error("NaN values cannot be ordered");
  }
  if (IsNumber(left) && IsNumber(right)) {
    return IsNan(right) ? Value::Error("NaN values cannot be ordered")
                        : Value::Int(OrderNumbers(left, right));
  }
  if (left.kind != right.kind) {
    return MaybeNoSuchOverload(right);
  }
  switch (left.kind) {
    case ValueKind::kBool: return Value::Int(Order(left.boolean, right.boolean));
    case ValueKind::kString:
    case ValueKind::kBytes: return Value::Int(Order(left.text(), right.text()));
    case ValueKind::kDuration: return Value::Int(Order(left.integer, right.integer));
    case ValueKind::kTimestamp:
      return Value::Int(Order(std::pair(left.time->seconds, left.time->nanos),
                              std::pair(right.time->seconds, right.time->nanos)));
    default: return MaybeNoSuchOverload(right);
  }
}

bool SameKey(const Value& a, const Value& b) {
  if (a.kind != b.kind) {
    return false;
  }
  switch (a.kind) {
    case ValueKind::kNull: return true;
    case ValueKind::kBool: return a.boolean == b.boolean;
    case ValueKind::kDouble: return a.number == b.number;
    case ValueKind::kString:
    case ValueKind::kBytes:
    case ValueKind::kType: return a.text() == b.text();
    case ValueKind::kTimestamp:
      return a.time->seconds == b.time->seconds && a.time->nanos == b.time->nanos &&
             a.time->offset == b.time->offset;
    case ValueKind::kIp: return *a.ip == *b.ip;
    case ValueKind::kCidr: return *a.cidr == *b.cidr;
    default: return a.uinteger == b.uinteger;
  }
}

bool KeyLess(const Value& a, const Value& b) {
  if (a.kind != b.kind) {
    return a.kind < b.kind;
  }
  switch (a.kind) {
    case ValueKind::kBool: return !a.boolean && b.boolean;
    case ValueKind::kInt:
    case ValueKind::kDuration: return a.integer < b.integer;
    case ValueKind::kUint: return a.uinteger < b.uinteger;
    case ValueKind::kDouble: return a.number < b.number;
    case ValueKind::kString:
    case ValueKind::kBytes:
    case ValueKind::kType: return a.text() < b.text();
    case ValueKind::kTimestamp:
      return std::pair(a.time->seconds, a.time->nanos) < std::pair(b.time->seconds, b.time->nanos);
    default: return false;
  }
}

std::size_t HashKey(const Value& key) {
  switch (key.kind) {
    case ValueKind::kBool: return key.boolean ? 1 : 2;
    case ValueKind::kInt:
    case ValueKind::kUint:
    case ValueKind::kDuration:
      return std::hash<std::uint64_t>()(key.uinteger * 0x9E3779B97F4A7C15U);
    case ValueKind::kDouble: return std::hash<double>()(key.number);
    case ValueKind::kString:
    case ValueKind::kBytes:
    case ValueKind::kType: return std::hash<std::string_view>()(key.text());
    case ValueKind::kTimestamp: return std::hash<std::int64_t>()(key.time->seconds);
    default: return static_cast<std::size_t>(key.kind);
  }
}

namespace {

const Value* FindSame(const MapRep& map, const Value& key) {
  if (map.hash != nullptr) {
    for (std::size_t at = HashKey(key) & (map.hash_size - 1); map.hash[at] != 0;
         at = (at + 1) & (map.hash_size - 1)) {
      const MapEntry& entry = map.entries[map.hash[at] - 1];
      if (SameKey(entry.key, key)) {
        return &entry.value;
      }
    }
    return nullptr;
  }
  for (const MapEntry& entry : map.values()) {
    if (SameKey(entry.key, key)) {
      return &entry.value;
    }
  }
  return nullptr;
}

const Value* EmptyMap() {
  static MapRep empty = [] {
    MapRep rep;
    rep.go_type = "map[string]interface {}";
    return rep;
  }();
  static const Value value = [] {
    Value out;
    out.kind = ValueKind::kMap;
    out.map = &empty;
    return out;
  }();
  return &value;
}

}  // namespace

const Value* FindExact(const MapRep& map, const Value& key) {
  if (map.native && !key.Is(ValueKind::kString)) {
    return nullptr;
  }
  if (const Value* const found = FindSame(map, key); found != nullptr) {
    return found;
  }
  switch (key.kind) {
    case ValueKind::kDouble:
      if (const auto integer = LosslessInt(key.number)) {
        if (const Value* const found = FindSame(map, Value::Int(*integer)); found != nullptr) {
          return found;
        }
      }
      if (const auto uinteger = LosslessUint(key.number)) {
        return FindSame(map, Value::Uint(*uinteger));
      }
      return nullptr;
    case ValueKind::kInt:
      return key.integer < 0 ? nullptr
                             : FindSame(map, Value::Uint(static_cast<std::uint64_t>(key.integer)));
    case ValueKind::kUint:
      return key.uinteger > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
                 ? nullptr
                 : FindSame(map, Value::Int(static_cast<std::int64_t>(key.uinteger)));
    default: return nullptr;
  }
}

bool SetHolds(const MapRep& set, const Value& value) {
  if (set.hash == nullptr) {
    return std::ranges::any_of(set.values(),
                               [&](const MapEntry& entry) { return SameKey(entry.key, value); });
  }
  for (std::size_t at = HashKey(value) & (set.hash_size - 1); set.hash[at] != 0;
       at = (at + 1) & (set.hash_size - 1)) {
    if (SameKey(set.entries[set.hash[at] - 1].key, value)) {
      return true;
    }
  }
  return false;
}

const Value* Find(const MapRep& map, const Value& key) {
  const Value* const found = FindExact(map, key);
  return found == nullptr && map.default_empty ? EmptyMap() : found;
}

std::optional<std::int64_t> LosslessInt(double value) {
  if (!(value > -kTwo63 && value < kTwo63) || std::trunc(value) != value) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(value);
}

std::optional<std::uint64_t> LosslessUint(double value) {
  if (!(value >= 0 && value < kTwo64) || std::trunc(value) != value) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(value);
}

std::optional<std::int64_t> ListIndex(const Value& index) {
  switch (index.kind) {
    case ValueKind::kInt: return index.integer;
    case ValueKind::kDouble: return LosslessInt(index.number);
    case ValueKind::kUint:
      if (index.uinteger <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return static_cast<std::int64_t>(index.uinteger);
      }
      return std::nullopt;
    default: return std::nullopt;
  }
}

std::string BadListIndex(const Value& index) {
  if (IsNumber(index)) {
    return fmt::format("unsupported index value {} in list", GoText(index));
  }
  return fmt::format("unsupported index type '{}' in list", RuntimeTypeText(index));
}

std::string_view RuntimeTypeText(const Value& value) {
  return value.Is(ValueKind::kList)       ? "list(dyn)"
         : value.Is(ValueKind::kMap)      ? "map(dyn, dyn)"
         : value.Is(ValueKind::kOptional) ? "optional_type(dyn)"
                                          : TypeName(value);
}

std::int64_t CountCodePoints(std::string_view text) {
  // Valid UTF-8 has one byte per code point that is not a continuation.
  std::int64_t count = 0;
  while (!text.empty()) {
    // Few enough to be counted in bytes, which compilers do many at a time.
    const std::string_view block = text.substr(0, 192);
    std::uint8_t starts = 0;
    for (const char c : block) {
      starts = static_cast<std::uint8_t>(starts + (static_cast<signed char>(c) >= -64 ? 1 : 0));
    }
    count += starts;
    text.remove_prefix(block.size());
  }
  return count;
}

std::optional<std::int64_t> SizeOf(const Value& value) {
  switch (value.kind) {
    case ValueKind::kString: return CountCodePoints(value.text());
    case ValueKind::kBytes: return static_cast<std::int64_t>(value.size);
    case ValueKind::kList: return static_cast<std::int64_t>(value.list->size);
    case ValueKind::kMap: return static_cast<std::int64_t>(value.map->size);
    case ValueKind::kIp: return value.ip->v6 ? 16 : 4;
    case ValueKind::kCidr: return (value.cidr->bits + 7) / 8;
    default: return std::nullopt;
  }
}

bool Hashable(const Value& value) {
  return !value.Is(ValueKind::kSemver) && !value.Is(ValueKind::kBytes) &&
         !value.Is(ValueKind::kFormat);
}

std::string_view TypeName(const Value& value) {
  switch (value.kind) {
    case ValueKind::kError: return "error";
    case ValueKind::kNull: return "null_type";
    case ValueKind::kBool: return "bool";
    case ValueKind::kInt: return "int";
    case ValueKind::kUint: return "uint";
    case ValueKind::kDouble: return "double";
    case ValueKind::kString: return "string";
    case ValueKind::kBytes: return "bytes";
    case ValueKind::kList: return "list";
    case ValueKind::kMap: return "map";
    case ValueKind::kType: return "type";
    case ValueKind::kTimestamp: return "google.protobuf.Timestamp";
    case ValueKind::kDuration: return "google.protobuf.Duration";
    case ValueKind::kOptional: return "optional_type";
    case ValueKind::kQuantity: return "kubernetes.Quantity";
    case ValueKind::kSemver: return "kubernetes.Semver";
    case ValueKind::kUrl: return "kubernetes.URL";
    case ValueKind::kIp: return "net.IP";
    case ValueKind::kCidr: return "net.CIDR";
    case ValueKind::kFormat: return "kubernetes.NamedFormat";
    case ValueKind::kMessage: return value.text();
  }
  return "";
}

std::uint32_t Traits(const Value& value) {
  switch (value.kind) {
    case ValueKind::kBool: return kComparer | kNegator;
    case ValueKind::kInt:
      return kAdder | kComparer | kDivider | kModder | kMultiplier | kNegator | kSubtractor;
    case ValueKind::kUint:
      return kAdder | kComparer | kDivider | kModder | kMultiplier | kSubtractor;
    case ValueKind::kDouble:
      return kAdder | kComparer | kDivider | kMultiplier | kNegator | kSubtractor;
    case ValueKind::kString: return kAdder | kComparer | kMatcher | kReceiver | kSizer;
    case ValueKind::kBytes: return kAdder | kComparer | kSizer;
    case ValueKind::kList: return kAdder | kContainer | kIndexer | kIterable | kSizer;
    case ValueKind::kMap: return kContainer | kIndexer | kIterable | kSizer;
    case ValueKind::kTimestamp: return kAdder | kComparer | kReceiver | kSubtractor;
    case ValueKind::kDuration: return kAdder | kComparer | kNegator | kReceiver | kSubtractor;
    default: return 0;
  }
}

}  // namespace allot::cel
