// The strategies of small groups. Module-private; use FindStrategy.
// Thread safety: constant data.
#pragma once

#include "api/strategy.h"

namespace allot::api::coordination {
extern const Strategy kLeaseStrategy;
}  // namespace allot::api::coordination
