// Times and time zones: answers of cel-go v0.29.2 in the environment of Kubernetes 1.37.2.
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

}  // namespace
}  // namespace allot::cel
