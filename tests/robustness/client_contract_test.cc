// The client contract over the client in the server's process and the one over HTTPS.
#include "testing/client_contract.h"

#include "client/backend.h"
#include "client/http_client.h"
#include "client/kubeconfig.h"

namespace allot::testing {
namespace {

ClientKind Http(std::string name, client::Format format) {
  return {std::move(name), [format](apiserver::Server& server) -> std::unique_ptr<client::Client> {
            const auto config = client::ParseKubeconfig(server.AdminKubeconfig(), "admin", "");
            EXPECT_TRUE(config.has_value());
            auto made = client::HttpClient::Create(*config, "contract/1", {.format = format});
            EXPECT_TRUE(made.has_value());
            return *std::move(made);
          }};
}

ClientKind Local() {
  return {"Local", [](apiserver::Server& server) -> std::unique_ptr<client::Client> {
            return std::make_unique<client::LocalClient>(
                server.backend(), client::Identity{"admin", {"system:masters"}});
          }};
}

INSTANTIATE_TEST_SUITE_P(Clients,
                         ClientContract,
                         ::testing::Values(Local(),
                                           Http("HttpJson", client::Format::kJson),
                                           Http("HttpProtobuf", client::Format::kProtobuf)),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace allot::testing
