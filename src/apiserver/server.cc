#include "apiserver/server.h"

#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/version.h"
#include "apiserver/bootstrap.h"
#include "apiserver/discovery.h"
#include "apiserver/handler.h"
#include "apiserver/local_backend.h"
#include "apiserver/openapi.h"
#include "apiserver/pki.h"
#include "apiserver/registry.h"
#include "apiserver/resources.h"
#include "apiserver/service_tokens.h"
#include "apiserver/watch_hub.h"
#include "apiserver/wire.h"
#include "base/random.h"
#include "client/kubeconfig.h"
#include "net/http_server.h"
#include "net/loop.h"
#include "net/tls.h"
#include "schema/codec.h"
#include "store/local_store.h"

namespace allot::apiserver {
namespace {

using base::Reason;
using base::Result;
using base::Status;

constexpr std::chrono::milliseconds kGrace{300};
constexpr std::chrono::milliseconds kMostGrace{1000};

/// The type of the objects stored under a path, null when this server knows none.
const schema::TypeDesc* StoredTypeOf(std::string_view path) {
  for (const api::KindInfo& info : api::Kinds()) {
    if (info.resource == path && info.group != "events.k8s.io" &&
        api::FindStrategy(*info.type) != nullptr) {
      return info.type;
    }
  }
  return nullptr;
}

/// Makes the record of a row that was read at start.
Result<store::Value> ReviveRow(std::string_view path,
                               std::string_view key,
                               store::Revision revision,
                               const store::Value& raw) {
  const schema::TypeDesc* const type = StoredTypeOf(path);
  if (type == nullptr) {
    return base::Error(
        Reason::kInternalError,
        fmt::format("the store holds {} objects, which this version does not know", path));
  }
  base::Arena arena;
  api::meta::PartialObjectMetadata partial;  // metadata has the same number in every kind
  ALLOT_RETURN_IF_ERROR(schema::DecodeProtobuf(
      api::Desc<api::meta::PartialObjectMetadata>(), raw.bytes(), arena, &partial));
  (void)key;
  const base::Ref<const schema::Object> object = schema::Object::Make(
      {type, partial.metadata.namespace_, partial.metadata.name, partial.metadata.uid},
      raw.bytes(),
      revision);
  return store::Value::Of(object);
}

std::string VersionJson(std::string_view version) {
  return fmt::format(
      R"({{"major":"1","minor":"{0}","emulationMajor":"1","emulationMinor":"{0}","minCompatibilityMajor":"1","minCompatibilityMinor":"{1}","gitVersion":"{2}","gitCommit":"","gitTreeState":"clean","buildDate":"1970-01-01T00:00:00Z","goVersion":"","compiler":"clang","platform":"linux/amd64"}})"
      "\n",
      api::kKubernetesMinor,
      api::kOldestCompatibleMinor,
      version);
}

std::string ErrorBody(int code, std::string_view message) {
  Reason reason = Reason::kBadRequest;
  switch (code) {
    case 413: reason = Reason::kRequestEntityTooLarge; break;
    case 429: reason = Reason::kTooManyRequests; break;
    case 503: reason = Reason::kServiceUnavailable; break;
    case 500: reason = Reason::kInternalError; break;
    default: break;
  }
  Status status(reason, std::string(message));
  status.set_code(code);
  return StatusJson(status);
}

class ServerImpl final : public Server {
 public:
  explicit ServerImpl(ServerOptions options)
      : options_(std::move(options)), random_(base::Random::OsSeed()) {}
  ~ServerImpl() override { ServerImpl::Stop(); }

  Result<void> Begin();
  void Stop() override;

  std::string url() const override { return fmt::format("https://{}", address_); }
  std::uint16_t port() const override { return port_; }
  const std::string& ca_pem() const override { return pki_.ca().certificate_pem; }
  std::string AdminKubeconfig() const override { return Kubeconfig(pki_.admin(), kAdminUser); }
  client::Backend& backend() override { return *backend_; }
  const api::GateSet& gates() const override { return gates_; }
  telemetry::Registry& metrics() override { return *metrics_; }
  store::Store& store() override { return *store_; }

 private:
  Result<void> OpenStore();
  Result<void> Listen();
  void RegisterMetrics();
  /// The uid of a core object; empty when there is none.
  [[nodiscard]] std::string UidOf(std::string_view kind,
                                  std::string_view ns,
                                  std::string_view name) const;
  [[nodiscard]] std::string Kubeconfig(const net::KeyPair& pair, std::string_view user) const;
  /// Runs a task on the loop thread and waits for it.
  void OnLoop(std::function<void()> task);

  ServerOptions options_;
  base::Random random_;
  std::unique_ptr<telemetry::Registry> own_metrics_;
  telemetry::Registry* metrics_ = nullptr;
  api::GateSet gates_;
  Pki pki_;
  std::string address_;
  std::uint16_t port_ = 0;
  std::unique_ptr<store::Store> store_;
  std::optional<ResourceSet> resources_;
  std::optional<Registry> registry_;
  std::unique_ptr<ServiceTokens> service_tokens_;
  std::optional<Authenticator> authenticator_;
  std::optional<Authorizer> authorizer_;
  std::unique_ptr<LocalBackend> backend_;
  std::unique_ptr<Discovery> discovery_;
  std::unique_ptr<OpenApi> openapi_;
  std::unique_ptr<net::LoopThread> loop_;
  // Made and destroyed on the loop thread.
  std::unique_ptr<WatchHub> hub_;
  std::unique_ptr<Handler> handler_;
  std::unique_ptr<net::Server> server_;
  std::unique_ptr<telemetry::ThreadCpuScope> cpu_;
};

void ServerImpl::OnLoop(std::function<void()> task) {
  std::promise<void> done;
  const bool posted = loop_->loop().Post([&] {
    task();
    done.set_value();
  });
  if (posted) {
    done.get_future().wait();
  }
}

Result<void> ServerImpl::OpenStore() {
  store::LocalOptions local;
  local.revive =
      [](std::string_view path, std::string_view key, store::Revision revision, store::Value raw) {
        return ReviveRow(path, key, revision, raw);
      };
  local.logger = options_.logger.Named("store");
  local.metrics = metrics_;
  local.clock = options_.clock;
  std::unique_ptr<store::Log> log;
  if (options_.data_dir.empty()) {
    log = store::MakeMemoryLog();
  } else {
    store::SqliteOptions sqlite;
    sqlite.directory = options_.data_dir;
    sqlite.logger = options_.logger.Named("store");
    ALLOT_ASSIGN_OR_RETURN(log, store::OpenSqliteLog(sqlite));
  }
  ALLOT_ASSIGN_OR_RETURN(store_, store::OpenLocal(std::move(log), std::move(local)));
  return {};
}

Result<void> ServerImpl::Begin() {
  metrics_ = options_.metrics;
  if (metrics_ == nullptr) {
    own_metrics_ = std::make_unique<telemetry::Registry>();
    metrics_ = own_metrics_.get();
  }
  ALLOT_RETURN_IF_ERROR(gates_.Parse(options_.feature_gates));
  ALLOT_ASSIGN_OR_RETURN(const RuntimeConfig config, RuntimeConfig::Parse(options_.runtime_config));
  ALLOT_RETURN_IF_ERROR(OpenStore());
  ALLOT_ASSIGN_OR_RETURN(ResourceSet resources, ResourceSet::Make(*store_, gates_, config));
  resources_ = std::move(resources);
  std::vector<std::string> names = net::ApiServerNames(options_.listen_address);
  names.insert(names.end(), options_.extra_names.begin(), options_.extra_names.end());
  ALLOT_ASSIGN_OR_RETURN(pki_, Pki::Load(options_.data_dir, names, options_.clock->Now()));
  registry_.emplace(*store_, *resources_, gates_, *options_.clock, random_);
  service_tokens_ = std::make_unique<ServiceTokens>(
      pki_.token_key(),
      *options_.clock,
      [this](std::string_view kind, std::string_view ns, std::string_view name) {
        return UidOf(kind, ns, name);
      });
  authenticator_.emplace(
      std::vector<StaticToken>{{pki_.admin_token(),
                                {std::string(kAdminUser),
                                 "",
                                 {std::string(kMastersGroup), std::string(kAuthenticatedGroup)},
                                 {}}}},
      service_tokens_.get());
  authorizer_.emplace(options_.component_users);
  discovery_ = std::make_unique<Discovery>(*resources_);
  openapi_ = std::make_unique<OpenApi>(*resources_, options_.version);
  backend_ = std::make_unique<LocalBackend>(*registry_, *authorizer_);
  ALLOT_RETURN_IF_ERROR(Bootstrap(*registry_));
  RegisterMetrics();
  return Listen();
}

Result<void> ServerImpl::Listen() {
  ALLOT_ASSIGN_OR_RETURN(const std::shared_ptr<const net::TlsContext> tls,
                         net::TlsContext::Server({.certificate_pem = pki_.server().certificate_pem,
                                                  .key_pem = pki_.server().key_pem,
                                                  .client_ca_pem = pki_.ca().certificate_pem}));
  loop_ = std::make_unique<net::LoopThread>("net", *options_.clock);
  Result<void> result;
  OnLoop([&] {
    net::Loop& loop = loop_->loop();
    cpu_ = std::make_unique<telemetry::ThreadCpuScope>(*metrics_, "net");
    hub_ = std::make_unique<WatchHub>(*store_, loop, *options_.clock, *metrics_);
    hub_->SetOldest(store_->durable());
    handler_ =
        std::make_unique<Handler>(HandlerParts{.registry = *registry_,
                                               .hub = *hub_,
                                               .loop = loop,
                                               .authenticator = *authenticator_,
                                               .service_tokens = *service_tokens_,
                                               .authorizer = *authorizer_,
                                               .discovery = *discovery_,
                                               .openapi = *openapi_,
                                               .random = random_,
                                               .metrics = *metrics_,
                                               .logger = options_.logger.Named("apiserver"),
                                               .version_json = VersionJson(options_.version)});
    net::ServerOptions http;
    http.address = options_.listen_address;
    http.port = options_.port;
    http.tls = tls;
    http.limits.streams_per_connection = 1000;
    http.error_body = ErrorBody;
    auto created = net::Server::Create(
        loop,
        std::move(http),
        [this](std::unique_ptr<net::Request> request, std::shared_ptr<net::ResponseWriter> writer) {
          handler_->Handle(std::move(request), std::move(writer));
        });
    if (!created) {
      result = base::Error(created.error());
      return;
    }
    server_ = *std::move(created);
    port_ = server_->port();
    address_ = server_->address();
  });
  ALLOT_RETURN_IF_ERROR(std::move(result));
  // Clients of this machine reach a server that listens everywhere through the loopback.
  if (address_.starts_with("0.0.0.0:") || address_.starts_with("[::]:")) {
    address_ = fmt::format("127.0.0.1:{}", port_);
  }
  return {};
}

void ServerImpl::RegisterMetrics() {
  for (const api::GateInfo& gate : api::Gates()) {
    metrics_
        ->GetGauge(
            "kubernetes_feature_enabled",
            "Whether a feature gate is on.",
            {{"name", std::string(gate.name)}, {"stage", std::string(api::StageText(gate.stage))}})
        .Set(gates_.Enabled(gate.name) ? 1 : 0);
  }
}

std::string ServerImpl::UidOf(std::string_view kind,
                              std::string_view ns,
                              std::string_view name) const {
  const api::KindInfo* const info = api::FindKind("", "v1", kind);
  const Resource* const resource =
      info != nullptr ? resources_->Find("", "v1", info->resource) : nullptr;
  const auto entry =
      resource != nullptr ? registry_->Get(*resource, info->namespaced ? ns : "", name) : nullptr;
  return entry ? std::string(ObjectOf(*entry)->uid()) : std::string();
}

std::string ServerImpl::Kubeconfig(const net::KeyPair& pair, std::string_view user) const {
  client::ClientConfig config;
  config.server = url();
  config.ca_pem = pki_.ca().certificate_pem;
  config.certificate_pem = pair.certificate_pem;
  config.key_pem = pair.key_pem;
  return client::FormatKubeconfig(config, user);
}

void ServerImpl::Stop() {
  if (backend_ != nullptr) {
    backend_->Stop();
  }
  if (loop_ != nullptr) {
    std::promise<void> ended;
    OnLoop([&] {
      if (server_ == nullptr) {
        ended.set_value();
        return;
      }
      handler_->BeginShutdown();
      hub_->CloseAll();
      server_->Shutdown(kGrace, [&] { ended.set_value(); });
    });
    ended.get_future().wait_for(kMostGrace);
  }
  if (store_ != nullptr) {
    store_->Stop();
  }
  if (loop_ != nullptr) {
    OnLoop([&] {
      server_.reset();
      handler_.reset();
      hub_.reset();
      cpu_.reset();
    });
    loop_->StopAndJoin();
    loop_.reset();
  }
  backend_.reset();
}

}  // namespace

Result<std::unique_ptr<Server>> Server::Start(ServerOptions options) {
  auto server = std::make_unique<ServerImpl>(std::move(options));
  ALLOT_RETURN_IF_ERROR(server->Begin());
  return server;
}

}  // namespace allot::apiserver
