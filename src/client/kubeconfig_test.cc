#include "client/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace allot::client {
namespace {

using testing::HasSubstr;

constexpr const char* kGood = R"(
apiVersion: v1
kind: Config
current-context: a
clusters:
- name: c
  cluster: {server: "https://h:1", certificate-authority-data: Y2E=}
- name: bad
  cluster: {server: "h:1"}
users:
- name: u
  user: {token: t}
- name: e
  user: {exec: {command: aws}}
- name: half
  user: {client-certificate-data: Y2E=}
- name: b64
  user: {client-certificate-data: "*"}
contexts:
- name: a
  context: {cluster: c, user: u, namespace: team}
- name: no-cluster
  context: {cluster: x, user: u}
- name: no-user
  context: {cluster: c, user: x}
- name: bad-server
  context: {cluster: bad, user: u}
- name: exec
  context: {cluster: c, user: e}
- name: half
  context: {cluster: c, user: half}
- name: b64
  context: {cluster: c, user: b64}
)";

TEST(KubeconfigTest, ReadsTheCurrentContext) {
  const auto config = ParseKubeconfig(kGood, "k", "");
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->server, "https://h:1");
  EXPECT_EQ(config->ca_pem, "ca");
  EXPECT_EQ(config->token, "t");
  EXPECT_EQ(config->namespace_, "team");
}

TEST(KubeconfigTest, ErrorsNameFileFieldAndWhatIsThere) {
  const std::pair<const char*, const char*> kCases[] = {
      {"nope", "k: context \"nope\" does not exist; contexts: a, no-cluster"},
      {"no-cluster", "names cluster \"x\", which does not exist; clusters: c, bad"},
      {"no-user", "names user \"x\", which does not exist; users: u"},
      {"bad-server", "k: clusters[bad].server: found \"h:1\", expected a URL"},
      {"exec", "k: users[e].exec: not supported"},
      {"half", "client-certificate and client-key must be given together"},
      {"b64", "k: users[b64].client-certificate-data: not valid base64"},
  };
  for (const auto& [context, message] : kCases) {
    const auto config = ParseKubeconfig(kGood, "k", "", {.context = context});
    ASSERT_FALSE(config) << context;
    EXPECT_THAT(config.error().message(), HasSubstr(message));
  }
  EXPECT_FALSE(ParseKubeconfig("kind: Pod", "k", ""));
  EXPECT_FALSE(ParseKubeconfig("a: [", "k", ""));
}

TEST(KubeconfigTest, WhatIsWrittenIsReadBack) {
  const ClientConfig config{.server = "https://h:1",
                            .ca_pem = "ca\nx",
                            .certificate_pem = "cert",
                            .key_pem = std::string("\0\xff k", 4),
                            .namespace_ = "n"};
  const auto read = ParseKubeconfig(FormatKubeconfig(config, "allot"), "k", "");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->ca_pem, config.ca_pem);
  EXPECT_EQ(read->key_pem, config.key_pem);
  EXPECT_EQ(read->namespace_, "n");
  EXPECT_EQ(read->context, "allot");
}

}  // namespace
}  // namespace allot::client
