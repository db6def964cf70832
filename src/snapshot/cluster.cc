#include "snapshot/cluster.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/desc.h"
#include "api/strategy.h"
#include "schema/codec.h"
#include "snapshot/older_versions.h"
#include "snapshot/raw_json.h"
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

base::Result<std::vector<Value>> ReadDocuments(std::string_view text,
                                               const std::string& source,
                                               std::vector<std::string>& duplicates) {
  text::YamlOptions options;
  options.duplicate_keys = text::DuplicateKeys::kLastWins;
  options.duplicates = &duplicates;
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

// Objects one after the other; nothing when the text is not that.
std::vector<std::string_view> JsonObjects(std::string_view text) {
  std::vector<std::string_view> out;
  while (true) {
    const std::string_view one = TakeRawValue(text);
    if (one.empty()) {
      return text.empty() ? out : std::vector<std::string_view>();
    }
    if (one.front() != '{') {
      return {};
    }
    out.push_back(one);
  }
}

std::string NameOf(const Value& value) {
  const std::string_view ns = value.StringAt({"metadata", "namespace"});
  return fmt::format("{} {}{}{}",
                     value.StringAt({"kind"}),
                     ns,
                     ns.empty() ? "" : "/",
                     value.StringAt({"metadata", "name"}));
}

}  // namespace

Cluster::Cluster() : arena_(std::make_unique<base::Arena>(1U << 16U)) {}
Cluster::~Cluster() = default;
Cluster::Cluster(Cluster&&) noexcept = default;
Cluster& Cluster::operator=(Cluster&&) noexcept = default;

base::Result<void> Cluster::Add(std::string_view text, std::string_view source) {
  const auto where = [&](std::size_t i) {
    return fmt::format("{}, document {}", source, i + 1);
  };
  const std::vector<std::string_view> objects = JsonObjects(text);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const auto value = text::ParseJson(objects[i]);
    if (!value) {
      return Bad(where(i), value.error().message());
    }
    ALLOT_RETURN_IF_ERROR(AddValue(*value, objects[i], where(i)));
  }
  if (!objects.empty()) {
    return {};
  }
  std::vector<std::string> duplicates;
  ALLOT_ASSIGN_OR_RETURN(const std::vector<Value> documents,
                         ReadDocuments(text, std::string(source), duplicates));
  for (const std::string& duplicate : duplicates) {
    warnings.push_back(fmt::format("{}: {}; the last one counts", source, duplicate));
  }
  for (std::size_t i = 0; i < documents.size(); ++i) {
    ALLOT_RETURN_IF_ERROR(AddValue(documents[i], {}, where(i)));
  }
  return {};
}

template <typename T>
base::Result<void> Cluster::Keep(const Value& value,
                                 std::string_view raw,
                                 const std::string& where,
                                 std::vector<const T*>& list) {
  T* const object = arena_->New<T>();
  const std::string_view json = arena_->Copy(raw.empty() ? text::ToJson(value) : raw);
  schema::StrictFindings findings;
  schema::DecodeOptions decode;
  decode.strict = &findings;
  if (auto decoded = schema::DecodeJson(api::Desc<T>(), json, *arena_, object, decode); !decoded) {
    return Bad(where, decoded.error().message());
  }
  if (!findings.errors.empty()) {
    warnings.push_back(
        fmt::format("{}, {}: {}", where, NameOf(value), fmt::join(findings.errors, ", ")));
  }
  if (const api::Strategy* const strategy = api::FindStrategy(api::Desc<T>());
      strategy != nullptr && strategy->apply_defaults != nullptr) {
    const api::GateSet gates;
    const api::StrategyContext context{.gates = gates, .now = {}};
    strategy->apply_defaults(context, object, *arena_);
  }
  if (object->metadata.name.empty()) {
    // As the API server would, but in an order that is the same every time.
    const schema::Str prefix = object->metadata.generate_name;
    if (prefix.empty()) {
      warnings.push_back(fmt::format("{}, {}: neither metadata.name nor generateName is set",
                                     where,
                                     value.StringAt({"kind"})));
    }
    object->metadata.name = arena_->Copy(
        fmt::format("{}{}", prefix.empty() ? schema::Str("unnamed-") : prefix, ++unnamed_));
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

base::Result<void> Cluster::AddItems(const Value& list,
                                     std::string_view raw,
                                     const std::string& where) {
  const std::string_view kind = list.StringAt({"kind"});
  const std::vector<Value>& items = list.Find("items")->items();
  const std::vector<std::string_view> texts = RawItems(RawMember(raw, "items"));
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string_view text = texts.size() == items.size() ? texts[i] : std::string_view();
    const std::string item = fmt::format("{}, item {}", where, i + 1);
    if (items[i].StringAt({"kind"}).empty() && kind != "List") {
      // Items of typed lists carry no kind of their own.
      Value copy = items[i];
      copy.Set("kind", Value(kind.substr(0, kind.size() - 4)));
      copy.Set("apiVersion", Value(list.StringAt({"apiVersion"})));
      ALLOT_RETURN_IF_ERROR(AddValue(copy, text, item));
    } else {
      ALLOT_RETURN_IF_ERROR(AddValue(items[i], text, item));
    }
  }
  return {};
}

base::Result<void> Cluster::AddResource(const Value& value,
                                        std::string_view raw,
                                        const std::string& where) {
  const std::string_view kind = value.StringAt({"kind"});
  const std::string version(value.StringAt({"apiVersion"}).substr(kResourceGroup.size() + 1));
  Value object = value;
  if (!ToV1(version, object)) {
    return Bad(where, fmt::format("version {} of {} is not known", version, kResourceGroup));
  }
  object.Set("apiVersion", Value("resource.k8s.io/v1"));
  // Objects of an older shape are not in the text as v1 has them.
  raw = version == "v1beta1" ? std::string_view() : raw;
  if (kind == "ResourceSlice") {
    return Keep(object, raw, where, slices);
  }
  if (kind == "DeviceClass") {
    return Keep(object, raw, where, classes);
  }
  if (kind == "ResourceClaim") {
    return Keep(object, raw, where, claims);
  }
  if (kind == "ResourceClaimTemplate") {
    return Keep(object, raw, where, templates);
  }
  if (kind == "DeviceTaintRule") {
    return Keep(object, raw, where, rules);
  }
  ++ignored[std::string(kind)];
  return {};
}

base::Result<void> Cluster::AddValue(const Value& value,
                                     std::string_view raw,
                                     const std::string& where) {
  if (value.is_null()) {
    return {};
  }
  const std::string_view kind = value.StringAt({"kind"});
  if (kind.ends_with("List") && value.Find("items") != nullptr) {
    return AddItems(value, raw, where);
  }
  const std::string_view api_version = value.StringAt({"apiVersion"});
  if (kind.empty() || api_version.empty()) {
    const std::string_view what =
        value.is_object() ? "kind or apiVersion is missing" : "not an object";
    if (!skip_foreign) {
      return Bad(where, what);
    }
    warnings.push_back(fmt::format("{}: {}; left out", where, what));
    return {};
  }
  if (api_version == "v1" && kind == "Node") {
    return Keep(value, raw, where, nodes);
  }
  if (api_version == "v1" && kind == "Pod") {
    return Keep(value, raw, where, pods);
  }
  const std::size_t slash = api_version.find('/');
  if (slash != std::string_view::npos && api_version.substr(0, slash) == kResourceGroup) {
    return AddResource(value, raw, where);
  }
  ++ignored[std::string(kind)];
  return {};
}

}  // namespace allot::snapshot
