#include "cli/discovery.h"

#include <algorithm>
#include <cctype>

#include "cli/edit_distance.h"
#include "client/rest.h"

namespace allot::cli {
namespace {

constexpr std::string_view kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

std::vector<std::string> Texts(const text::Value* list) {
  std::vector<std::string> out;
  if (list != nullptr) {
    for (const text::Value& item : list->items()) {
      out.emplace_back(item.AsString());
    }
  }
  return out;
}

std::string Lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return out;
}

}  // namespace

std::string ApiResource::Path(std::string_view ns, std::string_view name) const {
  std::string path = group.empty() ? "/api/" + version : "/apis/" + group + "/" + version;
  if (namespaced && !ns.empty()) {
    path += "/namespaces/" + client::EscapeUrl(ns);
  }
  path += "/" + plural;
  if (!name.empty()) {
    path += "/" + client::EscapeUrl(name);
  }
  return path;
}

base::Result<Server> Server::Open(const Io& io, const ConnectionFlags& flags) {
  ALLOT_ASSIGN_OR_RETURN(Connection connection, Connection::Open(io, flags));
  ALLOT_ASSIGN_OR_RETURN(Discovery discovery, Discovery::Load(connection));
  return Server{.connection = std::move(connection), .discovery = std::move(discovery)};
}

base::Result<Discovery> Discovery::Load(Connection& connection) {
  Discovery discovery;
  for (const char* const root : {"/api", "/apis"}) {
    ALLOT_ASSIGN_OR_RETURN(const text::Value answer, connection.GetJson(root, kAggregated));
    if (answer.StringAt({"kind"}) != "APIGroupDiscoveryList") {
      return base::Error(base::Reason::kNotAcceptable,
                         "the server has no aggregated discovery at " + std::string(root));
    }
    if (const text::Value* const items = answer.Find("items"); items != nullptr) {
      for (const text::Value& group : items->items()) {
        discovery.AddGroup(group);
      }
    }
  }
  return discovery;
}

void Discovery::AddGroup(const text::Value& group) {
  const text::Value* const versions = group.Find("versions");
  if (versions == nullptr) {
    return;
  }
  for (const text::Value& version : versions->items()) {
    const text::Value* const resources = version.Find("resources");
    if (resources == nullptr) {
      continue;
    }
    for (const text::Value& item : resources->items()) {
      ApiResource resource;
      resource.group = group.StringAt({"metadata", "name"});
      resource.version = version.StringAt({"version"});
      resource.plural = item.StringAt({"resource"});
      resource.singular = item.StringAt({"singularResource"});
      resource.kind = item.StringAt({"responseKind", "kind"});
      resource.short_names = Texts(item.Find("shortNames"));
      resource.categories = Texts(item.Find("categories"));
      resource.verbs = Texts(item.Find("verbs"));
      resource.namespaced = item.StringAt({"scope"}) == "Namespaced";
      if (resource.singular.empty()) {
        resource.singular = Lower(resource.kind);
      }
      resources_.push_back(std::move(resource));
    }
  }
}

base::Result<const ApiResource*> Discovery::Find(std::string_view text) const {
  const std::string wanted = Lower(text);
  const std::size_t dot = wanted.find('.');
  const std::string word = wanted.substr(0, dot);
  const std::string suffix = dot == std::string::npos ? "" : wanted.substr(dot + 1);
  for (const ApiResource& resource : resources_) {
    const bool group_fits = suffix.empty() || suffix == resource.group ||
                            suffix == resource.version + "." + resource.group ||
                            (resource.group.empty() && suffix == resource.version);
    const bool named = word == resource.plural || word == resource.singular ||
                       word == Lower(resource.kind) ||
                       std::find(resource.short_names.begin(), resource.short_names.end(), word) !=
                           resource.short_names.end();
    if (group_fits && named) {
      return &resource;
    }
  }
  std::string hint;
  std::size_t best = 3;  // more than two letters off is no misspelling
  for (const ApiResource& resource : resources_) {
    if (const std::size_t distance =
            std::min(EditDistance(word, resource.plural), EditDistance(word, resource.singular));
        distance < best) {
      best = distance;
      hint = "; did you mean \"" + resource.plural + "\"?";
    }
  }
  return base::Error(
      base::Reason::kUnknown,
      "the server doesn't have a resource type \"" + std::string(text) + "\"" + hint);
}

base::Result<const ApiResource*> Discovery::FindKind(std::string_view api_version,
                                                     std::string_view kind) const {
  std::string others;
  for (const ApiResource& resource : resources_) {
    if (resource.kind != kind) {
      continue;
    }
    if (resource.ApiVersion() == api_version) {
      return &resource;
    }
    others += (others.empty() ? "; it is served as " : ", ") + resource.ApiVersion();
  }
  return base::Error(base::Reason::kUnknown,
                     "no matches for kind \"" + std::string(kind) + "\" in version \"" +
                         std::string(api_version) + "\"" + others);
}

}  // namespace allot::cli
