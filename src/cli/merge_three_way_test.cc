#include "cli/merge_three_way.h"

#include <gtest/gtest.h>

#include "api/registry.h"
#include "text/json.h"

namespace allot::cli {
namespace {

using text::Value;

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
    const auto patch = MergeThreeWay(*text::ParseJson(test.last),
                                     *text::ParseJson(test.wanted),
                                     *text::ParseJson(test.live),
                                     nullptr);
    EXPECT_EQ(text::ToJson(patch), test.patch) << test.name;
  }
}

TEST(MergeThreeWayTest, ContainersAreMergedByName) {
  const Case kCases[] = {
      {"another image; what the server added stays",
       R"([{"name":"c","image":"a"}])",
       R"([{"name":"c","image":"b"}])",
       R"([{"name":"c","image":"a","volumeMounts":[{"name":"t","mountPath":"/t"}]}])",
       R"([{"name":"c","image":"b","volumeMounts":[{"name":"t","mountPath":"/t"}]}])"},
      {"nothing applied before: what others added stays",
       "null",
       R"([{"name":"c","image":"a"}])",
       R"([{"name":"c","image":"a","tty":true},{"name":"side","image":"s"}])",
       ""},
      {"an element taken out by the user goes",
       R"([{"name":"c","image":"a"},{"name":"d","image":"a"}])",
       R"([{"name":"c","image":"a"}])",
       R"([{"name":"c","image":"a"},{"name":"d","image":"a"},{"name":"side","image":"s"}])",
       R"([{"name":"c","image":"a"},{"name":"side","image":"s"}])"},
      {"a member taken out by the user goes",
       R"([{"name":"c","image":"a","tty":true}])",
       R"([{"name":"c","image":"a"}])",
       R"([{"name":"c","image":"a","tty":true,"stdin":true}])",
       R"([{"name":"c","image":"a","stdin":true}])"},
      {"lists in elements too",
       R"([{"name":"c","env":[{"name":"A","value":"1"}]}])",
       R"([{"name":"c","env":[{"name":"A","value":"2"}]}])",
       R"([{"name":"c","env":[{"name":"A","value":"1"},{"name":"B","value":"x"}]}])",
       R"([{"name":"c","env":[{"name":"A","value":"2"},{"name":"B","value":"x"}]}])"},
  };
  const auto spec = [](const char* list) {
    Value containers = *text::ParseJson(list);
    Value object = Value::Object();
    if (!containers.is_null()) {
      object["spec"].Set("containers", std::move(containers));
    }
    return object;
  };
  const auto* const pod = api::FindKind("", "v1", "Pod")->type;
  for (const Case& test : kCases) {
    const Value want = test.patch[0] != '\0' ? spec(test.patch) : Value::Object();
    EXPECT_EQ(text::ToJson(MergeThreeWay(spec(test.last), spec(test.wanted), spec(test.live), pod)),
              text::ToJson(want))
        << test.name;
  }
}

}  // namespace
}  // namespace allot::cli
