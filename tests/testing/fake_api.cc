#include "testing/fake_api.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "client/event_recorder.h"
#include "quantity/time.h"
#include "schema/codec.h"
#include "text/json.h"

namespace allot::testing {
namespace {

using base::Error;
using base::Reason;
using client::EventType;
using client::Item;
using client::ObjectRef;
using client::Request;
using client::Resource;
using text::Value;

std::string_view KeyField(const std::vector<Value>& items) {
  for (const std::string_view field : {"uid", "name", "type"}) {
    if (!items.empty() && std::ranges::all_of(items, [field](const Value& item) {
          return item.Find(field) != nullptr;
        })) {
      return field;
    }
  }
  return {};
}

void MergeList(Value& target, const std::vector<Value>& patch);

void Merge(Value& target, const Value& patch, bool strategic) {
  for (const auto& member : patch.members()) {
    const Value& value = member.value;
    if (value.is_null()) {
      target.Erase(member.key);
    } else if (value.is_object()) {
      Merge(target[member.key], value, strategic);
    } else if (value.is_array() && strategic && !KeyField(value.items()).empty()) {
      MergeList(target[member.key], value.items());
    } else {
      target.Set(member.key, value);
    }
  }
}

void MergeList(Value& target, const std::vector<Value>& patch) {
  const std::string_view field = KeyField(patch);
  std::vector<Value>& items = target.MutableItems();
  for (const Value& change : patch) {
    const auto same = [&](const Value& item) {
      return item.Find(field) != nullptr && item.StringAt({field}) == change.StringAt({field});
    };
    if (change.StringAt({"$patch"}) == "delete") {
      std::erase_if(items, same);
      continue;
    }
    const auto found = std::ranges::find_if(items, same);
    if (found == items.end()) {
      items.push_back(change);
    } else {
      Merge(*found, change, /*strategic=*/true);
    }
  }
}

Value ToValue(const Resource& resource, const void* root) {
  std::string json;
  schema::EncodeJson(*resource.type, root, json);
  return *text::ParseJson(json);
}

std::string QualifiedName(const Resource& resource) {
  return resource.group.empty() ? std::string(resource.plural)
                                : fmt::format("{}.{}", resource.plural, resource.group);
}

std::unexpected<base::Status> NotFound(const Resource& resource, std::string_view name) {
  return Error(Reason::kNotFound,
               fmt::format("{} \"{}\" not found", QualifiedName(resource), name));
}

bool IsDeleting(const Value& value) {
  const Value* const at = value.FindPath({"metadata", "deletionTimestamp"});
  return at != nullptr && at->is_string();
}

bool HasFinalizers(const Value& value) {
  const Value* const list = value.FindPath({"metadata", "finalizers"});
  const Value* const spec = value.FindPath({"spec", "finalizers"});
  return (list != nullptr && !list->items().empty()) || (spec != nullptr && !spec->items().empty());
}

}  // namespace

class FakeApi::Handle final : public client::WatchHandle {
 public:
  Handle(FakeApi& api, Watcher watcher) : api_(api), watcher_(std::move(watcher)) {
    api_.watchers_.push_back(&watcher_);
  }
  ~Handle() override {
    const std::lock_guard lock(api_.mutex_);
    std::erase(api_.watchers_, &watcher_);
  }

 private:
  FakeApi& api_;
  Watcher watcher_;
};

FakeApi::Key FakeApi::KeyOf(const Resource& resource, std::string_view ns, std::string_view name) {
  return {std::string(resource.plural),
          std::string(resource.group),
          resource.namespaced ? std::string(ns) : "",
          std::string(name)};
}

base::Result<Item> FakeApi::Do(const client::Identity&, const Request& request) {
  const std::lock_guard lock(mutex_);
  if (rule_) {
    ALLOT_RETURN_IF_ERROR(rule_(request));
  }
  return Dispatch(request);
}

base::Result<Item> FakeApi::Dispatch(const Request& request) {
  if (request.verb == client::Verb::kGet) {
    ++reads_;
    const auto found = durable_.find(KeyOf(*request.resource, request.ns, request.name));
    if (found == durable_.end()) {
      return NotFound(*request.resource, request.name);
    }
    return found->second;
  }
  ++writes_;
  switch (request.verb) {
    case client::Verb::kCreate:
      return request.subresource == "binding" ? Bind(request) : Create(request);
    case client::Verb::kUpdate: return Update(request);
    case client::Verb::kPatch: return Patch(request);
    case client::Verb::kDelete: return Delete(request);
    case client::Verb::kDeleteCollection: return DeleteAll(request);
    case client::Verb::kGet: break;
  }
  return Error(Reason::kInternalError, "verb");
}

base::Result<Item> FakeApi::Store(const Request& request, const Value& value, bool is_new) {
  const Resource& resource = *request.resource;
  const std::string name(value.StringAt({"metadata", "name"}));
  const std::string ns(value.StringAt({"metadata", "namespace"}));
  const Key key = KeyOf(resource, ns, name);
  const std::string json = text::ToJson(value);
  auto arena = std::make_shared<base::Arena>();
  void* const root = schema::NewStruct(*resource.type, *arena);
  ALLOT_RETURN_IF_ERROR(schema::DecodeJson(*resource.type, arena->Copy(json), *arena, root));
  std::string body;
  schema::EncodeProtobuf(*resource.type, root, body);
  const schema::ObjectHeader header{.type = resource.type,
                                    .namespace_ = ns,
                                    .name = name,
                                    .uid = value.StringAt({"metadata", "uid"})};
  const Item item{schema::Object::Make(header, body, ++revision_), nullptr};
  const auto decoded = schema::DecodeObject(item.object);
  if (!decoded) {
    return Error(decoded.error());
  }
  Item stored{item.object, client::AnyView(decoded->arena, decoded->root)};
  ObjectRef previous;
  if (const auto found = objects_.find(key); found != objects_.end()) {
    previous = found->second.object;
  }
  if (IsDeleting(value) && !HasFinalizers(value)) {
    objects_.erase(key);
    Publish(resource, EventType::kDeleted, stored, previous, request.options.on_durable);
  } else {
    objects_[key] = stored;
    Publish(resource,
            is_new ? EventType::kAdded : EventType::kModified,
            stored,
            previous,
            request.options.on_durable);
  }
  return stored;
}

void FakeApi::Publish(const Resource& resource,
                      EventType type,
                      Item item,
                      ObjectRef previous,
                      std::function<void(const base::Result<void>&)> durable) {
  held_.push_back({&resource,
                   {.type = type,
                    .revision = revision_,
                    .item = std::move(item),
                    .previous = std::move(previous)},
                   std::move(durable)});
  if (!holding_) {
    Release();
  }
}

base::Result<Item> FakeApi::Create(const Request& request) {
  const Resource& resource = *request.resource;
  Value value = ToValue(resource, request.body.get());
  Value& meta = value["metadata"];
  std::string name(meta.StringAt({"name"}));
  if (name.empty()) {
    name = fmt::format("{}{}", meta.StringAt({"generateName"}), random_.NameSuffix());
  }
  if (objects_.contains(KeyOf(resource, request.ns, name))) {
    return Error(Reason::kAlreadyExists,
                 fmt::format("{} \"{}\" already exists", QualifiedName(resource), name));
  }
  meta.Set("name", Value(name));
  if (resource.namespaced) {
    meta.Set("namespace", Value(request.ns));
  }
  meta.Set("uid", Value(random_.Uuid()));
  meta.Set("creationTimestamp", Value(quantity::FormatTime(quantity::ToTime(clock_.Now()))));
  if (resource.kind == "ResourceClaim") {
    value.Erase("status");
  }
  return Store(request, value, /*is_new=*/true);
}

base::Result<Item> FakeApi::Bind(const Request& request) {
  const auto& binding = *static_cast<const api::core::Binding*>(request.body.get());
  const auto found = objects_.find(KeyOf(*request.resource, request.ns, request.name));
  if (found == objects_.end() || found->second.object->uid() != binding.metadata.uid) {
    return NotFound(*request.resource, request.name);
  }
  Value value = ToValue(*request.resource, found->second.view.get());
  if (!value.StringAt({"spec", "nodeName"}).empty()) {
    return Error(Reason::kConflict,
                 fmt::format("Operation cannot be fulfilled on pods/binding \"{}\": pod {} is "
                             "already assigned to node \"{}\"",
                             request.name,
                             request.name,
                             value.StringAt({"spec", "nodeName"})));
  }
  value["spec"].Set("nodeName", Value(binding.target.name));
  MergeList(value["status"]["conditions"],
            text::ParseJson(R"([{"type":"PodScheduled","status":"True","reason":null}])")->items());
  ALLOT_RETURN_IF_ERROR(Store(request, value, /*is_new=*/false));
  return Item{};
}

base::Result<Item> FakeApi::Update(const Request& request) {
  const Resource& resource = *request.resource;
  const auto found = objects_.find(KeyOf(resource, request.ns, request.name));
  if (found == objects_.end()) {
    return NotFound(resource, request.name);
  }
  const client::Revision wanted = request.options.preconditions.revision;
  if (wanted != 0 && wanted != found->second.object->revision()) {
    return Error(Reason::kConflict,
                 fmt::format("Operation cannot be fulfilled on {} \"{}\": the object has been "
                             "modified; please apply your changes to the latest version and try "
                             "again",
                             QualifiedName(resource),
                             request.name));
  }
  Value value = ToValue(resource, request.body.get());
  const Value stored = ToValue(resource, found->second.view.get());
  const auto keep = [&value, &stored](std::string_view part) {
    if (const Value* const old = stored.Find(part)) {
      value.Set(part, *old);
    } else {
      value.Erase(part);
    }
  };
  if (request.subresource == "status") {
    keep("metadata");
    keep("spec");
  } else if (request.subresource.empty()) {
    keep("status");
  }
  return Store(request, value, /*is_new=*/false);
}

base::Result<Item> FakeApi::Patch(const Request& request) {
  const Resource& resource = *request.resource;
  const auto found = objects_.find(KeyOf(resource, request.ns, request.name));
  if (found == objects_.end()) {
    return NotFound(resource, request.name);
  }
  ALLOT_ASSIGN_OR_RETURN(Value patch, text::ParseJson(request.patch));
  const std::string_view uid = patch.StringAt({"metadata", "uid"});
  const std::string_view version = patch.StringAt({"metadata", "resourceVersion"});
  if ((!uid.empty() && uid != found->second.object->uid()) ||
      (!version.empty() && version != std::to_string(found->second.object->revision()))) {
    return Error(Reason::kConflict,
                 fmt::format("Operation cannot be fulfilled on {} \"{}\": precondition",
                             QualifiedName(resource),
                             request.name));
  }
  Value value = ToValue(resource, found->second.view.get());
  if (request.subresource == "status") {
    for (const auto& part : std::vector<std::string>{"spec", "metadata"}) {
      patch.Erase(part);
    }
  }
  Merge(value, patch, request.patch_type == client::PatchType::kStrategicMerge);
  return Store(request, value, /*is_new=*/false);
}

base::Result<Item> FakeApi::Delete(const Request& request) {
  const Resource& resource = *request.resource;
  const Key key = KeyOf(resource, request.ns, request.name);
  const auto found = objects_.find(key);
  if (found == objects_.end()) {
    return NotFound(resource, request.name);
  }
  const std::string_view uid = request.options.preconditions.uid;
  if (!uid.empty() && uid != found->second.object->uid()) {
    return Error(Reason::kConflict, "the UID in the precondition does not match");
  }
  Value value = ToValue(resource, found->second.view.get());
  std::vector<Value>& finalizers = value["metadata"]["finalizers"].MutableItems();
  const auto want = [&finalizers](std::string_view name) {
    if (std::ranges::none_of(finalizers,
                             [name](const Value& held) { return held.AsString() == name; })) {
      finalizers.emplace_back(name);
    }
  };
  if (request.options.propagation == client::Propagation::kForeground) {
    want("foregroundDeletion");
  } else if (request.options.propagation == client::Propagation::kOrphan) {
    want("orphan");
  }
  if (!IsDeleting(value)) {
    value["metadata"].Set("deletionTimestamp",
                          Value(quantity::FormatTime(quantity::ToTime(clock_.Now()))));
  }
  return Store(request, value, /*is_new=*/false);
}

base::Result<Item> FakeApi::DeleteAll(const Request& request) {
  std::vector<std::string> names;
  for (const auto& [key, item] : objects_) {
    if (key.plural == request.resource->plural && key.group == request.resource->group &&
        key.ns == request.ns) {
      names.push_back(key.name);
    }
  }
  for (const std::string& name : names) {
    Request one = request;
    one.name = name;
    ALLOT_RETURN_IF_ERROR(Delete(one));
  }
  return Item{};
}

base::Result<client::ListAnswer> FakeApi::List(const client::Identity&,
                                               const Resource& resource,
                                               std::string_view ns,
                                               const client::ListOptions&) {
  const std::lock_guard lock(mutex_);
  ++reads_;
  client::ListAnswer answer;
  answer.revision = revision_;
  for (const auto& [key, item] : durable_) {
    if (key.plural == resource.plural && key.group == resource.group &&
        (ns.empty() || key.ns == ns)) {
      answer.items.push_back(item);
    }
  }
  return answer;
}

base::Result<std::unique_ptr<client::WatchHandle>> FakeApi::Watch(const client::Identity&,
                                                                  const Resource& resource,
                                                                  std::string_view ns,
                                                                  const client::WatchOptions&,
                                                                  client::WatchSink& sink) {
  const std::lock_guard lock(mutex_);
  return std::make_unique<Handle>(*this, Watcher{&resource, std::string(ns), &sink});
}

// ---- for the test ------------------------------------------------------------------------------

ObjectRef FakeApi::Add(const Resource& resource, std::string_view json) {
  const std::lock_guard lock(mutex_);
  Value value = *text::ParseJson(json);
  Value& meta = value["metadata"];
  if (meta.StringAt({"uid"}).empty()) {
    meta.Set("uid", Value(random_.Uuid()));
  }
  if (resource.namespaced && meta.StringAt({"namespace"}).empty()) {
    meta.Set("namespace", Value("default"));
  }
  Request request;
  request.resource = &resource;
  return Store(request, value, /*is_new=*/true)->object;
}

void FakeApi::Change(const Resource& resource,
                     std::string_view ns,
                     std::string_view name,
                     std::string_view json) {
  const std::lock_guard lock(mutex_);
  Value value = ToValue(resource, objects_.at(KeyOf(resource, ns, name)).view.get());
  Merge(value, *text::ParseJson(json), /*strategic=*/false);
  Request request;
  request.resource = &resource;
  static_cast<void>(Store(request, value, /*is_new=*/false));
}

void FakeApi::Remove(const Resource& resource, std::string_view ns, std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(KeyOf(resource, ns, name));
  const Item item = found->second;
  objects_.erase(found);
  ++revision_;
  Publish(resource, EventType::kDeleted, item, item.object, {});
}

client::AnyView FakeApi::FindView(const Resource& resource,
                                  std::string_view ns,
                                  std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(KeyOf(resource, ns, name));
  return found != objects_.end() ? found->second.view : nullptr;
}

std::vector<client::AnyView> FakeApi::AllViews(const Resource& resource,
                                               std::string_view ns) const {
  const std::lock_guard lock(mutex_);
  std::vector<client::AnyView> views;
  for (const auto& [key, item] : objects_) {
    if (key.plural == resource.plural && key.group == resource.group &&
        (ns.empty() || key.ns == ns)) {
      views.push_back(item.view);
    }
  }
  return views;
}

void FakeApi::FailWith(std::function<base::Result<void>(const Request&)> rule) {
  const std::lock_guard lock(mutex_);
  rule_ = std::move(rule);
}

void FakeApi::Hold() {
  const std::lock_guard lock(mutex_);
  holding_ = true;
}

void FakeApi::Release() {
  const std::lock_guard lock(mutex_);
  holding_ = false;
  durable_ = objects_;
  std::vector<Held> batch = std::exchange(held_, {});
  for (Watcher* const watcher : watchers_) {
    auto events = std::make_shared<std::vector<client::WatchEvent>>();
    for (const Held& held : batch) {
      if (held.resource == watcher->resource &&
          (watcher->ns.empty() || held.event.item.object->namespace_() == watcher->ns)) {
        events->push_back(held.event);
      }
    }
    if (!events->empty()) {
      watcher->sink->OnEvents(events);
    }
  }
  for (Held& held : batch) {
    if (held.durable) {
      held.durable({});
    }
    log_.push_back({held.resource, held.event, {}});
  }
}

void FakeApi::Lose() {
  const std::lock_guard lock(mutex_);
  holding_ = false;
  objects_ = durable_;
  std::vector<Held> batch = std::exchange(held_, {});
  for (const Held& held : batch) {
    if (held.durable) {
      held.durable(Error(Reason::kInternalError, "disk is full"));
    }
  }
}

void FakeApi::CloseWatches(const Resource& resource, base::Reason reason) {
  const std::lock_guard lock(mutex_);
  for (Watcher* const watcher : watchers_) {
    if (watcher->resource == &resource) {
      watcher->sink->OnClosed(base::Status(reason, "closed"));
    }
  }
}

std::uint64_t FakeApi::writes() const {
  const std::lock_guard lock(mutex_);
  return writes_;
}

std::uint64_t FakeApi::reads() const {
  const std::lock_guard lock(mutex_);
  return reads_;
}

base::Result<Item> RemoteClient::Do(const Request& request) {
  Request durable = request;
  durable.options.ack = client::Ack::kDurable;
  durable.options.on_durable = nullptr;
  return backend_.Do({.user = "remote", .groups = {}}, durable);
}

base::Result<client::ListAnswer> RemoteClient::List(const Resource& resource,
                                                    std::string_view ns,
                                                    const client::ListOptions& options) {
  return backend_.List({.user = "remote", .groups = {}}, resource, ns, options);
}

base::Result<std::unique_ptr<client::WatchHandle>> RemoteClient::Watch(
    const Resource& resource,
    std::string_view ns,
    const client::WatchOptions& options,
    client::WatchSink& sink) {
  return backend_.Watch({.user = "remote", .groups = {}}, resource, ns, options, sink);
}

}  // namespace allot::testing
