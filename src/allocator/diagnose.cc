#include "allocator/diagnose.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace allot::allocator {
namespace {

using inventory::Device;
using inventory::PoolState;
using inventory::PoolView;

std::string NameOf(const Device& device) {
  return fmt::format(
      "{}/{}/{}", device.slice->spec->driver, device.slice->spec->pool.name, device.spec->name);
}

class Explainer {
 public:
  Explainer(Search& search, const Problem& problem, NodeDiagnosis& out)
      : search_(search), problem_(problem), out_(out) {}

  void Pools() {
    for (const auto& pool : problem_.view->pools) {
      const std::string subject = fmt::format("pool {}/{}", pool->driver, pool->pool);
      if (pool->state == PoolState::kIncomplete) {
        Add({CauseKind::kPoolIncomplete,
             subject,
             pool->wanted_slices - pool->observed_slices,
             fmt::format("{} of {} slices of generation {} are published",
                         pool->observed_slices,
                         pool->wanted_slices,
                         pool->generation),
             "wait for the driver to publish all slices, or correct resourceSliceCount"});
      } else if (pool->state == PoolState::kInvalid) {
        Add({CauseKind::kPoolInvalid,
             subject,
             1,
             pool->invalid_reason,
             "the driver must publish a pool that does not contradict itself"});
      }
    }
    if (problem_.view->pools.empty()) {
      Add({CauseKind::kDriverAbsent,
           "node " + std::string(problem_.node->name),
           0,
           "no ResourceSlice offers devices to this node",
           "install the DRA driver on the node, or check its nodeName, nodeSelector and pods"});
    }
  }

  void Requests() {
    for (const PreparedRequest& request : problem_.prepared->requests) {
      if (!request.error.empty()) {
        continue;
      }
      Funnel(request);
    }
  }

  void Combination() {
    const bool explained =
        std::any_of(out_.causes.begin(), out_.causes.end(), [](const Cause& cause) {
          return cause.kind != CauseKind::kPoolIncomplete && cause.kind != CauseKind::kPoolInvalid;
        });
    if (explained) {
      return;
    }
    for (const PreparedClaim& claim : problem_.prepared->claims) {
      for (const PreparedConstraint& constraint : claim.constraints) {
        Add({CauseKind::kConstraint,
             fmt::format(
                 "claim {}, {} {}",
                 claim.display,
                 constraint.kind == ConstraintKind::kMatch ? "matchAttribute" : "distinctAttribute",
                 constraint.attribute),
             1,
             "every request has enough devices alone, no set of them satisfies the constraints",
             "ask for fewer devices, or drop the constraint"});
      }
    }
    if (out_.causes.empty()) {
      Add({CauseKind::kCombination,
           "all requests together",
           1,
           "each request could be served alone, not all of them at once",
           "ask for fewer devices"});
    }
  }

  void Add(Cause cause) {
    if (std::find(out_.causes.begin(), out_.causes.end(), cause) == out_.causes.end()) {
      out_.causes.push_back(std::move(cause));
    }
  }

 private:
  // One test: removes devices from the list, keeping one as the example.
  template <typename Passes, typename Why>
  void Stage(
      CauseKind kind, std::vector<Candidate>& left, RequestFunnel& funnel, Passes passes, Why why) {
    FunnelStage stage;
    stage.lost_to = kind;
    std::vector<Candidate> kept;
    for (const Candidate& candidate : left) {
      if (passes(candidate)) {
        kept.push_back(candidate);
      } else if (stage.example.empty()) {
        stage.example = why(candidate);
      }
    }
    const bool lost = kept.size() != left.size();
    left = std::move(kept);
    stage.left = static_cast<std::int64_t>(left.size());
    if (lost) {
      funnel.stages.push_back(std::move(stage));
    }
  }

  void Funnel(const PreparedRequest& request) {
    RequestFunnel funnel;
    funnel.claim = problem_.prepared->claims[request.claim].display;
    funnel.request = request.full_name;
    std::vector<Candidate> left = Published();
    funnel.published = static_cast<std::int64_t>(left.size());
    funnel.wanted = request.mode == Mode::kAll ? 1 : request.count;
    Selectors(request, left, funnel);
    const auto after_selectors = static_cast<std::int64_t>(left.size());
    Stage(
        CauseKind::kTainted,
        left,
        funnel,
        [&](const Candidate& c) { return search_.Tolerated(request, *c.device); },
        [&](const Candidate& c) { return TaintText(*c.device); });
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
          return NameOf(*c.device) + " needs DRAOptionalNodeOperations on the node";
        });
    Stage(
        CauseKind::kCapacity,
        left,
        funnel,
        [&](const Candidate& c) {
          return search_.CapacityLeft(request, *c.device, false) == Search::Tested::kYes;
        },
        [&](const Candidate& c) { return CapacityText(request, *c.device); });
    Stage(
        CauseKind::kCounters,
        left,
        funnel,
        [&](const Candidate& c) { return CountersFit(c); },
        [&](const Candidate& c) { return CounterText(c); });
    Stage(
        CauseKind::kConstraint,
        left,
        funnel,
        [&](const Candidate& c) { return HasAttributes(request, *c.device); },
        [&](const Candidate& c) {
          return NameOf(*c.device) + " lacks an attribute that a constraint compares";
        });
    if (static_cast<std::int64_t>(left.size()) < funnel.wanted ||
        (request.mode == Mode::kAll && static_cast<std::int64_t>(left.size()) < after_selectors)) {
      Blame(request, funnel);
    }
    out_.funnels.push_back(std::move(funnel));
  }

  [[nodiscard]] std::vector<Candidate> Published() const {
    std::vector<Candidate> all;
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

  void Selectors(const PreparedRequest& request,
                 std::vector<Candidate>& left,
                 RequestFunnel& funnel) {
    Stage(
        CauseKind::kClassSelectsNothing,
        left,
        funnel,
        [&](const Candidate& c) { return search_.ClassSelects(request, *c.device); },
        [&](const Candidate& c) {
          return fmt::format("{} does not pass the selectors of class {}",
                             NameOf(*c.device),
                             request.device_class->name);
        });
    std::string error;
    Stage(
        CauseKind::kSelector,
        left,
        funnel,
        [&](const Candidate& c) {
          const auto tested = search_.Selectable(request, *c.device);
          if (tested == Search::Tested::kFatal && error.empty()) {
            error = search_.error();
          }
          return tested == Search::Tested::kYes;
        },
        [&](const Candidate& c) {
          return error.empty() ? NameOf(*c.device) + " does not pass the request's selectors"
                               : error;
        });
    if (!error.empty()) {
      Add({CauseKind::kSelectorError,
           Subject(request),
           1,
           error,
           "guard the expression: has(...) or an optional chain with orValue(...)"});
    }
  }

  [[nodiscard]] std::string Subject(const PreparedRequest& request) const {
    return fmt::format("claim {}, request {}",
                       problem_.prepared->claims[request.claim].display,
                       request.full_name);
  }

  [[nodiscard]] std::string TaintText(const Device& device) const {
    for (const auto* const taint : device.taints) {
      if (taint->effect == "NoSchedule" || taint->effect == "NoExecute") {
        return fmt::format("{} has taint {}{}{}:{}",
                           NameOf(device),
                           taint->key,
                           taint->value.empty() ? "" : "=",
                           taint->value,
                           taint->effect);
      }
    }
    return NameOf(device);
  }

  [[nodiscard]] std::string HolderText(const Device& device) const {
    const auto holders = problem_.state->Holders(device.id);
    if (holders.empty() || holders.front().claim->name.empty()) {
      return NameOf(device) + " is in use";
    }
    const auto& claim = *holders.front().claim;
    return fmt::format("{} is held by claim {}/{}", NameOf(device), claim.namespace_, claim.name);
  }

  [[nodiscard]] std::string CapacityText(const PreparedRequest& request,
                                         const Device& device) const {
    if (request.capacity != nullptr) {
      for (const auto& wanted : *request.capacity) {
        const auto* const capacity = device.spec->capacity.Find(wanted.key);
        if (capacity == nullptr) {
          return fmt::format("{} has no capacity \"{}\"", NameOf(device), wanted.key);
        }
        const auto used = problem_.state->Consumed(device.id, wanted.key);
        if (wanted.value.nanos + used.nanos > capacity->value.nanos) {
          return fmt::format("{} has {} {} of which {} is in use, {} is asked for",
                             NameOf(device),
                             capacity->value.ToString(),
                             wanted.key,
                             used.ToString(),
                             wanted.value.ToString());
        }
      }
    }
    return NameOf(device) + " has too little capacity left, or its request policy is not met";
  }

  [[nodiscard]] bool CountersFit(const Candidate& candidate) {
    const Device& device = *candidate.device;
    if (search_.CountersUnsupported(device)) {
      return false;
    }
    if (!device.has_counters || (search_.IsShareable(device) && search_.ChargedAlready(device))) {
      return true;
    }
    const auto* const consumer = search_.ConsumerOf(candidate);
    CounterLedger& ledger = search_.LedgerOf(candidate.pool);
    if (!ledger.Take(*consumer)) {
      return false;
    }
    ledger.Undo(*consumer);
    return true;
  }

  [[nodiscard]] std::string CounterText(const Candidate& candidate) {
    const PoolView& pool = *problem_.view->pools[candidate.pool];
    const auto* const consumer = search_.ConsumerOf(candidate);
    if (consumer == nullptr) {
      return NameOf(*candidate.device) + " uses counters, which are switched off";
    }
    const auto& left = search_.LedgerOf(candidate.pool).left();
    for (std::uint32_t i = consumer->first_use; i < consumer->end_use; ++i) {
      const auto& use = pool.uses[i];
      if (use.amount.nanos > left[use.cell]) {
        return fmt::format("{} needs {} of counter {}/{}, {} is left",
                           NameOf(*candidate.device),
                           use.amount.ToString(),
                           pool.cells[use.cell].set,
                           pool.cells[use.cell].counter,
                           quantity::Quantity{left[use.cell], use.amount.format}.ToString());
      }
    }
    return NameOf(*candidate.device) + (search_.LedgerOf(candidate.pool).overcommitted()
                                            ? " is in a pool with an over-committed counter"
                                            : " does not share a compatibility group with others");
  }

  [[nodiscard]] bool HasAttributes(const PreparedRequest& request, const Device& device) {
    for (const std::uint16_t ordinal : request.constraints) {
      const api::resource::DeviceAttribute* attribute = nullptr;
      const auto tested =
          search_.AttributeOf(request,
                              problem_.prepared->claims[request.claim].constraints[ordinal],
                              device,
                              attribute);
      if (tested != Search::Tested::kYes || attribute == nullptr) {
        return false;
      }
    }
    return true;
  }

  // The stage that took the request below what it wants.
  void Blame(const PreparedRequest& request, const RequestFunnel& funnel) {
    std::int64_t before = funnel.published;
    if (before == 0) {
      return Add({CauseKind::kTooFew, Subject(request), 0, "no usable device is published", ""});
    }
    for (const FunnelStage& stage : funnel.stages) {
      if (stage.left < funnel.wanted ||
          (request.mode == Mode::kAll && stage.lost_to >= CauseKind::kTainted)) {
        return Add({stage.lost_to,
                    Subject(request),
                    before - stage.left,
                    stage.example,
                    HintFor(stage.lost_to, request, funnel, stage)});
      }
      before = stage.left;
    }
    Add({CauseKind::kTooFew,
         Subject(request),
         funnel.wanted,
         fmt::format("{} devices are wanted, {} published", funnel.wanted, funnel.published),
         fmt::format("ask for at most {}", funnel.published)});
  }

  [[nodiscard]] static std::string HintFor(CauseKind kind,
                                           const PreparedRequest& request,
                                           const RequestFunnel& funnel,
                                           const FunnelStage& stage) {
    switch (kind) {
      case CauseKind::kClassSelectsNothing:
        return fmt::format("check the selectors of class {}", request.device_class->name);
      case CauseKind::kSelector: return "relax the request's selectors";
      case CauseKind::kTainted: return "add a toleration to the request, or remove the taint";
      case CauseKind::kInUse:
        return stage.left > 0 ? fmt::format("ask for at most {}, or wait for {} more",
                                            stage.left,
                                            funnel.wanted - stage.left)
                              : "wait until a claim is given back, or add devices";
      case CauseKind::kCapacity: return "ask for less of the capacity";
      case CauseKind::kCounters: return "ask for a smaller partition, or wait for one to be freed";
      case CauseKind::kConstraint:
        return "drop the constraint, or have the driver publish the attribute";
      default: return {};
    }
  }

  Search& search_;
  const Problem& problem_;
  NodeDiagnosis& out_;
};

}  // namespace

NodeDiagnosis DiagnoseNode(const inventory::Inventory& inventory,
                           Search& search,
                           const Problem& problem,
                           const Limits& limits) {
  static_cast<void>(inventory);
  NodeDiagnosis out;
  out.example_node = problem.node->name;
  Outcome outcome;
  search.Run(problem, limits, outcome);
  if (outcome.verdict == Verdict::kAllocated) {
    return out;
  }
  out.reasons.push_back(outcome.error.empty() ? "cannot allocate all claims" : outcome.error);
  Explainer explainer(search, problem, out);
  if (!search.Begin(problem)) {
    explainer.Pools();
    explainer.Add({CauseKind::kRequestInvalid, "claims of the pod", 1, search.error(), ""});
    return out;
  }
  explainer.Requests();
  explainer.Pools();
  if (outcome.verdict == Verdict::kBudgetExhausted) {
    explainer.Add({CauseKind::kBudget,
                   "all requests together",
                   1,
                   fmt::format("undecided after {} steps", outcome.steps),
                   "simplify the claim: fewer requests, constraints or alternatives"});
  }
  explainer.Combination();
  return out;
}

}  // namespace allot::allocator
