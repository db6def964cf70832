// Time values of the API: metav1.Time, MicroTime, Duration, and their RFC 3339 and Go texts.
// Thread safety: values.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/status.h"

namespace allot::quantity {

/// A point in time (UTC). `set` is false for Go's zero time, which JSON writes as null.
struct Time {
  std::int64_t seconds = 0;  ///< since the Unix epoch
  std::int32_t nanos = 0;    ///< 0 to 999,999,999
  bool set = false;

  friend auto operator<=>(const Time&, const Time&) = default;
};

/// The wall time as a value of the API.
[[nodiscard]] Time ToTime(base::WallTime time);
/// Parses RFC 3339, with or without fraction. Errors: kInvalid with Go's text
/// (`parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse ...`).
[[nodiscard]] base::Result<Time> ParseTime(std::string_view text);
/// "2006-01-02T15:04:05Z": seconds only, as metav1.Time is written.
[[nodiscard]] std::string FormatTime(const Time& time);
/// "2006-01-02T15:04:05.000000Z": as metav1.MicroTime is written.
[[nodiscard]] std::string FormatMicroTime(const Time& time);

/// A point in time with the offset from UTC it was written with. Unit of offset: seconds.
struct OffsetTime {
  std::int64_t seconds = 0;  ///< since the Unix epoch
  std::int32_t nanos = 0;
  std::int32_t offset = 0;
};
/// Parses RFC 3339 and keeps the offset. Errors: as ParseTime.
[[nodiscard]] base::Result<OffsetTime> ParseOffsetTime(std::string_view text);
/// RFC 3339 in the time's own offset, with as many fraction digits as needed
/// ("...T00:00:00.5+01:00").
[[nodiscard]] std::string FormatNanoTime(const OffsetTime& time);

/// The calendar fields of a point in time in UTC.
struct CivilTime {
  std::int64_t year = 1970;
  int month = 1;  ///< 1 to 12
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int weekday = 0;   ///< 0 = Sunday
  int year_day = 0;  ///< 0 = 1 January
};
[[nodiscard]] CivilTime ToCivil(std::int64_t seconds);
/// Days since 1970-01-01 of a date of the proleptic Gregorian calendar.
[[nodiscard]] std::int64_t DaysFromCivil(std::int64_t year, int month, int day);

/// Go's time.ParseDuration ("1h2m3.5s"). Unit: nanoseconds.
[[nodiscard]] base::Result<std::int64_t> ParseDuration(std::string_view text);
/// Go's Duration.String(). Unit: nanoseconds.
[[nodiscard]] std::string FormatDuration(std::int64_t nanos);

}  // namespace allot::quantity
