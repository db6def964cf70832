// Pruner: what the search may leave out without changing its answer.
//
// Built once the plain search has turned back too often. It tests every request against every
// device first; then, at each choice point, it knows
//  - twins: devices that no rule of this problem can tell apart, or that differ only in which of
//  several equal counter sets they draw from; after one has failed, the others are skipped;
//  - look-ahead: whether the requests still to come can have enough devices, by bipartite matching
//  under
//    the values matchAttribute still allows, by values left for distinctAttribute, and by counters;
//  - states that have failed before, up to the exchange of twins.
// Only branches without any answer are removed, so the first answer stays the first.
// Where a verdict is an error, or a constraint meets mode All (both decide by the order of the
// walk), it declines and the plain search goes on. Thread safety: one thread.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "allocator/search.h"

namespace allot::allocator {

class Pruner {
 public:
  explicit Pruner(Search& search) : search_(search) {}

  enum class Built : std::uint8_t {
    kReady,
    kImpossible,
    kUnsuitable,
    kUnfinished,  ///< the attempt may not go on evaluating; the search has the error
  };
  /// Prepares for the search's current problem. REQUIRES: nothing is taken.
  [[nodiscard]] Built Build();

  [[nodiscard]] std::uint32_t candidate_count() const {
    return static_cast<std::uint32_t>(candidates_.size());
  }
  [[nodiscard]] const Candidate& candidate(std::uint32_t c) const { return candidates_[c]; }
  /// The first candidate >= `from` that may serve the request at all; candidate_count() when none.
  [[nodiscard]] std::uint32_t NextCandidate(const PreparedRequest& request,
                                            std::uint32_t from) const;

  /// False: no answer lies below this choice point.
  [[nodiscard]] bool Promising(const Search::Choice& choice,
                               const PreparedRequest& request,
                               std::uint32_t first);
  /// Notes that no answer lies below this choice point.
  void Remember(const Search::Choice& choice, const PreparedRequest& request, std::uint32_t first);

  struct Key {
    std::uint64_t a = 0, b = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  /// What is taken, and by which requests, of the devices that share counter sets.
  struct BundleState {
    std::uint32_t bundle = 0;
    Key taken;
  };
  [[nodiscard]] std::vector<BundleState> BundleStates() const;
  /// Equal for candidates that are twins while nothing else is taken than `states` tell of.
  [[nodiscard]] Key TwinKey(std::uint32_t c, const std::vector<BundleState>& states) const;

 private:
  using Words = std::vector<std::uint64_t>;
  static constexpr std::uint32_t kNoBundle = 0xffffffff;

  // A request still to be served: `need` devices of `row`.
  struct Demand {
    std::int64_t need = 0;
    std::uint32_t row = 0;  // in rows_
    std::uint32_t claim = 0;
    bool admin = false;
    std::vector<std::uint16_t> constraints;  // those that surely hold for all its devices
  };
  // The values of one constraint over the candidates.
  struct Values {
    bool match = false;
    bool usable = false;  // false: too many values, the constraint is left to the search
    std::uint32_t count = 0;
    std::vector<std::vector<std::uint32_t>>
        of;                    // by candidate, sorted; empty: no value or not in scope
    std::vector<Words> masks;  // match: candidates by value
  };
  // Counter sets that devices tie together.
  struct Bundle {
    std::uint32_t pool = 0;
    std::vector<std::uint32_t> nodes;  // the cells and sets that its devices use, sorted
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const { return key.a; }
  };

  [[nodiscard]] bool CollectRows();
  [[nodiscard]] bool FillRow(const PreparedRequest& request, Words& row);
  [[nodiscard]] Search::Tested Static(const PreparedRequest& request, const Candidate& candidate);
  [[nodiscard]] bool CountersCount() const;
  [[nodiscard]] bool CollectValues();
  void NumberValues(const PreparedConstraint& constraint, const Words& scope, Values& values);
  void CollectSignatures();
  void CollectBundles();
  [[nodiscard]] Key TraitsOf(std::uint32_t c, bool any_derived) const;
  [[nodiscard]] Key KindOf(const Bundle& bundle, std::vector<Key>& devices);
  static void AddTo(std::vector<BundleState>& states, std::uint32_t bundle, const Key& part);
  void CollectDemands();
  [[nodiscard]] std::uint32_t UnionRow(std::span<const std::uint32_t> rows);

  [[nodiscard]] bool LookAhead(std::size_t first_demand,
                               const Demand* current,
                               std::uint32_t first);
  [[nodiscard]] bool CommonValues(const Values& values,
                                  std::uint32_t claim,
                                  std::uint16_t constraint,
                                  std::vector<std::uint32_t>& common) const;
  [[nodiscard]] bool MatchValuesLeft(std::span<const Demand* const> demands);
  [[nodiscard]] bool ValueFits(const Values& values,
                               std::uint32_t value,
                               std::uint16_t constraint,
                               std::uint32_t claim,
                               std::span<const Demand* const> demands);
  [[nodiscard]] bool DistinctValuesLeft(std::span<const Demand* const> demands);
  [[nodiscard]] bool CountersLeft(std::span<const Demand* const> demands);
  [[nodiscard]] std::uint32_t TightestCell(const Candidate& candidate,
                                           const inventory::Consumer& consumer);
  [[nodiscard]] bool SlotsLeft(std::span<const Demand* const> demands);
  [[nodiscard]] bool CanMatch(std::span<const Demand* const> demands,
                              std::span<const Words> rows,
                              std::uint32_t columns,
                              bool devices);
  [[nodiscard]] bool Augment(std::uint32_t demand, std::span<const Words> rows);
  [[nodiscard]] std::uint32_t CandidateOf(const Search::Taken& taken) const;
  [[nodiscard]] Key KeyOf(const Search::Choice& choice,
                          const PreparedRequest& request,
                          std::uint32_t first) const;
  // (device id, candidate) of the device; more than one when it is published twice.
  [[nodiscard]] std::span<const std::pair<std::uint32_t, std::uint32_t>> CandidatesOf(
      inventory::DeviceId id) const;
  [[nodiscard]] std::uint32_t ConstraintSlot(std::uint32_t claim, std::uint16_t constraint) const;

  Search& search_;
  std::vector<Candidate> candidates_;
  std::size_t words_ = 0;
  bool has_counters_ = false;              // counters can be reckoned with
  std::vector<Words> rows_;                // distinct rows over candidates_
  std::vector<std::uint32_t> row_of_;      // by prepared request
  std::vector<Values> values_;             // by constraint slot
  std::vector<std::uint32_t> signatures_;  // by candidate
  std::vector<std::pair<std::uint64_t, std::uint64_t>> signature_hash_;
  std::vector<Bundle> bundles_;
  std::vector<std::uint32_t> bundle_of_;     // by candidate
  bool bundles_alike_ = false;               // some are equal but for their names
  std::vector<Demand> demands_;              // by request of each claim, in order
  std::vector<std::uint32_t> first_demand_;  // by claim
  Words shareable_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> by_id_;  // device id, candidate; sorted
  std::unordered_set<Key, KeyHash> failed_;

  // Scratch of one look-ahead.
  std::vector<const Demand*> left_;
  std::vector<Words> free_;
  std::vector<Words> trial_;
  Words taken_;
  Words both_;
  std::vector<std::uint32_t> numbers_;
  std::vector<std::int32_t> owner_;
  Words visited_;
  Words occupied_;
};

}  // namespace allot::allocator
