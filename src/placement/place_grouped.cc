// The choice for a pod that the least loaded nodes refuse and whose shape is not kept: filters look
// at one node of each group, devices at nodes not known to refuse such claims.
#include <algorithm>
#include <utility>

#include "placement/placer_impl.h"

namespace allot::placement {
namespace {

struct Candidate {
  std::int64_t score = 0;
  std::uint32_t rank = 0;
};

constexpr std::int64_t kOut = -1;

}  // namespace

// Whether what a node answers for the claims depends on nothing else of the pod.
bool Placer::Impl::ClaimsStandAlone(const Attempt& attempt) const {
  const bool allocated = attempt.to_allocate.size() != attempt.claims.size();
  const bool extended = !attempt.facts.requests.scalars.empty() && inventory.AnyExtendedResource();
  return !allocated && !extended && !inventory.features().node_allocatable_resources;
}

std::size_t Placer::Impl::FilterGroups(Attempt& attempt,
                                       const std::vector<NodeGroups::Group>& all,
                                       std::vector<std::int64_t>& scores,
                                       Refusal& refusal,
                                       Decision& decision) {
  std::size_t members = 0;
  scores.assign(all.size(), kOut);
  for (std::size_t g = 0; g < all.size(); ++g) {
    const auto& nodes = all[g].nodes;
    if (nodes.empty()) {
      continue;
    }
    ++decision.nodes_visited;
    const NodeInfo& one = view.NodeAt(nodes.front());
    const NodeStatus status = RunFilters(attempt.facts, one, inventory);
    if (status.ok()) {
      scores[g] = ScoreNode(attempt.facts, one).resources;
      members += nodes.size();
      continue;
    }
    for (const std::string& reason : status.reasons) {
      refusal.reasons[reason] += nodes.size();
    }
    if (status.resolvable) {
      refusal.resolvable.count += nodes.size();
      for (std::size_t i = 0; AnyVictims(attempt) && i < nodes.size(); ++i) {
        refusal.resolvable.nodes.push_back(&view.NodeAt(nodes[i]));
      }
    }
  }
  return members;
}

bool Placer::Impl::PlaceByGroups(Attempt& attempt,
                                 const allocator::ShareIds& share_ids,
                                 Decision& decision) {
  const std::vector<NodeGroups::Group>* const all =
      ClaimsStandAlone(attempt) ? groups.For(*attempt.facts.pod) : nullptr;
  if (all == nullptr) {
    return false;
  }
  const auto& nodes = view.nodes();
  Refusal refusal;
  std::vector<std::int64_t> scores;
  const std::size_t members = FilterGroups(attempt, *all, scores, refusal, decision);
  ShapeCache::DeviceAnswers& known = cache.FindDevices(attempt.claims_key);
  std::vector<Candidate> candidates;
  // Either way a few instructions a node; the shorter list is walked.
  if (known.open.size() < members) {
    for (const std::uint32_t rank : known.open) {
      const std::int64_t score = scores[groups.GroupOf(nodes[rank]->index)];
      if (score != kOut) {
        candidates.push_back({score, rank});
      }
    }
  } else {
    for (std::size_t g = 0; g < all->size(); ++g) {
      for (std::size_t i = 0; scores[g] != kOut && i < (*all)[g].nodes.size(); ++i) {
        const std::uint32_t rank = view.NodeAt((*all)[g].nodes[i]).rank;
        if (known.refused[rank] == 0) {
          candidates.push_back({scores[g], rank});
        }
      }
    }
  }
  const auto later = [](const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score < b.score : a.rank > b.rank;
  };
  // A heap: most often the first one will do.
  std::make_heap(candidates.begin(), candidates.end(), later);
  for (; !candidates.empty(); candidates.pop_back()) {
    std::pop_heap(candidates.begin(), candidates.end(), later);
    const Candidate& best = candidates.back();
    ++decision.nodes_visited;
    NodeResult result;
    FilterDevices(attempt, *nodes[best.rank], nodes[best.rank]->requested, result);
    if (!result.fatal.empty()) {
      End(std::move(result), decision);
      return true;
    }
    if (result.status.ok()) {
      decision.score = best.score;
      Deliver(attempt, *nodes[best.rank], result, share_ids, decision);
      return true;
    }
    cache.Refuse(known, best.rank, std::move(result.status));
    if (allocator.OutOfSteps()) {
      EndOutOfSteps(result);
      End(std::move(result), decision);
      return true;
    }
  }
  CountRefused(*all, scores, members, known, refusal);
  std::sort(refusal.resolvable.nodes.begin(),
            refusal.resolvable.nodes.end(),
            [](const NodeInfo* a, const NodeInfo* b) { return a->rank < b->rank; });
  Reject(attempt, refusal.reasons, refusal.resolvable, decision);
  return true;
}

// All members of groups that pass the filters are refused for want of devices.
void Placer::Impl::CountRefused(const std::vector<NodeGroups::Group>& all,
                                const std::vector<std::int64_t>& scores,
                                std::size_t members,
                                const ShapeCache::DeviceAnswers& known,
                                Refusal& refusal) const {
  std::vector<std::size_t> counts(known.reasons.size());
  if (counts.size() == 1) {
    counts[0] = members;
  } else {
    for (std::size_t g = 0; g < all.size(); ++g) {
      for (std::size_t i = 0; scores[g] != kOut && i < all[g].nodes.size(); ++i) {
        ++counts[known.refused[view.NodeAt(all[g].nodes[i]).rank] - 1U];
      }
    }
  }
  for (std::size_t r = 0; r < counts.size(); ++r) {
    for (std::size_t i = 0; counts[r] != 0 && i < known.reasons[r].reasons.size(); ++i) {
      refusal.reasons[known.reasons[r].reasons[i]] += counts[r];
    }
  }
}

}  // namespace allot::placement
