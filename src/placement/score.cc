#include "placement/score.h"

#include <algorithm>
#include <cmath>

#include "api/tolerations.h"

namespace allot::placement {
namespace {

constexpr std::int64_t kMaxNodeScore = 100;

std::int64_t LeastAllocated(Amount requested, Amount total) {
  return requested > total ? 0
                           : static_cast<std::int64_t>((total - requested) * kMaxNodeScore / total);
}

std::int64_t Fit(const PodFacts& pod, const NodeInfo& node) {
  std::int64_t sum = 0;
  std::int64_t weight = 0;
  const auto add = [&](Amount requested, Amount total) {
    if (total != 0) {
      sum += LeastAllocated(requested, total);
      ++weight;
    }
  };
  add(node.nonzero.milli_cpu + pod.nonzero.milli_cpu, node.allocatable.milli_cpu);
  add(node.nonzero.memory + pod.nonzero.memory, node.allocatable.memory);
  return weight != 0 ? sum / weight : 0;
}

std::int64_t Balance(Amount cpu, Amount memory, const Resources& total) {
  double fractions[2] = {};
  int count = 0;
  const auto add = [&](Amount requested, Amount of) {
    if (of != 0) {
      fractions[count++] = std::min(static_cast<double>(requested) / static_cast<double>(of), 1.0);
    }
  };
  add(cpu, total.milli_cpu);
  add(memory, total.memory);
  const double deviation = count == 2 ? std::abs(fractions[0] - fractions[1]) / 2 : 0;
  return static_cast<std::int64_t>((1 - deviation) * static_cast<double>(kMaxNodeScore));
}

std::int64_t Balanced(const PodFacts& pod, const NodeInfo& node) {
  if (pod.requests.milli_cpu == 0 && pod.requests.memory == 0) {
    return 0;
  }
  const std::int64_t with = Balance(node.requested.milli_cpu + pod.requests.milli_cpu,
                                    node.requested.memory + pod.requests.memory,
                                    node.allocatable);
  const std::int64_t without =
      Balance(node.requested.milli_cpu, node.requested.memory, node.allocatable);
  return kMaxNodeScore / 2 + (kMaxNodeScore / 2 + with - without) / 2;
}

std::int64_t Intolerable(const PodFacts& pod, const NodeInfo& node) {
  return std::count_if(node.taints.begin(), node.taints.end(), [&](const api::core::Taint& taint) {
    return taint.effect == "PreferNoSchedule" &&
           std::none_of(pod.pod->spec.tolerations.begin(),
                        pod.pod->spec.tolerations.end(),
                        [&](const auto& toleration) {
                          return api::Tolerates(toleration, taint.key, taint.value, taint.effect);
                        });
  });
}

std::int64_t Affinity(const PodFacts& pod, const NodeInfo& node) {
  const auto* const affinity = pod.pod->spec.affinity;
  if (affinity == nullptr || affinity->node_affinity == nullptr) {
    return 0;
  }
  std::int64_t sum = 0;
  for (const auto& term :
       affinity->node_affinity->preferred_during_scheduling_ignored_during_execution) {
    auto match = inventory::MatchNodeSelectorTerm(term.preference, node.ref, "");
    sum += match && *match ? term.weight : 0;
  }
  return sum;
}

std::int64_t Scaled(std::int64_t value, std::int64_t max) {
  return max > 0 ? value * kMaxNodeScore / max : 0;
}

}  // namespace

RawScore ScoreNode(const PodFacts& pod, const NodeInfo& node) {
  return {Fit(pod, node) + Balanced(pod, node), Intolerable(pod, node), Affinity(pod, node), 0};
}

std::int64_t Combine(const RawScore& raw, const RawScore& max) {
  return raw.resources + 3 * (kMaxNodeScore - Scaled(raw.intolerable, max.intolerable)) +
         2 * Scaled(raw.affinity, max.affinity) + 2 * Scaled(raw.devices, max.devices);
}

std::int64_t PackingScore(std::int64_t compatible, std::int64_t held, std::int64_t devices) {
  constexpr std::int64_t kWeight = 10'000;
  return (devices != 0 ? held * kMaxNodeScore / devices : 0) * kWeight - compatible;
}

}  // namespace allot::placement
