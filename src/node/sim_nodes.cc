#include "node/sim_nodes.h"

#include <algorithm>

#include "api/coordination/v1.gen.h"
#include "api/core/v1.gen.h"
#include "api/version.h"
#include "client/typed.h"
#include "quantity/quantity.h"
#include "quantity/time.h"

namespace allot::node {
namespace {

using api::coordination::Lease;
using api::core::Node;
using std::chrono::milliseconds;

constexpr std::string_view kLeaseNamespace = "kube-node-lease";
constexpr std::int32_t kLeaseSeconds = 40;
constexpr std::size_t kBeatsPerSecond = 200;  // most renewals a second over all nodes
constexpr milliseconds kLeastPeriod{10'000};
constexpr milliseconds kMostPeriod{40'000};
constexpr milliseconds kBeatStep{250};

std::string Address(std::size_t index) {
  return "10." + std::to_string(index / 65536 % 64) + "." + std::to_string(index / 256 % 256) +
         "." + std::to_string(index % 256);
}

void FillStatus(schema::Draft<Node>& draft,
                const NodeSpec& spec,
                std::size_t index,
                const quantity::Time& now) {
  auto& status = draft->status;
  status.capacity = {};
  for (const auto& [name, text] : spec.capacity) {
    draft.Put(status.capacity,
              draft.Copy(name),
              quantity::ParseQuantity(text).value_or(quantity::Quantity()));
  }
  status.allocatable = status.capacity;
  struct Row {
    std::string_view type, status, reason, message;
  };
  constexpr Row kConditions[] = {
      {"MemoryPressure",
       "False",
       "KubeletHasSufficientMemory",
       "kubelet has sufficient memory available"},
      {"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
      {"PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
      {"Ready", "True", "KubeletReady", "the simulated node agent is ready"},
  };
  status.conditions = {};
  auto* const conditions = draft.MutableList(status.conditions, std::size(kConditions));
  for (std::size_t i = 0; i < std::size(kConditions); ++i) {
    conditions[i] = {.type = kConditions[i].type,
                     .status = kConditions[i].status,
                     .last_heartbeat_time = now,
                     .last_transition_time = now,
                     .reason = kConditions[i].reason,
                     .message = kConditions[i].message};
  }
  status.addresses = {};
  auto* const addresses = draft.MutableList(status.addresses, 2);
  addresses[0] = {.type = "InternalIP", .address = draft.Copy(Address(index))};
  addresses[1] = {.type = "Hostname", .address = draft.Copy(spec.name)};
  status.node_info.architecture = "amd64";
  status.node_info.operating_system = "linux";
  status.node_info.os_image = "allot simulated node";
  status.node_info.kernel_version = "6.1.0-sim";
  status.node_info.container_runtime_version = "allot-sim://0.1.0";
  status.node_info.kubelet_version = api::kKubernetesVersion;
}

}  // namespace

SimNodes::SimNodes(client::Client& client, client::Loop& loop, telemetry::Logger log)
    : client_(client), loop_(loop), log_(std::move(log)) {}

base::Result<std::vector<std::string>> SimNodes::Register(const std::vector<NodeSpec>& nodes) {
  for (const NodeSpec& spec : nodes) {
    ALLOT_ASSIGN_OR_RETURN(std::string uid, RegisterOne(spec, names_.size() + 1));
    indexes_.emplace(spec.name, names_.size() + 1);
    names_.push_back(spec.name);
    uids_.push_back(std::move(uid));
    leases_.push_back(0);
  }
  return uids_;
}

base::Result<std::string> SimNodes::RegisterOne(const NodeSpec& spec, std::size_t index) {
  const quantity::Time now = quantity::ToTime(loop_.clock().Now());
  schema::Draft<Node> draft;
  draft->metadata.name = draft.Copy(spec.name);
  for (const auto& [key, value] : spec.labels) {
    draft.Put(draft->metadata.labels, draft.Copy(key), draft.Copy(value));
  }
  draft.Put(draft->metadata.labels, schema::Str("kubernetes.io/hostname"), draft.Copy(spec.name));
  draft.Put(draft->metadata.labels, schema::Str("kubernetes.io/os"), schema::Str("linux"));
  draft.Put(draft->metadata.labels, schema::Str("kubernetes.io/arch"), schema::Str("amd64"));
  auto* const taints = draft.MutableList(draft->spec.taints, spec.taints.size());
  for (std::size_t i = 0; i < spec.taints.size(); ++i) {
    taints[i] = {.key = draft.Copy(spec.taints[i].key),
                 .value = draft.Copy(spec.taints[i].value),
                 .effect = draft.Copy(spec.taints[i].effect)};
  }
  if (spec.taints.empty()) {
    draft->spec.taints = {};
  }
  FillStatus(draft, spec, index, now);
  const auto created = client::Create(client_, draft, {.ack = client::Ack::kSequenced});
  if (created) {
    return std::string((*created)->metadata.uid);
  }
  if (created.error().reason() != base::Reason::kAlreadyExists) {
    return base::Error(created.error());
  }
  ALLOT_ASSIGN_OR_RETURN(const auto existing, client::Get<Node>(client_, "", spec.name));
  schema::Draft<Node> update(existing.view);
  FillStatus(update, spec, index, now);
  ALLOT_RETURN_IF_ERROR(client::UpdateStatus(client_, update, {.ack = client::Ack::kSequenced}));
  return std::string(existing->metadata.uid);
}

void SimNodes::StartHeartbeats() {
  if (!names_.empty()) {
    Beat();
  }
}

void SimNodes::Beat() {
  const milliseconds period =
      std::clamp(milliseconds(1000 * names_.size() / kBeatsPerSecond), kLeastPeriod, kMostPeriod);
  const auto steps = static_cast<std::size_t>(period / kBeatStep);
  const std::size_t share =
      (names_.size() + steps - 1) / steps;  // renewals spread evenly over the period
  for (std::size_t i = 0; i < share; ++i, ++next_beat_) {
    const std::size_t at = next_beat_ % names_.size();
    if (const auto renewed = Renew(at); !renewed) {
      leases_[at] = 0;  // read it again next time
      log_.Warning("cannot renew a node lease",
                   {{"node", names_[at]}, telemetry::Field(renewed.error())});
    }
  }
  loop_.After(kBeatStep, [this] { Beat(); });
}

base::Result<void> SimNodes::Renew(std::size_t at) {
  schema::Draft<Lease> lease;
  lease->metadata.namespace_ = kLeaseNamespace;
  lease->metadata.name = names_[at];
  auto* const owner = lease.MutableList(lease->metadata.owner_references, 1);
  owner[0].api_version = "v1";
  owner[0].kind = "Node";
  owner[0].name = names_[at];
  owner[0].uid = uids_[at];
  lease.Set(lease->spec.holder_identity, schema::Str(names_[at]));
  lease.Set(lease->spec.lease_duration_seconds, kLeaseSeconds);
  lease.Set(lease->spec.renew_time, quantity::ToTime(loop_.clock().Now()));
  client::WriteOptions options{.ack = client::Ack::kSequenced};
  if (leases_[at] == 0) {
    const auto created = client::Create(client_, lease, options);
    if (created) {
      leases_[at] = created->revision();
      return {};
    }
    if (created.error().reason() != base::Reason::kAlreadyExists) {
      return base::Error(created.error());
    }
    ALLOT_ASSIGN_OR_RETURN(const auto existing,
                           client::Get<Lease>(client_, kLeaseNamespace, names_[at]));
    leases_[at] = existing.revision();
  }
  options.preconditions.revision = leases_[at];
  ALLOT_ASSIGN_OR_RETURN(const auto updated, client::Update(client_, lease, options));
  leases_[at] = updated.revision();
  return {};
}

std::string SimNodes::AddressOf(std::string_view node) const {
  const auto found = indexes_.find(node);
  return found == indexes_.end() ? std::string() : Address(found->second);
}

}  // namespace allot::node
