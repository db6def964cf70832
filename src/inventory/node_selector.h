// Node selectors: core/v1 NodeSelector evaluated against a node, with upstream's rules and texts.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/core/v1.gen.h"
#include "base/status.h"

namespace allot::inventory {

/// The number an Inventory gave a node: dense, reused after the node is gone.
enum class NodeIndex : std::uint32_t {};
inline constexpr NodeIndex kNoNode{0xffffffff};
inline constexpr NodeIndex kAnyNode{0xfffffffe};
constexpr std::uint32_t Value(NodeIndex index) {
  return static_cast<std::uint32_t>(index);
}

/// What device rules and node selectors may ask of a node. Lifetime: views into the owner's node.
struct NodeRef {
  std::string_view name;
  schema::Map<schema::Str> labels;
  /// The node lists DRAOptionalNodeOperations in status.declaredFeatures.
  bool optional_node_operations = false;
  /// From Inventory::KnowNode, to find its view without a look-up; kNoNode: not asked for.
  NodeIndex index = kNoNode;
};

/// The facts of `node`. Lifetime: `node`.
[[nodiscard]] NodeRef MakeNodeRef(const api::core::Node& node);

/// True when any term matches; a term without expressions and fields matches nothing.
/// Errors: kInvalid with upstream's text for an operator, key or value list that cannot be parsed.
[[nodiscard]] base::Result<bool> MatchNodeSelector(const api::core::NodeSelector& selector,
                                                   const NodeRef& node);
/// True when all requirements of the one term match. Errors: as MatchNodeSelector, paths from
/// `path`.
[[nodiscard]] base::Result<bool> MatchNodeSelectorTerm(const api::core::NodeSelectorTerm& term,
                                                       const NodeRef& node,
                                                       std::string_view path);
/// The text Go prints for a selector ("&NodeSelector{NodeSelectorTerms:...}").
[[nodiscard]] std::string DescribeNodeSelector(const api::core::NodeSelector& selector);

}  // namespace allot::inventory
