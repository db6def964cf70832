// Context: what all controllers of one process share: client, loop, informers, metrics, log.
//
// Controllers never start informers themselves: they ask For<T>() while they are made, and the
// manager starts all that somebody asked for. Thread safety: the loop's thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "client/client.h"
#include "client/informer.h"
#include "client/loop.h"
#include "client/resources.h"
#include "client/work_queue.h"
#include "telemetry/log.h"
#include "telemetry/metrics.h"

namespace allot::controllers {

class Context {
 public:
  /// REQUIRES: all arguments outlive the context.
  Context(client::Client& client,
          client::Loop& loop,
          telemetry::Registry& metrics,
          telemetry::Logger log)
      : client(client), loop(loop), metrics(metrics), log(std::move(log)) {}

  /// The one informer of a resource in this process. REQUIRES: handlers are set before it starts.
  client::Informer& InformerFor(const client::Resource& resource);
  template <typename T>
  client::Informer& For() {
    return InformerFor(client::ResourceOf<T>());
  }
  /// Starts those that have not been started. Informers asked for later (a kind the server has only
  /// now) need a call of their own, after their handlers are set.
  void StartInformers();
  /// Whether all informers of kinds that we have a type for are in sync. One of another's kind that
  /// cannot be listed (its conversion is broken) must not hold up everything.
  [[nodiscard]] bool Synced();

  /// A write whose outcome nobody waits for here: accepted in order now, `failed` is run on the
  /// loop when it did not become durable after all.
  [[nodiscard]] client::WriteOptions Chained(std::function<void()> failed = {});

  client::Client& client;
  client::Loop& loop;
  telemetry::Registry& metrics;
  telemetry::Logger log;

 private:
  std::map<const client::Resource*, std::unique_ptr<client::Informer>> informers_;
  std::set<const client::Resource*> started_;
  bool synced_ = false;
};

/// One controller. Making it wires its handlers; destroying it, after the loop has ended, ends it.
class Controller {
 public:
  virtual ~Controller() = default;
};

/// Registers workqueue_* of `queue`, logs its errors and lets it run once all informers are in
/// sync.
void Watch(Context& context, client::WorkQueue& queue);

/// The index of pods by the claims they use ("namespace/name"), also claims for extended resources.
int AddPodsByClaim(client::Informer& pods);

}  // namespace allot::controllers
