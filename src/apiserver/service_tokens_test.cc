// Tests of the tokens of service accounts: whom they stand for, and when no longer.
#include "apiserver/service_tokens.h"

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/clock.h"

namespace allot::apiserver {
namespace {

class ServiceTokensTest : public testing::Test {
 protected:
  void SetUp() override {
    auto key = net::CreateSigningKey();
    ASSERT_TRUE(key.has_value()) << key.error().message();
    tokens_ = std::make_unique<ServiceTokens>(
        *std::move(key),
        clock_,
        [this](std::string_view kind, std::string_view ns, std::string_view name) {
          return uids_[std::string(kind) + " " + std::string(ns) + "/" + std::string(name)];
        });
    uids_["ServiceAccount ns/robot"] = "u1";
    uids_["Pod ns/p"] = "u2";
    claims_.audiences = {std::string(kTokenAudience)};
    claims_.ns = "ns";
    claims_.account = {"robot", "u1"};
    claims_.issued_at =
        std::chrono::floor<std::chrono::seconds>(clock_.Now().time_since_epoch()).count();
    claims_.expires_at = claims_.issued_at + 3600;
  }
  [[nodiscard]] std::string Token() const {
    auto token = tokens_->Issue(claims_);
    EXPECT_TRUE(token.has_value());
    return token ? *token : "";
  }

  base::FakeClock clock_;
  std::map<std::string, std::string> uids_;
  std::unique_ptr<ServiceTokens> tokens_;
  TokenClaims claims_;
};

TEST_F(ServiceTokensTest, EndAtOnceWithTheirAccount) {
  const std::string token = Token();
  const auto user = tokens_->Find(token);
  ASSERT_TRUE(user.has_value());
  EXPECT_EQ(user->name, "system:serviceaccount:ns:robot");
  uids_["ServiceAccount ns/robot"] = "";
  EXPECT_FALSE(tokens_->Find(token).has_value());
  uids_["ServiceAccount ns/robot"] = "u9";  // another account of that name
  EXPECT_FALSE(tokens_->Find(token).has_value());
}

TEST_F(ServiceTokensTest, EndWithWhatTheyAreBoundTo) {
  claims_.bound_kind = "Pod";
  claims_.bound = {"p", "u2"};
  const std::string token = Token();
  EXPECT_TRUE(tokens_->Find(token).has_value());
  uids_["Pod ns/p"] = "";
  EXPECT_FALSE(tokens_->Find(token).has_value());
}

TEST_F(ServiceTokensTest, EndInTime) {
  const std::string token = Token();
  clock_.Advance(std::chrono::seconds(3599));
  EXPECT_TRUE(tokens_->Find(token).has_value());
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_FALSE(tokens_->Find(token).has_value());
}

TEST_F(ServiceTokensTest, OthersAreRefused) {
  const std::string token = Token();
  EXPECT_FALSE(tokens_->Find("").has_value());
  EXPECT_FALSE(tokens_->Find("a.b.c").has_value());
  EXPECT_FALSE(tokens_->Find(token.substr(0, token.rfind('.'))).has_value());
  claims_.audiences = {"https://elsewhere"};
  EXPECT_FALSE(tokens_->Find(Token()).has_value());
}

}  // namespace
}  // namespace allot::apiserver
