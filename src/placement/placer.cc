// Placer: which way an attempt takes. See placer_impl.h for its parts.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "placement/placer_impl.h"

namespace allot::placement {
namespace {

namespace res = api::resource;
using allocator::Cause;
using allocator::CauseKind;
using api::core::Pod;

// Priority points of an allocated claim: 8 for the first choice of a list, one less for each later.
std::int64_t DeviceScoreOf(const res::ResourceClaim& claim, const res::AllocationResult& given) {
  std::int64_t score = 0;
  for (const auto& request : claim.spec.devices.requests) {
    for (std::size_t i = 0; i < request.first_available.size(); ++i) {
      const std::string full = fmt::format("{}/{}", request.name, request.first_available[i].name);
      if (std::any_of(given.devices.results.begin(),
                      given.devices.results.end(),
                      [&](const auto& result) { return result.request == full; })) {
        score += 8 - static_cast<std::int64_t>(i);
        break;
      }
    }
  }
  return score;
}

}  // namespace

Placer::Impl::Impl(ClusterView& view_in, allocator::AttemptLimits limits)
    : view(view_in),
      inventory(view_in.inventory()),
      allocator(view_in.inventory(), {}, std::move(limits)),
      cache(view_in),
      groups(view_in),
      compiled(view_in.inventory(), allocator),
      kinds(view_in) {}

Attempt Placer::Impl::Begin(const Pod& pod,
                            std::span<const ClaimInput> claims,
                            const PlaceOptions& options) const {
  Attempt attempt;
  attempt.facts = FactsOf(pod);
  attempt.claims = claims;
  attempt.options = &options;
  for (const ClaimInput& input : claims) {
    if (input.allocation == nullptr) {
      attempt.to_allocate.push_back(input.claim);
    } else {
      attempt.fixed_device_score += DeviceScoreOf(*input.claim, *input.allocation);
    }
  }
  attempt.claims_key = ClaimsKeyOf(pod, claims, inventory.features());
  return attempt;
}

std::string Placer::Impl::PreFilter(const Attempt& attempt,
                                    const NamedNodes& named,
                                    std::string& error,
                                    Cause& cause) const {
  if (named.conflict) {
    cause = {CauseKind::kNodeAffinity, "node affinity", 0, "its terms exclude each other", ""};
    return "pod affinity terms conflict";
  }
  for (const ClaimInput& input : attempt.claims) {
    if (input.allocation != nullptr) {
      continue;
    }
    for (const auto& request : input.claim->spec.devices.requests) {
      const auto check = [&](schema::Str name, schema::Str device_class) -> std::string {
        if (device_class.empty()) {
          error = fmt::format(
              "running PreFilter plugin \"DynamicResources\": request {}: "
              "unsupported request type",
              name);
          cause = {CauseKind::kRequestInvalid,
                   fmt::format("claim {}, request {}", Display(*input.claim), name),
                   1,
                   "the request names no device class",
                   "set deviceClassName"};
          return error;
        }
        if (inventory.HasClass(device_class)) {
          return {};
        }
        cause = {CauseKind::kClassMissing,
                 fmt::format("class {}", device_class),
                 1,
                 fmt::format("claim {}, request {} asks for it", Display(*input.claim), name),
                 "create the DeviceClass, or correct deviceClassName"};
        return fmt::format("request {}: device class {} does not exist", name, device_class);
      };
      std::string text;
      if (request.exactly != nullptr) {
        text = check(request.name, request.exactly->device_class_name);
      } else if (!request.first_available.empty()) {
        for (const auto& sub : request.first_available) {
          text = check(fmt::format("{}/{}", request.name, sub.name), sub.device_class_name);
          if (!text.empty()) {
            break;
          }
        }
      } else {
        text = fmt::format("resource claim {}, request {}: unknown request type",
                           Display(*input.claim),
                           request.name);
        cause = {
            CauseKind::kRequestInvalid,
            fmt::format("claim {}, request {}", Display(*input.claim), request.name),
            1,
            "the request has neither exactly nor firstAvailable",
            "put deviceClassName and what goes with it under exactly: only v1beta1 has them in "
            "the request itself"};
      }
      if (!text.empty()) {
        return text;
      }
    }
  }
  return {};
}

Placer::Placer(ClusterView& view, allocator::AttemptLimits limits)
    : impl_(std::make_unique<Impl>(view, std::move(limits))) {}
Placer::~Placer() = default;

void Placer::Impl::Choose(Attempt& attempt,
                          const NamedNodes& named,
                          const allocator::ShareIds& share_ids,
                          Decision& decision) {
  const std::size_t nodes = view.nodes().size();
  const std::string& only = attempt.options->only_node;
  if (!named.all || !only.empty()) {
    std::vector<const NodeInfo*> candidates =
        Named(named.all ? std::vector<std::string_view>{only} : named.names);
    std::erase_if(candidates,
                  [&](const NodeInfo* node) { return !only.empty() && node->name != only; });
    const std::size_t skipped = only.empty() ? nodes - candidates.size() : 0;
    PlaceAmong(attempt, candidates, skipped, /*others_are_out=*/true, share_ids, decision);
    return;
  }
  // A claim that is allocated leaves few nodes. An error elsewhere counts where all are looked at.
  std::vector<const NodeInfo*> pinned;
  if ((nodes > kNodesAllTried || attempt.to_allocate.empty()) && PinnedNodes(attempt, pinned) &&
      PlaceAmong(attempt, pinned, 0, /*others_are_out=*/false, share_ids, decision)) {
    return;
  }
  const ShapeKey key =
      ShapeOf(attempt.facts, attempt.claims_key, attempt.options->profile, inventory.features());
  const bool alone = !view.any_soft_taint() && ScoresStandAlone(attempt.facts, attempt.claims) &&
                     attempt.options->profile == Profile::kCompatible;
  if (nodes > kNodesAllTried && alone && !cache.IsWarm(key) &&
      (PlaceByLoad(attempt, share_ids, decision) || PlaceByGroups(attempt, share_ids, decision))) {
    return;
  }
  PlaceCached(attempt, key, share_ids, decision);
}

Decision Placer::Place(const Pod& pod,
                       std::span<const ClaimInput> claims,
                       const allocator::ShareIds& share_ids,
                       const PlaceOptions& options) {
  Decision decision;
  Attempt attempt = impl_->Begin(pod, claims, options);
  impl_->allocator.BeginAttempt();
  decision.arena = attempt.arena;
  const auto& nodes = impl_->view.nodes();
  if (nodes.empty()) {
    decision.filter_text = "no nodes available to schedule pods";
    decision.diagnosis.causes.push_back({CauseKind::kNoNodes, "cluster", 0, "", "add nodes"});
    Impl::Finish(decision);
    return decision;
  }
  const NamedNodes named = NodesNamedBy(pod);
  Cause cause;
  const std::string pre_filter = impl_->PreFilter(attempt, named, decision.error, cause);
  if (!decision.error.empty()) {
    decision.placed = Placed::kError;
    decision.diagnosis.causes.push_back(std::move(cause));
    return decision;
  }
  if (!pre_filter.empty()) {
    decision.filter_text = PreFilterText(impl_->Considered(attempt), pre_filter);
    decision.diagnosis.causes.push_back(std::move(cause));
    if (named.conflict) {
      // Upstream's device plugin has not begun yet, and says so instead of asking for preemption.
      decision.preemption_text = "not found";
    } else {
      impl_->Preempt(attempt, {}, decision);
    }
    Impl::Finish(decision);
    return decision;
  }
  impl_->Choose(attempt, named, share_ids, decision);
  return decision;
}

allocator::Allocator::Work Placer::work() const {
  return impl_->allocator.work();
}
std::uint64_t Placer::shapes_built() const {
  return impl_->cache.built();
}
std::uint64_t Placer::answers_shared() const {
  return impl_->shared_answers;
}

}  // namespace allot::placement
