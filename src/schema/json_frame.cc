#include "schema/json_frame.h"

#include <string_view>

#include "schema/layout.h"

namespace allot::schema {
namespace {

/// The Go type of the keys of a map in a type of `group`.
std::string_view GoKeyType(std::string_view name, std::string_view group) {
  if (group != "resource.k8s.io" || name == "counters") {
    return "string";
  }
  return name == "nodeAllocatableResources" ? "v1.ResourceName" : "v1.QualifiedName";
}

}  // namespace

std::string StrictPath(const Frame* frame) {
  if (frame == nullptr) {
    return {};
  }
  std::string path = StrictPath(frame->parent);
  if (frame->is_list) {
    return path + "[" + std::to_string(frame->index) + "]";
  }
  const Str name = frame->type == nullptr ? frame->key : frame->field->field->name;
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

std::string GoType(const FieldDesc& field, bool element, const TypeDesc* holder) {
  std::string base(field.kind != ValueKind::kMessage
                       ? (field.named.empty() ? GoScalarName(field.kind) : field.named)
                       : std::string_view());
  if (field.kind == ValueKind::kMessage) {
    base = std::string(field.message->version) + "." + std::string(field.message->name);
  }
  if (element || (field.shape != Shape::kList && field.shape != Shape::kMap)) {
    return base;
  }
  if (field.shape == Shape::kList) {
    return "[]" + base;
  }
  const std::string_view group = holder != nullptr ? holder->group : std::string_view();
  if (field.kind == ValueKind::kQuantity && group.empty()) {
    return "v1.ResourceList";
  }
  return "map[" + std::string(GoKeyType(field.name, group)) + "]" + base;
}

std::string GoPlace(const Frame* frame) {
  std::string path;
  std::string_view holder;
  for (; frame != nullptr; frame = frame->parent) {
    if (frame->type == nullptr) {
      continue;
    }
    std::string name(frame->field->field->name);
    if (!frame->field->embedded.empty()) {
      name = std::string(frame->field->embedded) + "." + name;
    }
    path = path.empty() ? name : name + "." + path;
    if (holder.empty()) {
      holder = frame->type->name;
    }
  }
  return path.empty() ? "value" : "struct field " + std::string(holder) + "." + path;
}

}  // namespace allot::schema
