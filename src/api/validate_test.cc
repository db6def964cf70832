#include "api/validate.h"

#include <string_view>

#include <gtest/gtest.h>

#include "api/registry.h"
#include "api/resource/v1.gen.h"

namespace allot::api {
namespace {

TEST(PathTest, Renders) {
  const Path spec("spec");
  const Path devices = spec.Child("devices");
  const Path request = devices.Item("requests", 3);
  EXPECT_EQ(request.Child("name").ToString(), "spec.devices.requests[3].name");
  EXPECT_EQ(spec.Item("attributes", "a.b/c").ToString(), "spec.attributes[a.b/c]");
  EXPECT_EQ(request.Index(1).ToString(), "spec.devices.requests[3][1]");
  EXPECT_EQ(Path("").ToString(), "[]");
}

TEST(QuoteTest, EscapesAsGoDoes) {
  EXPECT_EQ(Quote("a\"b\\c\n\t"), R"("a\"b\\c\n\t")");
  EXPECT_EQ(Quote(std::string_view("\x00\x7f", 2)), R"("\x00\x7f")");
  EXPECT_EQ(Quote("\xc3\xa9"), "\"\xc3\xa9\"");
  EXPECT_EQ(Quote("\xff"), R"("\xff")");
  EXPECT_EQ(Quote("\xe2\x80\x8b"), R"("\u200b")");
}

TEST(FieldErrorsTest, MessagesHaveUpstreamsForm) {
  const Path at("f");
  FieldErrors errors;
  errors.Required(at, "why");
  errors.Invalid(at, std::int64_t{-1}, "must be greater than zero");
  errors.TooLong(at, 64);
  errors.TooMany(at, 33, 32);
  errors.Duplicate(at, "x");
  constexpr std::string_view kTwo[] = {"All", "ExactCount"};
  errors.NotSupported(at, "Some", kTwo);
  const std::string_view want[] = {
      "f: Required value: why",
      "f: Invalid value: -1: must be greater than zero",
      "f: Too long: may not be more than 64 bytes",
      "f: Too many: 33: must have at most 32 items",
      "f: Duplicate value: \"x\"",
      "f: Unsupported value: \"Some\": supported values: \"All\", \"ExactCount\""};
  ASSERT_EQ(errors.size(), std::size(want));
  for (std::size_t i = 0; i < std::size(want); ++i) {
    EXPECT_EQ(errors.list()[i].ToString(), want[i]);
  }
}

TEST(ToStatusTest, NamesKindAndCausesOnce) {
  FieldErrors errors;
  errors.Required(Path("a"));
  const base::Status one = ToStatus("resource.k8s.io", "ResourceClaim", "c", errors);
  EXPECT_EQ(one.message(), "ResourceClaim.resource.k8s.io \"c\" is invalid: a: Required value");
  EXPECT_EQ(one.code(), 422);
  errors.Required(Path("b"));
  errors.Required(Path("a"));
  const base::Status two = ToStatus("", "Pod", "p", errors);
  EXPECT_EQ(two.message(), "Pod \"p\" is invalid: [a: Required value, b: Required value]");
  ASSERT_EQ(two.details()->causes.size(), 2U);
  EXPECT_EQ(two.details()->causes[0].reason, "FieldValueRequired");
}

TEST(RegistryTest, FindsKinds) {
  const KindInfo* const claims = FindResource("resource.k8s.io", "v1", "resourceclaims");
  ASSERT_NE(claims, nullptr);
  EXPECT_EQ(claims->kind, "ResourceClaim");
  EXPECT_EQ(claims->api_version, "resource.k8s.io/v1");
  EXPECT_EQ(claims->qualified_resource, "resourceclaims.resource.k8s.io");
  EXPECT_NE(claims->FindSubresource("status"), nullptr);
  EXPECT_TRUE(claims->HasVerb("deletecollection"));
  EXPECT_EQ(FindKind("", "v1", "Pod"), FindType(*FindResource("", "v1", "pods")->type));
  EXPECT_EQ(FindResource("", "v1", "nosuch"), nullptr);
}

}  // namespace
}  // namespace allot::api
