// string.format(): the formatter of cel-go's strings library before version 4, in the en_US locale.
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "cel/value.h"

namespace allot::cel {

/// The error when the text is longer than an evaluation may hold.
inline constexpr std::string_view kFormatTooLong = "too long";

/// Formats. False: `error` has upstream's text, or kFormatTooLong.
[[nodiscard]] bool FormatString(std::string_view format,
                                const ListRep& args,
                                std::string& out,
                                std::string& error);

/// One clause of a format string, as a checker sees it.
struct FormatClause {
  char verb = 0;        ///< s d f e b x X o
  std::size_t arg = 0;  ///< which argument it takes
};

/// Walks the clauses of a format string. Stops with an error text (without the outer "error during
/// formatting") when the string is malformed or asks for more than `arg_count` arguments.
class FormatScanner {
 public:
  /// `checking`: upstream's checker looks at the end of the string before it counts arguments.
  FormatScanner(std::string_view format, std::size_t arg_count, bool checking)
      : format_(format), arg_count_(arg_count), checking_(checking) {}
  /// The next clause; literal text before it goes to `literal`. Nothing: the end, or an error.
  [[nodiscard]] std::optional<FormatClause> Next(std::string& literal,
                                                 std::optional<int>& precision);
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] std::size_t args_used() const { return arg_; }

 private:
  [[nodiscard]] std::optional<FormatClause> Clause(std::optional<int>& precision);
  std::string_view format_;
  std::size_t arg_count_;
  bool checking_;
  std::size_t at_ = 0;
  std::size_t arg_ = 0;
  std::string error_;
};

/// What a clause may not be used for: the text upstream gives ("decimal clause can only be used on
/// integers, was given string").
[[nodiscard]] std::string FormatTypeError(char verb, std::string_view type);

}  // namespace allot::cel
