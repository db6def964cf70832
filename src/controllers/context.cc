#include "controllers/context.h"

#include <utility>

#include "api/core/v1.gen.h"
#include "api/meta/v1.gen.h"
#include "api/object_key.h"
#include "api/pod_claims.h"

namespace allot::controllers {

client::Informer& Context::InformerFor(const client::Resource& resource) {
  std::unique_ptr<client::Informer>& informer = informers_[&resource];
  if (!informer) {
    informer = std::make_unique<client::Informer>(client, loop, resource);
  }
  return *informer;
}

void Context::StartInformers() {
  for (const auto& [resource, informer] : informers_) {
    if (started_.insert(resource).second) {
      informer->Start();
    }
  }
}

bool Context::Synced() {
  if (synced_) {
    return true;
  }
  for (const auto& [resource, informer] : informers_) {
    if (!informer->synced() && resource->type != &api::Desc<api::meta::PartialObjectMetadata>()) {
      return false;
    }
  }
  return synced_ = true;
}

client::WriteOptions Context::Chained(std::function<void()> failed) {
  client::WriteOptions options;
  options.ack = client::Ack::kSequenced;
  if (failed) {
    options.on_durable = [&loop = loop,
                          failed = std::move(failed)](const base::Result<void>& result) {
      if (!result) {
        loop.Post(failed);
      }
    };
  }
  return options;
}

void Watch(Context& context, client::WorkQueue& queue) {
  queue.RunWhen([&context] { return context.Synced(); });
  const telemetry::Labels labels{{"name", queue.name()}};
  telemetry::Counter& retries = context.metrics.GetCounter(
      "workqueue_retries_total", "Keys that came back after a failure.", labels);
  queue.OnError([log = context.log, &retries](const std::string& key, const base::Status& status) {
    retries.Add();
    log.Debug("work item failed, will be tried again", {{"key", key}, telemetry::Field(status)});
  });
  telemetry::Gauge& depth =
      context.metrics.GetGauge("workqueue_depth", "Keys waiting to be reconciled.", labels);
  telemetry::Counter& adds =
      context.metrics.GetCounter("workqueue_adds_total", "Keys added to the queue.", labels);
  context.loop.OnTurn([&queue, &depth, &adds, seen = std::uint64_t{0}]() mutable {
    depth.Set(static_cast<double>(queue.depth()));
    adds.Add(queue.stats().adds - seen);
    seen = queue.stats().adds;
    return false;
  });
}

int AddPodsByClaim(client::Informer& pods) {
  return pods.AddIndex("claim", [](const client::Item& item, std::vector<std::string>& keys) {
    const auto& pod = *static_cast<const api::core::Pod*>(item.view.get());
    for (const api::core::PodResourceClaim& entry : pod.spec.resource_claims) {
      const api::ClaimRef ref = api::ResolveClaim(pod, entry);
      if (ref.state == api::ClaimRefState::kNamed) {
        keys.push_back(api::KeyOf(pod.metadata.namespace_, ref.name));
      }
    }
    if (const auto* const extended = pod.status.extended_resource_claim_status) {
      keys.push_back(api::KeyOf(pod.metadata.namespace_, extended->resource_claim_name));
    }
  });
}

}  // namespace allot::controllers
