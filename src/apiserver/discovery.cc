#include "apiserver/discovery.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apiserver/json_text.h"

namespace allot::apiserver {
namespace {

constexpr std::string_view kAggregatedType =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Groups in the order upstream announces them; unknown ones follow by name.
constexpr std::string_view kGroupOrder[] = {
    "",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "policy",
    "rbac.authorization.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
};

std::size_t RankOf(std::string_view group) {
  return static_cast<std::size_t>(
      std::distance(std::begin(kGroupOrder), std::ranges::find(kGroupOrder, group)));
}

struct VersionRows {
  std::string_view version;
  std::string_view api_version;
  std::vector<const api::KindInfo*> rows;
};
struct GroupRows {
  std::string_view group;
  std::vector<VersionRows> versions;
};

/// v1 before v1beta2 before v1beta1 before v1alpha3.
bool VersionBefore(std::string_view a, std::string_view b) {
  const auto level = [](std::string_view version) {
    if (version.find("alpha") != std::string_view::npos) {
      return 2;
    }
    return version.find("beta") != std::string_view::npos ? 1 : 0;
  };
  return level(a) != level(b) ? level(a) < level(b) : a > b;
}

std::vector<GroupRows> GroupsOf(const ResourceSet& resources) {
  std::vector<GroupRows> groups;
  for (const Resource& resource : resources.all()) {
    const api::KindInfo& info = *resource.info;
    auto group = std::ranges::find(groups, info.group, &GroupRows::group);
    if (group == groups.end()) {
      group = groups.insert(groups.end(), GroupRows{info.group, {}});
    }
    auto version = std::ranges::find(group->versions, info.version, &VersionRows::version);
    if (version == group->versions.end()) {
      version = group->versions.insert(version, VersionRows{info.version, info.api_version, {}});
    }
    version->rows.push_back(&info);
  }
  std::ranges::sort(groups, [](const GroupRows& a, const GroupRows& b) {
    return RankOf(a.group) != RankOf(b.group) ? RankOf(a.group) < RankOf(b.group)
                                              : a.group < b.group;
  });
  for (GroupRows& group : groups) {
    std::ranges::sort(group.versions, VersionBefore, &VersionRows::version);
  }
  return groups;
}

void AppendTexts(std::string& out, std::string_view key, std::span<const std::string_view> texts) {
  if (texts.empty()) {
    return;
  }
  AppendJsonKey(out, key);
  out += '[';
  for (const std::string_view text : texts) {
    AppendJsonComma(out);
    AppendJsonString(out, text);
  }
  out += ']';
}

void AppendPair(std::string& out, std::string_view key, std::string_view value) {
  AppendJsonKey(out, key);
  AppendJsonString(out, value);
}

/// The group of a body's kind as discovery shows it.
void AppendPlainResource(std::string& out, const api::KindInfo& info) {
  AppendJsonComma(out);
  out += '{';
  AppendPair(out, "name", info.resource);
  AppendPair(out, "singularName", info.singular);
  out += fmt::format(",\"namespaced\":{}", info.namespaced);
  AppendPair(out, "kind", info.kind);
  AppendTexts(out, "verbs", info.verbs);
  AppendTexts(out, "shortNames", info.short_names);
  AppendTexts(out, "categories", info.categories);
  if (!info.storage_version_hash.empty()) {
    AppendPair(out, "storageVersionHash", info.storage_version_hash);
  }
  out += '}';
}

void AppendPlainSubresource(std::string& out,
                            const api::KindInfo& info,
                            const api::SubresourceInfo& sub) {
  AppendJsonComma(out);
  out += '{';
  AppendPair(out, "name", fmt::format("{}/{}", info.resource, sub.name));
  AppendPair(out, "singularName", "");
  out += fmt::format(",\"namespaced\":{}", info.namespaced);
  if (sub.group != info.group || sub.version != info.version) {
    AppendPair(out, "group", sub.group);
    AppendPair(out, "version", sub.version);
  }
  AppendPair(out, "kind", sub.kind);
  AppendTexts(out, "verbs", sub.verbs);
  out += '}';
}

std::string PlainResources(const VersionRows& version) {
  std::string out = R"({"kind":"APIResourceList",)";
  if (version.api_version.find('/') != std::string_view::npos) {
    out += R"("apiVersion":"v1",)";
  }
  out += fmt::format("\"groupVersion\":\"{}\",\"resources\":[", version.api_version);
  for (const api::KindInfo* const info : version.rows) {
    AppendPlainResource(out, *info);
    for (const api::SubresourceInfo& sub : info->subresources) {
      AppendPlainSubresource(out, *info, sub);
    }
  }
  return out + "]}";
}

std::string GroupBody(const GroupRows& group) {
  std::string out = fmt::format("\"name\":\"{}\",\"versions\":[", group.group);
  for (const VersionRows& version : group.versions) {
    AppendJsonComma(out);
    out += fmt::format(
        R"({{"groupVersion":"{}","version":"{}"}})", version.api_version, version.version);
  }
  const VersionRows& first = group.versions.front();
  return out + fmt::format(R"(],"preferredVersion":{{"groupVersion":"{}","version":"{}"}})",
                           first.api_version,
                           first.version);
}

void AppendResponseKind(std::string& out,
                        std::string_view group,
                        std::string_view version,
                        std::string_view kind) {
  AppendJsonKey(out, "responseKind");
  out += fmt::format(R"({{"group":"{}","version":"{}","kind":"{}"}})", group, version, kind);
}

void AppendAggregatedResource(std::string& out, const api::KindInfo& info) {
  AppendJsonComma(out);
  out += '{';
  AppendPair(out, "resource", info.resource);
  AppendResponseKind(out, info.group, info.version, info.kind);
  AppendPair(out, "scope", info.namespaced ? "Namespaced" : "Cluster");
  AppendPair(out, "singularResource", info.singular);
  AppendTexts(out, "verbs", info.verbs);
  AppendTexts(out, "shortNames", info.short_names);
  AppendTexts(out, "categories", info.categories);
  if (!info.subresources.empty()) {
    AppendJsonKey(out, "subresources");
    out += '[';
    for (const api::SubresourceInfo& sub : info.subresources) {
      AppendJsonComma(out);
      out += '{';
      AppendPair(out, "subresource", sub.name);
      AppendResponseKind(out, sub.group, sub.version, sub.kind);
      AppendTexts(out, "verbs", sub.verbs);
      out += '}';
    }
    out += ']';
  }
  out += '}';
}

void AppendAggregatedGroup(std::string& out, const GroupRows& group) {
  AppendJsonComma(out);
  out += fmt::format(R"({{"metadata":{}{}{},"versions":[)",
                     group.group.empty() ? "{" : "{\"name\":\"",
                     group.group,
                     group.group.empty() ? "}" : "\"}");
  for (const VersionRows& version : group.versions) {
    AppendJsonComma(out);
    out += fmt::format(R"({{"version":"{}","resources":[)", version.version);
    for (const api::KindInfo* const info : version.rows) {
      AppendAggregatedResource(out, *info);
    }
    out += R"(],"freshness":"Current"})";
  }
  out += "]}";
}

std::string Aggregated(const std::vector<GroupRows>& groups, bool core) {
  std::string out =
      R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[)";
  for (const GroupRows& group : groups) {
    if (group.group.empty() == core) {
      AppendAggregatedGroup(out, group);
    }
  }
  return out + "]}";
}

std::string RootPaths(const std::vector<GroupRows>& groups) {
  std::vector<std::string> paths = {"/api",
                                    "/api/v1",
                                    "/apis",
                                    "/healthz",
                                    "/livez",
                                    "/metrics",
                                    "/openapi/v2",
                                    "/openapi/v3",
                                    "/readyz",
                                    "/version"};
  for (const GroupRows& group : groups) {
    if (group.group.empty()) {
      continue;
    }
    paths.push_back(fmt::format("/apis/{}", group.group));
    for (const VersionRows& version : group.versions) {
      paths.push_back(fmt::format("/apis/{}", version.api_version));
    }
  }
  std::ranges::sort(paths);
  std::string out = "{\"paths\":[";
  for (const std::string& path : paths) {
    AppendJsonComma(out);
    AppendJsonString(out, path);
  }
  return out + "]}";
}

}  // namespace

Discovery::Discovery(const ResourceSet& resources) {
  const std::vector<GroupRows> groups = GroupsOf(resources);
  std::string list = R"({"kind":"APIGroupList","apiVersion":"v1","groups":[)";
  for (const GroupRows& group : groups) {
    for (const VersionRows& version : group.versions) {
      plain_[fmt::format("{}/{}", group.group.empty() ? "/api" : "/apis", version.api_version)] =
          PlainResources(version);
    }
    if (!group.group.empty()) {
      const std::string body = GroupBody(group);
      AppendJsonComma(list);
      list += fmt::format("{{{}}}", body);
      plain_[fmt::format("/apis/{}", group.group)] =
          fmt::format(R"({{"kind":"APIGroup","apiVersion":"v1",{}}})", body);
    }
  }
  plain_["/apis"] = list + "]}";
  plain_["/api"] = R"({"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[]})";
  plain_["/"] = RootPaths(groups);
  aggregated_core_.body = Aggregated(groups, /*core=*/true);
  aggregated_groups_.body = Aggregated(groups, /*core=*/false);
  for (Document* const document : {&aggregated_core_, &aggregated_groups_}) {
    document->etag = fmt::format("\"{}\"", UpperSha512(document->body));
  }
}

bool Discovery::Serve(Exchange& exchange, std::string_view path) const {
  if (path == "/api" || path == "/apis") {
    if (WantsAggregatedDiscovery(exchange.request->headers.Get("accept"))) {
      const Document& document = path == "/api" ? aggregated_core_ : aggregated_groups_;
      net::HeaderList headers{{"content-type", kAggregatedType},
                              {"etag", document.etag},
                              {"vary", "Accept"},
                              {"cache-control", "public"}};
      const bool known = exchange.request->headers.Get("if-none-match") == document.etag;
      exchange.code = known ? 304 : 200;
      exchange.writer->Send(
          exchange.code, headers, known ? net::Bytes() : net::Bytes::Copy(document.body));
      return true;
    }
  }
  const auto found = plain_.find(path);
  if (found == plain_.end()) {
    return false;
  }
  exchange.Send(200, "application/json", FinishJson(found->second, exchange.choice));
  return true;
}

}  // namespace allot::apiserver
