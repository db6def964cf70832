// Compile-time lists of texts for the generated tables: kTexts<Literal("a"), Literal("b")>.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace allot::api {

template <std::size_t N>
struct Literal {
  char text[N]{};
  // NOLINTNEXTLINE(google-explicit-constructor): literals convert so that tables stay readable
  consteval Literal(const char (&from)[N]) { std::copy_n(from, N, text); }
  [[nodiscard]] constexpr std::string_view view() const { return {text, N - 1}; }
};

template <Literal... kLiterals>
inline constexpr std::array<std::string_view, sizeof...(kLiterals)> kTexts = {kLiterals.view()...};

}  // namespace allot::api
