// Preparer: how a node agent reaches the DRA drivers of its node: prepare and unprepare a claim.
//
// Idempotent: a call whose answer was not seen is repeated.  Thread safety: the agent's thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/resource/v1.gen.h"
#include "base/status.h"
#include "schema/object.h"

namespace allot::node {

class Preparer {
 public:
  virtual ~Preparer() = default;
  /// Makes all devices of an allocated claim usable on `node`; returns their CDI device ids.
  virtual base::Result<std::vector<std::string>> Prepare(
      std::string_view node, const schema::View<api::resource::ResourceClaim>& claim) = 0;
  virtual base::Result<void> Unprepare(std::string_view node, std::string_view claim_uid) = 0;
};

}  // namespace allot::node
