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

/// Amounts of node resources. Unit: cpu in thousandths, all others in whole units.
struct Resources {
  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;
  std::int64_t ephemeral_storage = 0;
  /// Extended and other scalar resources, sorted by name.
  std::vector<std::pair<std::string, std::int64_t>> scalars;

  [[nodiscard]] std::int64_t Scalar(std::string_view name) const;
  void AddScalar(std::string_view name, std::int64_t amount);
  void Add(const Resources& other);
  void Subtract(const Resources& other);

  friend bool operator==(const Resources&, const Resources&) = default;
};

/// Requests of the pod: containers, init containers and sidecars, overhead, pod-level resources.
[[nodiscard]] Resources RequestsOf(const api::core::Pod& pod);
/// The same with upstream's least amounts for containers that ask for nothing; used for scores
/// only.
[[nodiscard]] Resources NonZeroRequestsOf(const api::core::Pod& pod);
[[nodiscard]] Resources ResourcesOf(const schema::Map<quantity::Quantity>& list);

}  // namespace allot::placement
