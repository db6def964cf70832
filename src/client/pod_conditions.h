// How components other than the node agent write conditions into a pod's status.
// Thread safety: as Client.
#pragma once

#include <string_view>

#include "client/client.h"
#include "client/typed.h"

namespace allot::api::core {
struct Pod;
struct PodCondition;
}  // namespace allot::api::core

namespace allot::client {

/// Sets the condition of this type by a patch that touches nothing else; the time of the last
/// transition is `now` unless the status stays the same. Nothing is written when all but the time
/// is there already.
base::Result<void> SetPodCondition(Client& client,
                                   const api::core::Pod& pod,
                                   const api::core::PodCondition& condition,
                                   quantity::Time now,
                                   const WriteOptions& options);

}  // namespace allot::client
