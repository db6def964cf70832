// The values of evaluation: sixteen-byte tagged handles into the memory of one evaluation.
// Thread safety: values of one evaluation belong to one thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "quantity/exact.h"
#include "quantity/semver.h"
#include "quantity/time.h"

namespace allot::cel {

enum class ValueKind : std::uint8_t {
  kError,
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kList,
  kMap,
  kType,
  kTimestamp,
  kDuration,
  kOptional,
  kQuantity,
  kSemver,
  kUrl,
  kIp,
  kCidr,
  kFormat,
  kMessage,  ///< google.protobuf.Empty, the one message that stays one; its text is the name
};

struct ListRep;
struct MapRep;
struct UrlRep;
struct IpRep;
struct CidrRep;
struct FormatRep;

/// A quantity. Comparing with a slow one turns a fast one slow in place, as upstream does.
struct QuantityRep {
  quantity::ExactQuantity value;
  /// The text it was parsed from when upstream would print that text again.
  std::string_view text;
};

struct Value {
  ValueKind kind = ValueKind::kNull;
  /// kQuantity: the result of an addition or subtraction, which upstream holds behind a pointer and
  /// never finds equal.
  bool computed = false;
  /// kError: a Go panic, whose text stands after "internal error: ".
  bool panic = false;
  std::uint32_t size = 0;  ///< Unit: bytes of kString, kBytes, kType, kError, kMessage
  union {
    bool boolean;
    std::int64_t integer;
    std::uint64_t uinteger;
    double number;
    const char* data;
    ListRep* list;
    MapRep* map;
    const quantity::OffsetTime* time;
    const Value* optional;  ///< null: none
    QuantityRep* quantity;
    const quantity::Semver* semver;
    const UrlRep* url;
    const IpRep* ip;
    const CidrRep* cidr;
    const FormatRep* format;
  };

  constexpr Value() : integer(0) {}

  [[nodiscard]] std::string_view text() const { return {data, size}; }
  [[nodiscard]] bool IsError() const { return kind == ValueKind::kError; }
  [[nodiscard]] bool Is(ValueKind other) const { return kind == other; }
  [[nodiscard]] bool IsTrue() const { return kind == ValueKind::kBool && boolean; }
  [[nodiscard]] bool IsFalse() const { return kind == ValueKind::kBool && !boolean; }

  static constexpr Value Null() { return {}; }
  static constexpr Value Bool(bool value) {
    Value out;
    out.kind = ValueKind::kBool;
    out.boolean = value;
    return out;
  }
  static constexpr Value Int(std::int64_t value) {
    Value out;
    out.kind = ValueKind::kInt;
    out.integer = value;
    return out;
  }
  static constexpr Value Uint(std::uint64_t value) {
    Value out;
    out.kind = ValueKind::kUint;
    out.uinteger = value;
    return out;
  }
  static constexpr Value Double(double value) {
    Value out;
    out.kind = ValueKind::kDouble;
    out.number = value;
    return out;
  }
  static constexpr Value Duration(std::int64_t nanos) {
    Value out;
    out.kind = ValueKind::kDuration;
    out.integer = nanos;
    return out;
  }
  /// A text of kind kString, kBytes, kType or kError. Lifetime: the text outlives the value.
  static constexpr Value Text(ValueKind kind, std::string_view text) {
    Value out;
    out.kind = kind;
    out.size = static_cast<std::uint32_t>(text.size());
    out.data = text.data();
    return out;
  }
  static constexpr Value String(std::string_view text) { return Text(ValueKind::kString, text); }
  static constexpr Value Error(std::string_view text) { return Text(ValueKind::kError, text); }
};
static_assert(sizeof(Value) == 16);

/// A list. `growing` marks the accumulator of a loop, which is extended in place.
struct ListRep {
  Value* items = nullptr;
  std::size_t size = 0;
  std::size_t capacity = 0;
  bool growing = false;
  /// Made by concatenation: an element comparison that errs makes the whole comparison err.
  bool concatenated = false;
  /// The Go type behind the list where it is not []ref.Val; error texts of derived attributes show
  /// it.
  std::string_view go_type = {};

  [[nodiscard]] std::span<const Value> values() const { return {items, size}; }
};

struct MapEntry {
  Value key;
  Value value;
};

/// A map. Unknown keys of a map with `default_empty` look up as an empty map.
struct MapRep {
  MapEntry* entries = nullptr;
  std::size_t size = 0;
  std::size_t capacity = 0;
  bool growing = false;
  bool default_empty = false;
  /// Keys are strings; other kinds of keys are never found.
  bool native = false;
  /// Entries are in key order.
  bool sorted = true;
  /// Open addressing over `entries` once there are many; values are index + 1.
  std::uint32_t* hash = nullptr;
  std::size_t hash_size = 0;
  /// The Go type behind the map where it is not map[ref.Val]ref.Val.
  std::string_view go_type = {};

  [[nodiscard]] std::span<const MapEntry> values() const { return {entries, size}; }
};

/// The name of the run-time type ("int", "kubernetes.Quantity").
[[nodiscard]] std::string_view TypeName(const Value& value);

/// Which operations a run-time type has; operators ask for them before anything else.
enum Trait : std::uint32_t {
  kAdder = 1U << 0,
  kComparer = 1U << 1,
  kContainer = 1U << 2,
  kDivider = 1U << 3,
  kIndexer = 1U << 4,
  kIterable = 1U << 5,
  kMatcher = 1U << 6,
  kModder = 1U << 7,
  kMultiplier = 1U << 8,
  kNegator = 1U << 9,
  kReceiver = 1U << 10,
  kSizer = 1U << 11,
  kSubtractor = 1U << 12,
};
[[nodiscard]] std::uint32_t Traits(const Value& value);

}  // namespace allot::cel
