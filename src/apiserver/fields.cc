#include "apiserver/fields.h"

#include <span>
#include <utility>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "api/events/v1.gen.h"
#include "api/resource/v1.gen.h"
#include "apiserver/errors.h"

namespace allot::apiserver {
namespace {

namespace core = api::core;
namespace resource = api::resource;
using base::Result;
using Value = std::optional<std::string_view>;

std::string_view BoolText(bool value) {
  return value ? "true" : "false";
}

Value PodField(const void* root, std::string_view field) {
  const auto& pod = *static_cast<const core::Pod*>(root);
  if (field == "spec.nodeName" || field == "spec.host") {  // the second name is the older one
    return pod.spec.node_name;
  }
  if (field == "status.phase") {
    return pod.status.phase;
  }
  if (field == "spec.restartPolicy") {
    return pod.spec.restart_policy;
  }
  if (field == "spec.schedulerName") {
    return pod.spec.scheduler_name;
  }
  if (field == "spec.serviceAccountName") {
    return pod.spec.service_account_name;
  }
  if (field == "spec.hostNetwork") {
    return BoolText(pod.spec.host_network);
  }
  if (field == "status.podIP") {
    return pod.status.pod_ips.empty() ? pod.status.pod_ip : pod.status.pod_ips.front().ip;
  }
  if (field == "status.nominatedNodeName") {
    return pod.status.nominated_node_name;
  }
  return std::nullopt;
}

Value NodeField(const void* root, std::string_view field) {
  const auto& node = *static_cast<const core::Node*>(root);
  return field == "spec.unschedulable" ? Value(BoolText(node.spec.unschedulable)) : std::nullopt;
}

Value NamespaceField(const void* root, std::string_view field) {
  const auto& ns = *static_cast<const core::Namespace*>(root);
  return field == "status.phase" ? Value(ns.status.phase) : std::nullopt;
}

Value SecretField(const void* root, std::string_view field) {
  const auto& secret = *static_cast<const core::Secret*>(root);
  return field == "type" ? Value(secret.type) : std::nullopt;
}

Value ReferenceField(const core::ObjectReference& about, std::string_view part) {
  if (part == "kind") {
    return about.kind;
  }
  if (part == "namespace") {
    return about.namespace_;
  }
  if (part == "name") {
    return about.name;
  }
  if (part == "uid") {
    return about.uid;
  }
  if (part == "apiVersion") {
    return about.api_version;
  }
  if (part == "resourceVersion") {
    return about.resource_version;
  }
  return part == "fieldPath" ? Value(about.field_path) : std::nullopt;
}

Value EventField(const void* root, std::string_view field) {
  const auto& event = *static_cast<const core::Event*>(root);
  for (const std::string_view prefix : {"involvedObject.", "regarding."}) {
    if (field.starts_with(prefix)) {
      return ReferenceField(event.involved_object, field.substr(prefix.size()));
    }
  }
  if (field == "reason") {
    return event.reason;
  }
  if (field == "reportingComponent" || field == "reportingController") {
    return event.reporting_component;
  }
  if (field == "source") {
    return event.source.component.empty() ? event.reporting_component : event.source.component;
  }
  return field == "type" ? Value(event.type) : std::nullopt;
}

Value SliceField(const void* root, std::string_view field) {
  const auto& slice = *static_cast<const resource::ResourceSlice*>(root);
  if (field == "spec.nodeName") {
    return slice.spec.node_name != nullptr ? *slice.spec.node_name : std::string_view();
  }
  if (field == "spec.driver") {
    return slice.spec.driver;
  }
  return field == "spec.pool.name" ? Value(slice.spec.pool.name) : std::nullopt;
}

using FieldGetter = Value (*)(const void*, std::string_view);

FieldGetter GetterOf(const schema::TypeDesc& type) {
  if (&type == &api::Desc<core::Pod>()) {
    return PodField;
  }
  if (&type == &api::Desc<core::Event>()) {
    return EventField;
  }
  if (&type == &api::Desc<resource::ResourceSlice>()) {
    return SliceField;
  }
  if (&type == &api::Desc<core::Node>()) {
    return NodeField;
  }
  if (&type == &api::Desc<core::Namespace>()) {
    return NamespaceField;
  }
  return &type == &api::Desc<core::Secret>() ? SecretField : nullptr;
}

base::Status UnknownField(const Resource& resource, std::string_view field) {
  const schema::TypeDesc& type = resource.stored_type();
  if (&type == &api::Desc<resource::ResourceSlice>()) {
    return BadRequestError(fmt::format("field label not supported for {}, Kind={}: {}",
                                       resource.info->api_version,
                                       resource.info->kind,
                                       field));
  }
  if (GetterOf(type) != nullptr) {
    return BadRequestError(fmt::format("field label not supported: {}", field));
  }
  return BadRequestError(fmt::format(
      "\"{}\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
      field));
}

/// Kinds without fields of their own know a namespace even where they have none.
bool KnowsNamespaceField(const Resource& resource) {
  return resource.info->namespaced || GetterOf(resource.stored_type()) == nullptr;
}

/// The two groups of events name some fields differently.
bool IsOfOtherEventGroup(const Resource& resource, std::string_view field) {
  if (&resource.stored_type() != &api::Desc<core::Event>()) {
    return false;
  }
  if (resource.conversion == nullptr) {
    return field.starts_with("regarding.") || field == "reportingController";
  }
  return field.starts_with("involvedObject.") || field == "reportingComponent" || field == "source";
}

}  // namespace

std::optional<std::string_view> FieldValue(const schema::TypeDesc& stored_type,
                                           const void* root,
                                           std::string_view field) {
  const FieldGetter getter = GetterOf(stored_type);
  return getter != nullptr ? getter(root, field) : std::nullopt;
}

Result<void> CheckFields(const Resource& resource, const FieldSelector& selector) {
  if (selector.empty()) {
    return {};
  }
  const AnyDraft empty(resource.stored_type());
  for (const FieldSelector::Term& term : selector.terms()) {
    if (term.field == "metadata.name" ||
        (term.field == "metadata.namespace" && KnowsNamespaceField(resource))) {
      continue;
    }
    if (IsOfOtherEventGroup(resource, term.field) ||
        !FieldValue(resource.stored_type(), empty.root(), term.field)) {
      return base::Error(UnknownField(resource, term.field));
    }
  }
  return {};
}

Result<Filter> Filter::Make(const Resource& resource,
                            std::string_view ns,
                            LabelSelector labels,
                            FieldSelector fields) {
  ALLOT_RETURN_IF_ERROR(CheckFields(resource, fields));
  Filter out;
  out.namespaced_ = resource.info->namespaced;
  if (out.namespaced_) {
    out.ns_ = ns;
    if (ns.empty()) {
      out.ns_ = fields.Required("metadata.namespace").value_or(std::string_view());
    }
    if (!out.ns_.empty()) {
      out.key_prefix_ = out.ns_ + "/";
    }
  }
  out.labels_ = std::move(labels);
  out.fields_ = std::move(fields);
  return out;
}

std::optional<std::string> Filter::OnlyKey() const {
  const auto name = fields_.Required("metadata.name");
  if (!name || (namespaced_ && ns_.empty())) {
    return std::nullopt;
  }
  return key_prefix_ + std::string(*name);
}

bool Filter::Matches(const store::Entry& entry) const {
  if (!entry.key().starts_with(key_prefix_)) {
    return false;
  }
  if (ByNamespaceOnly()) {
    return true;
  }
  const auto* const object = entry.value().As<schema::Object>();
  AnyView view;
  const auto load = [&] {
    if (view == nullptr) {
      if (Result<AnyView> loaded = ViewOf(entry)) {
        view = *std::move(loaded);
      }
    }
    return view != nullptr;
  };
  for (const FieldSelector::Term& term : fields_.terms()) {
    std::string_view value;
    if (term.field == "metadata.name") {
      value = object->name();
    } else if (term.field == "metadata.namespace") {
      value = object->namespace_();
    } else {
      if (!load()) {
        return false;
      }
      value = FieldValue(object->type(), view.get(), term.field).value_or(std::string_view());
    }
    if ((value == term.value) != term.equal) {
      return false;
    }
  }
  if (labels_.empty()) {
    return true;
  }
  if (!load()) {
    return false;
  }
  const auto& labels = MetadataOf(object->type(), view.get()).labels;
  return labels_.Matches([&](std::string_view key) -> std::optional<std::string_view> {
    const schema::Str* const found = labels.Find(key);
    return found != nullptr ? std::optional<std::string_view>(*found) : std::nullopt;
  });
}

}  // namespace allot::apiserver
