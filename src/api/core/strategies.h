// The strategies of core/v1. Module-private; use FindStrategy.
// Thread safety: constant data.
#pragma once

#include "api/core/v1.gen.h"
#include "api/strategy.h"

namespace allot::api::core {

extern const Strategy kConfigMapStrategy;
extern const Strategy kEventStrategy;
extern const Strategy kNamespaceStrategy;
extern const Strategy kNodeStrategy;
extern const Strategy kPodStrategy;
extern const Strategy kSecretStrategy;
extern const Strategy kServiceAccountStrategy;

/// Status writes and the resize and ephemeralcontainers subresources of pods.
void ValidatePodStatusUpdate(const StrategyContext& context,
                             const Pod& next,
                             const Pod& old,
                             Report& report);
void ValidatePodResize(const StrategyContext& context,
                       const Pod& next,
                       const Pod& old,
                       Report& report);
void ValidateEphemeralContainersUpdate(const StrategyContext& context,
                                       const Pod& next,
                                       const Pod& old,
                                       Report& report);
/// Everything a pod must be, on create and on update.
void ValidatePod(const StrategyContext& context, const Pod& pod, FieldErrors& errors);

}  // namespace allot::api::core
