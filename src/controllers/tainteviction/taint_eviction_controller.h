// TaintEvictionController: removes pods from nodes with NoExecute taints that they do not tolerate,
// at once or when their toleration runs out. Thread safety: the loop's thread.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "client/event_recorder.h"
#include "controllers/context.h"

namespace allot::api::core {
struct Pod;
}

namespace allot::controllers {

class TaintEvictionController final : public Controller {
 public:
  explicit TaintEvictionController(Context& context);

 private:
  void OnNodes(std::span<const client::Change> changes);
  void OnPods(std::span<const client::Change> changes);
  base::Result<void> Sync(const std::string& key);
  base::Result<void> Evict(const std::string& key,
                           const client::ObjectRef& object,
                           const api::core::Pod& pod);
  void Cancel(const std::string& key, const client::ObjectRef& object);
  void Tell(const client::ObjectRef& object, std::string_view what);

  Context& context_;
  client::Informer& nodes_;
  client::Informer& pods_;
  int pods_by_node_;
  client::WorkQueue queue_;
  client::EventRecorder recorder_;
  /// Pods that may stay for a while: since when their time runs, until they are gone.
  std::unordered_map<std::string, base::MonoTime> since_;
  /// Nodes with NoExecute taints: pods elsewhere cost nothing here.
  std::unordered_set<std::string> tainted_;
};

}  // namespace allot::controllers
