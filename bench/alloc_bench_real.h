// The real allocator's own benchmark on the same problem, for figures side by side.
#pragma once

#include <cstdint>
#include <string>

namespace allot::bench {

struct RealTimes {
  double least_ns = 0;  ///< 0: it did not answer within two seconds
  double median_ns = 0;
  std::int64_t allocations = 0;
};

/// Runs `program` (../shared/oracle/allocator) with -bench on one case line: CPU time of one
/// Allocate with compiled expressions.
[[nodiscard]] RealTimes MeasureReal(const std::string& program, const std::string& line);

}  // namespace allot::bench
