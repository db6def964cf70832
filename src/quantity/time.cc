#include "quantity/time.h"

#include <array>
#include <chrono>
#include <limits>

#include <fmt/format.h>

#include "quantity/go_text.h"

namespace allot::quantity {
namespace {

constexpr std::string_view kLayout = "2006-01-02T15:04:05Z07:00";

bool IsDigit(std::string_view text, std::size_t at) {
  return at < text.size() && text[at] >= '0' && text[at] <= '9';
}

// One field of the layout, in the order Go's parser walks them.
struct Field {
  std::string_view element;  // as the layout spells it, for error texts
  std::string_view prefix;   // literal text before it
  std::string_view name;     // for range errors
  int digits;
  int low;
  int high;
};

constexpr std::array<Field, 6> kFields = {{{"2006", "", "year", 4, 0, 9999},
                                           {"01", "-", "month", 2, 1, 12},
                                           {"02", "-", "day", 2, 0, 99},
                                           {"15", "T", "hour", 2, 0, 23},
                                           {"04", ":", "minute", 2, 0, 59},
                                           {"05", ":", "second", 2, 0, 59}}};

std::unexpected<base::Status> CannotParse(std::string_view text,
                                          std::string_view rest,
                                          std::string_view element) {
  return base::Error(base::Reason::kInvalid,
                     fmt::format("parsing time {} as {}: cannot parse {} as {}",
                                 GoTimeQuote(text),
                                 GoTimeQuote(kLayout),
                                 GoTimeQuote(rest),
                                 GoTimeQuote(element)));
}

std::unexpected<base::Status> OutOfRange(std::string_view text, std::string_view what) {
  return base::Error(base::Reason::kInvalid,
                     fmt::format("parsing time {}: {} out of range", GoTimeQuote(text), what));
}

bool IsLeap(std::int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int DaysIn(int month, int year) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeap(year) ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

// Reads one number of the layout. The hour may have one digit, as Go's parser allows.
bool ReadField(const Field& field, std::string_view& rest, int& value) {
  const auto width = static_cast<std::size_t>(field.digits);
  std::size_t digits = 0;
  while (digits < width && IsDigit(rest, digits)) {
    ++digits;
  }
  const bool one_digit_hour = field.element == "15" && digits == 1;
  if (digits < width && !one_digit_hour) {
    return false;
  }
  value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    value = value * 10 + (rest[i] - '0');
  }
  rest.remove_prefix(digits);
  return true;
}

struct Offset {
  int seconds = 0;
  std::string_view range_error;
};

bool ReadOffset(std::string_view& rest, Offset& out) {
  if (rest.starts_with('Z')) {
    rest.remove_prefix(1);
    return true;
  }
  if (rest.size() < 6 || rest[3] != ':') {
    return false;
  }
  const bool digits = IsDigit(rest, 1) && IsDigit(rest, 2) && IsDigit(rest, 4) && IsDigit(rest, 5);
  const int hours = digits ? (rest[1] - '0') * 10 + (rest[2] - '0') : 0;
  const int minutes = digits ? (rest[4] - '0') * 10 + (rest[5] - '0') : 0;
  if (hours > 24) {
    out.range_error = "time zone offset hour";
  }
  if (minutes > 60) {
    out.range_error = "time zone offset minute";
  }
  if (!digits || (rest[0] != '+' && rest[0] != '-')) {
    return false;
  }
  out.seconds = (hours * 60 + minutes) * 60 * (rest[0] == '-' ? -1 : 1);
  rest.remove_prefix(6);
  return true;
}

}  // namespace

std::int64_t DaysFromCivil(std::int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + day_of_era - 719'468;
}

CivilTime ToCivil(std::int64_t seconds) {
  std::int64_t days = seconds / 86'400;
  std::int64_t rest = seconds % 86'400;
  if (rest < 0) {
    rest += 86'400;
    --days;
  }
  const std::int64_t shifted = days + 719'468;
  const std::int64_t era = (shifted >= 0 ? shifted : shifted - 146'096) / 146'097;
  const std::int64_t day_of_era = shifted - era * 146'097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month_index = (5 * day_of_year + 2) / 153;
  CivilTime out;
  out.day = static_cast<int>(day_of_year - (153 * month_index + 2) / 5 + 1);
  out.month = static_cast<int>(month_index < 10 ? month_index + 3 : month_index - 9);
  out.year = year_of_era + era * 400 + (out.month <= 2 ? 1 : 0);
  out.hour = static_cast<int>(rest / 3600);
  out.minute = static_cast<int>(rest / 60 % 60);
  out.second = static_cast<int>(rest % 60);
  out.weekday = static_cast<int>(((days + 4) % 7 + 7) % 7);
  out.year_day = static_cast<int>(days - DaysFromCivil(out.year, 1, 1));
  return out;
}

base::Result<OffsetTime> ParseOffsetTime(std::string_view text) {
  std::array<int, 6> values = {};
  std::int32_t nanos = 0;
  std::string_view rest = text;
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    const Field& field = kFields[i];
    if (!rest.starts_with(field.prefix)) {
      return CannotParse(text, rest, field.prefix);
    }
    rest.remove_prefix(field.prefix.size());
    if (!ReadField(field, rest, values[i])) {
      return CannotParse(text, rest, field.element);
    }
    if (values[i] < field.low || values[i] > field.high) {
      return OutOfRange(text, field.name);
    }
  }
  if (rest.size() >= 2 && (rest[0] == '.' || rest[0] == ',') && IsDigit(rest, 1)) {
    std::size_t end = 1;
    std::int32_t unit = 100'000'000;
    for (; IsDigit(rest, end); ++end, unit /= 10) {
      nanos += (rest[end] - '0') * unit;
    }
    rest.remove_prefix(end);
  }
  Offset offset;
  const std::string_view hold = rest;
  const bool read = ReadOffset(rest, offset);
  if (!offset.range_error.empty()) {
    return OutOfRange(text, offset.range_error);
  }
  if (!read) {
    return CannotParse(text, hold, "Z07:00");
  }
  if (!rest.empty()) {
    return base::Error(
        base::Reason::kInvalid,
        fmt::format("parsing time {}: extra text: {}", GoTimeQuote(text), GoTimeQuote(rest)));
  }
  const auto [year, month, day, hour, minute, second] = values;
  if (day < 1 || day > DaysIn(month, year)) {
    return OutOfRange(text, "day");
  }
  const std::int64_t local =
      DaysFromCivil(year, month, day) * 86'400 + hour * 3600 + minute * 60 + second;
  return OffsetTime{local - offset.seconds, nanos, offset.seconds};
}

Time ToTime(base::WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return {.seconds = seconds.time_since_epoch().count(),
          .nanos = static_cast<std::int32_t>((time - seconds).count()),
          .set = true};
}

base::Result<Time> ParseTime(std::string_view text) {
  ALLOT_ASSIGN_OR_RETURN(const OffsetTime time, ParseOffsetTime(text));
  return Time{time.seconds, time.nanos, true};
}

std::string FormatTime(const Time& time) {
  const CivilTime civil = ToCivil(time.seconds);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
                     civil.year,
                     civil.month,
                     civil.day,
                     civil.hour,
                     civil.minute,
                     civil.second);
}

std::string FormatMicroTime(const Time& time) {
  std::string out = FormatTime(time);
  out.pop_back();
  return out + fmt::format(".{:06}Z", time.nanos / 1000);
}

std::string FormatNanoTime(const OffsetTime& time) {
  std::string out = FormatTime({time.seconds + time.offset, time.nanos, true});
  out.pop_back();
  if (time.nanos != 0) {
    std::string fraction = fmt::format(".{:09}", time.nanos);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    out += fraction;
  }
  const int minutes = time.offset / 60;
  if (time.offset == 0) {
    return out + "Z";
  }
  const int magnitude = minutes < 0 ? -minutes : minutes;
  return out +
         fmt::format("{}{:02}:{:02}", time.offset < 0 ? '-' : '+', magnitude / 60, magnitude % 60);
}

}  // namespace allot::quantity
