// Client: the one way components read and write API objects, in-process or over HTTP.
//
// One type-erased core (Do, List, Watch) which every implementation gives; typed.h puts thin
// templates (Get<T>, Create<T>, ...) on it.  Implementations: LocalClient (backend.h: straight into
// the API server's registry, no bytes), HttpClient (http_client.h: any Kubernetes API server).
// Thread safety: every member from any thread; a watch sink is called from one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ref.h"
#include "base/status.h"
#include "schema/object.h"

namespace allot::client {

using Revision = std::int64_t;
using ObjectRef = base::Ref<const schema::Object>;
/// A typed value (an arena struct of Resource::type) together with what keeps its arena alive;
/// typed.h turns it into a schema::View and back.
using AnyView = std::shared_ptr<const void>;

/// One resource of the API as a client addresses it. Lifetime: static.
struct Resource {
  std::string_view group;  ///< "" for core
  std::string_view version;
  std::string_view plural;
  std::string_view kind;
  bool namespaced = true;
  const schema::TypeDesc* type = nullptr;
};

/// A resource as the server offers it.
struct ServedResource {
  const Resource* resource = nullptr;  ///< lives as long as the client
  bool watch = true;                   ///< it can be listed and watched
  bool remove = true;
  bool remove_collection = true;
};

/// Whether a write returns when its revision is assigned or when it is on disk.
/// kSequenced is allowed only when the next effect is another write through the same client; HTTP
/// clients ignore it (they return when durable).
enum class Ack : std::uint8_t { kDurable, kSequenced };

enum class Verb : std::uint8_t { kGet, kCreate, kUpdate, kPatch, kDelete, kDeleteCollection };
enum class PatchType : std::uint8_t { kJson, kMerge, kStrategicMerge, kApply };
enum class Propagation : std::uint8_t { kDefault, kBackground, kForeground, kOrphan };

struct Preconditions {
  std::string_view uid{};  ///< delete only; "" = none
  Revision revision = 0;   ///< update and delete: the version the caller saw; 0 = none
};

struct WriteOptions {
  Ack ack = Ack::kDurable;
  bool dry_run = false;
  bool force = false;  ///< PatchType::kApply only
  std::string_view field_manager{};
  Preconditions preconditions{};
  Propagation propagation = Propagation::kDefault;     ///< delete only
  std::optional<std::int64_t> grace_period_seconds{};  ///< delete only
  /// With kSequenced: called once when the write is durable or has failed, from another thread
  /// (HTTP: before the call returns, and never when the call itself returns an error). Post, do not
  /// work there.
  std::function<void(const base::Result<void>&)> on_durable{};
};

struct ListOptions {
  std::string_view label_selector{};
  std::string_view field_selector{};
  std::int64_t limit = 0;
  std::string_view continue_token{};
  /// 0 = the newest; else not older than this one.
  Revision revision = 0;
};

/// What one call asks for. Lifetime: views must live until the call returns.
struct Request {
  Verb verb = Verb::kGet;
  const Resource* resource = nullptr;
  std::string_view ns;
  std::string_view name;         ///< empty for create and deletecollection
  std::string_view subresource;  ///< "status", "binding", ...
  /// kCreate and kUpdate: the object. The callee may keep it; nobody changes it afterwards. Its
  /// type is body_type (differs from resource->type for subresources such as pods/binding); null =
  /// resource->type.
  AnyView body;
  const schema::TypeDesc* body_type = nullptr;
  /// kPatch: the patch as JSON text.
  std::string_view patch;
  PatchType patch_type = PatchType::kMerge;
  ListOptions selector;  ///< kDeleteCollection only
  WriteOptions options;
};

/// One object of an answer. `view` is null when the implementation had only bytes: use ViewOf<T>().
struct Item {
  ObjectRef object;  ///< null when the server answered with a Status (some deletes, pods/binding)
  AnyView view;
};

struct ListAnswer {
  std::vector<Item> items;
  Revision revision = 0;
  std::string continue_token{};
};

enum class EventType : std::uint8_t { kAdded, kModified, kDeleted, kBookmark };

struct WatchEvent {
  EventType type = EventType::kAdded;
  Revision revision = 0;
  Item item;  ///< kDeleted: the last state; kBookmark: empty
  ObjectRef
      previous;  ///< the object before this event where the implementation knows it, else null
};

/// A batch of events, shared by all watchers that see the same ones.
using WatchBatch = std::shared_ptr<const std::vector<WatchEvent>>;

/// Receives a watch. Called in order, by one thread at a time, never after the handle is gone.
/// The caller is on a critical path (the writer, the event loop): post to a Mailbox and return.
class WatchSink {
 public:
  virtual ~WatchSink() = default;
  virtual void OnEvents(const WatchBatch& batch) = 0;
  /// The watch has ended (kExpired: list again; others: watch again from the last revision).
  virtual void OnClosed(const base::Status& why) = 0;
};

/// Owns a running watch; destroying it ends it (no call of the sink is running or will start
/// after). REQUIRES: not destroyed from inside the sink.
class WatchHandle {
 public:
  virtual ~WatchHandle() = default;
};

struct WatchOptions {
  std::string_view label_selector{};
  std::string_view field_selector{};
  Revision after =
      0;  ///< events with a higher revision; 0 = the newest state as initial kAdded events
  bool bookmarks = true;
};

class Client {
 public:
  virtual ~Client() = default;

  /// Gets or writes one object. Errors: the API's own (reason, message, details);
  /// kServiceUnavailable and kTimeout when the server cannot be reached.
  virtual base::Result<Item> Do(const Request& request) = 0;

  /// All objects of a resource (of one namespace when `ns` is not empty) at one revision.
  virtual base::Result<ListAnswer> List(const Resource& resource,
                                        std::string_view ns,
                                        const ListOptions& options) = 0;

  /// Starts a watch. REQUIRES: sink outlives the handle.
  virtual base::Result<std::unique_ptr<WatchHandle>> Watch(const Resource& resource,
                                                           std::string_view ns,
                                                           const WatchOptions& options,
                                                           WatchSink& sink) = 0;

  /// Everything the server has, one version of each resource. Those that this house has no type for
  /// are known by their metadata alone: their type is meta.PartialObjectMetadata. Errors: as Do.
  virtual base::Result<std::vector<ServedResource>> Served();

  /// Whether writes are answered without a round trip, so that callers may chain them in line.
  [[nodiscard]] virtual bool is_local() const = 0;
};

}  // namespace allot::client
