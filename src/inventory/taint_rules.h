// TaintRules: DeviceTaintRules, and the taints they add to published devices.
// Thread safety: one writer. Internal to the module.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "api/resource/v1.gen.h"
#include "base/arena.h"
#include "inventory/device.h"

namespace allot::inventory {

struct TaintRule {
  base::Arena arena;
  api::resource::DeviceTaint taint;
  bool selects = false;  ///< a rule without selector selects nothing
  /// Null: any.
  const schema::Str* driver = nullptr;
  const schema::Str* pool = nullptr;
  const schema::Str* device = nullptr;

  /// Whether it may select devices of the slice.
  [[nodiscard]] bool MayMatch(const Slice& slice) const;
  [[nodiscard]] bool Matches(const Device& one) const;
};

class TaintRules {
 public:
  /// The rule as it is kept. Lifetime: until it is replaced or taken.
  const TaintRule& Insert(const api::resource::DeviceTaintRule& from);
  /// Removes the rule; null when there is none.
  [[nodiscard]] std::unique_ptr<TaintRule> Take(std::string_view name);
  /// Gives the slice's devices their taints: their own, then those of rules in name order.
  void Apply(Slice& slice) const;

 private:
  std::map<std::string, std::unique_ptr<TaintRule>, std::less<>> rules_;
};

}  // namespace allot::inventory
