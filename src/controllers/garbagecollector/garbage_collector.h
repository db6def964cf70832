// GarbageCollector: deletes what its owners left behind, and carries out foreground and orphan
// deletion.
//
// Only the edges are kept: which objects have owners, and who depends on whom, by uid. An object is
// deleted when it has owners and none of them exists any more; that an owner is gone is checked
// with the server unless its deletion was seen. Every kind that the server has takes part, those
// without a type of ours by their metadata; owners of kinds it does not have count as existing.
// Thread safety: the loop's thread.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "controllers/context.h"

namespace allot::api::meta {
struct ObjectMeta;
}

namespace allot::controllers {

class GarbageCollector final : public Controller {
 public:
  explicit GarbageCollector(Context& context);

  [[nodiscard]] std::size_t owned() const { return owned_.size(); }
  /// Work counter: owners looked up with the server.
  [[nodiscard]] std::uint64_t live_gets() const { return live_gets_; }

 private:
  struct Owner {
    std::string group;
    std::string kind;
    std::string name;
    std::string uid;
    bool blocks = false;
  };
  struct Owned {
    const client::Resource* resource = nullptr;
    std::string ns;
    std::string name;
    std::vector<Owner> owners;
  };
  /// An object that waits for the end of its dependents.
  struct Ending {
    const client::Resource* resource = nullptr;
    std::string ns;
    std::string name;
    bool foreground = false;
    bool orphan = false;
  };
  struct Classified {
    std::vector<std::string> solid;
    std::vector<std::string> dangling;
    std::vector<std::string> waiting;
  };

  /// A kind that is, or was, to be had from the server.
  struct Kind {
    const client::Resource* resource = nullptr;
    bool served = false;
    base::MonoTime since{};  ///< when we began to watch it
  };

  /// Takes in what the server has; again now and then, for kinds come and go.
  void Discover();
  void Add(const client::ServedResource& served);
  /// Whether a kind may still have dependents that we have not heard of.
  [[nodiscard]] bool Incomplete();
  /// Null when the server has no such kind.
  [[nodiscard]] const client::Resource* Find(std::string_view group, std::string_view kind) const;
  void OnChanges(const client::Resource& resource, std::span<const client::Change> changes);
  void OnDeleted(const std::string& uid);
  void SetOwners(const client::Resource& resource, const api::meta::ObjectMeta& meta);
  void ForgetOwners(const std::string& uid);
  /// The common case, decided without the server.
  [[nodiscard]] bool AllOwnersSeen(const Owned& object) const;
  void Remember(const std::string& uid);

  base::Result<void> SyncDependent(const std::string& uid);
  base::Result<void> SyncEnding(const std::string& uid);
  base::Result<Classified> Classify(const Owned& object);
  base::Result<bool> OwnerExists(const Owned& object, const Owner& owner);
  [[nodiscard]] bool HasDependents(const std::string& uid) const;
  base::Result<void> DropOwners(const Owned& object,
                                const std::string& uid,
                                const std::vector<std::string>& owners);
  base::Result<void> DropOwnersByMerge(client::Request request,
                                       const std::vector<std::string>& owners);
  base::Result<void> DeleteObject(const Owned& object,
                                  const std::string& uid,
                                  client::Propagation propagation);
  base::Result<void> RemoveFinalizer(const Ending& object, std::string_view finalizer);

  Context& context_;
  std::map<std::pair<std::string, std::string>, Kind> kinds_;  ///< by group and kind
  std::unordered_set<const client::Resource*> watched_;
  client::WorkQueue dependents_queue_;
  client::WorkQueue endings_queue_;
  std::unordered_map<std::string, Owned> owned_;
  std::unordered_map<std::string, std::unordered_set<std::string>> dependents_;
  std::unordered_map<std::string, Ending> endings_;
  std::deque<std::string> gone_order_;
  std::unordered_set<std::string> gone_;
  std::uint64_t live_gets_ = 0;
};

}  // namespace allot::controllers
