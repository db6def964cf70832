// SelectorCache: compiled device expressions and their verdicts on published devices.
//
// A SelectorSet is the list of expressions of one request: its class's, then its own. Its verdicts
// are two bits a device, kept until the device's slice goes away, whatever node, pod or cycle asks.
// Errors are not kept: they are found again when a search reaches the device again, as upstream
// does. An attempt may evaluate up to a cost (EvaluationLimits); since verdicts are kept, the next
// one goes on where it stopped. Thread safety: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/resource/v1.gen.h"
#include "cel/cel.h"
#include "inventory/device.h"
#include "inventory/evaluation_limits.h"
#include "inventory/inventory.h"

namespace allot::inventory {

/// Which expression of a set failed on a device, and with what text.
struct SelectorFailure {
  std::size_t selector = 0;  ///< ordinal in the set
  bool compile = false;      ///< the expression does not compile
  std::string text;
};

class SelectorSet {
 public:
  [[nodiscard]] std::size_t size() const { return expressions_.size(); }
  /// Adds the names of the attributes that the expressions read, a line each. False: they may read
  /// any.
  [[nodiscard]] bool AddNamesRead(std::string& out) const;

 private:
  friend class SelectorCache;
  struct Expression {
    std::string text;
    std::shared_ptr<const cel::Program> program;  ///< null: `error`
    std::string error;
  };
  std::vector<Expression> expressions_;
  std::vector<std::uint64_t> known_;
  std::vector<std::uint64_t> yes_;
  // A device whose test was broken off, and how many expressions it had passed by then.
  static constexpr std::uint32_t kNone = 0xffffffff;
  std::uint32_t begun_ = kNone;
  std::size_t passed_ = 0;
  std::uint64_t recycled_seen_ = 0;
};

using SelectorSetPtr = std::shared_ptr<SelectorSet>;

/// A derived attribute's expression and its values so far.
class DerivedExpression {
 public:
  struct Value {
    std::string error;  ///< empty: `attribute`
    api::resource::DeviceAttribute attribute;
    base::Arena arena;
  };
  [[nodiscard]] const std::string& compile_error() const { return error_; }
  /// As SelectorSet::AddNamesRead.
  [[nodiscard]] bool AddNamesRead(std::string& out) const;

 private:
  friend class SelectorCache;
  std::shared_ptr<const cel::Program> program_;
  std::string error_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Value>> values_;
  std::uint64_t recycled_seen_ = 0;
};

using DerivedPtr = std::shared_ptr<DerivedExpression>;

class SelectorCache {
 public:
  explicit SelectorCache(const Inventory& inventory) : inventory_(inventory) {}

  enum class Match : std::uint8_t {
    kNo,
    kYes,
    kError,
    kUsedUp,  ///< not known, and this attempt may not evaluate any more
  };

  /// The evaluation that cost most in the present attempt.
  struct Costliest {
    const SelectorSet* set = nullptr;  ///< null: none, or a derived attribute's
    std::size_t selector = 0;          ///< ordinal in the set
    std::uint64_t cost = 0;
  };

  void SetLimits(EvaluationLimits limits) { limits_ = std::move(limits); }
  [[nodiscard]] const EvaluationLimits& limits() const { return limits_; }
  /// A new attempt: the whole cost is there again.
  void BeginAttempt() {
    began_ = evaluator_.spent();
    costliest_ = {};
  }
  [[nodiscard]] const Costliest& costliest() const { return costliest_; }
  /// Somebody wants everything to end.
  [[nodiscard]] bool stopped() const {
    return limits_.stop != nullptr && limits_.stop->load(std::memory_order_relaxed);
  }

  /// The set of these expressions, compiled when new.
  [[nodiscard]] SelectorSetPtr Intern(std::span<const std::string_view> expressions);
  /// Forgets verdicts of devices that are gone. To be called before a set is used in a search.
  void Sync(SelectorSet& set);

  /// Tests one device. `failure` is written when the answer is kError.
  /// Cost: some ns when the verdict is known, else the evaluation.
  [[nodiscard]] Match Test(SelectorSet& set, const Device& device, SelectorFailure& failure) {
    const std::uint32_t index = Value(device.index);
    const std::uint64_t bit = std::uint64_t{1} << (index & 63U);
    if ((set.known_[index >> 6U] & bit) != 0) {
      return (set.yes_[index >> 6U] & bit) != 0 ? Match::kYes : Match::kNo;
    }
    return Evaluate(set, device, failure);
  }

  /// The first position >= `from` in the slice whose device passes, or whose verdict is an error
  /// (`match` tells); the slice's device count when there is none.
  [[nodiscard]] std::uint32_t Next(SelectorSet& set,
                                   const Slice& slice,
                                   std::uint32_t from,
                                   Match& match,
                                   SelectorFailure& failure);

  [[nodiscard]] DerivedPtr InternDerived(std::string_view expression);
  /// The value of a derived attribute; kept while the device is published. Null: not known, and
  /// this attempt may not evaluate any more.
  [[nodiscard]] const DerivedExpression::Value* Derive(DerivedExpression& expression,
                                                       const Device& device);

  /// Evaluations of expressions so far, for work counters in tests.
  [[nodiscard]] std::uint64_t evaluations() const { return evaluations_; }
  /// What they have cost. Unit: as EvaluationLimits::cost.
  [[nodiscard]] std::uint64_t spent() const { return evaluator_.spent(); }

 private:
  [[nodiscard]] Match Evaluate(SelectorSet& set, const Device& device, SelectorFailure& failure);
  [[nodiscard]] bool MayEvaluate();
  void Bind(const Device& device);

  const Inventory& inventory_;
  cel::Evaluator evaluator_;
  std::unordered_map<std::string, SelectorSetPtr> sets_;
  std::unordered_map<std::string, DerivedPtr> derived_;
  std::vector<cel::Attribute> attributes_;
  std::vector<cel::Capacity> capacities_;
  cel::DeviceView bound_;
  std::uint64_t evaluations_ = 0;
  EvaluationLimits limits_;
  std::uint64_t began_ = 0;  // spent() when the present attempt began, or got more
  Costliest costliest_;
};

}  // namespace allot::inventory
