// What a plain YAML scalar means: the YAML 1.1 rules that kubectl and the API server apply.
// Shared by the reader and the writer of text/yaml.h only.  Thread safety: stateless.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace allot::text::yaml {

enum class ScalarKind : std::uint8_t { kString, kNull, kBool, kInt, kFloat, kTimestamp };

struct Scalar {
  ScalarKind kind = ScalarKind::kString;
  bool boolean = false;
  std::int64_t integer = 0;
  double real = 0;
};

/// Resolves a scalar that stands unquoted and without tag. `timestamps` is false for other explicit
/// tags.
[[nodiscard]] Scalar Resolve(std::string_view text, bool timestamps = true);
/// True for numbers of base 60 such as 12:30:45, which other readers would take for integers.
[[nodiscard]] bool IsBase60(std::string_view text);
/// The double as Go's strconv prints it with format g and the shortest digits for `bits` (32 or
/// 64).
[[nodiscard]] std::string FormatGeneral(double value, int bits = 64);

}  // namespace allot::text::yaml
