#include "client/resources.h"

#include <array>

namespace allot::api {
namespace coordination {
extern const schema::TypeDesc kLeaseDesc;
}
namespace core {
extern const schema::TypeDesc kBindingDesc, kConfigMapDesc, kEventDesc, kNamespaceDesc, kNodeDesc,
    kPodDesc, kSecretDesc, kServiceAccountDesc;
}
namespace events {
extern const schema::TypeDesc kEventDesc;
}
namespace resource {
extern const schema::TypeDesc kDeviceClassDesc, kDeviceTaintRuleDesc, kResourceClaimDesc,
    kResourceClaimTemplateDesc, kResourceSliceDesc;
}
}  // namespace allot::api

namespace allot::client {
namespace {

constexpr bool kCluster = false;
constexpr bool kNamespaced = true;

// In the order of the specialisations below.
const std::array<Resource, 14> kResources = {{
    {"coordination.k8s.io", "v1", "leases", "Lease", kNamespaced, &api::coordination::kLeaseDesc},
    {"", "v1", "configmaps", "ConfigMap", kNamespaced, &api::core::kConfigMapDesc},
    {"", "v1", "events", "Event", kNamespaced, &api::core::kEventDesc},
    {"", "v1", "namespaces", "Namespace", kCluster, &api::core::kNamespaceDesc},
    {"", "v1", "nodes", "Node", kCluster, &api::core::kNodeDesc},
    {"", "v1", "pods", "Pod", kNamespaced, &api::core::kPodDesc},
    {"", "v1", "secrets", "Secret", kNamespaced, &api::core::kSecretDesc},
    {"", "v1", "serviceaccounts", "ServiceAccount", kNamespaced, &api::core::kServiceAccountDesc},
    {"events.k8s.io", "v1", "events", "Event", kNamespaced, &api::events::kEventDesc},
    {"resource.k8s.io",
     "v1",
     "deviceclasses",
     "DeviceClass",
     kCluster,
     &api::resource::kDeviceClassDesc},
    {"resource.k8s.io",
     "v1",
     "devicetaintrules",
     "DeviceTaintRule",
     kCluster,
     &api::resource::kDeviceTaintRuleDesc},
    {"resource.k8s.io",
     "v1",
     "resourceclaims",
     "ResourceClaim",
     kNamespaced,
     &api::resource::kResourceClaimDesc},
    {"resource.k8s.io",
     "v1",
     "resourceclaimtemplates",
     "ResourceClaimTemplate",
     kNamespaced,
     &api::resource::kResourceClaimTemplateDesc},
    {"resource.k8s.io",
     "v1",
     "resourceslices",
     "ResourceSlice",
     kCluster,
     &api::resource::kResourceSliceDesc},
}};

}  // namespace

template <>
const Resource& ResourceOf<api::coordination::Lease>() {
  return kResources[0];
}
template <>
const Resource& ResourceOf<api::core::ConfigMap>() {
  return kResources[1];
}
template <>
const Resource& ResourceOf<api::core::Event>() {
  return kResources[2];
}
template <>
const Resource& ResourceOf<api::core::Namespace>() {
  return kResources[3];
}
template <>
const Resource& ResourceOf<api::core::Node>() {
  return kResources[4];
}
template <>
const Resource& ResourceOf<api::core::Pod>() {
  return kResources[5];
}
template <>
const Resource& ResourceOf<api::core::Secret>() {
  return kResources[6];
}
template <>
const Resource& ResourceOf<api::core::ServiceAccount>() {
  return kResources[7];
}
template <>
const Resource& ResourceOf<api::events::Event>() {
  return kResources[8];
}
template <>
const Resource& ResourceOf<api::resource::DeviceClass>() {
  return kResources[9];
}
template <>
const Resource& ResourceOf<api::resource::DeviceTaintRule>() {
  return kResources[10];
}
template <>
const Resource& ResourceOf<api::resource::ResourceClaim>() {
  return kResources[11];
}
template <>
const Resource& ResourceOf<api::resource::ResourceClaimTemplate>() {
  return kResources[12];
}
template <>
const Resource& ResourceOf<api::resource::ResourceSlice>() {
  return kResources[13];
}

std::span<const Resource> AllResources() {
  return kResources;
}

const Resource* FindResource(std::string_view group, std::string_view kind) {
  for (const Resource& resource : kResources) {
    if (resource.group == group && resource.kind == kind) {
      return &resource;
    }
  }
  return nullptr;
}

base::Result<std::vector<ServedResource>> Client::Served() {
  std::vector<ServedResource> out;
  out.reserve(kResources.size());
  for (const Resource& resource : kResources) {
    out.push_back({.resource = &resource});
  }
  return out;
}

const schema::TypeDesc& BindingType() {
  return api::core::kBindingDesc;
}

}  // namespace allot::client
