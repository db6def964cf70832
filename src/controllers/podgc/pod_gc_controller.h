// PodGcController: removes pods that nobody else would: on nodes that are gone, deleted before they
// were placed, and finished ones beyond a limit. Thread safety: the loop's thread.
#pragma once

#include <chrono>
#include <string>
#include <unordered_map>

#include "controllers/context.h"

namespace allot::controllers {

class PodGcController final : public Controller {
 public:
  struct Options {
    /// Finished pods kept; 0: all.
    std::size_t terminated_threshold = 12500;
    std::chrono::nanoseconds period = std::chrono::seconds(20);
    /// How long a node must be gone before its pods are removed.
    std::chrono::nanoseconds quarantine = std::chrono::seconds(40);
  };
  PodGcController(Context& context, Options options);
  explicit PodGcController(Context& context) : PodGcController(context, Options()) {}

 private:
  void Tick();
  void Arm();
  /// `why`: condition DisruptionTarget's message before the pod goes; empty: none.
  void DeletePod(const client::ObjectRef& pod, std::string_view why);

  Context& context_;
  Options options_;
  client::Informer& pods_;
  client::Informer& nodes_;
  int pods_by_node_;
  std::unordered_map<std::string, base::MonoTime> missing_nodes_;
};

}  // namespace allot::controllers
