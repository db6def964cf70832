// Printers of core, coordination and events kinds other than Pod.
#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "api/coordination/v1.gen.h"
#include "api/core/v1.gen.h"
#include "api/events/v1.gen.h"
#include "apiserver/table.h"

namespace allot::apiserver {
namespace {

namespace core = api::core;

constexpr Column kName = {
    "Name", "string", "name", "Name of the object, unique within its namespace.", 0};
constexpr Column kAge = {"Age", "string", "", "Time since the object was created.", 0};

constexpr Column kNameAge[] = {kName, kAge};
constexpr Column kNamespace[] = {
    kName, {"Status", "string", "", "Phase of the namespace.", 0}, kAge};
constexpr Column kConfigMap[] = {
    kName, {"Data", "string", "", "Number of entries, text and binary.", 0}, kAge};
constexpr Column kSecret[] = {kName,
                              {"Type", "string", "", "What the secret is for.", 0},
                              {"Data", "string", "", "Number of entries.", 0},
                              kAge};
constexpr Column kLease[] = {kName, {"Holder", "string", "", "Who holds the lease now.", 0}, kAge};
constexpr Column kNode[] = {
    kName,
    {"Status", "string", "", "Whether the node takes pods.", 0},
    {"Roles", "string", "", "Roles from the node's labels.", 0},
    kAge,
    {"Version", "string", "", "Version of the node agent.", 0},
    {"Internal-IP", "string", "", "Address inside the cluster.", 1},
    {"External-IP", "string", "", "Address outside the cluster.", 1},
    {"OS-Image", "string", "", "Operating system.", 1},
    {"Kernel-Version", "string", "", "Kernel of the operating system.", 1},
    {"Container-Runtime", "string", "", "Container runtime and its version.", 1},
};
constexpr Column kEvent[] = {
    {"Last Seen", "string", "", "Time since the event was last seen.", 0},
    {"Type", "string", "", "Normal or Warning.", 0},
    {"Reason", "string", "", "Short machine-readable reason.", 0},
    {"Object", "string", "", "What the event is about.", 0},
    {"Subobject", "string", "", "The part of the object it is about.", 1},
    {"Source", "string", "", "Who reported the event.", 1},
    {"Message", "string", "", "The event in words.", 0},
    {"First Seen", "string", "", "Time since the event was first seen.", 1},
    {"Count", "string", "", "How often it was seen.", 1},
    {"Name", "string", "name", "Name of the event.", 1},
};

template <typename T>
const T& As(const void* root) {
  return *static_cast<const T*>(root);
}

template <typename T>
void NameAgeCells(const void* root, CellWriter& out) {
  const T& object = As<T>(root);
  out.Text(object.metadata.name);
  out.Age(object.metadata.creation_timestamp);
}

void NamespaceCells(const void* root, CellWriter& out) {
  const auto& object = As<core::Namespace>(root);
  out.Text(object.metadata.name);
  out.Text(object.status.phase);
  out.Age(object.metadata.creation_timestamp);
}

void ConfigMapCells(const void* root, CellWriter& out) {
  const auto& object = As<core::ConfigMap>(root);
  out.Text(object.metadata.name);
  out.Number(static_cast<std::int64_t>(object.data.size() + object.binary_data.size()));
  out.Age(object.metadata.creation_timestamp);
}

void SecretCells(const void* root, CellWriter& out) {
  const auto& object = As<core::Secret>(root);
  out.Text(object.metadata.name);
  out.Text(object.type);
  out.Number(static_cast<std::int64_t>(object.data.size()));
  out.Age(object.metadata.creation_timestamp);
}

void LeaseCells(const void* root, CellWriter& out) {
  const auto& object = As<api::coordination::Lease>(root);
  out.Text(object.metadata.name);
  out.Text(object.spec.holder_identity != nullptr ? *object.spec.holder_identity
                                                  : std::string_view());
  out.Age(object.metadata.creation_timestamp);
}

std::string Joined(const std::set<std::string>& parts, std::string_view none) {
  std::string out;
  for (const std::string& part : parts) {
    out += (out.empty() ? "" : ",") + part;
  }
  return out.empty() ? std::string(none) : out;
}

std::string NodeRoles(const core::Node& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  for (const auto& label : node.metadata.labels) {
    if (label.key.starts_with(kPrefix) && label.key.size() > kPrefix.size()) {
      roles.emplace(label.key.substr(kPrefix.size()));
    } else if (label.key == "kubernetes.io/role" && !label.value.empty()) {
      roles.emplace(label.value);
    }
  }
  return Joined(roles, "<none>");
}

std::string NodeState(const core::Node& node) {
  std::string state = "Unknown";
  for (const core::NodeCondition& condition : node.status.conditions) {
    if (condition.type == "Ready") {
      state = condition.status == "True" ? "Ready" : "NotReady";
    }
  }
  return node.spec.unschedulable ? state + ",SchedulingDisabled" : state;
}

std::string_view NodeAddressOf(const core::Node& node, std::string_view type) {
  for (const core::NodeAddress& address : node.status.addresses) {
    if (address.type == type) {
      return address.address;
    }
  }
  return "<none>";
}

void NodeCells(const void* root, CellWriter& out) {
  const auto& node = As<core::Node>(root);
  const auto known = [](std::string_view text) {
    return text.empty() ? "<unknown>" : text;
  };
  out.Text(node.metadata.name);
  out.Text(NodeState(node));
  out.Text(NodeRoles(node));
  out.Age(node.metadata.creation_timestamp);
  out.Text(node.status.node_info.kubelet_version);
  out.Text(NodeAddressOf(node, "InternalIP"));
  out.Text(NodeAddressOf(node, "ExternalIP"));
  out.Text(known(node.status.node_info.os_image));
  std::string kernel(known(node.status.node_info.kernel_version));
  if (!node.status.node_info.architecture.empty()) {
    kernel += fmt::format(" ({})", node.status.node_info.architecture);
  }
  out.Text(kernel);
  out.Text(known(node.status.node_info.container_runtime_version));
}

std::string Lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

std::string_view TrimSpace(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(kSpace);
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// What both Event types have in common for printing.
struct EventFacts {
  quantity::Time first;
  quantity::Time last;
  std::int64_t count = 1;
};

EventFacts FactsOf(const quantity::Time& first,
                   const quantity::Time& last,
                   const quantity::Time& event_time,
                   std::int32_t count,
                   const quantity::Time* seen,
                   std::int32_t series_count) {
  EventFacts facts;
  facts.first = first.set ? first : event_time;
  facts.last = last.set ? last : facts.first;
  facts.count = count != 0 ? count : 1;
  if (seen != nullptr) {
    facts.last = *seen;
    facts.count = series_count;
  }
  return facts;
}

void WriteEvent(CellWriter& out,
                const EventFacts& facts,
                std::string_view type,
                std::string_view reason,
                const core::ObjectReference& about,
                const core::EventSource& source,
                std::string_view controller,
                std::string_view instance,
                std::string_view message,
                std::string_view name) {
  const std::string_view component = source.component.empty() ? controller : source.component;
  const std::string_view host = source.host.empty() ? instance : source.host;
  const std::string kind = Lower(about.kind);
  out.Age(facts.last);
  out.Text(type);
  out.Text(reason);
  out.Text(about.name.empty() ? kind : fmt::format("{}/{}", kind, about.name));
  out.Text(about.field_path);
  out.Text(host.empty() ? std::string(component) : fmt::format("{}, {}", component, host));
  out.Text(TrimSpace(message));
  out.Age(facts.first);
  out.Number(facts.count);
  out.Text(name);
}

void CoreEventCells(const void* root, CellWriter& out) {
  const auto& event = As<core::Event>(root);
  const EventFacts facts =
      FactsOf(event.first_timestamp,
              event.last_timestamp,
              event.event_time,
              event.count,
              event.series != nullptr ? &event.series->last_observed_time : nullptr,
              event.series != nullptr ? event.series->count : 0);
  WriteEvent(out,
             facts,
             event.type,
             event.reason,
             event.involved_object,
             event.source,
             event.reporting_component,
             event.reporting_instance,
             event.message,
             event.metadata.name);
}

void EventsEventCells(const void* root, CellWriter& out) {
  const auto& event = As<api::events::Event>(root);
  const EventFacts facts =
      FactsOf(event.deprecated_first_timestamp,
              event.deprecated_last_timestamp,
              event.event_time,
              event.deprecated_count,
              event.series != nullptr ? &event.series->last_observed_time : nullptr,
              event.series != nullptr ? event.series->count : 0);
  WriteEvent(out,
             facts,
             event.type,
             event.reason,
             event.regarding,
             event.deprecated_source,
             event.reporting_controller,
             event.reporting_instance,
             event.note,
             event.metadata.name);
}

constexpr TablePrinter kServiceAccountPrinter = {kNameAge, NameAgeCells<core::ServiceAccount>};
constexpr TablePrinter kNamespacePrinter = {kNamespace, NamespaceCells};
constexpr TablePrinter kConfigMapPrinter = {kConfigMap, ConfigMapCells};
constexpr TablePrinter kSecretPrinter = {kSecret, SecretCells};
constexpr TablePrinter kLeasePrinter = {kLease, LeaseCells};
constexpr TablePrinter kNodePrinter = {kNode, NodeCells};
constexpr TablePrinter kCoreEventPrinter = {kEvent, CoreEventCells};
constexpr TablePrinter kEventsEventPrinter = {kEvent, EventsEventCells};

}  // namespace

const TablePrinter* FindCorePrinter(const schema::TypeDesc& type) {
  if (&type == &api::Desc<core::Namespace>()) {
    return &kNamespacePrinter;
  }
  if (&type == &api::Desc<core::Node>()) {
    return &kNodePrinter;
  }
  if (&type == &api::Desc<core::ConfigMap>()) {
    return &kConfigMapPrinter;
  }
  if (&type == &api::Desc<core::Secret>()) {
    return &kSecretPrinter;
  }
  if (&type == &api::Desc<core::ServiceAccount>()) {
    return &kServiceAccountPrinter;
  }
  if (&type == &api::Desc<core::Event>()) {
    return &kCoreEventPrinter;
  }
  if (&type == &api::Desc<api::events::Event>()) {
    return &kEventsEventPrinter;
  }
  if (&type == &api::Desc<api::coordination::Lease>()) {
    return &kLeasePrinter;
  }
  return nullptr;
}

}  // namespace allot::apiserver
