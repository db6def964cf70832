#include "scheduler/shape.h"

#include "api/pod_claims.h"
#include "base/arena.h"
#include "schema/codec.h"

namespace allot::scheduler {
namespace {

using api::core::Container;
using api::core::PodSpec;

schema::List<Container> Reduced(const schema::List<Container>& containers, base::Arena& arena) {
  Container* const copies = arena.NewArray<Container>(containers.size());
  for (std::size_t i = 0; i < containers.size(); ++i) {
    copies[i].resources = containers[i].resources;
    copies[i].resources.claims = {};
    copies[i].ports = containers[i].ports;
    copies[i].restart_policy = containers[i].restart_policy;
  }
  return {copies, containers.count};
}

}  // namespace

std::string ShapeOf(const api::core::Pod& pod, std::span<const placement::ClaimInput> claims) {
  for (const placement::ClaimInput& input : claims) {
    if (input.allocation != nullptr || api::ControllerOf(input.claim->metadata) == nullptr) {
      return {};
    }
  }
  base::Arena arena;
  PodSpec reduced;
  reduced.containers = Reduced(pod.spec.containers, arena);
  reduced.init_containers = Reduced(pod.spec.init_containers, arena);
  reduced.overhead = pod.spec.overhead;
  reduced.resources = pod.spec.resources;
  reduced.node_selector = pod.spec.node_selector;
  reduced.affinity = pod.spec.affinity;
  reduced.tolerations = pod.spec.tolerations;
  reduced.topology_spread_constraints = pod.spec.topology_spread_constraints;
  reduced.host_network = pod.spec.host_network;
  std::string shape = pod.metadata.namespace_.empty() ? "" : std::string(pod.metadata.namespace_);
  shape.push_back('\0');
  schema::EncodeProtobuf(api::Desc<PodSpec>(), &reduced, shape);
  for (const placement::ClaimInput& input : claims) {
    shape.push_back('\0');
    schema::EncodeProtobuf(
        api::Desc<api::resource::ResourceClaimSpec>(), &input.claim->spec, shape);
  }
  return shape;
}

}  // namespace allot::scheduler
