// Taking a device and giving it back, and what a finished search hands over.
#include <fmt/format.h>

#include "allocator/capacity.h"
#include "allocator/search.h"

namespace allot::allocator {

using inventory::Consumer;
using inventory::Device;

Search::Take Search::TakeDevice(const PreparedRequest& request,
                                const Candidate& candidate,
                                bool must) {
  const Device& device = *candidate.device;
  const bool shared = IsShareable(device);
  // Whoever calls for an exact request has looked whether it is in use.
  if (must &&
      (request.admin ? !shared && TakenInRun(device.id, request.claim) : InUse(request, device))) {
    return Take::kNo;
  }
  if (NodeFeatureMissing(device) || CountersUnsupported(device)) {
    return Take::kNo;
  }
  Taken taken;
  taken.request = &request;
  taken.candidate = candidate;
  taken.shared = shared;
  if (Charges(request, device)) {
    const Consumer* const consumer = ConsumerOf(candidate);
    if (!LedgerOf(candidate.pool).Take(*consumer)) {
      return Take::kNo;
    }
    taken.charged = consumer;
  }
  if (!Tolerated(request, device)) {
    UndoPartial(taken);
    return Take::kNo;
  }
  const PreparedClaim& claim = problem_.prepared->claims[request.claim];
  for (const std::uint16_t ordinal : request.constraints) {
    ValueIds values;
    if (ValuesOf(request, claim.constraints[ordinal], device, values) == Tested::kFatal) {
      UndoPartial(taken);
      return Take::kFatal;
    }
    if (!constraints_[first_constraint_[request.claim] + ordinal]->Add(values)) {
      UndoPartial(taken);
      if (must) {
        Fail(CauseKind::kConstraint,
             fmt::format("claim {}, request {}: cannot add device {} because a claim constraint "
                         "would not be satisfied",
                         claim.display,
                         request.name,
                         NameOf(device)));
        return Take::kFatal;
      }
      return Take::kNo;
    }
    ++taken.constraints;
  }
  if (features_.consumable_capacity) {
    // Exact requests have been tested just now; All and shares come here first.
    if (must && CapacityLeft(request, device, /*name_only=*/false) != Tested::kYes) {
      UndoPartial(taken);
      return error_.empty() ? Take::kNo : Take::kFatal;
    }
    if (shared) {
      taken.first_amount = static_cast<std::uint32_t>(amounts_.size());
      if (ConsumptionOf(request.capacity, device, features_.fractional_capacity_range, scratch_)) {
        amounts_.insert(amounts_.end(), scratch_.begin(), scratch_.end());
      }
      taken.end_amount = static_cast<std::uint32_t>(amounts_.size());
    }
  }
  taken_.push_back(taken);
  if (marks_.size() <= Value(device.id)) {
    marks_.resize(std::size_t{Value(device.id)} + 64);
  }
  TakenMark& mark = marks_[Value(device.id)];
  ++(shared ? mark.shares : mark.whole);
  ++results_[request.claim];
  return Take::kYes;
}

void Search::UndoPartial(Taken& taken) {
  for (std::uint32_t i = taken.constraints; i > 0; --i) {
    constraints_[first_constraint_[taken.request->claim] + taken.request->constraints[i - 1]]
        ->Undo();
  }
  if (taken.charged != nullptr) {
    LedgerOf(taken.candidate.pool).Undo(*taken.charged);
  }
}

void Search::UndoLast() {
  turned_back_ = true;
  Taken& taken = taken_.back();
  UndoPartial(taken);
  --results_[taken.request->claim];
  if (taken.shared) {
    amounts_.resize(taken.first_amount);
  }
  TakenMark& mark = marks_[Value(taken.candidate.device->id)];
  --(taken.shared ? mark.shares : mark.whole);
  taken_.pop_back();
}

void Search::Deliver(Outcome& out) {
  out.error = NodeSelectorError();
  if (!out.error.empty()) {
    error_kind_ = CauseKind::kPoolInvalid;
    out.verdict = Verdict::kFatal;
    return;
  }
  out.verdict = Verdict::kAllocated;
  out.chosen = chosen_;
  out.picks.resize(taken_.size());
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    const Taken& taken = taken_[i];
    Pick& pick = out.picks[i];
    pick.claim = taken.request->claim;
    pick.request = taken.request->request;
    pick.subrequest = taken.request->subrequest;
    pick.admin = taken.request->admin;
    pick.shared = taken.shared;
    pick.device = taken.candidate.device;
    pick.consumed.assign(amounts_.begin() + taken.first_amount,
                         amounts_.begin() + taken.end_amount);
  }
}

}  // namespace allot::allocator
