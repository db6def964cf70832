// ResourceOf<T>(): how a client addresses the resource whose objects are T.
// Thread safety: constant data.
#pragma once

#include <span>

#include "client/client.h"

namespace allot::api {
namespace coordination {
struct Lease;
}
namespace core {
struct Binding;
struct ConfigMap;
struct Event;
struct Namespace;
struct Node;
struct Pod;
struct Secret;
struct ServiceAccount;
}  // namespace core
namespace events {
struct Event;
}
namespace resource {
struct DeviceClass;
struct DeviceTaintRule;
struct ResourceClaim;
struct ResourceClaimTemplate;
struct ResourceSlice;
}  // namespace resource
}  // namespace allot::api

namespace allot::client {

template <typename T>
const Resource& ResourceOf() = delete;

template <>
const Resource& ResourceOf<api::coordination::Lease>();
template <>
const Resource& ResourceOf<api::core::ConfigMap>();
template <>
const Resource& ResourceOf<api::core::Event>();
template <>
const Resource& ResourceOf<api::core::Namespace>();
template <>
const Resource& ResourceOf<api::core::Node>();
template <>
const Resource& ResourceOf<api::core::Pod>();
template <>
const Resource& ResourceOf<api::core::Secret>();
template <>
const Resource& ResourceOf<api::core::ServiceAccount>();
template <>
const Resource& ResourceOf<api::events::Event>();
template <>
const Resource& ResourceOf<api::resource::DeviceClass>();
template <>
const Resource& ResourceOf<api::resource::DeviceTaintRule>();
template <>
const Resource& ResourceOf<api::resource::ResourceClaim>();
template <>
const Resource& ResourceOf<api::resource::ResourceClaimTemplate>();
template <>
const Resource& ResourceOf<api::resource::ResourceSlice>();

/// Every resource that components of the house address, one version each.
[[nodiscard]] std::span<const Resource> AllResources();
/// The resource of this group and kind (any version); null when it is none of ours.
[[nodiscard]] const Resource* FindResource(std::string_view group, std::string_view kind);
/// The type of the body of pods/binding.
[[nodiscard]] const schema::TypeDesc& BindingType();

}  // namespace allot::client
