#include "inventory/taint_rules.h"

#include <utility>

#include "inventory/copy.h"

namespace allot::inventory {

bool TaintRule::MayMatch(const Slice& slice) const {
  return selects && (driver == nullptr || *driver == slice.spec->driver) &&
         (pool == nullptr || *pool == slice.spec->pool.name);
}

bool TaintRule::Matches(const Device& one) const {
  return MayMatch(*one.slice) && (device == nullptr || *device == one.spec->name);
}

const TaintRule& TaintRules::Insert(const api::resource::DeviceTaintRule& from) {
  auto rule = std::make_unique<TaintRule>();
  rule->taint = CopyTaint(from.spec.taint, rule->arena);
  if (const auto* const selector = from.spec.device_selector) {
    rule->selects = true;
    const auto copy = [&](const schema::Str* part) -> const schema::Str* {
      return part != nullptr ? rule->arena.New<schema::Str>(rule->arena.Copy(*part)) : nullptr;
    };
    rule->driver = copy(selector->driver);
    rule->pool = copy(selector->pool);
    rule->device = copy(selector->device);
  }
  return *rules_.insert_or_assign(std::string(from.metadata.name), std::move(rule)).first->second;
}

std::unique_ptr<TaintRule> TaintRules::Take(std::string_view name) {
  const auto found = rules_.find(name);
  if (found == rules_.end()) {
    return nullptr;
  }
  std::unique_ptr<TaintRule> rule = std::move(found->second);
  rules_.erase(found);
  return rule;
}

void TaintRules::Apply(Slice& slice) const {
  for (Device& device : slice.devices) {
    device.taints.clear();
    for (const auto& taint : device.spec->taints) {
      device.taints.push_back(&taint);
    }
    for (const auto& [name, rule] : rules_) {
      if (rule->Matches(device)) {
        device.taints.push_back(&rule->taint);
      }
    }
  }
}

}  // namespace allot::inventory
