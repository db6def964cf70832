#include "apiserver/resources.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "api/events/v1.gen.h"

namespace allot::apiserver {
namespace {

using base::Reason;
using base::Result;

/// Where objects of a kind live in the store: upstream's key without the group.
std::string StoragePath(const api::KindInfo& info) {
  return std::string(info.resource);
}

bool IsStable(std::string_view version) {
  return version.find("alpha") == std::string_view::npos &&
         version.find("beta") == std::string_view::npos;
}

std::string_view LevelOf(std::string_view version) {
  if (version.find("alpha") != std::string_view::npos) {
    return "api/alpha";
  }
  return version.find("beta") != std::string_view::npos ? "api/beta" : "api/ga";
}

}  // namespace

std::string Resource::KeyOf(std::string_view ns, std::string_view name) const {
  return info->namespaced ? fmt::format("{}/{}", ns, name) : std::string(name);
}

std::string Resource::RegistryKey(std::string_view ns, std::string_view name) const {
  return fmt::format("/registry/{}/{}", storage_path, KeyOf(ns, name));
}

Result<RuntimeConfig> RuntimeConfig::Parse(std::string_view text) {
  RuntimeConfig out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view pair = text.substr(at, comma - at);
    at = comma + 1;
    if (pair.empty()) {
      continue;
    }
    const std::size_t equals = pair.find('=');
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view("true") : pair.substr(equals + 1);
    if (value != "true" && value != "false" && value != "1" && value != "0" && !value.empty()) {
      return base::Error(Reason::kBadRequest,
                         fmt::format("runtime-config invalid key {}={}: the value must be true or "
                                     "false",
                                     pair.substr(0, equals),
                                     value));
    }
    std::string name(pair.substr(0, equals));
    if (name == "v1") {
      name = "/v1";  // the core group
    } else if (name.find('/') == std::string::npos) {
      return base::Error(Reason::kBadRequest,
                         fmt::format("runtime-config invalid key {}: want api/all, api/ga, "
                                     "api/beta, api/alpha or group/version",
                                     name));
    }
    out.settings_.push_back({std::move(name), value != "false" && value != "0"});
  }
  return out;
}

const RuntimeConfig::Setting* RuntimeConfig::Find(std::string_view name) const {
  const Setting* found = nullptr;
  for (const Setting& setting : settings_) {
    if (setting.name == name) {
      found = &setting;
    }
  }
  return found;
}

bool RuntimeConfig::Serves(const api::KindInfo& info) const {
  // The most telling setting decides: resource, version, level of stability, all.
  const std::string version = fmt::format("{}/{}", info.group, info.version);
  for (const std::string& name : {fmt::format("{}/{}", version, info.resource),
                                  version,
                                  std::string(LevelOf(info.version)),
                                  std::string("api/all")}) {
    if (const Setting* const setting = Find(name); setting != nullptr) {
      return setting->on;
    }
  }
  return info.served_by_default || IsStable(info.version);
}

Result<ResourceSet> ResourceSet::Make(store::Store& store,
                                      const api::GateSet& gates,
                                      const RuntimeConfig& config) {
  ResourceSet out;
  for (const api::KindInfo& info : api::Kinds()) {
    if (!config.Serves(info) || (!info.gate.empty() && !gates.Enabled(info.gate))) {
      continue;
    }
    Resource resource;
    resource.info = &info;
    if (info.type == &api::Desc<api::events::Event>()) {
      resource.conversion = &EventConversion();
    }
    resource.strategy = api::FindStrategy(resource.stored_type());
    if (resource.strategy != nullptr) {
      resource.storage_path = StoragePath(info);
      ALLOT_ASSIGN_OR_RETURN(resource.store_id, store.AddResource(resource.storage_path));
    }
    out.resources_.push_back(std::move(resource));
  }
  return out;
}

const Resource* ResourceSet::Find(std::string_view group,
                                  std::string_view version,
                                  std::string_view plural) const {
  for (const Resource& resource : resources_) {
    if (resource.info->resource == plural && resource.info->group == group &&
        resource.info->version == version) {
      return &resource;
    }
  }
  return nullptr;
}

bool ResourceSet::HasGroup(std::string_view group) const {
  return std::ranges::any_of(
      resources_, [&](const Resource& resource) { return resource.info->group == group; });
}

}  // namespace allot::apiserver
