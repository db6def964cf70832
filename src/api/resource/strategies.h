// The strategies of resource.k8s.io. Module-private; use FindStrategy.
// Thread safety: constant data.
#pragma once

#include "api/strategy.h"

namespace allot::api::resource {

extern const Strategy kDeviceClassStrategy;
extern const Strategy kDeviceTaintRuleStrategy;
extern const Strategy kResourceClaimStrategy;
extern const Strategy kResourceClaimTemplateStrategy;
extern const Strategy kResourceSliceStrategy;

}  // namespace allot::api::resource
