// Time zones by IANA name, read from the system's zone database.
// Thread safety: one thread per cache.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace allot::cel {

/// The offsets of one zone.
class Zone {
 public:
  /// Reads the contents of a TZif file. Null: not one.
  static std::unique_ptr<const Zone> Parse(std::string_view data);
  /// The offset from UTC at a point in time. Unit: seconds.
  [[nodiscard]] std::int64_t OffsetAt(std::int64_t unix_seconds) const;

 private:
  struct Rule;  // the rule after the last listed transition, in the POSIX form
  struct Day {
    enum class Kind : std::uint8_t { kJulian, kDayOfYear, kMonthWeek } kind = Kind::kJulian;
    int day = 0;
    int week = 0;
    int month = 0;
    std::int64_t seconds = 7200;
  };
  [[nodiscard]] static bool ReadDay(std::string_view& text, Day& out);
  void ReadFooter(std::string_view text);
  [[nodiscard]] std::int64_t FooterOffset(std::int64_t unix_seconds) const;

  std::vector<std::int64_t> times_;
  std::vector<std::int64_t> offsets_;  // one more than times_: the first is before all transitions
  bool has_footer_ = false;
  bool has_dst_ = false;
  std::int64_t standard_ = 0;
  std::int64_t daylight_ = 0;
  Day start_;
  Day end_;
};

class ZoneCache {
 public:
  /// The zone of a name; "", "UTC" and "Local" are UTC (a null pointer). Errors: kInvalid in Go's
  /// words, whatever the name stands for in the file system.
  [[nodiscard]] base::Result<const Zone*> Find(std::string_view name);
  /// Forgets errors that the system may not give again, such as too many open files. What a name
  /// stands for is kept.
  void ForgetPassing();

 private:
  std::map<std::string, base::Result<std::unique_ptr<const Zone>>, std::less<>> zones_;
  std::vector<std::string> passing_;  // names of zones_
};

}  // namespace allot::cel
