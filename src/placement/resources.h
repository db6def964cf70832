// Resources: what a pod asks of a node besides devices, added up as the scheduler does.
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/core/v1.gen.h"

namespace allot::placement {

/// One quantity in these units fits into 64 bits. The sum of all pods of a node may not, and must
/// be exact: what is taken away again has to leave what the others ask for.
using Amount = quantity::Int128;

/// Amounts of node resources. Unit: cpu in thousandths, all others in whole units.
struct Resources {
  Amount milli_cpu = 0;
  Amount memory = 0;
  Amount ephemeral_storage = 0;
  /// Extended and other scalar resources, sorted by name.
  std::vector<std::pair<std::string, Amount>> scalars;

  [[nodiscard]] Amount Scalar(std::string_view name) const;
  /// Any resource by its name, in the unit kept here.
  [[nodiscard]] Amount AmountOf(std::string_view name) const;
  void AddScalar(std::string_view name, Amount amount);
  void Add(const Resources& other);
  void Subtract(const Resources& other);

  friend bool operator==(const Resources&, const Resources&) = default;
};

/// What devices of the pod's claims take of node resources (pod status, KEP-5517).
using ClaimStatuses = schema::List<api::core::NodeAllocatableResourceClaimStatus>;

/// Requests of the pod: containers, init containers and sidecars, what its devices take, overhead,
/// pod-level resources. A container being resized counts with the largest of what it wants, was
/// given and uses.
[[nodiscard]] Resources RequestsOf(const api::core::Pod& pod, const ClaimStatuses& claims = {});
/// The same with upstream's least amounts for containers that ask for nothing; used for scores
/// only.
[[nodiscard]] Resources NonZeroRequestsOf(const api::core::Pod& pod,
                                          const ClaimStatuses& claims = {});
/// The containers and devices alone, without overhead and pod-level resources.
[[nodiscard]] Resources ContainerRequestsOf(const api::core::Pod& pod, const ClaimStatuses& claims);
/// Limits of the containers; what devices take is added to huge pages, which are never overbooked.
[[nodiscard]] Resources ContainerLimitsOf(const api::core::Pod& pod, const ClaimStatuses& claims);
[[nodiscard]] Resources ResourcesOf(const schema::Map<quantity::Quantity>& list);
/// `amount` in the unit that Resources keeps `resource` in.
[[nodiscard]] std::int64_t AmountIn(std::string_view resource, const quantity::Quantity& amount);
/// Whether a pod may state the resource for itself as a whole.
[[nodiscard]] bool IsPodLevelResource(std::string_view name);

}  // namespace allot::placement
