// Regex: regular expressions with Go's syntax and error texts over RE2.
// Thread safety: immutable after compilation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace allot::cel {

/// What the patterns of one expression, or of one evaluation, may cost to compile: a few characters
/// can stand for a program that takes a second. Unit: instructions.
struct RegexBudget {
  std::int64_t left = 500'000;
};

class Regex {
 public:
  /// Compiles a pattern, or finds it among the last ones of this thread. Errors: kInvalid with Go's
  /// text ("error parsing regexp: missing closing ]: `[`"); past the budget "expression too large".
  static base::Result<std::shared_ptr<const Regex>> Compile(std::string_view pattern,
                                                            RegexBudget& budget);

  ~Regex();
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;

  /// Whether the pattern matches somewhere.
  [[nodiscard]] bool Matches(std::string_view text) const;
  /// The leftmost match, or an empty text.
  [[nodiscard]] std::string_view Find(std::string_view text) const;
  /// Up to `limit` matches as Go's FindAllString gives them; a negative limit means all.
  [[nodiscard]] std::vector<std::string_view> FindAll(std::string_view text,
                                                      std::int64_t limit) const;

 private:
  struct Impl;
  explicit Regex(std::unique_ptr<Impl> impl);
  static base::Result<std::shared_ptr<const Regex>> CompileNew(std::string_view pattern,
                                                               RegexBudget& budget);
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot::cel
