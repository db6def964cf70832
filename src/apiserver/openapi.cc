#include "apiserver/openapi.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/meta/v1.gen.h"
#include "apiserver/errors.h"
#include "apiserver/json_text.h"
#include "apiserver/openapi_schema.h"

namespace allot::apiserver {
namespace {

constexpr std::string_view kPrefix = "/openapi/v3/";
constexpr std::string_view kNever = "Tue, 01 Jan 2036 00:00:00 GMT";

std::string NameOf(const api::KindInfo& info) {
  return info.group.empty() ? fmt::format("api/{}", info.version)
                            : fmt::format("apis/{}/{}", info.group, info.version);
}

std::string QueryParameter(std::string_view name, std::string_view type, std::string_view text) {
  return fmt::format(
      R"({{"name":"{}","in":"query","description":"{}","schema":{{"type":"{}","uniqueItems":true}}}})",
      name,
      text,
      type);
}

/// The parameters of all operations that change objects.
std::string ChangeParameters(bool patch) {
  std::string out = QueryParameter("dryRun", "string", "All: validate and answer, store nothing.");
  out += ',' + QueryParameter("fieldManager", "string", "Who makes the change.");
  out += ',' + QueryParameter("fieldValidation",
                              "string",
                              "What to do with unknown fields: Ignore, Warn or Strict.");
  if (patch) {
    out += ',' + QueryParameter("force", "boolean", "Take over fields of others when applying.");
  }
  return out;
}

std::string Operation(const api::KindInfo& info,
                      std::string_view action,
                      std::string_view id,
                      std::string_view parameters,
                      std::string_view body_types) {
  std::string out =
      fmt::format(R"({{"tags":["{}"],"description":"{} {}","operationId":"{}","parameters":[{}],)",
                  info.version,
                  action,
                  info.kind,
                  id,
                  parameters);
  if (!body_types.empty()) {
    out += fmt::format(R"("requestBody":{{"content":{{{}}},"required":true}},)", body_types);
  }
  out += fmt::format(
      R"("responses":{{"200":{{"description":"OK","content":{{"application/json":{{"schema":{{"$ref":"#/components/schemas/{}"}}}}}}}}}},"x-kubernetes-action":"{}","x-kubernetes-group-version-kind":{{"group":"{}","version":"{}","kind":"{}"}}}})",
      SchemaName(*info.type),
      action,
      info.group,
      info.version,
      info.kind);
  return out;
}

std::string PatchBody() {
  std::string out;
  const std::string schema = fmt::format(R"({{"schema":{{"$ref":"#/components/schemas/{}"}}}})",
                                         "io.k8s.apimachinery.pkg.apis.meta.v1.Patch");
  for (const std::string_view type : {"application/apply-patch+yaml",
                                      "application/json-patch+json",
                                      "application/merge-patch+json",
                                      "application/strategic-merge-patch+json"}) {
    out += fmt::format("{}\"{}\":{}", out.empty() ? "" : ",", type, schema);
  }
  return out;
}

std::string JsonBody(const api::KindInfo& info) {
  return fmt::format(R"("*/*":{{"schema":{{"$ref":"#/components/schemas/{}"}}}})",
                     SchemaName(*info.type));
}

/// The paths of one resource: its collection and its objects.
void AppendPaths(std::string& out, const api::KindInfo& info) {
  const std::string base = fmt::format(
      "/{}{}/{}", NameOf(info), info.namespaced ? "/namespaces/{namespace}" : "", info.resource);
  const std::string plain = info.kind == info.list_kind ? "" : std::string(info.kind);
  std::string collection;
  const auto add = [&](std::string& to, std::string_view method, std::string operation) {
    AppendJsonComma(to);
    to += fmt::format("\"{}\":{}", method, operation);
  };
  if (info.HasVerb("list")) {
    add(collection, "get", Operation(info, "list", "list" + plain, "", ""));
  }
  if (info.HasVerb("create")) {
    add(collection,
        "post",
        Operation(
            info, "post", "create" + plain, ChangeParameters(/*patch=*/false), JsonBody(info)));
  }
  if (info.HasVerb("deletecollection")) {
    add(collection,
        "delete",
        Operation(info, "deletecollection", "deleteCollection" + plain, "", ""));
  }
  AppendJsonKey(out, base);
  out += fmt::format("{{{}}}", collection);
  if (!info.HasVerb("get")) {
    return;
  }
  std::string object;
  add(object, "get", Operation(info, "get", "read" + plain, "", ""));
  add(object,
      "put",
      Operation(info, "put", "replace" + plain, ChangeParameters(/*patch=*/false), JsonBody(info)));
  add(object,
      "patch",
      Operation(info, "patch", "patch" + plain, ChangeParameters(/*patch=*/true), PatchBody()));
  add(object, "delete", Operation(info, "delete", "delete" + plain, "", ""));
  AppendJsonKey(out, base + "/{name}");
  out += fmt::format("{{{}}}", object);
}

}  // namespace

OpenApi::OpenApi(const ResourceSet& resources, std::string version)
    : resources_(resources), version_(std::move(version)) {}

std::string OpenApi::MakeDocument(std::string_view name) const {
  SchemaWriter schemas;
  std::string paths = "{";
  bool any = false;
  for (const Resource& resource : resources_.all()) {
    const api::KindInfo& info = *resource.info;
    if (NameOf(info) != name) {
      continue;
    }
    any = true;
    AppendPaths(paths, info);
    schemas.Add(*info.type);
    if (info.list_type != nullptr) {
      schemas.Add(*info.list_type);
    }
    for (const api::SubresourceInfo& sub : info.subresources) {
      if (sub.type != nullptr) {
        schemas.Add(*sub.type);
      }
    }
  }
  if (!any) {
    return {};
  }
  schemas.Add(api::Desc<api::meta::DeleteOptions>());
  schemas.Add(api::Desc<api::meta::Status>());
  paths += '}';
  std::string components = schemas.Write();
  components.pop_back();
  AppendJsonKey(components, "io.k8s.apimachinery.pkg.apis.meta.v1.Patch");
  components += R"({"description":"The body of a patch.","type":"object"}})";
  return fmt::format(
      R"({{"openapi":"3.0.0","info":{{"title":"allot","version":"{}"}},"paths":{},"components":{{"schemas":{}}}}})",
      version_,
      paths,
      components);
}

const OpenApi::Document* OpenApi::Find(std::string_view name) const {
  if (const auto found = documents_.find(name); found != documents_.end()) {
    return &found->second;
  }
  Document document;
  document.body = MakeDocument(name);
  if (document.body.empty()) {
    return nullptr;
  }
  document.hash = UpperSha512(document.body);
  return &documents_.emplace(std::string(name), std::move(document)).first->second;
}

void OpenApi::ServeIndex(Exchange& exchange) const {
  std::vector<std::string> names;
  for (const Resource& resource : resources_.all()) {
    std::string name = NameOf(*resource.info);
    if (std::ranges::find(names, name) == names.end()) {
      names.push_back(std::move(name));
    }
  }
  std::ranges::sort(names);
  std::string out = "{\"paths\":{";
  for (const std::string& name : names) {
    const Document* const document = Find(name);
    AppendJsonKey(out, name);
    out += fmt::format(R"({{"serverRelativeURL":"{}{}?hash={}"}})", kPrefix, name, document->hash);
  }
  exchange.Send(200, "text/plain; charset=utf-8", out + "}}");
}

void OpenApi::Serve(Exchange& exchange, std::string_view path) const {
  if (path == "/openapi/v3") {
    ServeIndex(exchange);
    return;
  }
  const Document* const document =
      path.starts_with(kPrefix) ? Find(path.substr(kPrefix.size())) : nullptr;
  if (document == nullptr) {
    exchange.SendError(NoSuchResourceError());
    return;
  }
  const std::string_view hash = exchange.request->query.Get("hash");
  if (!hash.empty() && hash != document->hash) {
    exchange.code = 301;
    exchange.writer->Send(
        301,
        net::HeaderList{{"location", fmt::format("{}?hash={}", path, document->hash)}},
        net::Bytes());
    return;
  }
  const std::string etag = fmt::format("\"{}\"", document->hash);
  net::HeaderList headers{{"content-type", "application/json"}, {"etag", etag}, {"vary", "Accept"}};
  if (!hash.empty()) {
    headers.Add("cache-control", "public, immutable");
    headers.Add("expires", kNever);
  }
  const bool known = exchange.request->headers.Get("if-none-match") == etag;
  exchange.code = known ? 304 : 200;
  exchange.writer->Send(
      exchange.code, headers, known ? net::Bytes() : net::Bytes::Copy(document->body));
}

}  // namespace allot::apiserver
