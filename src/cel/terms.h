// Terms: the tests a selector is made of. A term reads a few columns, has one truth per combination
// of their values, and is shared by all selectors of a table that make the same test.
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cel/device_columns.h"
#include "cel/slots.h"

namespace allot::cel {

struct Term {
  std::shared_ptr<const Program> program;  ///< keeps plan and node
  const SlotPlan* plan = nullptr;
  const SlotPlan::Node* node = nullptr;
  bool is_root = false;
  /// What it reads: one column, a combination of several, or nothing at all.
  const Column* column = nullptr;
  Grouping* grouping = nullptr;
  /// The slot each column of it fills.
  struct Read {
    std::uint16_t slot;
    const Column* column;
  };
  std::vector<Read> reads;
  std::vector<Truth> truths;  ///< by code; kUnknown: not tested yet
  bool asks = false;          ///< some truth is kAsk

  static constexpr auto kUnknown = static_cast<Truth>(0xFF);
};

/// Whether a node only combines conditions (&&, ||, !, ? :), so that its operands are terms or
/// combine terms themselves.
[[nodiscard]] bool IsLogic(const SlotPlan& plan, const SlotPlan::Node& node);

/// What a term tests, as text: equal only for equal tests, whatever program they stand in. Empty:
/// no other term is known to be equal.
[[nodiscard]] std::string TermKey(const SlotPlan& plan, const SlotPlan::Node& node, bool is_root);

/// Tests a term on the values of one device.
[[nodiscard]] Truth EvaluateTerm(DeviceTable::Impl& table, const Term& term, std::uint32_t device);

/// A selector whose terms have found their columns.
class BoundSelector {
 public:
  BoundSelector(DeviceTable::Impl& table, std::shared_ptr<const Program> program);

  [[nodiscard]] const Program& program() const { return *program_; }
  /// Null: only the exact interpreter evaluates it.
  [[nodiscard]] const SlotPlan* plan() const { return plan_; }
  /// The term at a node that is not logic.
  [[nodiscard]] Term& TermAt(const SlotPlan::Node& node) { return *terms_[plan_->IndexOf(node)]; }

  template <typename Fn>
  void ForEachTerm(Fn&& fn) {
    for (const std::shared_ptr<Term>& term : terms_) {
      if (term != nullptr) {
        fn(*term);
      }
    }
  }

  [[nodiscard]] Verdict Match(std::uint32_t device);
  /// Verdicts for the devices from `begin` on.
  void MatchFrom(std::uint32_t begin, std::span<Verdict> out);
  /// The expression evaluated for one device, whatever is known.
  [[nodiscard]] Verdict Evaluate(std::uint32_t device);
  [[nodiscard]] std::uint64_t evaluations() const { return evaluations_; }

 private:
  void BindTerms(const SlotPlan::Node& node);
  [[nodiscard]] Truth Test(const SlotPlan::Node& node, std::uint32_t device);
  [[nodiscard]] Truth TestTerm(Term& term, std::uint32_t device);
  void Fill(Term& term);
  bool FillAll(const SlotPlan::Node& node);
  void TestBlock(const SlotPlan::Node& node, std::uint32_t begin, std::span<Truth> out);
  void TestTermBlock(const Term& term, std::uint32_t begin, std::span<Truth> out);
  void FindSignature();
  [[nodiscard]] Verdict MatchNew(std::uint32_t device);

  DeviceTable::Impl& table_;
  std::shared_ptr<const Program> program_;
  const SlotPlan* plan_;
  std::vector<std::shared_ptr<Term>> terms_;  // by node
  std::vector<Term::Read> reads_;             // of the whole plan
  Grouping* signature_ = nullptr;             // of all it reads; made when a device is asked for
  std::vector<Verdict> known_;                // by code of the signature
  std::uint64_t evaluations_ = 0;
};

}  // namespace allot::cel
