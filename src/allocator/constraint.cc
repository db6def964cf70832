#include "allocator/constraint.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace allot::allocator {
namespace {

// An attribute without a scalar: equal to nothing.
constexpr std::uint32_t kNoValue = 0xffffffff;

class ScalarMatch final : public Constraint {
 public:
  ScalarMatch() : Constraint(ConstraintKind::kMatch) {}
  bool Add(const ValueIds& values) override {
    if (!values.present) {
      return false;
    }
    const std::uint32_t value = values.ids.empty() ? kNoValue : values.ids.front();
    if (count_ == 0) {
      only_ = value;  // whatever it is: upstream takes the first device unseen
    } else if (value == kNoValue || value != only_) {
      return false;
    }
    ++count_;
    return true;
  }
  void Undo() override { only_ = --count_ == 0 ? kAnyValue : only_; }
  void Reset() override {
    count_ = 0;
    only_ = kAnyValue;
  }

 private:
  std::size_t count_ = 0;
};

class ScalarDistinct final : public Constraint {
 public:
  ScalarDistinct() : Constraint(ConstraintKind::kDistinct) {}
  bool Add(const ValueIds& values) override {
    if (!values.present) {
      return false;
    }
    const std::uint32_t value = values.ids.empty() ? kNoValue : values.ids.front();
    if (!taken_.empty() &&
        (value == kNoValue || std::find(taken_.begin(), taken_.end(), value) != taken_.end())) {
      return false;  // only the first device may come without a value
    }
    taken_.push_back(value);
    return true;
  }
  void Undo() override { taken_.pop_back(); }
  void Reset() override { taken_.clear(); }

 private:
  std::vector<std::uint32_t> taken_;
};

// A stack of sorted lists of values.
class SetStack {
 public:
  [[nodiscard]] bool empty() const { return ends_.empty(); }
  [[nodiscard]] std::span<const std::uint32_t> back() const {
    const std::size_t first = ends_.size() > 1 ? ends_[ends_.size() - 2] : 0;
    return std::span<const std::uint32_t>(values_).subspan(first, ends_.back() - first);
  }
  [[nodiscard]] const std::vector<std::uint32_t>& all() const { return values_; }
  void Push(std::uint32_t value) { values_.push_back(value); }
  void Close() { ends_.push_back(values_.size()); }
  void Pop() {
    ends_.pop_back();
    values_.resize(ends_.empty() ? 0 : ends_.back());
  }
  void Clear() {
    ends_.clear();
    values_.clear();
  }

 private:
  std::vector<std::uint32_t> values_;
  std::vector<std::size_t> ends_;
};

// The values that all devices so far have in common must not run out.
class SetMatch final : public Constraint {
 public:
  SetMatch() : Constraint(ConstraintKind::kMatch) {}
  bool Add(const ValueIds& values) override {
    scratch_.clear();
    if (common_.empty()) {
      scratch_.assign(values.ids.begin(), values.ids.end());
    } else {
      const auto before = common_.back();
      std::set_intersection(values.ids.begin(),
                            values.ids.end(),
                            before.begin(),
                            before.end(),
                            std::back_inserter(scratch_));
    }
    if (scratch_.empty()) {
      return false;
    }
    for (const std::uint32_t value : scratch_) {
      common_.Push(value);
    }
    common_.Close();
    return true;
  }
  void Undo() override { common_.Pop(); }
  void Reset() override { common_.Clear(); }

 private:
  SetStack common_;  // after each device
  std::vector<std::uint32_t> scratch_;
};

class SetDistinct final : public Constraint {
 public:
  SetDistinct() : Constraint(ConstraintKind::kDistinct) {}
  bool Add(const ValueIds& values) override {
    const auto& taken = taken_.all();
    if (values.ids.empty() ||
        std::any_of(values.ids.begin(), values.ids.end(), [&](std::uint32_t value) {
          return std::find(taken.begin(), taken.end(), value) != taken.end();
        })) {
      return false;
    }
    for (const std::uint32_t value : values.ids) {
      taken_.Push(value);
    }
    taken_.Close();
    return true;
  }
  void Undo() override { taken_.Pop(); }
  void Reset() override { taken_.Clear(); }

 private:
  SetStack taken_;
};

}  // namespace

std::unique_ptr<Constraint> Constraint::Make(ConstraintKind kind, AttributeSemantics semantics) {
  if (semantics == AttributeSemantics::kSet) {
    if (kind == ConstraintKind::kMatch) {
      return std::make_unique<SetMatch>();
    }
    return std::make_unique<SetDistinct>();
  }
  if (kind == ConstraintKind::kMatch) {
    return std::make_unique<ScalarMatch>();
  }
  return std::make_unique<ScalarDistinct>();
}

}  // namespace allot::allocator
