// The funnel of one request, and which test is to blame.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "allocator/explainer.h"
#include "api/object_key.h"

namespace allot::allocator {

using inventory::Device;
using inventory::PoolState;
using inventory::PoolView;
using inventory::SelectorCache;

namespace {

constexpr std::size_t kMaxHolders = 3;

}  // namespace

std::string DeviceName(const Device& device) {
  return fmt::format(
      "{}/{}/{}", device.slice->spec->driver, device.slice->spec->pool.name, device.spec->name);
}

void Explainer::Requests() {
  for (const PreparedRequest& request : problem_.prepared->requests) {
    if (request.error.empty()) {
      Funnel(request);
    }
  }
}

// True when this stage leaves the request with less than it needs.
bool Explainer::Lacks(const PreparedRequest& request,
                      const RequestFunnel& funnel,
                      const FunnelStage& stage) const {
  return stage.left < funnel.wanted ||
         (request.mode == Mode::kAll && stage.lost_to >= CauseKind::kTainted);
}

// One test: removes devices from the list, keeping one as the example.
template <typename PassesTest, typename Why>
void Explainer::Stage(
    CauseKind kind, Candidates& left, RequestFunnel& funnel, PassesTest passes, Why why) {
  FunnelStage stage;
  stage.lost_to = kind;
  Candidates kept;
  for (const Candidate& candidate : left) {
    if (passes(candidate)) {
      kept.push_back(candidate);
    } else if (stage.example.empty()) {
      stage.example = why(candidate);
    }
  }
  if (kept.size() == left.size()) {
    return;
  }
  stage.left = static_cast<std::int64_t>(kept.size());
  if (!has_suspect_ && Lacks(*left_.back().request, funnel, stage)) {
    has_suspect_ = true;
    suspect_ = {kind, left, stage};
  }
  left = std::move(kept);
  funnel.stages.push_back(std::move(stage));
}

void Explainer::Funnel(const PreparedRequest& request) {
  RequestFunnel funnel;
  funnel.claim = problem_.prepared->claims[request.claim].display;
  funnel.request = request.full_name;
  Candidates left = Published();
  funnel.published = static_cast<std::int64_t>(left.size());
  funnel.wanted = request.mode == Mode::kAll ? 1 : request.count;
  has_suspect_ = false;
  failed_ = false;
  left_.push_back({&request, funnel.wanted, {}});
  SelectorStages(request, left, funnel);
  StateStages(request, left, funnel);
  CounterStages(request, left, funnel);
  Stage(
      CauseKind::kConstraint,
      left,
      funnel,
      [&](const Candidate& c) { return HasAttributes(request, *c.device); },
      [&](const Candidate& c) {
        return DeviceName(*c.device) + " lacks an attribute that a constraint compares";
      });
  if (has_suspect_ || static_cast<std::int64_t>(left.size()) < funnel.wanted) {
    left_.pop_back();
    Blame(request, funnel);
  } else {
    left_.back().devices = std::move(left);
  }
  out_.funnels.push_back(std::move(funnel));
}

Explainer::Candidates Explainer::Published() const {
  Candidates all;
  const auto& pools = problem_.view->pools;
  for (std::uint32_t p = 0; p < pools.size(); ++p) {
    if (pools[p]->state != PoolState::kComplete) {
      continue;
    }
    for (std::size_t s = 0; s < pools[p]->slices.size(); ++s) {
      for (const Device& device : pools[p]->slices[s]->devices) {
        all.push_back({&device, p, pools[p]->first[s] + device.position});
      }
    }
  }
  return all;
}

void Explainer::SelectorStages(const PreparedRequest& request,
                               Candidates& left,
                               RequestFunnel& funnel) {
  Stage(
      CauseKind::kClassSelectsNothing,
      left,
      funnel,
      [&](const Candidate& c) { return ClassPasses(request, *c.device); },
      [&](const Candidate& c) {
        return fmt::format("{} does not pass the selectors of class {}",
                           DeviceName(*c.device),
                           request.device_class->name);
      });
  std::string error;
  inventory::SelectorFailure failure;
  const auto own = Expressions(request, /*of_class=*/false);
  Stage(
      CauseKind::kSelector,
      left,
      funnel,
      [&](const Candidate& c) {
        const auto match = search_.cache().Test(*request.selectors, *c.device, failure);
        if (match == SelectorCache::Match::kError && error.empty()) {
          error = fmt::format("{} on {}", failure.text, DeviceName(*c.device));
        }
        return match == SelectorCache::Match::kYes;
      },
      [&](const Candidate& c) {
        for (std::size_t i = 0; i < own.size(); ++i) {
          if (!Passes(own[i], *c.device)) {
            return fmt::format(
                "{} does not pass selector #{}: {}", DeviceName(*c.device), i, own[i]);
          }
        }
        return DeviceName(*c.device) + " does not pass the request's selectors";
      });
  if (!error.empty()) {
    Add({CauseKind::kSelectorError, Subject(request), 1, error, SelectorAdvice(error)});
    failed_ = true;
  }
  Stage(
      CauseKind::kOtherNode,
      left,
      funnel,
      [&](const Candidate& c) {
        return search_.Selectable(request, *c.device) == Search::Tested::kYes;
      },
      [&](const Candidate& c) { return DeviceName(*c.device) + " is not for this node"; });
}

void Explainer::StateStages(const PreparedRequest& request,
                            Candidates& left,
                            RequestFunnel& funnel) {
  Stage(
      CauseKind::kTainted,
      left,
      funnel,
      [&](const Candidate& c) { return search_.Tolerated(request, *c.device); },
      [&](const Candidate& c) { return TaintText(request, *c.device); });
  Stage(
      CauseKind::kInUse,
      left,
      funnel,
      [&](const Candidate& c) { return !search_.HeldByOthers(request, *c.device); },
      [&](const Candidate& c) { return HolderText(*c.device); });
  Stage(
      CauseKind::kNodeFeature,
      left,
      funnel,
      [&](const Candidate& c) { return !search_.NodeFeatureMissing(*c.device); },
      [&](const Candidate& c) {
        return DeviceName(*c.device) + " needs DRAOptionalNodeOperations on the node";
      });
  Stage(
      CauseKind::kCapacity,
      left,
      funnel,
      [&](const Candidate& c) {
        return search_.CapacityLeft(request, *c.device, false) == Search::Tested::kYes;
      },
      [&](const Candidate& c) { return CapacityText(request, *c.device); });
}

void Explainer::CounterStages(const PreparedRequest& request,
                              Candidates& left,
                              RequestFunnel& funnel) {
  Stage(
      CauseKind::kCounters,
      left,
      funnel,
      [&](const Candidate& c) {
        if (search_.CountersUnsupported(*c.device)) {
          return false;
        }
        if (!search_.Charges(request, *c.device)) {
          return true;
        }
        const CounterLedger& ledger = search_.LedgerOf(c.pool);
        const PoolView& pool = *problem_.view->pools[c.pool];
        const auto* const consumer = search_.ConsumerOf(c);
        bool fits = !ledger.overcommitted();
        for (std::uint32_t i = consumer->first_use; i < consumer->end_use; ++i) {
          fits = fits && pool.uses[i].amount.nanos <= ledger.left()[pool.uses[i].cell];
        }
        return fits;
      },
      [&](const Candidate& c) { return CounterText(c); });
  Stage(
      CauseKind::kGroups,
      left,
      funnel,
      [&](const Candidate& c) {
        return !search_.Charges(request, *c.device) ||
               search_.LedgerOf(c.pool).Admits(*search_.ConsumerOf(c));
      },
      [&](const Candidate& c) {
        return DeviceName(*c.device) +
               " shares no compatibility group with the devices in use on its counter sets";
      });
}

std::string Explainer::Subject(const PreparedRequest& request) const {
  return fmt::format(
      "claim {}, request {}", problem_.prepared->claims[request.claim].display, request.full_name);
}

std::string Explainer::HolderText(const Device& device) const {
  const auto holders = problem_.state->Holders(device.id);
  if (holders.empty() || holders.front().claim->name.empty()) {
    return DeviceName(device) + " is in use";
  }
  const auto& claim = *holders.front().claim;
  return fmt::format("{} is held by claim {}/{}", DeviceName(device), claim.namespace_, claim.name);
}

// The claims that hold the devices the request could have had.
std::string Explainer::HoldersText(const PreparedRequest& request) const {
  std::set<std::string> claims;
  std::string first;
  for (const Candidate& candidate : suspect_.before) {
    if (!search_.HeldByOthers(request, *candidate.device)) {
      continue;
    }
    if (first.empty()) {
      first = HolderText(*candidate.device);
    }
    for (const auto& holder : problem_.state->Holders(candidate.device->id)) {
      if (!holder.claim->name.empty()) {
        claims.insert(api::KeyOf(holder.claim->namespace_, holder.claim->name));
      }
    }
  }
  if (claims.size() < 2) {
    return first;
  }
  std::string text = first + "; holders: ";
  std::size_t named = 0;
  for (const std::string& claim : claims) {
    if (named == kMaxHolders) {
      break;
    }
    text += (named++ == 0 ? "" : ", ") + claim;
  }
  return claims.size() > named ? fmt::format("{} and {} more", text, claims.size() - named) : text;
}

bool Explainer::HasAttributes(const PreparedRequest& request, const Device& device) {
  return std::all_of(
      request.constraints.begin(), request.constraints.end(), [&](std::uint16_t ordinal) {
        ValueIds values;
        return search_.ValuesOf(request,
                                problem_.prepared->claims[request.claim].constraints[ordinal],
                                device,
                                values) == Search::Tested::kYes &&
               values.present;
      });
}

}  // namespace allot::allocator
