// A small cluster for tests, fed with JSON that may use single quotes.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/core/v1.gen.h"
#include "api/resource/v1.gen.h"
#include "inventory/objects_test.h"
#include "placement/placement.h"

namespace allot::placement {

using inventory::FromText;

class World {
 public:
  explicit World(inventory::Features features = {}, allocator::AttemptLimits limits = {})
      : view(features), placer(view, std::move(limits)) {}

  /// `more`: further members of the node, with a leading comma.
  void Node(const std::string& name, const std::string& more = "", int cpus = 8) {
    view.UpsertNode(*FromText<api::core::Node>(
        "{'metadata':{'name':'" + name + "','labels':{'host':'" + name +
            "'}},'status':{'allocatable':{'cpu':'" + std::to_string(cpus) +
            "','memory':'16Gi','pods':'100'}}" + more + "}",
        arena));
  }
  void Class(const std::string& name = "gpu", const std::string& more = "") {
    view.inventory().UpsertClass(*FromText<api::resource::DeviceClass>(
        "{'metadata':{'name':'" + name +
            "'},'spec':{'selectors':[{'cel':{'expression':'device.driver == \\'" + name +
            "\\''}}]" + more + "}}",
        arena));
  }
  /// A slice and pool of that name; `where` and `devices` as JSON members.
  void Slice(const std::string& name,
             const std::string& where,
             const std::string& devices,
             const std::string& driver = "gpu") {
    view.inventory().UpsertSlice(*FromText<api::resource::ResourceSlice>(
        "{'metadata':{'name':'" + name + "'},'spec':{'driver':'" + driver + "','pool':{'name':'" +
            name + "','generation':1,'resourceSliceCount':1}," + where + ",'devices':[" + devices +
            "]}}",
        arena));
  }
  /// The spec's requests as JSON.
  const api::resource::ResourceClaim* Claim(
      const std::string& name,
      const std::string& requests =
          "{'name':'r','exactly':{'deviceClassName':'gpu','allocationMode'"
          ":'ExactCount','count':1}}") {
    return FromText<api::resource::ResourceClaim>(
        "{'metadata':{'name':'" + name + "','namespace':'default','uid':'" + name +
            "'},'spec':{'devices':{'requests':[" + requests + "]}}}",
        arena);
  }
  /// `spec`: further members, with a leading comma.
  const api::core::Pod* Pod(const std::string& name,
                            const std::string& requests = "",
                            const std::string& spec = "") {
    return FromText<api::core::Pod>("{'metadata':{'name':'" + name +
                                        "','namespace':'default','uid':'" + name +
                                        "'},'spec':{'containers':[{'name':'c','resources':{'claims'"
                                        ":[{'name':'x'}],'requests':{" +
                                        requests + "}}}]" + spec + "}}",
                                    arena);
  }

  Decision Place(const api::core::Pod& pod, std::vector<ClaimInput> inputs = {}) {
    return placer.Place(pod, inputs, [](std::size_t) { return std::string("share"); });
  }
  /// Places the pod and takes what it gets; the node's name, or the message.
  std::string Run(const api::core::Pod& pod,
                  const std::vector<const api::resource::ResourceClaim*>& claims = {}) {
    std::vector<ClaimInput> inputs;
    for (const auto* const claim : claims) {
      ClaimInput& input = inputs.emplace_back();
      input.claim = claim;
      input.allocation = claim->status.allocation;
      input.entry = "x";
    }
    Decision decision = Place(pod, inputs);
    visited = decision.nodes_visited;
    if (decision.placed == Placed::kError || decision.placed == Placed::kUnfinished) {
      return decision.error;
    }
    if (decision.placed != Placed::kPlaced) {
      return decision.diagnosis.message;
    }
    std::size_t next = 0;
    for (const auto* const claim : claims) {
      if (claim->status.allocation == nullptr) {
        held.push_back(
            view.allocated().Commit(view.inventory().UseOf(*claim, decision.results[next++])));
      }
    }
    api::core::Pod assumed = pod;
    assumed.status.node_allocatable_resource_claim_statuses = decision.node_allocatable;
    view.UpsertPod(assumed, decision.node);
    last = std::move(decision);
    return last.node;
  }

  base::Arena arena;
  ClusterView view;
  Placer placer;
  std::deque<inventory::AllocatedState::Handle> held;
  Decision last;
  std::uint64_t visited = 0;
};

}  // namespace allot::placement
