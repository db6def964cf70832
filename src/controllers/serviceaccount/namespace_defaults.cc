#include "controllers/serviceaccount/namespace_defaults.h"

#include <utility>

#include "api/core/v1.gen.h"

namespace allot::controllers {
namespace {

using api::core::ConfigMap;
using api::core::Namespace;
using api::core::ServiceAccount;

constexpr std::string_view kAccount = "default";
constexpr std::string_view kCaMap = "kube-root-ca.crt";
constexpr std::string_view kCaKey = "ca.crt";
constexpr std::string_view kDescription = "kubernetes.io/description";
constexpr std::string_view kCaDescription =
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal "
    "endpoints "
    "such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed "
    "across "
    "distributions of Kubernetes clusters.";

/// Queues the namespace of every change of a namespace, and of objects called `name`.
void Follow(client::Informer& namespaces,
            client::Informer& objects,
            std::string_view name,
            client::WorkQueue& queue) {
  namespaces.OnChanges([&queue](std::span<const client::Change> changes) {
    for (const client::Change& change : changes) {
      if (change.type != client::EventType::kDeleted) {
        queue.Add(change.item.object->name());
      }
    }
  });
  objects.OnChanges([&queue, name](std::span<const client::Change> changes) {
    for (const client::Change& change : changes) {
      if (change.type != client::EventType::kAdded && change.item.object->name() == name) {
        queue.Add(change.item.object->namespace_());
      }
    }
  });
}

base::Result<bool> IsActive(const client::Informer& namespaces, std::string_view ns) {
  const client::ObjectRef object = namespaces.Find("", ns);
  if (!object) {
    return false;
  }
  ALLOT_ASSIGN_OR_RETURN(const auto view, client::ViewOf<Namespace>({object, nullptr}));
  return view->status.phase == "Active" && view->metadata.deletion_timestamp == nullptr;
}

/// Another replica may have made it, and the namespace may have begun to end meanwhile.
bool Harmless(const base::Status& status) {
  if (status.reason() == base::Reason::kAlreadyExists) {
    return true;
  }
  if (status.details() != nullptr) {
    for (const base::StatusCause& cause : status.details()->causes) {
      if (cause.reason == "NamespaceTerminating") {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

ServiceAccountController::ServiceAccountController(Context& context)
    : context_(context),
      namespaces_(context.For<Namespace>()),
      accounts_(context.For<ServiceAccount>()),
      queue_(context.loop, "serviceaccount", [this](const std::string& ns) { return Sync(ns); }) {
  Follow(namespaces_, accounts_, kAccount, queue_);
  Watch(context_, queue_);
}

base::Result<void> ServiceAccountController::Sync(const std::string& ns) {
  ALLOT_ASSIGN_OR_RETURN(const bool active, IsActive(namespaces_, ns));
  if (!active || accounts_.Find(ns, kAccount)) {
    return {};
  }
  schema::Draft<ServiceAccount> draft;
  draft->metadata.name = kAccount;
  draft->metadata.namespace_ = draft.Copy(ns);
  const auto created =
      client::Create(context_.client, draft, context_.Chained([this, ns] { queue_.Add(ns); }));
  if (!created && !Harmless(created.error())) {
    return base::Error(created.error());
  }
  return {};
}

RootCaPublisher::RootCaPublisher(Context& context, std::string ca)
    : context_(context),
      ca_(std::move(ca)),
      namespaces_(context.For<Namespace>()),
      maps_(context.For<ConfigMap>()),
      queue_(context.loop, "root-ca-cert-publisher", [this](const std::string& ns) {
        return Sync(ns);
      }) {
  Follow(namespaces_, maps_, kCaMap, queue_);
  Watch(context_, queue_);
}

base::Result<void> RootCaPublisher::Sync(const std::string& ns) {
  ALLOT_ASSIGN_OR_RETURN(const bool active, IsActive(namespaces_, ns));
  if (!active) {
    return {};
  }
  const client::ObjectRef object = maps_.Find(ns, kCaMap);
  const auto fill = [this](schema::Draft<ConfigMap>& draft) {
    draft->data = {};
    draft.Put(draft->data, kCaKey, draft.Copy(ca_));
    draft.Put(draft->metadata.annotations, kDescription, kCaDescription);
  };
  if (!object) {
    schema::Draft<ConfigMap> draft;
    draft->metadata.name = kCaMap;
    draft->metadata.namespace_ = draft.Copy(ns);
    fill(draft);
    const auto created =
        client::Create(context_.client, draft, context_.Chained([this, ns] { queue_.Add(ns); }));
    if (!created && !Harmless(created.error())) {
      return base::Error(created.error());
    }
    return {};
  }
  ALLOT_ASSIGN_OR_RETURN(const auto map, client::ViewOf<ConfigMap>({object, nullptr}));
  if (map->data.size() == 1 && map->data.Get(kCaKey) == ca_ &&
      !map->metadata.annotations.Get(kDescription).empty()) {
    return {};
  }
  schema::Draft<ConfigMap> draft(map.view);
  fill(draft);
  client::WriteOptions write = context_.Chained();
  write.preconditions.revision = map.revision();
  ALLOT_RETURN_IF_ERROR(client::Update(context_.client, draft, write));
  return {};
}

}  // namespace allot::controllers
