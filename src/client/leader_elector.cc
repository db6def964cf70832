#include "client/leader_elector.h"

#include <utility>

#include "api/coordination/v1.gen.h"
#include "client/event_recorder.h"
#include "client/typed.h"

namespace allot::client {

using api::coordination::Lease;

LeaderElector::LeaderElector(Client& client,
                             Loop& loop,
                             Options options,
                             std::function<void()> started,
                             std::function<void()> stopped)
    : client_(client),
      loop_(loop),
      options_(std::move(options)),
      started_(std::move(started)),
      stopped_(std::move(stopped)) {}

void LeaderElector::Tick() {
  if (over_) {
    return;
  }
  // The lease runs from when it was asked for: the answer may have been long on its way.
  const base::MonoTime asked_at = loop_.Now();
  const base::Result<void> held = TryAcquireOrRenew();
  if (held) {
    renewed_at_ = asked_at;
    told_.clear();
    if (!leader_.exchange(true, std::memory_order_acq_rel)) {
      options_.log.Info("became the leader", {{"lease", options_.name}});
      started_();
    }
  } else if (is_leader() && loop_.Now() - renewed_at_ >= options_.renew_deadline) {
    leader_.store(false, std::memory_order_release);
    over_ = true;
    options_.log.Error(
        "lost the lease: could not renew it in time, stops",
        {{"lease", options_.name}, {"holder", holder_}, telemetry::Field(held.error())});
    stopped_();
    return;
  } else {
    Told(held.error());
  }
  loop_.After(options_.retry_period, [this, alive = alive_] {
    if (*alive) {
      Tick();
    }
  });
}

/// One line for each new reason, not one for each try.
void LeaderElector::Told(const base::Status& why) {
  if (told_ == why.message()) {
    return;
  }
  told_ = why.message();
  if (is_leader()) {
    options_.log.Warning("cannot renew the lease",
                         {{"lease", options_.name}, telemetry::Field(why)});
  } else {
    options_.log.Info("is not the leader", {{"lease", options_.name}, telemetry::Field(why)});
  }
}

base::Result<void> LeaderElector::CreateLease() {
  schema::Draft<Lease> draft;
  draft->metadata.name = draft.Copy(options_.name);
  draft->metadata.namespace_ = draft.Copy(options_.ns);
  const quantity::Time now = quantity::ToTime(loop_.clock().Now());
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(options_.lease_duration).count();
  draft.Set(draft->spec.holder_identity, draft.Copy(options_.identity));
  draft.Set(draft->spec.lease_duration_seconds, seconds);
  draft.Set(draft->spec.acquire_time, now);
  draft.Set(draft->spec.renew_time, now);
  draft.Set(draft->spec.lease_transitions, 0);
  const auto created = client::Create(client_, draft);
  if (!created) {
    return base::Error(created.error());
  }
  holder_ = options_.identity;
  seen_revision_ = created->revision();
  seen_at_ = loop_.Now();
  return {};
}

base::Result<void> LeaderElector::TryAcquireOrRenew() {
  const auto lease = client::Get<Lease>(client_, options_.ns, options_.name);
  if (!lease) {
    if (lease.error().reason() == base::Reason::kNotFound) {
      return CreateLease();
    }
    return base::Error(lease.error());
  }
  const api::coordination::LeaseSpec& spec = (*lease)->spec;
  if (lease->revision() != seen_revision_) {
    seen_revision_ = lease->revision();
    seen_at_ = loop_.Now();
  }
  holder_ = spec.holder_identity != nullptr ? std::string(*spec.holder_identity) : "";
  const bool ours = holder_ == options_.identity;
  if (!ours && !holder_.empty()) {
    const std::chrono::nanoseconds valid = spec.lease_duration_seconds != nullptr
                                               ? std::chrono::seconds(*spec.lease_duration_seconds)
                                               : options_.lease_duration;
    if (loop_.Now() - seen_at_ < valid) {
      return base::Error(base::Reason::kConflict, "the lease is held by " + holder_);
    }
  }
  schema::Draft<Lease> draft(lease->view);
  const quantity::Time now = quantity::ToTime(loop_.clock().Now());
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(options_.lease_duration).count();
  draft.Set(draft->spec.holder_identity, draft.Copy(options_.identity));
  draft.Set(draft->spec.lease_duration_seconds, seconds);
  draft.Set(draft->spec.renew_time, now);
  if (!ours) {
    draft.Set(draft->spec.acquire_time, now);
    draft.Set(draft->spec.lease_transitions,
              (spec.lease_transitions != nullptr ? *spec.lease_transitions : 0) + 1);
  }
  const auto updated =
      client::Update(client_, draft, {.preconditions = {.revision = lease->revision()}});
  if (!updated) {
    return base::Error(updated.error());
  }
  holder_ = options_.identity;
  seen_revision_ = updated->revision();
  seen_at_ = loop_.Now();
  return {};
}

void LeaderElector::Release() {
  over_ = true;
  if (!leader_.exchange(false, std::memory_order_acq_rel)) {
    return;
  }
  options_.log.Info("gives the lease up", {{"lease", options_.name}});
  const auto lease = client::Get<Lease>(client_, options_.ns, options_.name);
  if (!lease || (*lease)->spec.holder_identity == nullptr ||
      *(*lease)->spec.holder_identity != options_.identity) {
    return;
  }
  schema::Draft<Lease> draft(lease->view);
  const quantity::Time now = quantity::ToTime(loop_.clock().Now());
  draft.Set(draft->spec.holder_identity, schema::Str());
  draft.Set(draft->spec.lease_duration_seconds, 1);
  draft.Set(draft->spec.renew_time, now);
  draft.Set(draft->spec.acquire_time, now);
  // A failure leaves the lease to run out by itself.
  static_cast<void>(
      client::Update(client_, draft, {.preconditions = {.revision = lease->revision()}}));
}

}  // namespace allot::client
