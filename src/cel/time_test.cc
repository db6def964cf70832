// Times and time zones: answers of cel-go v0.29.2 in the environment of Kubernetes 1.37.2.
#include <sys/resource.h>

#include "cel/answer_table.h"

namespace allot::cel {
namespace {

constexpr AnswerRow kGetters[] = {
    {R"(timestamp("2024-02-29T12:34:56.789Z").getFullYear())", R"({"t":"int","v":"2024"})", 2, 1},
    {R"(timestamp("2024-02-29T12:34:56.789Z").getMonth())", R"({"t":"int","v":"1"})", 2, 1},
    {R"(timestamp("2024-02-29T12:34:56.789Z").getDate())", R"({"t":"int","v":"29"})", 2, 1},
    {R"(timestamp("2024-02-29T12:34:56.789Z").getDayOfMonth())", R"({"t":"int","v":"28"})", 2, 1},
    {R"(timestamp("2024-02-29T12:34:56.789Z").getDayOfYear())", R"({"t":"int","v":"59"})", 2, 1},
    {R"(timestamp("2024-02-29T12:34:56.789Z").getDayOfWeek())", R"({"t":"int","v":"4"})", 2, 1},
    {R"(timestamp("2024-02-29T12:34:56.789Z").getHours())", R"({"t":"int","v":"12"})", 2, 1},
    {R"(timestamp("2024-02-29T12:34:56.789Z").getMilliseconds())",
     R"({"t":"int","v":"789"})",
     2,
     1},
    {R"(timestamp("2024-07-01T00:00:00Z").getHours("Europe/Berlin"))",
     R"({"t":"int","v":"2"})",
     2,
     1},
    {R"(timestamp("2024-01-01T00:00:00Z").getHours("Europe/Berlin"))",
     R"({"t":"int","v":"1"})",
     2,
     1},
    {R"(timestamp("2050-07-01T00:00:00Z").getHours("America/New_York"))",
     R"({"t":"int","v":"20"})",
     2,
     1},
    {R"(timestamp("2024-01-01T00:00:00Z").getMinutes("Asia/Kolkata"))",
     R"({"t":"int","v":"30"})",
     2,
     1},
    {R"(timestamp("2024-01-01T00:00:00Z").getHours("+02:60"))", R"({"t":"int","v":"3"})", 2, 1},
    {R"(timestamp("2024-01-01T00:00:00Z").getMinutes("-00:30"))", R"({"t":"int","v":"30"})", 2, 1},
    // Offsets beyond 292 years wrap.
    {R"(timestamp("2024-02-29T12:34:56.789Z").getHours("-00:300123456789"))",
     R"({"t":"int","v":"1"})",
     2,
     1},
    {R"(timestamp("2024-02-29T12:34:56.789Z").getFullYear("+2562047:00"))",
     R"({"t":"int","v":"2316"})",
     2,
     1},
    {R"(timestamp("2024-02-29T12:34:56.789Z").getFullYear("+2562048:00"))",
     R"({"t":"int","v":"1731"})",
     2,
     1},
    {R"(timestamp("2024-01-01T00:00:00Z").getHours("a:b"))",
     R"(? strconv.Atoi: parsing "a": invalid syntax)",
     2,
     1},
    {R"(timestamp("2024-01-01T00:00:00Z").getHours("nope/x"))", "? unknown time zone nope/x", 2, 1},
    {R"(timestamp("2024-01-01T00:00:00Z").getHours(""))", R"({"t":"int","v":"0"})", 2, 1},
    {R"(timestamp("0001-01-01T00:00:00Z").getDayOfWeek())", R"({"t":"int","v":"1"})", 2, 1},
    {R"(duration("3661.5s").getHours())", R"({"t":"int","v":"1"})", 2, 1},
    {R"(duration("3661.5s").getMinutes())", R"({"t":"int","v":"61"})", 2, 1},
    {R"(duration("3661.5s").getSeconds())", R"({"t":"int","v":"3661"})", 2, 1},
    {R"(duration("3661.5s").getMilliseconds())", R"({"t":"int","v":"3661500"})", 2, 1},
    {R"(duration("-1ms").getSeconds())", R"({"t":"int","v":"0"})", 2, 1},
};

TEST(CelTimeTest, Getters) {
  ExpectAnswers(kGetters);
}

// A name of a zone is a path below the zone database, and may come from what a driver publishes:
// whatever it leads to is an error of the expression.
constexpr AnswerRow kNoZones[] = {
    {R"(timestamp(0).getHours("Europe") == 0)", "? is a directory", 3, 2},
    {R"(timestamp(0).getFullYear("America"))", "? is a directory", 2, 1},
    {R"(timestamp(0).getMilliseconds("Etc/"))", "? is a directory", 2, 1},
    {R"(timestamp(0).getDate("."))", "? is a directory", 2, 1},
    {R"(timestamp(0).getHours("Euro" + "pe"))", "? is a directory", 3, 2},
    {R"(timestamp(0).getHours("../etc/passwd"))", "? time: invalid location name", 2, 1},
    {R"(timestamp(0).getHours("/etc/passwd"))", "? time: invalid location name", 2, 1},
    {R"(timestamp(0).getHours("Europe/../Asia"))", "? time: invalid location name", 2, 1},
    {R"(timestamp(0).getHours("\\UTC"))", "? time: invalid location name", 2, 1},
    {R"(timestamp(0).getHours("U\\TC"))", "? unknown time zone U\\TC", 2, 1},
    {R"(timestamp(0).getHours(".."))", "? time: invalid location name", 2, 1},
    {R"(timestamp(0).getHours("zone.tab"))", "? malformed time zone information", 2, 1},
    {R"(timestamp(0).getHours("UTC/x"))", "? not a directory", 2, 1},
    {R"(timestamp(0).getHours("a\u0000b"))", "? invalid argument", 2, 1},
};

TEST(CelTimeTest, NamesThatLeadToNoZoneAreErrors) {
  ExpectAnswers(kNoZones);
}

// What only stood in the way of one evaluation is not remembered against the name.
TEST(CelTimeTest, ASystemErrorIsForgotten) {
  const auto program = Compile(R"(timestamp(0).getHours("Etc/GMT-3") == 3)", {});
  ASSERT_TRUE(program) << program.error().message();
  Evaluator evaluator;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const Outcome failed = evaluator.Match(**program, {});
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(failed.error, "too many open files");
  const Outcome outcome = evaluator.Match(**program, {});
  EXPECT_EQ(outcome.verdict, Verdict::kTrue) << outcome.error;
}

constexpr AnswerRow kFarOffsets[] = {
    {R"(timestamp("0001-01-01T00:00:00Z").getFullYear("2562047:47"))",
     R"({"t":"int","v":"293"})",
     2,
     1},
    {R"(timestamp("0001-01-01T00:00:00Z").getFullYear("2562047:48"))",
     R"({"t":"int","v":"-292"})",
     2,
     1},
    {R"(timestamp(0).getHours("99999999999:0"))", R"({"t":"int","v":"9"})", 2, 1},
};

TEST(CelTimeTest, OffsetsWrapAsGosDurationsDo) {
  ExpectAnswers(kFarOffsets);
}

}  // namespace
}  // namespace allot::cel
