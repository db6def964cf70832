// AllocationCase: one allocation problem as a JSON line, and its answer in the same style.
//
// The door for tools and tests: `allot simulate --cases` reads such lines and writes answers.
// Thread safety: values. Lifetime: a case owns its objects.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.gen.h"
#include "api/resource/v1.gen.h"
#include "base/arena.h"
#include "base/status.h"
#include "inventory/allocated_state.h"
#include "inventory/features.h"

namespace allot::snapshot {

/// A device by name, with what is consumed of it.
struct AllocatedDevice {
  std::string driver;
  std::string pool;
  std::string device;
  bool shared = false;
  std::vector<inventory::CapacityUse> consumed;
};

struct AllocationCase {
  std::string id;
  inventory::Features features;
  /// The rules asked for cannot serve the features; the answer is "unsupported" with this text.
  std::string unsupported;
  std::unique_ptr<base::Arena> arena;
  const api::core::Node* node = nullptr;
  std::vector<const api::resource::DeviceClass*> classes;
  std::vector<const api::resource::ResourceSlice*> slices;
  std::vector<const api::resource::ResourceClaim*> claims;
  std::vector<AllocatedDevice> allocated;
};

/// Reads one line. Errors: kBadRequest for JSON that is not a case, unknown features, a missing
/// node.
[[nodiscard]] base::Result<AllocationCase> ParseAllocationCase(std::string_view line);

struct AllocationAnswer {
  std::string id;
  /// allocated, infeasible, node-error, fatal, timeout (undecided within the budget), unsupported.
  std::string outcome;
  std::vector<api::resource::AllocationResult> results;
  std::string error;
  std::string implementation;
  std::uint64_t steps = 0;
};

/// One line of JSON without the line end.
[[nodiscard]] std::string FormatAllocationAnswer(const AllocationAnswer& answer);

}  // namespace allot::snapshot
