#include "controllers/devicetaint/taint_index.h"

#include <algorithm>
#include <utility>

namespace allot::controllers {
namespace {

using api::resource::AllocationResult;
using api::resource::DeviceTaint;
using api::resource::DeviceTaintRule;
using api::resource::DeviceToleration;
using api::resource::ResourceSlice;

constexpr std::string_view kNoExecute = "NoExecute";

std::optional<std::string> Text(const schema::Str* text) {
  return text != nullptr ? std::optional<std::string>(*text) : std::nullopt;
}

std::optional<std::int64_t> Earlier(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  if (!a || !b) {
    return a ? a : b;
  }
  return std::min(*a, *b);
}

std::int64_t Since(const DeviceTaint& taint) {
  return taint.time_added != nullptr ? taint.time_added->seconds : 0;
}

bool Tolerates(const DeviceToleration& toleration, std::string_view key, std::string_view value) {
  // As upstream: for evictions only the literal effect counts, an empty one does not.
  if (toleration.effect != kNoExecute) {
    return false;
  }
  if (!toleration.key.empty() && toleration.key != key) {
    return false;
  }
  return toleration.operator_ == "Exists" ||
         ((toleration.operator_.empty() || toleration.operator_ == "Equal") &&
          toleration.value == value);
}

}  // namespace

bool TaintIndex::Rule::Matches(const DeviceRef& ref) const {
  return selects && (!driver || *driver == ref.driver) && (!pool || *pool == ref.pool) &&
         (!device || *device == ref.device);
}

void TaintIndex::UpsertSlice(const ResourceSlice& slice) {
  Slice& entry = pools_[{std::string(slice.spec.driver), std::string(slice.spec.pool.name)}]
                       [std::string(slice.metadata.name)];
  entry.generation = slice.spec.pool.generation;
  entry.devices.clear();
  for (const api::resource::Device& device : slice.spec.devices) {
    std::vector<Taint>& taints = entry.devices[std::string(device.name)];
    for (const DeviceTaint& taint : device.taints) {
      if (taint.effect == kNoExecute) {
        taints.push_back({std::string(taint.key), std::string(taint.value), Since(taint)});
      }
    }
  }
}

void TaintIndex::DeleteSlice(const ResourceSlice& slice) {
  const auto pool =
      pools_.find({std::string(slice.spec.driver), std::string(slice.spec.pool.name)});
  if (pool != pools_.end()) {
    pool->second.erase(std::string(slice.metadata.name));
    if (pool->second.empty()) {
      pools_.erase(pool);
    }
  }
}

void TaintIndex::UpsertRule(const DeviceTaintRule& rule) {
  Rule& entry = rules_[std::string(rule.metadata.name)];
  entry = Rule();
  if (const auto* const selector = rule.spec.device_selector) {
    entry.selects = true;
    entry.driver = Text(selector->driver);
    entry.pool = Text(selector->pool);
    entry.device = Text(selector->device);
  }
  entry.key = rule.spec.taint.key;
  entry.value = rule.spec.taint.value;
  entry.effect = rule.spec.taint.effect;
  entry.since = Since(rule.spec.taint);
}

const TaintIndex::Rule* TaintIndex::FindRule(std::string_view name) const {
  const auto found = rules_.find(name);
  return found != rules_.end() ? &found->second : nullptr;
}

std::int64_t TaintIndex::Newest(const Pool& pool) {
  std::int64_t newest = 0;
  for (const auto& [name, slice] : pool) {
    newest = std::max(newest, slice.generation);
  }
  return newest;
}

std::optional<std::int64_t> TaintIndex::TimeOf(const Result& result,
                                               std::string_view key,
                                               std::string_view value,
                                               std::int64_t since) {
  std::optional<std::int64_t> least;
  bool tolerated = false;
  for (const DeviceToleration& toleration : result.tolerations) {
    if (!Tolerates(toleration, key, value)) {
      continue;
    }
    if (toleration.toleration_seconds == nullptr) {
      return std::nullopt;
    }
    tolerated = true;
    least = Earlier(least, std::max<std::int64_t>(*toleration.toleration_seconds, 0));
  }
  return since + (tolerated ? *least : 0);
}

std::optional<std::int64_t> TaintIndex::EvictionTime(const AllocationResult& allocation) const {
  std::optional<std::int64_t> time;
  for (const Result& result : allocation.devices.results) {
    const DeviceRef ref{result.driver, result.pool, result.device};
    if (const auto pool = pools_.find({std::string(ref.driver), std::string(ref.pool)});
        pool != pools_.end()) {
      const std::int64_t newest = Newest(pool->second);
      for (const auto& [name, slice] : pool->second) {
        const auto device = slice.devices.find(ref.device);
        if (slice.generation != newest || device == slice.devices.end()) {
          continue;
        }
        for (const Taint& taint : device->second) {
          time = Earlier(time, TimeOf(result, taint.key, taint.value, taint.since));
        }
      }
    }
    for (const auto& [name, rule] : rules_) {
      if (rule.effect == kNoExecute && rule.Matches(ref)) {
        time = Earlier(time, TimeOf(result, rule.key, rule.value, rule.since));
      }
    }
  }
  return time;
}

std::optional<std::int64_t> TaintIndex::EvictionTime(const AllocationResult& allocation,
                                                     const Rule& rule) const {
  std::optional<std::int64_t> time;
  for (const Result& result : allocation.devices.results) {
    if (rule.Matches({result.driver, result.pool, result.device})) {
      time = Earlier(time, TimeOf(result, rule.key, rule.value, rule.since));
    }
  }
  return time;
}

std::int64_t TaintIndex::PublishedDevices(const Rule& rule) const {
  std::int64_t count = 0;
  for (const auto& [id, pool] : pools_) {
    const std::int64_t newest = Newest(pool);
    for (const auto& [name, slice] : pool) {
      if (slice.generation != newest) {
        continue;
      }
      for (const auto& [device, taints] : slice.devices) {
        count += rule.Matches({id.first, id.second, device}) ? 1 : 0;
      }
    }
  }
  return count;
}

}  // namespace allot::controllers
