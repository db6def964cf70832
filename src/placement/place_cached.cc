// The choice of a node from kept answers, or, for a shape seen rarely, from the least loaded nodes.
#include <algorithm>
#include <array>
#include <utility>

#include "placement/placer_impl.h"

namespace allot::placement {
namespace {

// Nodes compared by score when the answers of a shape are not kept, and nodes looked at for them.
constexpr std::size_t kCompared = 8;
constexpr std::size_t kLookedAt = 128;

// The part of a score that all nodes of a bucket share.
std::int64_t CommonScore(const RawScore& parts, const RawScore& max) {
  RawScore common = parts;
  common.resources = 0;
  return Combine(common, max);
}

}  // namespace

void Placer::Impl::EndOutOfSteps(NodeResult& result) {
  result.fatal =
      "the search steps of one scheduling attempt are used up; the next attempt goes on with the "
      "nodes left; simplify the claim: fewer requests, constraints or alternatives";
  result.unfinished = true;
}

void Placer::Impl::FilterShared(Attempt& attempt,
                                const NodeInfo& node,
                                SharedAnswer& last,
                                NodeResult& result) {
  const inventory::NodeViewPtr& seen = inventory.ViewFor(node.ref);
  const auto same = [](const inventory::PoolViewPtr& a, const inventory::PoolViewPtr& b) {
    return a == b && !a->per_device;
  };
  if (last.view != nullptr && last.view->error.empty() && seen->error.empty() &&
      last.optional_node_operations == node.ref.optional_node_operations &&
      std::equal(last.view->pools.begin(),
                 last.view->pools.end(),
                 seen->pools.begin(),
                 seen->pools.end(),
                 same) &&
      ClaimsStandAlone(attempt)) {
    ++shared_answers;
    result = last.result;
    return;
  }
  // One look at least, or an attempt that others have used up would never learn anything.
  if (last.looked && allocator.OutOfSteps()) {
    return EndOutOfSteps(result);
  }
  last.looked = true;
  last.view = seen;
  last.optional_node_operations = node.ref.optional_node_operations;
  FilterDevices(attempt, node, node.requested, result);
  if (result.unfinished) {
    last.view = nullptr;
  }
  last.result = result;
}

bool Placer::Impl::EvaluatePending(Attempt& attempt, ShapeCache::Shape& shape, Decision& decision) {
  const auto& nodes = view.nodes();
  SharedAnswer last;
  for (std::size_t i = 0; i < shape.pending.size(); ++i) {
    const std::uint32_t rank = shape.pending[i];
    const NodeInfo& node = *nodes[rank];
    ++decision.nodes_visited;
    NodeResult result;
    result.status = RunFilters(attempt.facts, node, inventory);
    if (shape.eager && result.status.ok()) {
      FilterShared(attempt, node, last, result);
      if (!result.fatal.empty()) {
        // Those before have their answers and wait no more.
        shape.pending.erase(shape.pending.begin(),
                            shape.pending.begin() + static_cast<std::ptrdiff_t>(i));
        if (!result.unfinished) {
          cache.MakeAllUnknown(shape);
        }
        End(std::move(result), decision);
        return false;
      }
    }
    if (!result.status.ok()) {
      cache.Reject(shape, rank, std::move(result.status));
      continue;
    }
    RawScore raw = ScoreNode(attempt.facts, node);
    raw.devices = result.devices;
    const bool packing = attempt.options->profile == Profile::kPacking;
    cache.Push(shape,
               rank,
               raw,
               packing ? PackedScore(node, raw.resources) : raw.resources,
               shape.eager ? ShapeCache::State::kFeasible : ShapeCache::State::kTryable);
  }
  shape.pending.clear();
  return true;
}

const NodeInfo* Placer::Impl::BestOf(Attempt& attempt,
                                     ShapeCache::Shape& shape,
                                     ShapeCache::Bucket& bucket,
                                     NodeResult& result) {
  auto& heap = bucket.heap;
  while (!heap.empty()) {
    const ShapeCache::HeapItem top = heap.front();
    if (shape.answers[top.rank].stamp == top.stamp) {
      const NodeInfo& node = *view.nodes()[top.rank];
      result = {};
      FilterDevices(attempt, node, node.requested, result);
      if (!result.fatal.empty()) {
        return nullptr;
      }
      if (result.status.ok()) {
        shape.answers[top.rank].state = ShapeCache::State::kFeasible;
        return &node;
      }
      cache.Reject(shape, top.rank, std::move(result.status));
    }
    std::pop_heap(heap.begin(), heap.end());
    heap.pop_back();
    if (allocator.OutOfSteps()) {
      EndOutOfSteps(result);
      return nullptr;
    }
  }
  return nullptr;
}

void Placer::Impl::PlaceCached(Attempt& attempt,
                               const ShapeKey& key,
                               const allocator::ShareIds& share_ids,
                               Decision& decision) {
  // Upstream looks at every node of a small cluster, so an error on any of them ends the attempt.
  // Where devices have a say in the score, all of them must be known as well.
  const bool eager = view.nodes().size() <= kNodesAllTried || DevicesScore(attempt.claims);
  const bool packing = attempt.options->profile == Profile::kPacking;
  ShapeCache::Shape& shape = cache.Find(key, eager, packing);
  if (!EvaluatePending(attempt, shape, decision)) {
    return;
  }
  struct Live {
    const NodeInfo* node = nullptr;
    const ShapeCache::Bucket* bucket = nullptr;
  };
  std::vector<Live> live;
  NodeResult result;
  RawScore max;
  for (ShapeCache::Bucket& bucket : shape.buckets) {
    const NodeInfo* const node = BestOf(attempt, shape, bucket, result);
    if (!result.fatal.empty()) {
      return End(std::move(result), decision);
    }
    if (node != nullptr) {
      live.push_back({node, &bucket});
      max.intolerable = std::max(max.intolerable, bucket.parts.intolerable);
      max.affinity = std::max(max.affinity, bucket.parts.affinity);
      max.devices = std::max(max.devices, bucket.parts.devices);
    }
  }
  if (live.empty()) {
    return RejectByReasons(attempt, shape, decision);
  }
  const Live* best = nullptr;
  for (const Live& one : live) {
    const std::int64_t common = CommonScore(one.bucket->parts, max);
    const std::int64_t own = one.bucket->heap.front().score;
    const std::int64_t total =
        attempt.options->profile == Profile::kPacking ? own - common : own + common;
    if (best == nullptr || total > decision.score ||
        (total == decision.score && one.node->rank < best->node->rank)) {
      best = &one;
      decision.score = total;
    }
  }
  if (best != &live.back()) {
    // The last search was for another node.
    result = {};
    FilterDevices(attempt, *best->node, best->node->requested, result);
    if (!result.fatal.empty()) {
      return End(std::move(result), decision);
    }
  }
  Deliver(attempt, *best->node, result, share_ids, decision);
}

void Placer::Impl::RejectByReasons(Attempt& attempt,
                                   const ShapeCache::Shape& shape,
                                   Decision& decision) {
  ReasonCounts reasons;
  Resolvable resolvable;
  for (const ShapeCache::Reason& reason : shape.reasons) {
    if (reason.count == 0) {
      continue;
    }
    for (const std::string& text : reason.status.reasons) {
      reasons[text] += reason.count;
    }
    for (const std::size_t claim : reason.status.unavailable) {
      if (std::find(attempt.unavailable.begin(), attempt.unavailable.end(), claim) ==
          attempt.unavailable.end()) {
        attempt.unavailable.push_back(claim);
      }
    }
    resolvable.count += reason.status.resolvable ? reason.count : 0;
  }
  const auto& nodes = view.nodes();
  const bool listed = resolvable.count != 0 && AnyVictims(attempt);
  for (std::uint32_t rank = 0; listed && rank < nodes.size(); ++rank) {
    if (shape.reasons[shape.answers[rank].reason].status.resolvable) {
      resolvable.nodes.push_back(nodes[rank]);
    }
  }
  Reject(attempt, reasons, resolvable, decision);
}

bool Placer::Impl::PlaceByLoad(Attempt& attempt,
                               const allocator::ShareIds& share_ids,
                               Decision& decision) {
  struct Candidate {
    std::int64_t score = 0;
    const NodeInfo* node = nullptr;
  };
  std::array<Candidate, kCompared> candidates;
  std::size_t count = 0;
  const LoadIndex& order = view.by_load();
  std::uint32_t at = order.First();
  for (std::size_t looked = 0; looked < kLookedAt && at != LoadIndex::kNone; ++looked) {
    const NodeInfo& node = view.NodeAt(at);
    at = order.Next(at);
    ++decision.nodes_visited;
    if (RunFilters(attempt.facts, node, inventory).ok()) {
      candidates[count++] = {ScoreNode(attempt.facts, node).resources, &node};
    }
    if (count < kCompared && looked + 1 < kLookedAt && at != LoadIndex::kNone) {
      continue;
    }
    std::stable_sort(candidates.begin(),
                     candidates.begin() + static_cast<std::ptrdiff_t>(count),
                     [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
    for (std::size_t i = 0; i < count; ++i) {
      if (allocator.OutOfSteps()) {
        return false;  // answers that are kept bring the next attempt further
      }
      NodeResult result;
      const NodeInfo& best = *candidates[i].node;
      FilterDevices(attempt, best, best.requested, result);
      if (!result.fatal.empty()) {
        End(std::move(result), decision);
        return true;
      }
      if (result.status.ok()) {
        decision.score = candidates[i].score;
        Deliver(attempt, best, result, share_ids, decision);
        return true;
      }
    }
    count = 0;
  }
  return false;
}

}  // namespace allot::placement
