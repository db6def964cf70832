#include "node/pod_agent.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/object_key.h"
#include "api/pod_claims.h"
#include "schema/codec.h"

namespace allot::node {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kFirstRetry{500};
constexpr int kTries = 5;

/// The claims that the pod uses, also the one for extended resources; nothing while one of them has
/// not been made (the pod's status will tell).
std::optional<std::vector<api::ClaimRef>> ClaimsOf(const api::core::Pod& pod) {
  std::vector<api::ClaimRef> claims;
  for (const api::core::PodResourceClaim& entry : pod.spec.resource_claims) {
    const api::ClaimRef ref = api::ResolveClaim(pod, entry);
    if (ref.state == api::ClaimRefState::kNotNeeded) {
      continue;
    }
    if (ref.state != api::ClaimRefState::kNamed) {
      return std::nullopt;
    }
    claims.push_back(ref);
  }
  if (const auto* const extended = pod.status.extended_resource_claim_status) {
    claims.push_back({api::ClaimRefState::kNamed, extended->resource_claim_name, false});
  }
  return claims;
}

/// Whether the pod may use the claim now.
bool IsReadyFor(const api::resource::ResourceClaim& claim,
                const api::core::Pod& pod,
                const api::ClaimRef& ref) {
  return claim.status.allocation != nullptr && api::IsReservedFor(claim, pod.metadata.uid) &&
         (!ref.generated || api::IsClaimForPod(pod, claim));
}

/// Whether the pod's status says what the kubelet would report.
bool Shows(const schema::View<api::core::Pod>& pod, const PodSim& sim, base::WallTime now) {
  schema::Draft<api::core::Pod> draft(pod);
  sim.Fill(draft, now);
  return schema::SemanticEqual(api::Desc<api::core::Pod>(), &*draft, pod.get());
}

}  // namespace

PodAgent::PodAgent(client::Client& client,
                   client::Loop& loop,
                   Preparer& preparer,
                   AddressOf address_of,
                   telemetry::Logger log)
    : client_(client),
      loop_(loop),
      preparer_(preparer),
      address_of_(std::move(address_of)),
      log_(std::move(log)),
      pods_(client, loop, client::ResourceOf<Pod>()),
      claims_(client, loop, client::ResourceOf<Claim>()) {
  pods_.OnChanges([this](std::span<const client::Change> changes) { OnPods(changes); });
  claims_.OnChanges([this](std::span<const client::Change> changes) { OnClaims(changes); });
}

void PodAgent::Start() {
  claims_.Start();
  pods_.Start();
}

void PodAgent::Stop() {
  pods_.Stop();
  claims_.Stop();
}

void PodAgent::OnPods(std::span<const client::Change> changes) {
  for (const client::Change& change : changes) {
    auto pod = client::ViewOf<Pod>(change.item);
    if (!pod || (*pod)->spec.node_name.empty()) {
      continue;
    }
    std::string uid((*pod)->metadata.uid);
    if (change.type == client::EventType::kDeleted) {
      Forget(uid);
      continue;
    }
    auto found = entries_.find(uid);
    if (found == entries_.end()) {
      if (address_of_((*pod)->spec.node_name).empty()) {
        continue;
      }
      found = entries_.emplace(uid, Entry()).first;
      found->second.node = (*pod)->spec.node_name;
    }
    Entry& entry = found->second;
    if (pod->revision() >= entry.pod.revision()) {
      entry.failures = 0;  // what is written becomes durable
    }
    // An event about our own write brings nothing new; a write that was lost left no version to
    // compare with.
    if (entry.stale || pod->revision() > entry.pod.revision()) {
      entry.stale = false;
      entry.pod = *std::move(pod);
      entry.unwritten |=
          entry.sim != nullptr && !Shows(entry.pod.view, *entry.sim, loop_.clock().Now());
      Sync(uid);
    }
  }
}

void PodAgent::OnClaims(std::span<const client::Change> changes) {
  for (const client::Change& change : changes) {
    const auto& object = *change.item.object;
    const auto found = waiting_.find(api::KeyOf(object.namespace_(), object.name()));
    if (found == waiting_.end()) {
      continue;
    }
    const std::vector<std::string> uids(found->second.begin(), found->second.end());
    for (const std::string& uid : uids) {
      Sync(uid);
    }
  }
}

void PodAgent::Sync(const std::string& uid) {
  const auto found = entries_.find(uid);
  if (found == entries_.end()) {
    return;
  }
  for (int tries = 0; tries < kTries; ++tries) {
    if (Step(found->second, uid) == Outcome::kDone) {
      return;
    }
  }
  Retry(found->second, uid);
}

PodAgent::Outcome PodAgent::Step(Entry& entry, const std::string& uid) {
  if (entry.stale && !Refresh(entry, uid)) {
    return Outcome::kDone;
  }
  const Pod& pod = *entry.pod;
  if (pod.metadata.deletion_timestamp != nullptr) {
    Finish(entry, uid);
    return Outcome::kDone;
  }
  // Whoever sets a final phase ends the pod, whatever runs.
  if ((entry.ended || api::IsPodFinished(pod)) && !(entry.sim != nullptr && entry.sim->Ended())) {
    End(entry, uid);
    return Outcome::kDone;
  }
  if (entry.sim == nullptr) {
    if (!PrepareClaims(entry, uid)) {
      return Outcome::kDone;
    }
    entry.sim = std::make_unique<PodSim>(
        pod, PodSim::Place{address_of_(entry.node), NextPodAddress()}, loop_.clock().Now());
    entry.unwritten = true;
    ++stats_.started;
  } else if (entry.sim->Advance(loop_.clock().Now())) {
    entry.unwritten = true;
  }
  if (const auto next = entry.sim->NextChange(); next) {
    Arm(entry,
        uid,
        std::max<std::chrono::nanoseconds>(*next - loop_.clock().Now(), milliseconds(1)));
  }
  if (entry.unwritten && WriteStatus(entry, uid) == Outcome::kAgain) {
    return Outcome::kAgain;
  }
  if (entry.sim->Ended()) {
    End(entry, uid);
  }
  return Outcome::kDone;
}

bool PodAgent::Refresh(Entry& entry, const std::string& uid) {
  const Pod& pod = *entry.pod;
  auto fresh = client::Get<Pod>(client_, pod.metadata.namespace_, pod.metadata.name);
  if (!fresh) {
    if (fresh.error().reason() != base::Reason::kNotFound) {
      log_.Warning("cannot read a pod",
                   {{"pod", pod.metadata.name}, telemetry::Field(fresh.error())});
      Retry(entry, uid);
    }
    return false;  // not found: deleted meanwhile, its event follows
  }
  if ((*fresh)->metadata.uid != uid) {
    return false;
  }
  entry.pod = *std::move(fresh);
  entry.stale = false;
  return true;
}

bool PodAgent::PrepareClaims(Entry& entry, const std::string& uid) {
  StopWaiting(entry, uid);
  const Pod& pod = *entry.pod;
  const auto wanted = ClaimsOf(pod);
  if (!wanted) {
    return false;
  }
  bool ready = true;
  for (const api::ClaimRef& ref : *wanted) {
    const client::Item item = claims_.FindItem(pod.metadata.namespace_, ref.name);
    const auto claim =
        item.object ? client::ViewOf<Claim>(item) : base::Result<client::Typed<Claim>>();
    if (!item.object || !claim || !IsReadyFor(**claim, pod, ref)) {
      std::string key = api::KeyOf(pod.metadata.namespace_, ref.name);
      waiting_[key].insert(uid);
      entry.waits_for.push_back(std::move(key));
      ready = false;
      continue;
    }
    std::string claim_uid((*claim)->metadata.uid);
    if (std::find(entry.prepared.begin(), entry.prepared.end(), claim_uid) !=
        entry.prepared.end()) {
      continue;
    }
    if (const auto devices = preparer_.Prepare(entry.node, claim->view); !devices) {
      ++stats_.prepare_failures;
      log_.Warning(
          "cannot prepare a claim",
          {{"pod", pod.metadata.name}, {"claim", ref.name}, telemetry::Field(devices.error())});
      Retry(entry, uid);
      return false;
    }
    ++users_[api::KeyOf(entry.node, claim_uid)];
    entry.prepared.push_back(std::move(claim_uid));
  }
  return ready;
}

void PodAgent::StopWaiting(Entry& entry, const std::string& uid) {
  for (const std::string& key : entry.waits_for) {
    const auto found = waiting_.find(key);
    if (found != waiting_.end()) {
      found->second.erase(uid);
      if (found->second.empty()) {
        waiting_.erase(found);
      }
    }
  }
  entry.waits_for.clear();
}

bool PodAgent::UnprepareClaims(Entry& entry) {
  std::vector<std::string> kept;
  for (std::string& claim_uid : entry.prepared) {
    const std::string key = api::KeyOf(entry.node, claim_uid);
    const auto users = users_.find(key);
    if (users != users_.end() && users->second > 1) {
      --users->second;  // another pod of the node still uses it
      continue;
    }
    if (const auto done = preparer_.Unprepare(entry.node, claim_uid); !done) {
      log_.Warning("cannot unprepare a claim",
                   {{"claim", claim_uid}, telemetry::Field(done.error())});
      kept.push_back(std::move(claim_uid));
      continue;
    }
    users_.erase(key);
  }
  entry.prepared = std::move(kept);
  return entry.prepared.empty();
}

void PodAgent::End(Entry& entry, const std::string& uid) {
  if (!entry.ended) {
    entry.ended = true;
    ++stats_.ended;
  }
  StopWaiting(entry, uid);
  if (!UnprepareClaims(entry)) {
    Retry(entry, uid);
  }
}

PodAgent::Outcome PodAgent::WriteStatus(Entry& entry, const std::string& uid) {
  schema::Draft<Pod> draft(entry.pod.view);
  entry.sim->Fill(draft, loop_.clock().Now());
  client::WriteOptions options = Chained(uid);
  options.preconditions.revision = entry.pod.revision();
  auto written = client::UpdateStatus(client_, draft, options);
  if (written) {
    entry.pod = *std::move(written);
    entry.unwritten = false;
    return Outcome::kDone;
  }
  switch (written.error().reason()) {
    case base::Reason::kConflict:
      entry.stale = true;  // it may be deleted meanwhile: look at the pod as a whole
      return Outcome::kAgain;
    case base::Reason::kNotFound: return Outcome::kDone;  // its event follows
    default: break;
  }
  log_.Warning("cannot write a pod's status",
               {{"pod", entry.pod->metadata.name}, telemetry::Field(written.error())});
  Retry(entry, uid);
  return Outcome::kDone;
}

void PodAgent::Finish(Entry& entry, const std::string& uid) {
  StopWaiting(entry, uid);
  if (!UnprepareClaims(entry)) {
    Retry(entry, uid);
    return;
  }
  const Pod& pod = *entry.pod;
  if (entry.finished && !pod.metadata.finalizers.empty()) {
    return;  // others hold it now
  }
  client::WriteOptions options = Chained(uid);
  options.grace_period_seconds = 0;
  options.preconditions.uid = pod.metadata.uid;
  const auto deleted =
      client::Delete<Pod>(client_, pod.metadata.namespace_, pod.metadata.name, options);
  if (deleted) {
    entry.finished = true;
    ++stats_.deleted;
  } else if (deleted.error().reason() != base::Reason::kNotFound) {  // else its event follows
    log_.Warning("cannot delete a stopped pod",
                 {{"pod", pod.metadata.name}, telemetry::Field(deleted.error())});
    Retry(entry, uid);
  }
}

client::WriteOptions PodAgent::Chained(const std::string& uid) {
  client::WriteOptions options{.ack = client::Ack::kSequenced};
  options.on_durable = [&loop = loop_, lost = [this, uid] {
    Lost(uid);
  }](const base::Result<void>& result) {
    if (!result) {
      loop.Post(lost);
    }
  };
  return options;
}

void PodAgent::Lost(const std::string& uid) {
  const auto found = entries_.find(uid);
  if (found == entries_.end()) {
    return;
  }
  Entry& entry = found->second;
  entry.stale = true;  // what we hold was never stored
  entry.unwritten = entry.sim != nullptr;
  entry.finished = false;
  Retry(entry, uid);
}

void PodAgent::Forget(const std::string& uid) {
  const auto found = entries_.find(uid);
  if (found == entries_.end()) {
    return;
  }
  StopWaiting(found->second, uid);
  UnprepareClaims(found->second);
  if (found->second.timer_set) {
    loop_.Cancel(found->second.timer);
  }
  entries_.erase(found);
}

void PodAgent::Arm(Entry& entry, const std::string& uid, std::chrono::nanoseconds delay) {
  if (entry.timer_set) {
    loop_.Cancel(entry.timer);
  }
  entry.timer_set = true;
  entry.timer = loop_.After(delay, [this, uid] {
    if (const auto found = entries_.find(uid); found != entries_.end()) {
      found->second.timer_set = false;
      Sync(uid);
    }
  });
}

void PodAgent::Retry(Entry& entry, const std::string& uid) {
  const int doublings = std::min(entry.failures++, 7);
  Arm(entry, uid, kFirstRetry * (1 << doublings));
}

std::string PodAgent::NextPodAddress() {
  const std::uint32_t n = next_address_++ % (64U * 65536U);
  return "10." + std::to_string(64 + n / 65536) + "." + std::to_string(n / 256 % 256) + "." +
         std::to_string(n % 256);
}

}  // namespace allot::node
