// The getters of timestamps, with and without a time zone, and of durations.
#include "cel/functions.h"
#include "cel/library/libraries.h"
#include "quantity/go_text.h"

namespace allot::cel {
namespace {

using quantity::CivilTime;

struct Local {
  CivilTime civil;
  std::int32_t nanos;
};
using Getter = std::int64_t (*)(const Local& local);

std::int64_t FullYear(const Local& local) {
  return local.civil.year;
}
std::int64_t Month(const Local& local) {
  return local.civil.month - 1;
}
std::int64_t DayOfYear(const Local& local) {
  return local.civil.year_day;
}
std::int64_t DayOfMonth(const Local& local) {
  return local.civil.day - 1;
}
std::int64_t Date(const Local& local) {
  return local.civil.day;
}
std::int64_t DayOfWeek(const Local& local) {
  return local.civil.weekday;
}
std::int64_t Hours(const Local& local) {
  return local.civil.hour;
}
std::int64_t Minutes(const Local& local) {
  return local.civil.minute;
}
std::int64_t Seconds(const Local& local) {
  return local.civil.second;
}
std::int64_t Milliseconds(const Local& local) {
  return local.nanos / 1'000'000;
}

// The offset a zone argument means at a point in time; an error text otherwise.
base::Result<std::int64_t> OffsetOf(Context& context, std::string_view zone, std::int64_t seconds) {
  const std::size_t colon = zone.find(':');
  if (colon == std::string_view::npos) {
    ALLOT_ASSIGN_OR_RETURN(const Zone* const found, context.zones().Find(zone));
    return found == nullptr ? 0 : found->OffsetAt(seconds);
  }
  // Hours and minutes are two integers of any size, as upstream reads them.
  ALLOT_ASSIGN_OR_RETURN(const std::int64_t hours,
                         quantity::GoParseInt(zone.substr(0, colon), "Atoi"));
  ALLOT_ASSIGN_OR_RETURN(const std::int64_t minutes,
                         quantity::GoParseInt(zone.substr(colon + 1), "Atoi"));
  const auto wrap = [](std::int64_t value) {
    return static_cast<std::uint64_t>(value);
  };
  const std::uint64_t total =
      zone.starts_with('-') ? wrap(hours) * 60 - wrap(minutes) : wrap(hours) * 60 + wrap(minutes);
  // The product in nanoseconds wraps, and its seconds are read from a double.
  const auto nanos = static_cast<std::int64_t>(total * 60'000'000'000U);
  constexpr std::int64_t kSecond = 1'000'000'000;
  return static_cast<std::int64_t>(static_cast<double>(nanos / kSecond) +
                                   static_cast<double>(nanos % kSecond) / 1e9);
}

template <Getter Get>
Value InUtc(Context& /*context*/, Args args) {
  const quantity::OffsetTime& time = *args[0].time;
  return Value::Int(Get({quantity::ToCivil(time.seconds), time.nanos}));
}

template <Getter Get>
Value InZone(Context& context, Args args) {
  const quantity::OffsetTime& time = *args[0].time;
  const auto offset = OffsetOf(context, args[1].text(), time.seconds);
  if (!offset) {
    return context.Error(offset.error().message());
  }
  return Value::Int(Get({quantity::ToCivil(time.seconds + *offset), time.nanos}));
}

// Go's Hours() and Minutes() go through a double before they are cut.
Value DurationHours(Context& /*context*/, Args args) {
  return Value::Int(args[0].integer / 3'600'000'000'000);
}
Value DurationMinutes(Context& /*context*/, Args args) {
  return Value::Int(args[0].integer / 60'000'000'000);
}
Value DurationSeconds(Context& /*context*/, Args args) {
  return Value::Int(args[0].integer / 1'000'000'000);
}
Value DurationMilliseconds(Context& /*context*/, Args args) {
  return Value::Int(args[0].integer / 1'000'000);
}

template <Getter Get>
void DeclareGetter(Declare& declare,
                   std::string_view name,
                   std::string_view id,
                   std::string_view zone_id) {
  using namespace types;
  declare.Member(name, id, {&kTimestamp}, &kInt, InUtc<Get>);
  declare.Member(name, zone_id, {&kTimestamp, &kString}, &kInt, InZone<Get>);
}

}  // namespace

void RegisterTime(Registry& registry) {
  using namespace types;
  Declare d(registry, kLibStandard);
  DeclareGetter<FullYear>(d, "getFullYear", "timestamp_to_year", "timestamp_to_year_with_tz");
  DeclareGetter<Month>(d, "getMonth", "timestamp_to_month", "timestamp_to_month_with_tz");
  DeclareGetter<DayOfYear>(
      d, "getDayOfYear", "timestamp_to_day_of_year", "timestamp_to_day_of_year_with_tz");
  DeclareGetter<DayOfMonth>(
      d, "getDayOfMonth", "timestamp_to_day_of_month", "timestamp_to_day_of_month_with_tz");
  DeclareGetter<Date>(d,
                      "getDate",
                      "timestamp_to_day_of_month_1_based",
                      "timestamp_to_day_of_month_1_based_with_tz");
  DeclareGetter<DayOfWeek>(
      d, "getDayOfWeek", "timestamp_to_day_of_week", "timestamp_to_day_of_week_with_tz");
  DeclareGetter<Hours>(d, "getHours", "timestamp_to_hours", "timestamp_to_hours_with_tz");
  d.Member("getHours", "duration_to_hours", {&kDuration}, &kInt, DurationHours);
  DeclareGetter<Minutes>(d, "getMinutes", "timestamp_to_minutes", "timestamp_to_minutes_with_tz");
  d.Member("getMinutes", "duration_to_minutes", {&kDuration}, &kInt, DurationMinutes);
  DeclareGetter<Seconds>(d, "getSeconds", "timestamp_to_seconds", "timestamp_to_seconds_tz");
  d.Member("getSeconds", "duration_to_seconds", {&kDuration}, &kInt, DurationSeconds);
  DeclareGetter<Milliseconds>(
      d, "getMilliseconds", "timestamp_to_milliseconds", "timestamp_to_milliseconds_with_tz");
  d.Member(
      "getMilliseconds", "duration_to_milliseconds", {&kDuration}, &kInt, DurationMilliseconds);
}

}  // namespace allot::cel
