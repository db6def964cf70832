#include "api/strategy.h"

#include <array>

#include "api/core/strategies.h"
#include "api/resource/strategies.h"
#include "api/strategies.h"

namespace allot::api {
namespace {

constexpr std::array<const Strategy*, 13> kStrategies = {
    &core::kPodStrategy,
    &resource::kResourceClaimStrategy,
    &core::kEventStrategy,
    &coordination::kLeaseStrategy,
    &resource::kResourceSliceStrategy,
    &core::kNodeStrategy,
    &resource::kResourceClaimTemplateStrategy,
    &resource::kDeviceClassStrategy,
    &resource::kDeviceTaintRuleStrategy,
    &core::kNamespaceStrategy,
    &core::kConfigMapStrategy,
    &core::kSecretStrategy,
    &core::kServiceAccountStrategy,
};

}  // namespace

const UpdateRules* Strategy::Update(std::string_view subresource) const {
  for (const UpdateRules& rules : updates) {
    if (rules.subresource == subresource) {
      return &rules;
    }
  }
  return nullptr;
}

meta::ObjectMeta& Strategy::Metadata(void* root) const {
  return *reinterpret_cast<meta::ObjectMeta*>(static_cast<char*>(root) + metadata_offset);
}

const meta::ObjectMeta& Strategy::Metadata(const void* root) const {
  return *reinterpret_cast<const meta::ObjectMeta*>(static_cast<const char*>(root) +
                                                    metadata_offset);
}

const Strategy* FindStrategy(const schema::TypeDesc& type) {
  for (const Strategy* const strategy : kStrategies) {
    if (strategy->type == &type) {
      return strategy;
    }
  }
  return nullptr;
}

}  // namespace allot::api
