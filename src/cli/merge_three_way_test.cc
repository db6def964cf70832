#include "cli/merge_three_way.h"

#include <gtest/gtest.h>

#include "text/json.h"

namespace allot::cli {
namespace {

struct Case {
  const char* name;
  const char* last;
  const char* wanted;
  const char* live;
  const char* patch;
};

TEST(MergeThreeWayTest, PatchesWhatTheUserChanged) {
  const Case kCases[] = {
      {"nothing to do", R"({"a":1})", R"({"a":1})", R"({"a":1,"server":2})", "{}"},
      {"changed value", R"({"a":1})", R"({"a":2})", R"({"a":1})", R"({"a":2})"},
      {"drift is set back", R"({"a":1})", R"({"a":1})", R"({"a":5})", R"({"a":1})"},
      {"removed by the user",
       R"({"a":1,"b":2})",
       R"({"a":1})",
       R"({"a":1,"b":2})",
       R"({"b":null})"},
      {"removed by both", R"({"a":1,"b":2})", R"({"a":1})", R"({"a":1})", "{}"},
      {"fields of the server stay", "null", R"({"a":1})", R"({"a":1,"b":2})", "{}"},
      {"nested",
       R"({"m":{"x":1,"y":1}})",
       R"({"m":{"x":1}})",
       R"({"m":{"x":1,"y":1,"z":1}})",
       R"({"m":{"y":null}})"},
      {"defaulted list is not touched",
       R"({"l":[{"n":1}]})",
       R"({"l":[{"n":1}]})",
       R"({"l":[{"n":1,"d":true}]})",
       "{}"},
      {"changed list is sent whole",
       R"({"l":[1]})",
       R"({"l":[1,2]})",
       R"({"l":[1]})",
       R"({"l":[1,2]})"},
  };
  for (const Case& test : kCases) {
    const auto patch = MergeThreeWay(
        *text::ParseJson(test.last), *text::ParseJson(test.wanted), *text::ParseJson(test.live));
    EXPECT_EQ(text::ToJson(patch), test.patch) << test.name;
  }
}

}  // namespace
}  // namespace allot::cli
