#include "api/names.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace allot::api {
namespace {

struct NameCase {
  std::string_view name;
  Problems (*check)(std::string_view);
  std::string text;
  std::size_t problems;
};

class NamesTest : public testing::TestWithParam<NameCase> {};

TEST_P(NamesTest, CountsProblems) {
  const Problems problems = GetParam().check(GetParam().text);
  EXPECT_EQ(problems.size(), GetParam().problems) << (problems.empty() ? "" : problems.front());
}

Problems Label(std::string_view text) {
  return DnsLabelProblems(text);
}
Problems Subdomain(std::string_view text) {
  return DnsSubdomainProblems(text);
}

INSTANTIATE_TEST_SUITE_P(All,
                         NamesTest,
                         testing::ValuesIn(std::vector<NameCase>{
                             {"label", &Label, "a-1", 0},
                             {"label_empty", &Label, "", 1},
                             {"label_upper", &Label, "A", 1},
                             {"label_dash_end", &Label, "a-", 1},
                             {"label_dots", &Label, "a.b", 1},
                             {"label_63", &Label, std::string(63, 'a'), 0},
                             {"label_64", &Label, std::string(64, 'a'), 1},
                             {"subdomain", &Subdomain, "a.b-c.d", 0},
                             {"subdomain_empty_part", &Subdomain, "a..b", 1},
                             {"subdomain_254", &Subdomain, std::string(254, 'a'), 1},
                             {"caseless", &DnsSubdomainCaselessProblems, "A.Example.com", 0},
                             {"key", &QualifiedNameProblems, "example.com/My_name.1", 0},
                             {"key_plain", &QualifiedNameProblems, "app", 0},
                             {"key_empty", &QualifiedNameProblems, "", 2},
                             {"key_two_slashes", &QualifiedNameProblems, "a/b/c", 1},
                             {"key_empty_prefix", &QualifiedNameProblems, "/x", 1},
                             {"key_bad_prefix", &QualifiedNameProblems, "A_/x", 1},
                             {"value_empty", &LabelValueProblems, "", 0},
                             {"value_space", &LabelValueProblems, "a b", 1},
                             {"identifier", &CIdentifierProblems, "_a1", 0},
                             {"identifier_digit", &CIdentifierProblems, "1a", 1},
                             {"env", &EnvVarNameProblems, "a.b-c d", 0},
                             {"env_equals", &EnvVarNameProblems, "a=b", 1},
                             {"config_key", &ConfigMapKeyProblems, "a.b", 0},
                             {"config_key_dots", &ConfigMapKeyProblems, "..", 1},
                             {"port_name", &PortNameProblems, "http-1", 0},
                             {"port_name_digits", &PortNameProblems, "123", 1},
                             {"port_name_double_dash", &PortNameProblems, "a--b", 1},
                             {"segment", &PathSegmentProblems, "a%/b", 2},
                         }),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(NamesTest, ProblemTextsAreUpstreams) {
  EXPECT_EQ(DnsLabelProblems("a.b"), Problems{"must not contain dots"});
  EXPECT_EQ(
      DnsLabelProblems("A").front(),
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
      "must "
      "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
      "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
}

TEST(NamesTest, GeneratedNamesMayEndInADash) {
  EXPECT_TRUE(ObjectNameProblems(NameRule::kDnsSubdomain, "pre-", /*prefix=*/true).empty());
  EXPECT_FALSE(ObjectNameProblems(NameRule::kDnsSubdomain, "pre-", /*prefix=*/false).empty());
}

TEST(NamesTest, Semver) {
  for (const std::string_view good :
       {"1.0.0", "0.1.2", "1.2.3-alpha.1", "1.2.3+build.01", "1.0.0-0.x-y+z"}) {
    EXPECT_TRUE(IsSemver(good)) << good;
  }
  for (const std::string_view bad :
       {"", "1", "1.2", "1.2.3.4", "01.2.3", "v1.2.3", "1.2.3-", "1.2.3-01", "1.2.3+", "1..3"}) {
    EXPECT_FALSE(IsSemver(bad)) << bad;
  }
}

TEST(NamesTest, Uuids) {
  EXPECT_TRUE(IsLowercaseUuid("6f1c6a52-6f0e-4e53-9c5b-3d1f7d7c8a01"));
  EXPECT_FALSE(IsLowercaseUuid("6F1C6A52-6f0e-4e53-9c5b-3d1f7d7c8a01"));
  EXPECT_FALSE(IsLowercaseUuid("x"));
}

}  // namespace
}  // namespace allot::api
