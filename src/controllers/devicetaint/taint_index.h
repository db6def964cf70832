// TaintIndex: which NoExecute taints devices have, from slices and from rules, and when a claim
// that holds them must be given up. Thread safety: one thread. See: KEP-5055.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/resource/v1.gen.h"

namespace allot::controllers {

/// A device as allocations name it.
struct DeviceRef {
  std::string_view driver;
  std::string_view pool;
  std::string_view device;
};

class TaintIndex {
 public:
  /// A rule as it selects devices.
  struct Rule {
    bool selects = false;  ///< without selector a rule selects nothing
    std::optional<std::string> driver;
    std::optional<std::string> pool;
    std::optional<std::string> device;
    std::string key;
    std::string value;
    std::string effect;
    std::int64_t since = 0;  ///< Unit: seconds since the epoch

    [[nodiscard]] bool Matches(const DeviceRef& ref) const;
  };

  void UpsertSlice(const api::resource::ResourceSlice& slice);
  void DeleteSlice(const api::resource::ResourceSlice& slice);
  void UpsertRule(const api::resource::DeviceTaintRule& rule);
  void DeleteRule(std::string_view name) { rules_.erase(std::string(name)); }
  /// Null when there is none.
  [[nodiscard]] const Rule* FindRule(std::string_view name) const;

  /// When the claim's users must go; nothing when its taints are tolerated for ever or there are
  /// none. Unit: seconds since the epoch.
  [[nodiscard]] std::optional<std::int64_t> EvictionTime(
      const api::resource::AllocationResult& allocation) const;
  /// The same for one rule alone, as if its effect was NoExecute.
  [[nodiscard]] std::optional<std::int64_t> EvictionTime(
      const api::resource::AllocationResult& allocation, const Rule& rule) const;
  /// Devices of the newest generation of their pools that the rule selects.
  [[nodiscard]] std::int64_t PublishedDevices(const Rule& rule) const;

 private:
  struct Taint {
    std::string key;
    std::string value;
    std::int64_t since = 0;
  };
  struct Slice {
    std::int64_t generation = 0;
    /// Every device, most of them without taints.
    std::map<std::string, std::vector<Taint>, std::less<>> devices;
  };
  using Pool = std::map<std::string, Slice, std::less<>>;  // by slice name
  using Result = api::resource::DeviceRequestAllocationResult;

  static std::optional<std::int64_t> TimeOf(const Result& result,
                                            std::string_view key,
                                            std::string_view value,
                                            std::int64_t since);
  [[nodiscard]] static std::int64_t Newest(const Pool& pool);

  std::map<std::pair<std::string, std::string>, Pool> pools_;  // by driver and pool
  std::map<std::string, Rule, std::less<>> rules_;
};

}  // namespace allot::controllers
