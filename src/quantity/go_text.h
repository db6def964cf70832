// Texts as Go's standard library prints them: quoted strings and number syntax errors, which reach
// users inside the API's error messages. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace allot::quantity {

/// strconv.Quote: double quotes, escapes for what cannot be printed.
[[nodiscard]] std::string GoQuote(std::string_view text);

/// The quoting of package time: every byte outside printable ASCII becomes \xHH.
[[nodiscard]] std::string GoTimeQuote(std::string_view text);

/// strconv.ParseUint(text, 10, 64).
/// Errors: kInvalid with Go's text (`strconv.ParseUint: parsing "x": invalid syntax`).
[[nodiscard]] base::Result<std::uint64_t> GoParseUint(std::string_view text);

/// strconv.ParseInt(text, 10, 64). `function` is the name in the error text ("ParseInt", "Atoi").
[[nodiscard]] base::Result<std::int64_t> GoParseInt(std::string_view text,
                                                    std::string_view function = "ParseInt");

/// Decodes the code point at the front of `text` and its width; an invalid sequence gives U+FFFD
/// and width 1. REQUIRES: text is not empty.
struct Rune {
  char32_t value;
  std::uint32_t width;
};
[[nodiscard]] Rune DecodeRune(std::string_view text);
/// Appends a code point as UTF-8.
void AppendRune(std::string& to, char32_t rune);
/// Whether `text` is valid UTF-8.
[[nodiscard]] bool IsValidUtf8(std::string_view text);

}  // namespace allot::quantity
