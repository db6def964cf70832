#include "controllers/garbagecollector/garbage_collector.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/meta/v1.gen.h"
#include "client/typed.h"

namespace allot::controllers {
namespace {

using api::meta::ObjectMeta;
using api::meta::OwnerReference;

constexpr std::string_view kForeground = "foregroundDeletion";
constexpr std::string_view kOrphan = "orphan";
constexpr std::size_t kRememberedGone = 4096;
constexpr std::chrono::seconds kDiscoverEvery{30};
constexpr std::chrono::seconds kDiscoverAgain{1};
constexpr std::chrono::seconds kWaitForKind{30};  // as upstream: then it goes on without it
constexpr std::chrono::milliseconds kLookAgain{500};

std::string GroupOf(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? "" : std::string(api_version.substr(0, slash));
}

bool Holds(const ObjectMeta& meta, std::string_view finalizer) {
  return std::ranges::find(meta.finalizers, finalizer) != meta.finalizers.end();
}

const ObjectMeta& MetaOf(const client::Resource& resource, const void* root) {
  return client::MetadataOf(*resource.type, root);
}

}  // namespace

GarbageCollector::GarbageCollector(Context& context)
    : context_(context),
      dependents_queue_(context.loop,
                        "garbage_collector_attempt_to_delete",
                        [this](const std::string& uid) { return SyncDependent(uid); }),
      endings_queue_(context.loop,
                     "garbage_collector_attempt_to_orphan",
                     [this](const std::string& uid) { return SyncEnding(uid); }) {
  Discover();
  Watch(context_, dependents_queue_);
  Watch(context_, endings_queue_);
}

// ---- what there is
// ----------------------------------------------------------------------------------

void GarbageCollector::Discover() {
  const auto served = context_.client.Served();
  if (served) {
    for (auto& [name, kind] : kinds_) {
      kind.served = false;
    }
    for (const client::ServedResource& one : *served) {
      Add(one);
    }
  } else {
    context_.log.Warning("cannot ask the server for its resources, will try again",
                         {telemetry::Field(served.error())});
  }
  if (!context_.client.is_local()) {
    context_.loop.After(served ? kDiscoverEvery : kDiscoverAgain, [this] {
      Discover();
      context_.StartInformers();
    });
  }
}

void GarbageCollector::Add(const client::ServedResource& served) {
  const client::Resource& resource = *served.resource;
  if (!served.watch || !served.remove || resource.kind == "Event") {
    return;  // events have no owners and are many
  }
  const auto [found, fresh] =
      kinds_.try_emplace(std::pair(std::string(resource.group), std::string(resource.kind)),
                         Kind{.resource = &resource, .served = true, .since = context_.loop.Now()});
  Kind& kind = found->second;
  if (fresh || kind.resource != &resource) {  // new to us, or served in another version now
    kind = {.resource = &resource, .served = true, .since = context_.loop.Now()};
    if (watched_.insert(&resource).second) {
      context_.InformerFor(resource).OnChanges(
          [this, &resource](std::span<const client::Change> changes) {
            OnChanges(resource, changes);
          });
    }
  }
  kind.served = true;
}

const client::Resource* GarbageCollector::Find(std::string_view group,
                                               std::string_view kind) const {
  const auto found = kinds_.find(std::pair(std::string(group), std::string(kind)));
  return found != kinds_.end() && found->second.served ? found->second.resource : nullptr;
}

bool GarbageCollector::Incomplete() {
  return std::ranges::any_of(kinds_, [this](const auto& entry) {
    const Kind& kind = entry.second;
    return kind.served && context_.loop.Now() - kind.since < kWaitForKind &&
           !context_.InformerFor(*kind.resource).synced();
  });
}

// ---- the graph
// --------------------------------------------------------------------------------------

void GarbageCollector::OnChanges(const client::Resource& resource,
                                 std::span<const client::Change> changes) {
  for (const client::Change& change : changes) {
    const ObjectMeta& meta = MetaOf(resource, change.item.view.get());
    const std::string uid(meta.uid);
    if (change.type == client::EventType::kDeleted) {
      OnDeleted(uid);
      continue;
    }
    SetOwners(resource, meta);
    if (meta.deletion_timestamp == nullptr) {
      continue;
    }
    const bool foreground = Holds(meta, kForeground);
    const bool orphan = Holds(meta, kOrphan);
    if (foreground || orphan) {
      endings_[uid] = {
          &resource, std::string(meta.namespace_), std::string(meta.name), foreground, orphan};
      endings_queue_.Add(uid);
    } else {
      endings_.erase(uid);
    }
    // A dependent that begins to end may be what an owner waits for to be looked at again.
    if (const auto found = owned_.find(uid); found != owned_.end()) {
      for (const Owner& owner : found->second.owners) {
        if (endings_.contains(owner.uid)) {
          endings_queue_.Add(owner.uid);
        }
      }
    }
  }
}

void GarbageCollector::Remember(const std::string& uid) {
  if (gone_.insert(uid).second) {
    gone_order_.push_back(uid);
    if (gone_order_.size() > kRememberedGone) {
      gone_.erase(gone_order_.front());
      gone_order_.pop_front();
    }
  }
}

void GarbageCollector::OnDeleted(const std::string& uid) {
  endings_.erase(uid);
  if (const auto found = dependents_.find(uid); found != dependents_.end()) {
    Remember(uid);
    for (const std::string& dependent : found->second) {
      dependents_queue_.Add(dependent);
    }
  }
  if (const auto found = owned_.find(uid); found != owned_.end()) {
    for (const Owner& owner : found->second.owners) {
      if (endings_.contains(owner.uid)) {
        endings_queue_.Add(owner.uid);
      }
    }
  }
  ForgetOwners(uid);
}

void GarbageCollector::ForgetOwners(const std::string& uid) {
  const auto found = owned_.find(uid);
  if (found == owned_.end()) {
    return;
  }
  for (const Owner& owner : found->second.owners) {
    const auto set = dependents_.find(owner.uid);
    if (set != dependents_.end()) {
      set->second.erase(uid);
      if (set->second.empty()) {
        dependents_.erase(set);
      }
    }
  }
  owned_.erase(found);
}

void GarbageCollector::SetOwners(const client::Resource& resource, const ObjectMeta& meta) {
  const std::string uid(meta.uid);
  const auto known = owned_.find(uid);
  if (meta.owner_references.empty()) {
    ForgetOwners(uid);
    return;
  }
  const auto same = [](const Owner& owner, const OwnerReference& reference) {
    return owner.uid == reference.uid &&
           owner.blocks ==
               (reference.block_owner_deletion != nullptr && *reference.block_owner_deletion);
  };
  if (known != owned_.end() &&
      std::ranges::equal(known->second.owners, meta.owner_references, same)) {
    return;
  }
  ForgetOwners(uid);
  Owned& object = owned_[uid];
  object.resource = &resource;
  object.ns = meta.namespace_;
  object.name = meta.name;
  for (const OwnerReference& reference : meta.owner_references) {
    object.owners.push_back(
        {GroupOf(reference.api_version),
         std::string(reference.kind),
         std::string(reference.name),
         std::string(reference.uid),
         reference.block_owner_deletion != nullptr && *reference.block_owner_deletion});
    dependents_[std::string(reference.uid)].insert(uid);
  }
  if (!AllOwnersSeen(object)) {
    dependents_queue_.Add(uid);
  }
}

bool GarbageCollector::AllOwnersSeen(const Owned& object) const {
  return std::ranges::all_of(object.owners, [&](const Owner& owner) {
    const client::Resource* const resource = Find(owner.group, owner.kind);
    if (resource == nullptr || endings_.contains(owner.uid)) {
      return false;
    }
    const std::string_view ns = resource->namespaced ? std::string_view(object.ns) : "";
    const client::ObjectRef seen = context_.InformerFor(*resource).Find(ns, owner.name);
    return seen && seen->uid() == owner.uid;
  });
}

bool GarbageCollector::HasDependents(const std::string& uid) const {
  return dependents_.contains(uid);
}

// ---- dependents
// -------------------------------------------------------------------------------------

base::Result<bool> GarbageCollector::OwnerExists(const Owned& object, const Owner& owner) {
  if (gone_.contains(owner.uid)) {
    return false;
  }
  const client::Resource* const resource = Find(owner.group, owner.kind);
  if (resource == nullptr || (resource->namespaced && object.ns.empty())) {
    return true;  // nothing that can be looked up: never a reason to delete
  }
  const std::string_view ns = resource->namespaced ? std::string_view(object.ns) : "";
  const client::ObjectRef seen = context_.InformerFor(*resource).Find(ns, owner.name);
  if (seen && seen->uid() == owner.uid) {
    return true;
  }
  ++live_gets_;
  client::Request request;
  request.verb = client::Verb::kGet;
  request.resource = resource;
  request.ns = ns;
  request.name = owner.name;
  const auto live = context_.client.Do(request);
  if (!live) {
    if (live.error().reason() == base::Reason::kNotFound) {
      return false;
    }
    return base::Error(live.error());
  }
  return live->object->uid() == owner.uid;
}

base::Result<GarbageCollector::Classified> GarbageCollector::Classify(const Owned& object) {
  Classified result;
  for (const Owner& owner : object.owners) {
    ALLOT_ASSIGN_OR_RETURN(const bool exists, OwnerExists(object, owner));
    const auto ending = endings_.find(owner.uid);
    if (!exists) {
      result.dangling.push_back(owner.uid);
    } else if (ending != endings_.end() && ending->second.foreground) {
      result.waiting.push_back(owner.uid);
    } else {
      result.solid.push_back(owner.uid);
    }
  }
  return result;
}

base::Result<void> GarbageCollector::SyncDependent(const std::string& uid) {
  const auto found = owned_.find(uid);
  if (found == owned_.end() || endings_.contains(uid)) {
    return {};
  }
  const Owned object = found->second;  // a copy: writes below may bring events that change the map
  const client::ObjectRef seen =
      context_.InformerFor(*object.resource).Find(object.ns, object.name);
  if (!seen || seen->uid() != uid) {
    return {};
  }
  ALLOT_ASSIGN_OR_RETURN(const Classified owners, Classify(object));
  if (!owners.solid.empty()) {
    if (owners.dangling.empty() && owners.waiting.empty()) {
      return {};
    }
    std::vector<std::string> leave = owners.dangling;
    leave.insert(leave.end(), owners.waiting.begin(), owners.waiting.end());
    return DropOwners(object, uid, leave);
  }
  if (!owners.waiting.empty() && HasDependents(uid)) {
    return DeleteObject(object, uid, client::Propagation::kForeground);
  }
  ALLOT_ASSIGN_OR_RETURN(const schema::DecodedObject decoded, schema::DecodeObject(seen));
  const ObjectMeta& meta = MetaOf(*object.resource, decoded.root);
  if (meta.deletion_timestamp != nullptr) {
    return {};
  }
  if (Holds(meta, kOrphan)) {
    return DeleteObject(object, uid, client::Propagation::kOrphan);
  }
  return DeleteObject(object,
                      uid,
                      Holds(meta, kForeground) ? client::Propagation::kForeground
                                               : client::Propagation::kBackground);
}

base::Result<void> GarbageCollector::DeleteObject(const Owned& object,
                                                  const std::string& uid,
                                                  client::Propagation propagation) {
  client::Request request;
  request.verb = client::Verb::kDelete;
  request.resource = object.resource;
  request.ns = object.ns;
  request.name = object.name;
  request.options = context_.Chained([this, uid] { dependents_queue_.Add(uid); });
  request.options.propagation = propagation;
  request.options.preconditions.uid = uid;
  const auto deleted = context_.client.Do(request);
  if (!deleted && deleted.error().reason() != base::Reason::kNotFound) {
    return base::Error(deleted.error());
  }
  return {};
}

base::Result<void> GarbageCollector::DropOwners(const Owned& object,
                                                const std::string& uid,
                                                const std::vector<std::string>& owners) {
  std::string list;
  for (const std::string& owner : owners) {
    fmt::format_to(std::back_inserter(list),
                   R"({}{{"$patch":"delete","uid":"{}"}})",
                   list.empty() ? "" : ",",
                   owner);
  }
  const std::string patch =
      fmt::format(R"({{"metadata":{{"ownerReferences":[{}],"uid":"{}"}}}})", list, uid);
  client::Request request;
  request.verb = client::Verb::kPatch;
  request.resource = object.resource;
  request.ns = object.ns;
  request.name = object.name;
  request.patch = patch;
  request.patch_type = client::PatchType::kStrategicMerge;
  request.options = context_.Chained([this, uid] { dependents_queue_.Add(uid); });
  const auto patched = context_.client.Do(request);
  if (!patched && patched.error().reason() == base::Reason::kUnsupportedMediaType) {
    return DropOwnersByMerge(request, owners);  // custom resources know no strategic merge
  }
  if (!patched && patched.error().reason() != base::Reason::kNotFound) {
    return base::Error(patched.error());
  }
  return {};
}

base::Result<void> GarbageCollector::DropOwnersByMerge(client::Request request,
                                                       const std::vector<std::string>& owners) {
  client::Request get = request;
  get.verb = client::Verb::kGet;
  get.patch = {};
  get.options = {};
  const auto live = context_.client.Do(get);
  if (!live) {
    return live.error().reason() == base::Reason::kNotFound ? base::Result<void>()
                                                            : base::Error(live.error());
  }
  ALLOT_ASSIGN_OR_RETURN(const schema::DecodedObject decoded, schema::DecodeObject(live->object));
  std::string left;
  for (const OwnerReference& owner : MetaOf(*request.resource, decoded.root).owner_references) {
    if (std::ranges::find(owners, owner.uid) == owners.end()) {
      left += left.empty() ? "" : ",";
      schema::EncodeJson(api::Desc<OwnerReference>(), &owner, left);
    }
  }
  const std::string patch =
      fmt::format(R"({{"metadata":{{"resourceVersion":"{}","ownerReferences":[{}]}}}})",
                  live->object->revision(),
                  left);
  request.patch = patch;
  request.patch_type = client::PatchType::kMerge;
  const auto patched = context_.client.Do(request);
  if (!patched && patched.error().reason() != base::Reason::kNotFound) {
    return base::Error(patched.error());
  }
  return {};
}

// ---- owners that wait for their dependents
// ----------------------------------------------------------

base::Result<void> GarbageCollector::SyncEnding(const std::string& uid) {
  const auto found = endings_.find(uid);
  if (found == endings_.end()) {
    return {};
  }
  if (Incomplete()) {
    endings_queue_.AddAfter(uid, kLookAgain);
    return {};
  }
  const Ending ending = found->second;
  std::vector<std::string> dependents;
  if (const auto set = dependents_.find(uid); set != dependents_.end()) {
    dependents.assign(set->second.begin(), set->second.end());
  }
  if (ending.orphan) {
    for (const std::string& dependent : dependents) {
      if (const auto object = owned_.find(dependent); object != owned_.end()) {
        const Owned copy = object->second;
        ALLOT_RETURN_IF_ERROR(DropOwners(copy, dependent, {uid}));
      }
    }
    return RemoveFinalizer(ending, kOrphan);
  }
  bool blocked = false;
  for (const std::string& dependent : dependents) {
    const auto object = owned_.find(dependent);
    if (object == owned_.end()) {
      continue;
    }
    for (const Owner& owner : object->second.owners) {
      blocked |= owner.uid == uid && owner.blocks;
    }
    dependents_queue_.Add(dependent);
  }
  return blocked ? base::Result<void>() : RemoveFinalizer(ending, kForeground);
}

base::Result<void> GarbageCollector::RemoveFinalizer(const Ending& object,
                                                     std::string_view finalizer) {
  client::Request request;
  request.verb = client::Verb::kGet;
  request.resource = object.resource;
  request.ns = object.ns;
  request.name = object.name;
  const auto live = context_.client.Do(request);
  if (!live) {
    return live.error().reason() == base::Reason::kNotFound ? base::Result<void>()
                                                            : base::Error(live.error());
  }
  ALLOT_ASSIGN_OR_RETURN(const schema::DecodedObject decoded, schema::DecodeObject(live->object));
  const ObjectMeta& meta = MetaOf(*object.resource, decoded.root);
  if (!Holds(meta, finalizer)) {
    return {};
  }
  std::string left;
  for (const schema::Str held : meta.finalizers) {
    if (held != finalizer) {
      fmt::format_to(std::back_inserter(left), R"({}"{}")", left.empty() ? "" : ",", held);
    }
  }
  const std::string patch =
      fmt::format(R"({{"metadata":{{"resourceVersion":"{}","finalizers":[{}]}}}})",
                  live->object->revision(),
                  left);
  request.verb = client::Verb::kPatch;
  request.patch = patch;
  request.patch_type = client::PatchType::kMerge;
  const auto patched = context_.client.Do(request);
  if (!patched && patched.error().reason() != base::Reason::kNotFound) {
    return base::Error(patched.error());
  }
  return {};
}

}  // namespace allot::controllers
