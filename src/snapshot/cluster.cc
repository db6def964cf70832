#include "snapshot/cluster.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/desc.h"
#include "api/strategy.h"
#include "schema/codec.h"
#include "snapshot/older_versions.h"
#include "text/documents.h"
#include "text/json.h"
#include "text/value.h"

namespace allot::snapshot {
namespace {

using text::Value;

constexpr std::string_view kResourceGroup = "resource.k8s.io";

std::unexpected<base::Status> Bad(const std::string& where, std::string_view what) {
  return base::Error(base::Reason::kBadRequest, fmt::format("{}: {}", where, what));
}

base::Result<std::vector<Value>> ReadDocuments(std::string_view text, const std::string& source) {
  text::YamlOptions options;
  options.duplicate_keys = text::DuplicateKeys::kLastWins;
  auto documents = text::ParseDocuments(text, options);
  if (!documents) {
    return Bad(source, documents.error().message());
  }
  std::vector<Value> out;
  for (text::YamlDocument& document : *documents) {
    out.push_back(std::move(document.value));
  }
  return out;
}

}  // namespace

Cluster::Cluster() : arena_(std::make_unique<base::Arena>(1U << 16U)) {}
Cluster::~Cluster() = default;
Cluster::Cluster(Cluster&&) noexcept = default;
Cluster& Cluster::operator=(Cluster&&) noexcept = default;

base::Result<void> Cluster::Add(std::string_view text, std::string_view source) {
  ALLOT_ASSIGN_OR_RETURN(const std::vector<Value> documents,
                         ReadDocuments(text, std::string(source)));
  for (std::size_t i = 0; i < documents.size(); ++i) {
    ALLOT_RETURN_IF_ERROR(AddValue(documents[i], fmt::format("{}, document {}", source, i + 1)));
  }
  return {};
}

template <typename T>
base::Result<void> Cluster::Keep(const Value& value,
                                 const std::string& where,
                                 std::vector<const T*>& list) {
  T* const object = arena_->New<T>();
  const std::string_view json = arena_->Copy(text::ToJson(value));
  if (auto decoded = schema::DecodeJson(api::Desc<T>(), json, *arena_, object); !decoded) {
    return Bad(where, decoded.error().message());
  }
  if (const api::Strategy* const strategy = api::FindStrategy(api::Desc<T>());
      strategy != nullptr && strategy->apply_defaults != nullptr) {
    const api::GateSet gates;
    const api::StrategyContext context{.gates = gates, .now = {}};
    strategy->apply_defaults(context, object, *arena_);
  }
  if (object->metadata.name.empty()) {
    list.push_back(object);
    return {};
  }
  const auto [at, added] = index_[std::string(value.StringAt({"kind"}))].try_emplace(
      {object->metadata.namespace_, object->metadata.name}, list.size());
  if (added) {
    list.push_back(object);
  } else {
    list[at->second] = object;
  }
  return {};
}

base::Result<void> Cluster::AddValue(const Value& value, const std::string& where) {
  if (value.is_null()) {
    return {};
  }
  if (!value.is_object()) {
    return Bad(where, "not an object");
  }
  const std::string_view kind = value.StringAt({"kind"});
  if (kind.ends_with("List") && value.Find("items") != nullptr) {
    const Value* const items = value.Find("items");
    std::size_t number = 0;
    for (const Value& item : items->items()) {
      ++number;
      Value copy = item;
      if (copy.StringAt({"kind"}).empty() && kind != "List") {
        // Items of typed lists carry no kind of their own.
        copy.Set("kind", Value(kind.substr(0, kind.size() - 4)));
        copy.Set("apiVersion", Value(value.StringAt({"apiVersion"})));
      }
      ALLOT_RETURN_IF_ERROR(AddValue(copy, fmt::format("{}, item {}", where, number)));
    }
    return {};
  }
  const std::string_view api_version = value.StringAt({"apiVersion"});
  if (kind.empty() || api_version.empty()) {
    return Bad(where, "kind or apiVersion is missing");
  }
  if (api_version == "v1" && kind == "Node") {
    return Keep(value, where, nodes);
  }
  if (api_version == "v1" && kind == "Pod") {
    return Keep(value, where, pods);
  }
  const std::size_t slash = api_version.find('/');
  if (slash != std::string_view::npos && api_version.substr(0, slash) == kResourceGroup) {
    Value object = value;
    const std::string version(api_version.substr(slash + 1));
    if (!ToV1(version, object)) {
      return Bad(where, fmt::format("version {} of {} is not known", version, kResourceGroup));
    }
    object.Set("apiVersion", Value("resource.k8s.io/v1"));
    if (kind == "ResourceSlice") {
      return Keep(object, where, slices);
    }
    if (kind == "DeviceClass") {
      return Keep(object, where, classes);
    }
    if (kind == "ResourceClaim") {
      return Keep(object, where, claims);
    }
    if (kind == "ResourceClaimTemplate") {
      return Keep(object, where, templates);
    }
    if (kind == "DeviceTaintRule") {
      return Keep(object, where, rules);
    }
  }
  ++ignored[std::string(kind)];
  return {};
}

}  // namespace allot::snapshot
