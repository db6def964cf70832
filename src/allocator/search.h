// Search: upstream's depth-first search over one node, with scratch memory kept between runs.
//
// Plain, it visits what upstream visits, in the same order, and counts the same steps. With a
// Pruner it leaves out branches that hold no answer; the first answer found is the same. Internal
// to the module. Thread safety: one thread. See: docs/architecture.md, search; pruner.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "allocator/allocator.h"
#include "allocator/constraint.h"
#include "allocator/ledger.h"
#include "allocator/prepared.h"

namespace allot::allocator {

class Pruner;

/// A device the search may take, with its place in the node view.
struct Candidate {
  const inventory::Device* device = nullptr;
  std::uint32_t pool = 0;      ///< in NodeView::pools
  std::uint32_t position = 0;  ///< in the pool
};

/// What one run works on.
struct Problem {
  const Prepared* prepared = nullptr;
  const inventory::NodeRef* node = nullptr;
  const inventory::NodeView* view = nullptr;
  const inventory::AllocatedState* state = nullptr;
};

class Search {
 public:
  Search(const inventory::Inventory& inventory,
         inventory::SelectorCache& cache,
         AttributeColumns& columns);
  ~Search();
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  /// Fills verdict, error, picks, steps and pruned of `out`.
  void Run(const Problem& problem, const Limits& limits, Outcome& out);

  // What follows is for the pruner and the explanation: the tests of a single device.

  enum class Tested : std::uint8_t { kNo, kYes, kFatal };

  /// Starts a run without searching: requests counted, ledgers empty. False: `error()` is fatal.
  [[nodiscard]] bool Begin(const Problem& problem);
  [[nodiscard]] const std::string& error() const { return error_; }
  /// What the last fatal error was about.
  [[nodiscard]] CauseKind error_kind() const { return error_kind_; }
  [[nodiscard]] inventory::SelectorCache& cache() { return cache_; }
  /// Entries of all searches so far; one with look-ahead counts for what it costs.
  [[nodiscard]] std::uint64_t steps_of_all() const { return steps_of_all_ + looked_at_ / kLooks; }
  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] std::int64_t CountOf(const PreparedRequest& request) const {
    return wanted_[IndexOf(request)].count;
  }
  [[nodiscard]] const std::vector<Candidate>& AllOf(const PreparedRequest& request) const {
    return wanted_[IndexOf(request)].all;
  }
  /// Binding conditions, selectors and the device's node rule. kFatal sets error().
  [[nodiscard]] Tested Selectable(const PreparedRequest& request, const inventory::Device& device);
  /// Held by an allocated claim in a way that excludes `request`.
  [[nodiscard]] bool HeldByOthers(const PreparedRequest& request,
                                  const inventory::Device& device) const;
  [[nodiscard]] bool NodeFeatureMissing(const inventory::Device& device) const;
  [[nodiscard]] bool Tolerated(const PreparedRequest& request,
                               const inventory::Device& device) const;
  [[nodiscard]] bool Tolerated(const PreparedRequest& request,
                               const api::resource::DeviceTaint& taint) const;
  [[nodiscard]] bool CountersUnsupported(const inventory::Device& device) const;
  /// The capacity test with what this run has taken. kFatal sets error().
  [[nodiscard]] Tested CapacityLeft(const PreparedRequest& request,
                                    const inventory::Device& device,
                                    bool name_only);
  /// The values a constraint compares. kFatal sets error().
  [[nodiscard]] Tested ValuesOf(const PreparedRequest& request,
                                const PreparedConstraint& constraint,
                                const inventory::Device& device,
                                ValueIds& values);
  /// Null when the device uses no counters.
  [[nodiscard]] const inventory::Consumer* ConsumerOf(const Candidate& candidate) const;
  [[nodiscard]] CounterLedger& LedgerOf(std::uint32_t pool);
  /// A share of it is committed or taken in this run, so that its counters are charged already.
  [[nodiscard]] bool ChargedAlready(const inventory::Device& device) const;
  /// Taking the device for `request` takes its counters.
  [[nodiscard]] bool Charges(const PreparedRequest& request, const inventory::Device& device) const;
  [[nodiscard]] bool IsShareable(const inventory::Device& device) const {
    return device.shareable && features_.consumable_capacity;
  }

 private:
  friend class Pruner;

  enum class Solved : std::uint8_t { kFail, kOk, kTooMany, kFatal, kBudget };

  struct Position {
    std::uint32_t pool = 0, slice = 0, device = 0;
  };
  // One choice point: the index-th device of a request (or of one of its subrequests).
  struct Choice {
    std::uint32_t claim = 0, request = 0;
    std::int32_t subrequest = -1;  // -1: not chosen yet
    std::uint32_t index = 0;
  };
  struct Wanted {
    std::int64_t count = 0;
    std::vector<Candidate> all;  // mode All
  };
  struct Taken {
    const PreparedRequest* request = nullptr;
    Candidate candidate;
    bool shared = false;
    const inventory::Consumer* charged = nullptr;
    std::uint32_t constraints = 0;                   // added, in the order of the request's list
    std::uint32_t first_amount = 0, end_amount = 0;  // in amounts_
  };
  // How often this run has taken a device.
  struct TakenMark {
    std::uint16_t whole = 0;
    std::uint16_t shares = 0;
  };
  enum class Take : std::uint8_t { kNo, kYes, kFatal };

  // Notes a fatal error. Always false.
  bool Fail(CauseKind kind, std::string text) {
    error_kind_ = kind;
    error_ = std::move(text);
    return false;
  }
  [[nodiscard]] std::size_t IndexOf(const PreparedRequest& request) const {
    return static_cast<std::size_t>(&request - problem_.prepared->requests.data());
  }
  [[nodiscard]] bool CountClaim(const PreparedClaim& claim);
  [[nodiscard]] bool CountRequest(const PreparedRequest& request);
  void MakeConstraints();
  [[nodiscard]] Solved Attempt(std::uint64_t steps, std::uint64_t trials, Pruner* pruner);
  [[nodiscard]] Solved Solve(Choice choice, Position start);
  [[nodiscard]] Solved SolveChoices(Choice choice, const RequestChoices& choices);
  [[nodiscard]] Solved SolveAll(Choice choice, const PreparedRequest& request);
  [[nodiscard]] Solved SolveExact(Choice choice, const PreparedRequest& request, Position start);
  [[nodiscard]] Solved SolvePruned(Choice choice,
                                   const PreparedRequest& request,
                                   std::uint32_t first);
  [[nodiscard]] Solved TryCandidate(Choice choice,
                                    const PreparedRequest& request,
                                    const Candidate& candidate,
                                    Position next);
  [[nodiscard]] Take TakeDevice(const PreparedRequest& request,
                                const Candidate& candidate,
                                bool must);
  void UndoLast();
  void UndoPartial(Taken& taken);
  [[nodiscard]] bool AsksForMoreThanPublished() const;
  [[nodiscard]] bool SharedInRun(inventory::DeviceId id) const {
    return Value(id) < marks_.size() && marks_[Value(id)].shares != 0;
  }
  // One more trial of the plain search. False: it has had enough.
  [[nodiscard]] bool MayTry() {
    if (!turned_back_) {
      return true;
    }
    return trials_left_ != 0 && trials_left_-- != 0;
  }
  [[nodiscard]] bool Unmatched(const PreparedRequest& request, const inventory::Device& device);
  [[nodiscard]] bool TakenInRun(inventory::DeviceId id, int claim) const;
  [[nodiscard]] bool InUse(const PreparedRequest& request, const inventory::Device& device) const;
  // The attempt may not go on. Always kFatal.
  Tested UsedUp(const PreparedRequest& request);
  // Whether the error that ended the search is that the attempt may not go on.
  [[nodiscard]] bool Unfinished() const {
    return !error_.empty() && error_kind_ == CauseKind::kBudget;
  }
  [[nodiscard]] bool Interrupted();
  [[nodiscard]] std::string SelectorError(const PreparedRequest& request,
                                          const inventory::Device& device,
                                          const inventory::SelectorFailure& failure) const;
  [[nodiscard]] std::string NameOf(const inventory::Device& device) const;
  void Deliver(Outcome& out);
  [[nodiscard]] std::string NodeSelectorError() const;

  const inventory::Inventory& inventory_;
  const inventory::Features& features_;
  const inventory::Variant variant_;
  inventory::SelectorCache& cache_;
  AttributeColumns& columns_;
  Problem problem_;
  std::vector<Wanted> wanted_;  // by request; its lists are reused
  std::vector<std::unique_ptr<Constraint>> constraints_;
  std::vector<std::uint32_t> first_constraint_;  // by claim, in constraints_
  std::vector<CounterLedger> ledgers_;           // by pool
  std::vector<Taken> taken_;
  std::vector<std::uint32_t> results_;  // by claim: devices taken
  std::vector<std::int16_t> chosen_;    // by prepared request
  std::vector<CapacityAmount> amounts_;
  std::vector<CapacityAmount> scratch_;
  std::vector<TakenMark> marks_;  // by device id; only those of taken_ are not zero
  std::uint64_t steps_ = 0;
  std::uint64_t steps_of_all_ = 0;
  // Devices that were looked at and not tried: no steps of the search, whose limit is not to depend
  // on them, but work of the attempt all the same. So many cost about as much as a step.
  static constexpr std::uint64_t kLooks = 64;
  std::uint64_t looked_at_ = 0;
  std::uint64_t step_limit_ = 0;
  std::uint64_t trials_left_ = 0;  // once turned_back_
  bool turned_back_ = false;
  Pruner* pruner_ = nullptr;
  std::unique_ptr<Pruner> pruner_memory_;
  std::string error_;
  CauseKind error_kind_{};
  inventory::SelectorFailure failure_;
};

}  // namespace allot::allocator
