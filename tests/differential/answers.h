// Comparing answers to allocation problems: reading recorded ones, asking the real allocator,
// telling what differs.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocator/allocator.h"
#include "base/arena.h"
#include "base/status.h"
#include "snapshot/allocation_case.h"

namespace allot::testing {

/// An answer that owns what it points to.
struct OwnedAnswer {
  std::unique_ptr<base::Arena> arena = std::make_unique<base::Arena>();
  snapshot::AllocationAnswer answer;
};

/// Reads an answer line, or the member `expected` of a case line when `expected` is true.
[[nodiscard]] base::Result<OwnedAnswer> ParseAnswer(std::string_view line, bool expected);

/// Solves a case line. `shuffle`: 0 publishes slices and classes in the order given, 1 in reverse,
/// other numbers in an order of their own.
[[nodiscard]] base::Result<OwnedAnswer> Solve(std::string_view line,
                                              const allocator::Limits& limits,
                                              std::uint64_t shuffle);

/// Empty when equal by the rules of comparison; else what differs.
[[nodiscard]] std::string Difference(const snapshot::AllocationAnswer& got,
                                     const snapshot::AllocationAnswer& expected);

/// All lines of a file, compressed or not. Errors: kNotFound.
[[nodiscard]] base::Result<std::vector<std::string>> ReadLines(const std::string& path);

/// The real allocator as a child process: lines in, answers out.
class Oracle {
 public:
  explicit Oracle(std::string path) : path_(std::move(path)) {}
  /// One answer line for each problem line. Errors: kInternalError when it cannot be run.
  [[nodiscard]] base::Result<std::vector<std::string>> Ask(
      const std::vector<std::string>& problems);

 private:
  std::string path_;
};

}  // namespace allot::testing
