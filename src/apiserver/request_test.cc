// Tests of what is read from a request before anything is looked up: path, options, media types,
// continue tokens.
#include <string>

#include <gtest/gtest.h>

#include "apiserver/continue_token.h"
#include "apiserver/negotiate.h"
#include "apiserver/request_options.h"
#include "apiserver/request_path.h"

namespace allot::apiserver {
namespace {

struct PathCase {
  std::string path;
  bool resource;
  std::string group;
  std::string ns;
  std::string plural;
  std::string name;
  std::string sub;
};

TEST(RequestPathTest, Splits) {
  const PathCase cases[] = {
      {"/healthz", false, "", "", "", "", ""},
      {"/api/v1", false, "", "", "", "", ""},
      {"/apis/resource.k8s.io/v1", false, "", "", "", "", ""},
      {"/api/v1/pods", true, "", "", "pods", "", ""},
      {"/api/v1/nodes/n1/status", true, "", "", "nodes", "n1", "status"},
      {"/api/v1/namespaces", true, "", "", "namespaces", "", ""},
      {"/api/v1/namespaces/a", true, "", "a", "namespaces", "a", ""},
      {"/api/v1/namespaces/a/finalize", true, "", "a", "namespaces", "a", "finalize"},
      {"/api/v1/namespaces/a/pods/p/binding", true, "", "a", "pods", "p", "binding"},
      {"/apis/resource.k8s.io/v1/namespaces/a/resourceclaims/c/status",
       true,
       "resource.k8s.io",
       "a",
       "resourceclaims",
       "c",
       "status"},
  };
  for (const PathCase& one : cases) {
    SCOPED_TRACE(one.path);
    const RequestPath path = ParsePath(one.path);
    EXPECT_EQ(path.resource_request, one.resource);
    EXPECT_EQ(path.group, one.group);
    EXPECT_EQ(path.name_space, one.ns);
    EXPECT_EQ(path.resource, one.plural);
    EXPECT_EQ(path.name, one.name);
    EXPECT_EQ(path.subresource, one.sub);
  }
}

struct AcceptCase {
  std::string accept;
  Format format;
  Shape shape;
};

TEST(NegotiateTest, PicksTheFirstThatFits) {
  const AcceptCase cases[] = {
      {"", Format::kJson, Shape::kObject},
      {"*/*", Format::kJson, Shape::kObject},
      {"application/yaml", Format::kYaml, Shape::kObject},
      {"application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
       Format::kJson,
       Shape::kTable},
      {"application/json;as=Unknown;v=v1;g=meta.k8s.io,application/json",
       Format::kJson,
       Shape::kObject},
      {"application/vnd.kubernetes.protobuf,application/json", Format::kProtobuf, Shape::kObject},
      {"application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
       "application/json",
       Format::kProtobuf,
       Shape::kPartialList},
      {"application/json;q=0.5,application/yaml", Format::kYaml, Shape::kObject},
      {"text/html, application/json", Format::kJson, Shape::kObject},
  };
  for (const AcceptCase& one : cases) {
    SCOPED_TRACE(one.accept);
    const auto choice = NegotiateAnswer(one.accept, {});
    ASSERT_TRUE(choice.has_value());
    EXPECT_EQ(choice->format, one.format);
    EXPECT_EQ(choice->shape, one.shape);
  }
  const auto refused = NegotiateAnswer("text/csv", {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().reason(), base::Reason::kNotAcceptable);
}

TEST(NegotiateTest, KnowsAggregatedDiscovery) {
  EXPECT_TRUE(WantsAggregatedDiscovery(
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"));
  EXPECT_FALSE(WantsAggregatedDiscovery("application/json"));
  EXPECT_FALSE(WantsAggregatedDiscovery(
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/"
      "json"));
}

TEST(NegotiateTest, TheOldOpenApiIsForWhoNamesIt) {
  for (const std::string_view accept :
       {"application/com.github.proto-openapi.spec.v2@v1.0+protobuf",  // kubectl
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
        "application/json, application/com.github.proto-openapi.spec.v2@v1.0+protobuf;q=0.5"}) {
    EXPECT_TRUE(NamesOldOpenApi(accept)) << accept;
  }
  for (const std::string_view accept :
       {"", "*/*", "application/json", "application/com.github.proto-openapi.spec.v3"}) {
    EXPECT_FALSE(NamesOldOpenApi(accept)) << accept;
  }
}

struct ListCase {
  std::string query;
  std::string error;  // "" = accepted
};

TEST(RequestOptionsTest, ChecksListOptions) {
  const ListCase cases[] = {
      {"limit=500&labelSelector=a%3Db", ""},
      {"limit=-1", ""},
      {"limit=x", "strconv.ParseInt: parsing \"x\": invalid syntax"},
      {"resourceVersion=abc",
       "invalid resource version: resourceVersion: Invalid value: \"abc\": strconv.ParseUint: "
       "parsing \"abc\": invalid syntax"},
      {"watch=1&resourceVersion=abc",
       "resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid "
       "syntax"},
      {"resourceVersionMatch=Exact",
       "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
       "resourceVersionMatch is forbidden unless resourceVersion is provided"},
      {"resourceVersion=0&resourceVersionMatch=Exact",
       "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
       "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""},
      {"sendInitialEvents=true",
       "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents "
       "is forbidden for list"},
      {"watch=true&sendInitialEvents=true",
       "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
       "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"},
      {"watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", ""},
      {"continue=abc&resourceVersion=5",
       "specifying resource version is not allowed when using continue"},
  };
  for (const ListCase& one : cases) {
    SCOPED_TRACE(one.query);
    const auto options = ReadListOptions(net::QueryParameters::Parse(one.query));
    EXPECT_EQ(options ? std::string() : options.error().message(), one.error);
  }
}

TEST(RequestOptionsTest, ChecksChangeOptions) {
  const ListCase cases[] = {
      {"dryRun=All&fieldValidation=Strict&fieldManager=me", ""},
      {"dryRun=Some",
       "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"Some\"]: "
       "supported "
       "values: \"All\""},
      {"fieldValidation=Perhaps",
       "CreateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: "
       "\"Perhaps\": "
       "supported values: \"\", \"Ignore\", \"Strict\", \"Warn\""},
  };
  for (const ListCase& one : cases) {
    SCOPED_TRACE(one.query);
    const auto options =
        ReadChangeOptions(net::QueryParameters::Parse(one.query), OptionsKind::kCreate);
    EXPECT_EQ(options ? std::string() : options.error().message(), one.error);
  }
}

TEST(ContinueTokenTest, RoundTripAndRefusals) {
  const ContinueToken token{42, "ns/name"};
  const auto read = ContinueToken::Decode(token.Encode());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->revision, 42);
  EXPECT_EQ(read->start, "ns/name");
  const auto bad = ContinueToken::Decode("abc");
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().message(),
            "invalid continue token: continue key is not valid: invalid character 'i' looking for "
            "beginning of value");
  EXPECT_FALSE(ContinueToken::Decode("!!").has_value());
  EXPECT_FALSE(ContinueToken::Decode("").has_value());
}

}  // namespace
}  // namespace allot::apiserver
