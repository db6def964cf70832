#include "allocator/search.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "allocator/pruner.h"
#include "inventory/pools.h"

namespace allot::allocator {
namespace {

using inventory::Device;
using inventory::PoolState;
using inventory::PoolView;
using inventory::SelectorCache;
using inventory::Variant;

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
// Levels of the recursion a pod may need: far above what the API admits, far below the stack.
constexpr std::size_t kMaxDepth = 4096;
// A step with look-ahead costs about as much as this many plain ones.
constexpr std::uint64_t kPrunedStepCost = 16;
// Steps between two looks at whether somebody wants the search to end.
constexpr std::uint64_t kStepsUnheard = 256;

}  // namespace

Search::Search(const inventory::Inventory& inventory,
               SelectorCache& cache,
               AttributeColumns& columns)
    : inventory_(inventory),
      features_(inventory.features()),
      variant_(inventory.features().variant()),
      cache_(cache),
      columns_(columns) {}

Search::~Search() = default;

void Search::Run(const Problem& problem, const Limits& limits, Outcome& out) {
  out.error.clear();
  out.picks.clear();
  out.steps = 0;
  out.pruned = false;
  out.verdict = Verdict::kFatal;
  if (Interrupted()) {
    out.verdict = Verdict::kUnfinished;
    out.error = std::move(error_);
    return;
  }
  if (!Begin(problem)) {
    out.verdict = Unfinished() ? Verdict::kUnfinished : Verdict::kFatal;
    out.error = std::move(error_);
    return;
  }
  Solved solved = Solved::kBudget;
  steps_ = 0;
  if (limits.plain || (limits.plain_trials != 0 && !AsksForMoreThanPublished())) {
    solved = Attempt(limits.steps, limits.plain ? kNoLimit : limits.plain_trials, nullptr);
  }
  if (solved == Solved::kBudget && !limits.plain && steps_ <= limits.steps) {
    if (pruner_memory_ == nullptr) {
      pruner_memory_ = std::make_unique<Pruner>(*this);
    }
    switch (pruner_memory_->Build()) {
      case Pruner::Built::kReady:
        out.pruned = true;
        solved = Attempt(limits.steps / kPrunedStepCost, kNoLimit, pruner_memory_.get());
        if (solved == Solved::kBudget) {
          // Where look-ahead refutes nothing its steps only cost more: what the plain search can
          // decide is decided.
          out.pruned = false;
          solved = Attempt(limits.steps, kNoLimit, nullptr);
        }
        break;
      case Pruner::Built::kImpossible:
        out.pruned = true;
        solved = Solved::kFail;
        break;
      case Pruner::Built::kUnfinished: solved = Solved::kFatal; break;
      case Pruner::Built::kUnsuitable: solved = Attempt(limits.steps, kNoLimit, nullptr); break;
    }
  }
  out.steps = steps_;
  switch (solved) {
    case Solved::kOk: Deliver(out); return;
    case Solved::kFatal:
      out.verdict = Unfinished() ? Verdict::kUnfinished : Verdict::kFatal;
      out.error = std::move(error_);
      return;
    case Solved::kBudget: out.verdict = Verdict::kBudgetExhausted; return;
    case Solved::kFail:
    case Solved::kTooMany: break;
  }
  out.verdict = Verdict::kInfeasible;
  if (problem.view->has_invalid) {
    out.verdict = Verdict::kNodeError;
    out.error = "invalid resource pools were encountered";
  }
}

bool Search::Begin(const Problem& problem) {
  problem_ = problem;
  pruner_ = nullptr;
  error_.clear();
  for (const Taken& taken : taken_) {
    marks_[Value(taken.candidate.device->id)] = {};
  }
  taken_.clear();
  amounts_.clear();
  const Prepared& prepared = *problem.prepared;
  if (!problem.view->error.empty()) {
    return Fail(CauseKind::kPoolInvalid, problem.view->error);
  }
  if (prepared.claims.size() * (kMaxResults + 2) + prepared.requests.size() > kMaxDepth) {
    return Fail(CauseKind::kTooMany,
                fmt::format("the pod asks for too much at once: {} claims with {} requests",
                            prepared.claims.size(),
                            prepared.requests.size()));
  }
  if (ledgers_.size() < problem.view->pools.size()) {
    ledgers_.resize(problem.view->pools.size());
  }
  for (std::size_t i = 0; i < problem.view->pools.size(); ++i) {
    ledgers_[i].Clear();
  }
  results_.assign(prepared.claims.size(), 0);
  chosen_.assign(prepared.requests.size(), 0);
  if (wanted_.size() < prepared.requests.size()) {
    wanted_.resize(prepared.requests.size());
  }
  for (const PreparedRequest& request : prepared.requests) {
    if (request.selectors != nullptr) {
      cache_.Sync(*request.selectors);
    }
  }
  if (!std::all_of(prepared.claims.begin(), prepared.claims.end(), [&](const auto& claim) {
        return CountClaim(claim);
      })) {
    return false;
  }
  MakeConstraints();
  return true;
}

bool Search::CountClaim(const PreparedClaim& claim) {
  std::int64_t total = 0;
  for (const RequestChoices& choices : claim.requests) {
    if (!choices.error.empty()) {
      return Fail(CauseKind::kRequestInvalid, choices.error);
    }
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::uint32_t r = choices.first; r < choices.end; ++r) {
      if (!CountRequest(problem_.prepared->requests[r])) {
        return false;
      }
      least = std::min(least, wanted_[r].count);
    }
    if (least > kMaxResults - total) {
      const auto& request =
          claim.claim->spec.devices.requests[problem_.prepared->requests[choices.first].request];
      return Fail(
          CauseKind::kTooMany,
          fmt::format("claim {}, request {}: adding {} devices exceeds the claim limit of {}, with "
                      "{} already accounted for",
                      claim.display,
                      request.name,
                      least,
                      kMaxResults,
                      total));
    }
    total += least;
  }
  return claim.constraint_error.empty() || Fail(CauseKind::kRequestInvalid, claim.constraint_error);
}

bool Search::CountRequest(const PreparedRequest& request) {
  if (!request.error.empty()) {
    return Fail(request.error_kind, request.error);
  }
  Wanted& wanted = wanted_[IndexOf(request)];
  wanted.count = request.count;
  wanted.all.clear();
  if (request.mode != Mode::kAll) {
    return true;
  }
  const std::string& display = problem_.prepared->claims[request.claim].display;
  for (std::uint32_t p = 0; p < problem_.view->pools.size(); ++p) {
    const PoolView& pool = *problem_.view->pools[p];
    if (pool.state != PoolState::kComplete) {
      const bool incomplete = pool.state == PoolState::kIncomplete;
      return Fail(
          incomplete ? CauseKind::kPoolIncomplete : CauseKind::kPoolInvalid,
          fmt::format(
              "claim {}, request {}: asks for all devices, but resource pool {}/{} is currently {}",
              display,
              request.name,
              pool.driver,
              pool.pool,
              incomplete ? "being updated" : "invalid"));
    }
    for (std::size_t s = 0; s < pool.slices.size(); ++s) {
      looked_at_ += pool.slices[s]->devices.size();
      for (const Device& device : pool.slices[s]->devices) {
        Tested tested = Selectable(request, device);
        if (tested == Tested::kYes && features_.consumable_capacity) {
          // Policy and full value only: a device that is partly used stays in the list.
          tested = CapacityLeft(request, device, /*name_only=*/true);
        }
        if (tested == Tested::kFatal) {
          return false;
        }
        if (tested == Tested::kYes) {
          wanted.all.push_back({&device, p, pool.first[s] + device.position});
        }
      }
    }
  }
  wanted.count = static_cast<std::int64_t>(wanted.all.size());
  return true;
}

void Search::MakeConstraints() {
  std::size_t slot = 0;
  first_constraint_.clear();
  const AttributeSemantics kind_of_values = SemanticsOf(features_);
  for (const PreparedClaim& claim : problem_.prepared->claims) {
    for (const PreparedConstraint& constraint : claim.constraints) {
      columns_.Sync(*constraint.column);
    }
  }
  for (const PreparedClaim& claim : problem_.prepared->claims) {
    first_constraint_.push_back(static_cast<std::uint32_t>(slot));
    for (const PreparedConstraint& constraint : claim.constraints) {
      if (slot == constraints_.size()) {
        constraints_.push_back(nullptr);
      }
      if (constraints_[slot] == nullptr || constraints_[slot]->kind() != constraint.kind) {
        constraints_[slot] = Constraint::Make(constraint.kind, kind_of_values);
      }
      constraints_[slot]->Reset();
      ++slot;
    }
  }
}

// Then the plain search would walk to the last device before it turns back.
bool Search::AsksForMoreThanPublished() const {
  std::int64_t wanted = 0;
  for (const PreparedClaim& claim : problem_.prepared->claims) {
    for (const RequestChoices& choices : claim.requests) {
      std::int64_t least = kMaxResults;
      for (std::uint32_t r = choices.first; r < choices.end; ++r) {
        least = std::min(least, wanted_[r].count);
      }
      wanted += least;
    }
  }
  std::int64_t published = 0;
  for (const auto& pool : problem_.view->pools) {
    published += pool->device_count();
    if (published >= wanted) {
      return false;
    }
  }
  return published != 0;
}

Search::Solved Search::Attempt(std::uint64_t steps, std::uint64_t trials, Pruner* pruner) {
  while (!taken_.empty()) {
    UndoLast();
  }
  steps_ = 0;
  step_limit_ = steps;
  trials_left_ = trials;
  turned_back_ = false;
  pruner_ = pruner;
  const Solved solved = Solve(Choice{}, Position{});
  steps_of_all_ += steps_ * (pruner != nullptr ? kPrunedStepCost : 1);
  return solved;
}

bool Search::Interrupted() {
  return cache_.stopped() && !Fail(CauseKind::kBudget, "the scheduler is being stopped");
}

Search::Solved Search::Solve(Choice choice, Position start) {
  if (++steps_ > step_limit_ || !MayTry()) {
    return Solved::kBudget;
  }
  if (steps_ % kStepsUnheard == 0 && Interrupted()) {
    return Solved::kFatal;
  }
  const Prepared& prepared = *problem_.prepared;
  if (choice.claim >= prepared.claims.size()) {
    return Solved::kOk;
  }
  const PreparedClaim& claim = prepared.claims[choice.claim];
  if (choice.request >= claim.requests.size()) {
    const Solved solved = Solve(Choice{choice.claim + 1, 0, -1, 0}, Position{});
    return solved == Solved::kTooMany ? Solved::kFail : solved;
  }
  const RequestChoices& choices = claim.requests[choice.request];
  if (choice.subrequest < 0 && choices.prioritized) {
    return SolveChoices(choice, choices);
  }
  const PreparedRequest& request =
      prepared.requests[choices.first + static_cast<std::uint32_t>(std::max(choice.subrequest, 0))];
  const Wanted& wanted = wanted_[IndexOf(request)];
  if (request.mode == Mode::kAll && wanted.all.empty()) {
    return Solved::kFail;
  }
  if (choice.index >= wanted.count) {
    return Solve(Choice{choice.claim, choice.request + 1, -1, 0}, Position{});
  }
  if (wanted.count - choice.index > kMaxResults - results_[choice.claim]) {
    return Solved::kTooMany;
  }
  if (request.mode == Mode::kAll) {
    return SolveAll(choice, request);
  }
  return pruner_ != nullptr ? SolvePruned(choice, request, start.device)
                            : SolveExact(choice, request, start);
}

Search::Solved Search::SolveChoices(Choice choice, const RequestChoices& choices) {
  bool all_too_many = true;
  for (std::uint32_t s = 0; s < choices.end - choices.first; ++s) {
    choice.subrequest = static_cast<std::int32_t>(s);
    const Solved solved = Solve(choice, Position{});
    if (solved == Solved::kTooMany) {
      continue;
    }
    all_too_many = false;
    if (solved == Solved::kOk) {
      chosen_[choices.first] = static_cast<std::int16_t>(s);
    }
    if (solved != Solved::kFail) {
      return solved;
    }
  }
  return all_too_many ? Solved::kTooMany : Solved::kFail;
}

Search::Solved Search::SolveAll(Choice choice, const PreparedRequest& request) {
  switch (TakeDevice(request, wanted_[IndexOf(request)].all[choice.index], /*must=*/true)) {
    case Take::kNo: return Solved::kFail;
    case Take::kFatal: return Solved::kFatal;
    case Take::kYes: break;
  }
  ++choice.index;
  const Solved solved = Solve(choice, Position{});
  if (solved != Solved::kOk) {
    UndoLast();
  }
  return solved;
}

Search::Solved Search::SolveExact(Choice choice, const PreparedRequest& request, Position start) {
  const auto& pools = problem_.view->pools;
  // Where no test of a device can be fatal, their order does not matter.
  const bool harmless =
      !request.constraints.empty() && request.capacity == nullptr && request.derived.empty();
  for (std::uint32_t p = start.pool; p < pools.size(); ++p) {
    const PoolView& pool = *pools[p];
    if (pool.state != PoolState::kComplete) {
      continue;
    }
    for (std::uint32_t s = p == start.pool ? start.slice : 0; s < pool.slices.size(); ++s) {
      const inventory::Slice& slice = *pool.slices[s];
      std::uint32_t d = p == start.pool && s == start.slice ? start.device : 0;
      for (;; ++d) {
        SelectorCache::Match match{};
        d = cache_.Next(*request.selectors, slice, d, match, failure_);
        if (d >= slice.devices.size()) {
          break;
        }
        const Device& device = slice.devices[d];
        if (!MayTry()) {
          return Solved::kBudget;
        }
        if (harmless && match == SelectorCache::Match::kYes && !slice.per_device &&
            device.plain_capacity && Unmatched(request, device)) {
          continue;
        }
        ++looked_at_;
        if (InUse(request, device)) {
          continue;  // upstream does not evaluate expressions on it, so an error does not count
        }
        const Solved solved =
            TryCandidate(choice, request, {&device, p, pool.first[s] + d}, Position{p, s, d + 1});
        if (solved != Solved::kFail) {
          return solved;
        }
      }
    }
  }
  return Solved::kFail;
}

// A quick look whether some matchAttribute that has its value already rules the device out.
bool Search::Unmatched(const PreparedRequest& request, const Device& device) {
  const PreparedClaim& claim = problem_.prepared->claims[request.claim];
  for (const std::uint16_t ordinal : request.constraints) {
    const std::uint32_t only = constraints_[first_constraint_[request.claim] + ordinal]->only();
    if (only != Constraint::kAnyValue) {
      const ValueIds values = columns_.Of(*claim.constraints[ordinal].column, device);
      if (values.ids.size() != 1 || values.ids.front() != only) {
        return true;
      }
    }
  }
  return false;
}

Search::Solved Search::TryCandidate(Choice choice,
                                    const PreparedRequest& request,
                                    const Candidate& candidate,
                                    Position next) {
  Tested tested = Selectable(request, *candidate.device);
  if (tested == Tested::kYes && features_.consumable_capacity) {
    tested = CapacityLeft(request, *candidate.device, /*name_only=*/false);
  }
  if (tested == Tested::kFatal) {
    return Solved::kFatal;
  }
  if (tested == Tested::kNo) {
    return Solved::kFail;
  }
  switch (TakeDevice(request, candidate, /*must=*/false)) {
    case Take::kNo: return Solved::kFail;
    case Take::kFatal: return Solved::kFatal;
    case Take::kYes: break;
  }
  ++choice.index;
  const Solved solved = Solve(choice, next);
  if (solved != Solved::kOk) {
    UndoLast();
  }
  return solved;
}

Search::Solved Search::SolvePruned(Choice choice,
                                   const PreparedRequest& request,
                                   std::uint32_t first) {
  Pruner& pruner = *pruner_;
  if (!pruner.Promising(choice, request, first)) {
    return Solved::kFail;
  }
  std::vector<Pruner::Key> failed;  // twins without an answer here
  const std::vector<Pruner::BundleState> states = pruner.BundleStates();
  for (std::uint32_t c = pruner.NextCandidate(request, first); c < pruner.candidate_count();
       c = pruner.NextCandidate(request, c + 1)) {
    const Candidate& candidate = pruner.candidate(c);
    // A device that is part of this run differs from its twins.
    const bool in_run = TakenInRun(candidate.device->id, -1) || SharedInRun(candidate.device->id);
    const Pruner::Key twin = pruner.TwinKey(c, states);
    if (!in_run && std::find(failed.begin(), failed.end(), twin) != failed.end()) {
      continue;
    }
    if (InUse(request, *candidate.device)) {
      continue;
    }
    const Solved solved = TryCandidate(choice, request, candidate, Position{0, 0, c + 1});
    if (solved != Solved::kFail) {
      return solved;
    }
    if (!in_run) {
      failed.push_back(twin);
    }
  }
  pruner.Remember(choice, request, first);
  return Solved::kFail;
}

}  // namespace allot::allocator
