#include "node/pod_agent.h"

#include <algorithm>
#include <utility>

#include "schema/codec.h"

namespace allot::node {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kFirstRetry{500};
constexpr int kTries = 5;

std::string ClaimKey(std::string_view ns, std::string_view name) {
  std::string key(ns);
  key += '/';
  key += name;
  return key;
}

/// The name of the claim behind an entry of the pod's spec; empty while it is not known, "-" for
/// none needed.
std::string_view ClaimName(const api::core::Pod& pod, const api::core::PodResourceClaim& entry) {
  if (entry.resource_claim_name != nullptr) {
    return *entry.resource_claim_name;
  }
  for (const auto& status : pod.status.resource_claim_statuses) {
    if (status.name == entry.name) {
      return status.resource_claim_name != nullptr ? *status.resource_claim_name
                                                   : std::string_view("-");
    }
  }
  return {};
}

bool IsReadyFor(const api::resource::ResourceClaim& claim, std::string_view pod_uid) {
  return claim.status.allocation != nullptr &&
         std::any_of(claim.status.reserved_for.begin(),
                     claim.status.reserved_for.end(),
                     [pod_uid](const auto& consumer) { return consumer.uid == pod_uid; });
}

bool HasEnded(const api::core::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
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
    const bool newer = pod->revision() > entry.pod.revision();
    if (newer) {  // an event about our own write brings nothing new
      entry.pod = *std::move(pod);
      Sync(uid);
    }
  }
}

void PodAgent::OnClaims(std::span<const client::Change> changes) {
  for (const client::Change& change : changes) {
    const auto& object = *change.item.object;
    const auto found = waiting_.find(ClaimKey(object.namespace_(), object.name()));
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
  Entry& entry = found->second;
  const Pod& pod = *entry.pod;
  if (pod.metadata.deletion_timestamp != nullptr) {
    Finish(entry);
    return;
  }
  if (entry.sim == nullptr) {
    if (HasEnded(pod) || !PrepareClaims(entry, uid)) {
      return;
    }
    entry.sim = std::make_unique<PodSim>(
        pod, PodSim::Place{address_of_(entry.node), NextPodAddress()}, loop_.clock().Now());
    ++stats_.started;
    WriteStatus(entry);
  } else if (entry.sim->Advance(loop_.clock().Now())) {
    WriteStatus(entry);
  }
  if (entry.sim->Ended()) {
    UnprepareClaims(entry);
    ++stats_.ended;
    return;
  }
  if (const auto next = entry.sim->NextChange(); next) {
    Arm(entry,
        uid,
        std::max<std::chrono::nanoseconds>(*next - loop_.clock().Now(), milliseconds(1)));
  }
}

bool PodAgent::PrepareClaims(Entry& entry, const std::string& uid) {
  StopWaiting(entry, uid);
  const Pod& pod = *entry.pod;
  bool ready = true;
  for (const auto& wanted : pod.spec.resource_claims) {
    const std::string_view name = ClaimName(pod, wanted);
    if (name == "-") {
      continue;
    }
    if (name.empty()) {
      return false;  // its claim is not made yet; the pod's status will tell
    }
    const client::ObjectRef object = claims_.Find(pod.metadata.namespace_, name);
    const auto claim =
        object ? schema::DecodeAs<Claim>(object) : base::Result<schema::View<Claim>>();
    if (!object || !claim || !IsReadyFor(**claim, uid)) {
      std::string key = ClaimKey(pod.metadata.namespace_, name);
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
    if (const auto devices = preparer_.Prepare(entry.node, *claim); !devices) {
      ++stats_.prepare_failures;
      log_.Warning(
          "cannot prepare a claim",
          {{"pod", pod.metadata.name}, {"claim", name}, telemetry::Field(devices.error())});
      Retry(entry, uid);
      return false;
    }
    ++users_[claim_uid];
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

void PodAgent::UnprepareClaims(Entry& entry) {
  for (const std::string& claim_uid : entry.prepared) {
    const auto users = users_.find(claim_uid);
    if (users != users_.end() && --users->second > 0) {
      continue;  // another pod of the node still uses it
    }
    users_.erase(claim_uid);
    if (const auto done = preparer_.Unprepare(entry.node, claim_uid); !done) {
      log_.Warning("cannot unprepare a claim",
                   {{"claim", claim_uid}, telemetry::Field(done.error())});
    }
  }
  entry.prepared.clear();
}

void PodAgent::WriteStatus(Entry& entry) {
  for (int tries = 0; tries < kTries; ++tries) {
    schema::Draft<Pod> draft(entry.pod.view);
    entry.sim->Fill(draft, loop_.clock().Now());
    client::WriteOptions options{.ack = client::Ack::kSequenced};
    options.preconditions.revision = entry.pod.revision();
    auto written = client::UpdateStatus(client_, draft, options);
    if (written) {
      entry.pod = *std::move(written);
      return;
    }
    if (written.error().reason() != base::Reason::kConflict) {
      log_.Warning("cannot write a pod's status",
                   {{"pod", draft->metadata.name}, telemetry::Field(written.error())});
      return;
    }
    auto fresh = client::Get<Pod>(client_, draft->metadata.namespace_, draft->metadata.name);
    if (!fresh || (*fresh)->metadata.uid != draft->metadata.uid) {
      return;  // deleted meanwhile; its event follows
    }
    entry.pod = *std::move(fresh);
  }
}

void PodAgent::Finish(Entry& entry) {
  UnprepareClaims(entry);
  const Pod& pod = *entry.pod;
  client::WriteOptions options{.ack = client::Ack::kSequenced};
  options.grace_period_seconds = 0;
  options.preconditions.uid = pod.metadata.uid;
  const auto deleted =
      client::Delete<Pod>(client_, pod.metadata.namespace_, pod.metadata.name, options);
  if (deleted) {
    ++stats_.deleted;
  } else if (deleted.error().reason() != base::Reason::kNotFound &&
             deleted.error().reason() != base::Reason::kConflict) {
    log_.Warning("cannot delete a stopped pod",
                 {{"pod", pod.metadata.name}, telemetry::Field(deleted.error())});
  }
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
