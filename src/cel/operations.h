// What values can do: equality, order, look-up, text. The rules are cel-go's.
// Thread safety: pure functions, but for quantities that comparing makes slow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cel/context.h"
#include "cel/value.h"

namespace allot::cel {

/// Equality as the == operator has it: null equals only null, then the left value decides. Bool or
/// an error. Counts as work of the evaluation, and means nothing once that has done too much.
[[nodiscard]] Value Equal(Context& context, const Value& left, const Value& right);
/// Equality as the left value has it, null included.
[[nodiscard]] Value EqualTo(Context& context, const Value& left, const Value& right);
/// Order as -1, 0, 1; or an error.
[[nodiscard]] Value Compare(const Value& left, const Value& right);

/// Looks a key up as maps do, numbers across kinds. Null pointer: not there. Does not answer for
/// unknown keys.
[[nodiscard]] const Value* FindExact(const MapRep& map, const Value& key);
/// The same; a map with a default answers an unknown key with an empty map.
[[nodiscard]] const Value* Find(const MapRep& map, const Value& key);
/// Whether two map keys are the same key (kind and value).
[[nodiscard]] bool SameKey(const Value& a, const Value& b);
[[nodiscard]] bool KeyLess(const Value& a, const Value& b);
[[nodiscard]] std::size_t HashKey(const Value& key);

/// Whether a set (a map whose values do not matter) holds a value. REQUIRES: the value is hashable.
[[nodiscard]] bool SetHolds(const MapRep& set, const Value& value);

/// The index into a list that a value stands for; nothing when it is none.
[[nodiscard]] std::optional<std::int64_t> ListIndex(const Value& index);
/// A run-time type as upstream prints it ("list(dyn)").
[[nodiscard]] std::string_view RuntimeTypeText(const Value& value);
/// Why a value is no list index.
[[nodiscard]] std::string BadListIndex(const Value& index);

/// size() of a value; nothing when it has none.
[[nodiscard]] std::optional<std::int64_t> SizeOf(const Value& value);
/// Unit: code points.
[[nodiscard]] std::int64_t CountCodePoints(std::string_view text);

/// The text of Go's %v, cut where it is longer than an evaluation may hold.
[[nodiscard]] std::string GoText(const Value& value);
/// The name of the Go type ("types.Int", "*types.baseList").
[[nodiscard]] std::string_view GoTypeName(const Value& value);
/// The name of the Go type of the value's native form ("int64", "[]ref.Val").
[[nodiscard]] std::string_view GoValueTypeName(const Value& value);
/// Whether Go could use the value as a map key.
[[nodiscard]] bool Hashable(const Value& value);
/// Go's %g of a double: shortest digits, with an exponent below -4 and from 6 on.
[[nodiscard]] std::string FormatDouble(double value);
/// A duration as seconds ("3600s").
[[nodiscard]] std::string DurationText(std::int64_t nanos);

/// 1 == 1.0 and friends without loss: the value as int64, as uint64.
[[nodiscard]] std::optional<std::int64_t> LosslessInt(double value);
[[nodiscard]] std::optional<std::uint64_t> LosslessUint(double value);

}  // namespace allot::cel
