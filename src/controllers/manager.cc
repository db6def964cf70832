#include "controllers/manager.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "controllers/devicetaint/device_taint_eviction_controller.h"
#include "controllers/garbagecollector/garbage_collector.h"
#include "controllers/namespaces/namespace_controller.h"
#include "controllers/nodelifecycle/node_lifecycle_controller.h"
#include "controllers/podgc/pod_gc_controller.h"
#include "controllers/resourceclaim/resource_claim_controller.h"
#include "controllers/serviceaccount/namespace_defaults.h"
#include "controllers/tainteviction/taint_eviction_controller.h"

namespace allot::controllers {
namespace {

constexpr std::string_view kKnown[] = {
    "bootstrap-signer-controller",
    "certificatesigningrequest-approving-controller",
    "certificatesigningrequest-cleaner-controller",
    "certificatesigningrequest-signing-controller",
    "clusterrole-aggregation-controller",
    "cronjob-controller",
    "daemonset-controller",
    "deployment-controller",
    "device-taint-eviction-controller",
    "disruption-controller",
    "endpoints-controller",
    "endpointslice-controller",
    "endpointslice-mirroring-controller",
    "ephemeral-volume-controller",
    "garbage-collector-controller",
    "horizontal-pod-autoscaler-controller",
    "job-controller",
    "kube-apiserver-serving-clustertrustbundle-publisher-controller",
    "legacy-serviceaccount-token-cleaner-controller",
    "namespace-controller",
    "node-ipam-controller",
    "node-lifecycle-controller",
    "persistentvolume-attach-detach-controller",
    "persistentvolume-binder-controller",
    "persistentvolume-expander-controller",
    "persistentvolume-protection-controller",
    "persistentvolumeclaim-protection-controller",
    "pod-garbage-collector-controller",
    "podcertificaterequest-cleaner-controller",
    "podgroup-protection-controller",
    "replicaset-controller",
    "replicationcontroller-controller",
    "resourceclaim-controller",
    "resourcepoolstatusrequest-controller",
    "resourcequota-controller",
    "root-ca-certificate-publisher-controller",
    "selinux-warning-controller",
    "service-cidr-controller",
    "serviceaccount-controller",
    "serviceaccount-token-controller",
    "statefulset-controller",
    "storage-version-migrator-controller",
    "storageversion-garbage-collector-controller",
    "taint-eviction-controller",
    "token-cleaner-controller",
    "ttl-after-finished-controller",
    "ttl-controller",
    "validatingadmissionpolicy-status-controller",
    "volumeattributesclass-protection-controller",
};

template <typename Visit>
void ForEachItem(std::string_view list, const Visit& visit) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (const std::string_view item = list.substr(0, comma); !item.empty()) {
      visit(item);
    }
    list = comma == std::string_view::npos ? "" : list.substr(comma + 1);
  }
}

struct Row {
  std::string_view name;
  std::function<std::unique_ptr<Controller>(Context&, const Options&)> make;
};

template <typename T>
std::unique_ptr<Controller> Plain(Context& context, const Options&) {
  return std::make_unique<T>(context);
}

std::unique_ptr<Controller> RootCa(Context& context, const Options& options) {
  if (options.root_ca.empty()) {
    return nullptr;
  }
  return std::make_unique<RootCaPublisher>(context, options.root_ca);
}

std::unique_ptr<Controller> DeviceTaintEviction(Context& context, const Options& options) {
  if (!options.device_taints) {
    return nullptr;
  }
  return std::make_unique<DeviceTaintEvictionController>(context, options.device_taint_rules);
}

/// The controllers we have. A new one is one line here.
std::vector<Row> Rows() {
  return {
      {"device-taint-eviction-controller", DeviceTaintEviction},
      {"garbage-collector-controller", Plain<GarbageCollector>},
      {"namespace-controller", Plain<NamespaceController>},
      {"node-lifecycle-controller", Plain<NodeLifecycleController>},
      {"pod-garbage-collector-controller", Plain<PodGcController>},
      {"resourceclaim-controller", Plain<ResourceClaimController>},
      {"root-ca-certificate-publisher-controller", RootCa},
      {"serviceaccount-controller", Plain<ServiceAccountController>},
      {"taint-eviction-controller", Plain<TaintEvictionController>},
  };
}

}  // namespace

bool IsEnabled(std::string_view value, std::string_view name) {
  bool star = false;
  int decided = 0;
  ForEachItem(value, [&](std::string_view item) {
    if (item == name && decided == 0) {
      decided = 1;
    } else if (item.starts_with('-') && item.substr(1) == name && decided == 0) {
      decided = -1;
    } else if (item == "*") {
      star = true;
    }
  });
  return decided != 0 ? decided > 0 : star;
}

base::Result<std::unique_ptr<Manager>> Manager::Make(client::Client& client,
                                                     client::Loop& loop,
                                                     telemetry::Registry& metrics,
                                                     const telemetry::Logger& log,
                                                     const Options& options) {
  std::string unknown;
  ForEachItem(options.controllers, [&unknown](std::string_view item) {
    const std::string_view name = item.starts_with('-') ? item.substr(1) : item;
    if (name != "*" && std::ranges::find(kKnown, name) == std::end(kKnown) && unknown.empty()) {
      unknown = name;
    }
  });
  if (!unknown.empty()) {
    return base::Error(base::Reason::kBadRequest,
                       fmt::format("\"{}\" is not in the list of known controllers", unknown));
  }
  std::unique_ptr<Manager> manager(new Manager(client, loop, metrics, log.Named("controllers")));
  for (const Row& row : Rows()) {
    if (!IsEnabled(options.controllers, row.name)) {
      continue;
    }
    if (std::unique_ptr<Controller> controller = row.make(manager->context_, options)) {
      manager->controllers_.push_back(std::move(controller));
      manager->running_.emplace_back(row.name);
    }
  }
  return manager;
}

}  // namespace allot::controllers
