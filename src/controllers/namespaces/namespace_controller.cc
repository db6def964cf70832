#include "controllers/namespaces/namespace_controller.h"

#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "api/meta/v1.gen.h"
#include "client/event_recorder.h"
#include "quantity/time.h"

namespace allot::controllers {

using api::core::Namespace;
using client::Typed;

struct NamespaceController::Remaining {
  std::map<std::string, std::size_t> resources;  // "pods.", "leases.coordination.k8s.io"
  std::map<std::string, std::size_t> finalizers;
  std::string failure;
};

namespace {

constexpr std::string_view kFinalizer = "kubernetes";

std::string Joined(const std::map<std::string, std::size_t>& counts, std::string_view word) {
  std::string text;
  for (const auto& [name, count] : counts) {
    fmt::format_to(std::back_inserter(text),
                   "{}{} {} {} resource instances",
                   text.empty() ? "" : ", ",
                   name,
                   word,
                   count);
  }
  return text;
}

}  // namespace

NamespaceController::NamespaceController(Context& context)
    : context_(context),
      namespaces_(context.For<Namespace>()),
      queue_(context.loop, "namespace", [this](const std::string& key) { return Sync(key); }) {
  namespaces_.OnChanges([this](std::span<const client::Change> changes) { OnNamespaces(changes); });
  Watch(context_, queue_);
}

void NamespaceController::OnNamespaces(std::span<const client::Change> changes) {
  for (const client::Change& change : changes) {
    const auto& ns = *static_cast<const Namespace*>(change.item.view.get());
    if (change.type != client::EventType::kDeleted && ns.metadata.deletion_timestamp != nullptr &&
        !ns.spec.finalizers.empty()) {
      queue_.Add(ns.metadata.name);
    }
  }
}

base::Result<void> NamespaceController::Sync(const std::string& key) {
  auto ns = client::Get<Namespace>(context_.client, "", key);
  if (!ns) {
    if (ns.error().reason() == base::Reason::kNotFound) {
      return {};
    }
    return base::Error(std::move(ns).error());
  }
  if ((*ns)->metadata.deletion_timestamp == nullptr || (*ns)->spec.finalizers.empty()) {
    return {};
  }
  if ((*ns)->status.phase != "Terminating") {
    schema::Draft<Namespace> draft(ns->view);
    draft->status.phase = "Terminating";
    ns = client::UpdateStatus(
        context_.client, draft, {.preconditions = {.revision = ns->revision()}});
    if (!ns) {
      return base::Error(std::move(ns).error());
    }
  }
  Remaining remaining;
  const base::Result<void> deleted = DeleteContent(key, remaining);
  if (!deleted) {
    remaining.failure = deleted.error().message();
  }
  if (!remaining.resources.empty() || !remaining.failure.empty()) {
    ALLOT_RETURN_IF_ERROR(WriteConditions(*ns, remaining));
    if (!deleted) {
      return deleted;
    }
    // What was asked to go may take a grace period or wait for finalizers: look again soon.
    queue_.AddAfter(key, std::chrono::milliseconds(500));
    return {};
  }
  return Finalize(*ns);
}

base::Result<void> NamespaceController::DeleteContent(std::string_view ns, Remaining& remaining) {
  ALLOT_ASSIGN_OR_RETURN(const std::vector<client::ServedResource> served,
                         context_.client.Served());
  base::Result<void> outcome;
  for (const client::ServedResource& one : served) {
    const client::Resource& resource = *one.resource;
    if (!resource.namespaced || !one.watch || !one.remove ||
        (resource.plural == "events" && !resource.group.empty())) {
      continue;  // events of both groups are the same objects
    }
    // One kind that fails must not keep the others alive.
    if (auto deleted = DeleteKind(one, ns, remaining); !deleted && outcome) {
      outcome = std::move(deleted);
    }
  }
  return outcome;
}

base::Result<void> NamespaceController::DeleteKind(const client::ServedResource& served,
                                                   std::string_view ns,
                                                   Remaining& remaining) {
  const client::Resource& resource = *served.resource;
  const auto list = context_.client.List(resource, ns, {});
  if (!list) {
    // A server that does not have the resource has nothing to delete.
    return list.error().reason() == base::Reason::kNotFound ? base::Result<void>()
                                                            : base::Error(list.error());
  }
  if (list->items.empty()) {
    return {};
  }
  ALLOT_RETURN_IF_ERROR(DeleteAll(served, ns, *list));
  ALLOT_ASSIGN_OR_RETURN(const client::ListAnswer left, context_.client.List(resource, ns, {}));
  if (left.items.empty()) {
    return {};
  }
  remaining.resources[fmt::format("{}.{}", resource.plural, resource.group)] = left.items.size();
  for (const client::Item& item : left.items) {
    ALLOT_ASSIGN_OR_RETURN(const schema::DecodedObject object, schema::DecodeObject(item.object));
    for (const schema::Str finalizer : client::MetadataOf(*resource.type, object.root).finalizers) {
      ++remaining.finalizers[std::string(finalizer)];
    }
  }
  return {};
}

base::Result<void> NamespaceController::DeleteAll(const client::ServedResource& served,
                                                  std::string_view ns,
                                                  const client::ListAnswer& list) {
  client::Request request;
  request.verb = client::Verb::kDeleteCollection;
  request.resource = served.resource;
  request.ns = ns;
  request.options.propagation = client::Propagation::kBackground;
  if (served.remove_collection) {
    ALLOT_RETURN_IF_ERROR(context_.client.Do(request));
    return {};
  }
  request.verb = client::Verb::kDelete;
  for (const client::Item& item : list.items) {
    request.name = item.object->name();
    const auto deleted = context_.client.Do(request);
    if (!deleted && deleted.error().reason() != base::Reason::kNotFound) {
      return base::Error(deleted.error());
    }
  }
  return {};
}

base::Result<void> NamespaceController::WriteConditions(const Typed<Namespace>& ns,
                                                        const Remaining& remaining) {
  struct Row {
    std::string_view type;
    bool bad;
    std::string_view reason;
    std::string message;
  };
  const bool left = !remaining.resources.empty();
  const bool held = !remaining.finalizers.empty();
  const bool failed = !remaining.failure.empty();
  const std::array<Row, 5> rows = {{
      {"NamespaceDeletionDiscoveryFailure",
       false,
       "ResourcesDiscovered",
       "All resources successfully discovered"},
      {"NamespaceDeletionGroupVersionParsingFailure",
       false,
       "ParsedGroupVersions",
       "All legacy kube types successfully parsed"},
      {"NamespaceDeletionContentFailure",
       failed,
       failed ? "ContentDeletionFailed" : "ContentDeleted",
       failed ? "Failed to delete all resource types, 1 remaining: " + remaining.failure
              : "All content successfully deleted, may be waiting on finalization"},
      {"NamespaceContentRemaining",
       left,
       left ? "SomeResourcesRemain" : "ContentRemoved",
       left ? "Some resources are remaining: " + Joined(remaining.resources, "has")
            : "All content successfully removed"},
      {"NamespaceFinalizersRemaining",
       held,
       held ? "SomeFinalizersRemain" : "ContentHasNoFinalizers",
       held ? "Some content in the namespace has finalizers remaining: " +
                  Joined(remaining.finalizers, "in")
            : "All content-preserving finalizers finished"},
  }};
  schema::Draft<Namespace> draft(ns.view);
  const quantity::Time now = quantity::ToTime(context_.loop.clock().Now());
  bool changed = false;
  for (const Row& row : rows) {
    auto* const conditions = draft.MutableList(draft->status.conditions);
    api::core::NamespaceCondition* found = nullptr;
    for (std::size_t i = 0; i < draft->status.conditions.size(); ++i) {
      if (conditions[i].type == row.type) {
        found = &conditions[i];
      }
    }
    const std::string_view status = row.bad ? "True" : "False";
    if (found != nullptr && found->status == status && found->reason == row.reason &&
        found->message == row.message) {
      continue;
    }
    changed = true;
    api::core::NamespaceCondition condition;
    condition.type = row.type;
    condition.status = status;
    condition.last_transition_time =
        found != nullptr && found->status == status ? found->last_transition_time : now;
    condition.reason = row.reason;
    condition.message = draft.Copy(row.message);
    if (found != nullptr) {
      *found = condition;
    } else {
      draft.Append(draft->status.conditions, condition);
    }
  }
  if (!changed) {
    return {};
  }
  ALLOT_RETURN_IF_ERROR(
      client::UpdateStatus(context_.client, draft, {.preconditions = {.revision = ns.revision()}}));
  return {};
}

base::Result<void> NamespaceController::Finalize(const Typed<Namespace>& ns) {
  schema::Draft<Namespace> draft(ns.view);
  draft.Filter(draft->spec.finalizers,
               [](schema::Str finalizer) { return finalizer != kFinalizer; });
  client::Request request;
  request.verb = client::Verb::kUpdate;
  request.resource = &client::ResourceOf<Namespace>();
  request.name = ns->metadata.name;
  request.subresource = "finalize";
  request.options.preconditions.revision = ns.revision();
  request.body = client::ToAny(draft.Freeze());
  const auto done = context_.client.Do(request);
  if (!done && done.error().reason() != base::Reason::kNotFound) {
    return base::Error(done.error());
  }
  return {};
}

}  // namespace allot::controllers
