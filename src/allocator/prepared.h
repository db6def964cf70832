// Prepared: the claims of one pod in compiled form, independent of any node.
//
// Mistakes in a claim are kept where upstream would report them, so that the search reports the
// same one first. Thread safety: immutable. Lifetime: the claims it was made from.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocator/attributes.h"
#include "allocator/constraint.h"
#include "allocator/diagnosis.h"
#include "api/resource/v1.gen.h"
#include "inventory/inventory.h"
#include "inventory/selector_cache.h"

namespace allot::allocator {

/// AllocationResultsMaxSize: devices a claim may have.
inline constexpr std::int64_t kMaxResults = 32;

enum class Mode : std::uint8_t { kExactCount, kAll };

/// A derived attribute a request defines.
struct DerivedAttribute {
  std::string_view name;
  inventory::DerivedPtr expression;
};

/// A request, or one subrequest of it.
struct PreparedRequest {
  std::string error;  ///< not empty: fatal when the preparation reaches it
  CauseKind error_kind = CauseKind::kRequestInvalid;
  std::string_view name;
  std::string full_name;  ///< "request" or "request/sub"
  std::uint16_t claim = 0;
  std::uint16_t request = 0;
  std::int16_t subrequest = -1;
  Mode mode = Mode::kExactCount;
  std::int64_t count = 0;
  bool admin = false;
  inventory::ClassPtr device_class;
  inventory::SelectorSetPtr selectors;  ///< the class's, then its own
  std::size_t class_selectors = 0;
  schema::List<api::resource::DeviceToleration> tolerations;
  /// Null: no capacity is asked for.
  const schema::Map<quantity::Quantity>* capacity = nullptr;
  std::vector<DerivedAttribute> derived;
  std::vector<std::uint16_t> constraints;  ///< of the claim, those with this request in scope
};

struct PreparedConstraint {
  ConstraintKind kind = ConstraintKind::kMatch;
  std::string_view attribute;  ///< fully qualified
  AttributeColumnPtr column;
};

/// One request of a claim: its choices (one, or the subrequests in order).
struct RequestChoices {
  std::string error;                 ///< of the request as a whole
  std::uint32_t first = 0, end = 0;  ///< range in Prepared::requests
  bool prioritized = false;          ///< firstAvailable
};

struct PreparedClaim {
  const api::resource::ResourceClaim* claim = nullptr;
  std::string display;  ///< namespace/name
  std::vector<RequestChoices> requests;
  std::vector<PreparedConstraint> constraints;
  std::string constraint_error;
};

struct Prepared {
  std::vector<PreparedClaim> claims;
  std::vector<PreparedRequest> requests;
  std::uint64_t class_version = 0;
};

/// Compiles the claims. Cost: hash look-ups once the expressions are known.
[[nodiscard]] Prepared PrepareClaims(std::span<const api::resource::ResourceClaim* const> claims,
                                     const inventory::Inventory& inventory,
                                     inventory::SelectorCache& cache,
                                     AttributeColumns& columns);

/// Makes `prepared` stand for `claims` instead of those it was made from: other objects, equal in
/// everything that is compiled. Saves compiling them again. Cost: a few stores a request.
/// REQUIRES: CanBeRebound(prepared).
void RebindClaims(Prepared& prepared, std::span<const api::resource::ResourceClaim* const> claims);
/// False when texts of the claims themselves went into it: the mistakes it will report.
[[nodiscard]] bool CanBeRebound(const Prepared& prepared);

}  // namespace allot::allocator
