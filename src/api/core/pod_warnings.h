// What a new pod is warned of: things that are taken but hardly meant. Module-private.
// Thread safety: stateless.
#pragma once

#include <string>
#include <vector>

namespace allot::api::core {

struct Pod;

/// Appends the texts of Warning headers for a new pod, in upstream's words and order.
void WarnOfPod(const Pod& pod, std::vector<std::string>& out);

}  // namespace allot::api::core
