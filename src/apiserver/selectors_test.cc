#include "apiserver/selectors.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace allot::apiserver {
namespace {

struct LabelCase {
  std::string name;
  std::string selector;
  bool matches;
  std::string error;
};

TEST(LabelSelectorTest, ParsesAndMatches) {
  const std::map<std::string, std::string, std::less<>> labels = {
      {"team", "x"}, {"tier", "1"}, {"in", "notin"}};
  const auto lookup = [&](std::string_view key) -> std::optional<std::string_view> {
    const auto found = labels.find(key);
    return found != labels.end() ? std::optional<std::string_view>(found->second) : std::nullopt;
  };
  const LabelCase cases[] = {
      {"empty", "", true, ""},
      {"equal", "team=x", true, ""},
      {"double equal", "team==y", false, ""},
      {"not equal", "team!=y", true, ""},
      {"not equal of a missing label", "owner!=y", true, ""},
      {"in", "team in (x, y)", true, ""},
      {"in nothing", "team in ()", false, ""},
      {"not in", "team notin (x)", false, ""},
      {"exists", "team", true, ""},
      {"does not exist", "!owner", true, ""},
      {"both", "team=x,tier=1", true, ""},
      {"greater", "tier>0", true, ""},
      {"less", "tier<1", false, ""},
      {"words as key and value", "in=notin", true, ""},
      {"empty value", "team=", false, ""},
      {"starts with an operator",
       "=x",
       false,
       "found '=', expected: !, identifier, or 'end of string'"},
      {"two words",
       "a b",
       false,
       "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
      {"comma at the end", "a,", false, "found '', expected: identifier after ','"},
      {"set not closed",
       "a in (b",
       false,
       "unable to parse requirement: found '', expected: ',' or ')'"},
      {"no set", "a in b", false, "unable to parse requirement: found 'b' expected: '('"},
  };
  for (const LabelCase& one : cases) {
    SCOPED_TRACE(one.name);
    const auto selector = LabelSelector::Parse(one.selector);
    if (!one.error.empty()) {
      ASSERT_FALSE(selector.has_value());
      EXPECT_EQ(selector.error().message(), one.error);
      continue;
    }
    ASSERT_TRUE(selector.has_value()) << selector.error().message();
    EXPECT_EQ(selector->Matches(lookup), one.matches);
  }
}

TEST(FieldSelectorTest, ParsesTermsAndEscapes) {
  const auto selector = FieldSelector::Parse("metadata.name=a,spec.nodeName!=n1,x=\\,\\=\\\\");
  ASSERT_TRUE(selector.has_value());
  ASSERT_EQ(selector->terms().size(), 3U);
  EXPECT_EQ(selector->terms()[0], (FieldSelector::Term{"metadata.name", "a", true}));
  EXPECT_EQ(selector->terms()[1], (FieldSelector::Term{"spec.nodeName", "n1", false}));
  EXPECT_EQ(selector->terms()[2].value, ",=\\");
  EXPECT_EQ(selector->Required("metadata.name"), "a");
  EXPECT_EQ(selector->Required("spec.nodeName"), std::nullopt);
}

TEST(FieldSelectorTest, RefusesWhatItCannotRead) {
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {
      {"metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"},
      {R"(\)", R"(invalid selector: '\'; can't understand '\')"},
      {R"(\q)", R"(invalid selector: '\q'; can't understand '\q')"},
      {R"(a\)", R"(invalid selector: 'a\'; can't understand 'a\')"},
      {R"(a=b\)", R"(invalid field selector: invalid escape sequence: \)"},
      {R"(a=b\q)", R"(invalid field selector: invalid escape sequence: \q)"},
      {R"(a=b\,c=d)", "invalid field selector: unescaped character in value: 61"},
  };
  for (const auto& [text, why] : kCases) {
    const auto selector = FieldSelector::Parse(text);
    ASSERT_FALSE(selector.has_value()) << text;
    EXPECT_EQ(selector.error().reason(), base::Reason::kBadRequest);
    EXPECT_EQ(selector.error().message(), why);
  }
}

}  // namespace
}  // namespace allot::apiserver
