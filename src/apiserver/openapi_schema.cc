#include "apiserver/openapi_schema.h"

#include <utility>

#include <fmt/format.h>

#include "api/registry.h"
#include "apiserver/json_text.h"

namespace allot::apiserver {
namespace {

using schema::FieldDesc;
using schema::Shape;
using schema::TypeDesc;
using schema::ValueKind;

constexpr std::string_view kQuantity = "io.k8s.apimachinery.pkg.api.resource.Quantity";
constexpr std::string_view kIntOrString = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
constexpr std::string_view kTime = "io.k8s.apimachinery.pkg.apis.meta.v1.Time";
constexpr std::string_view kMicroTime = "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime";
constexpr std::string_view kDuration = "io.k8s.apimachinery.pkg.apis.meta.v1.Duration";
constexpr std::string_view kRaw = "io.k8s.apimachinery.pkg.runtime.RawExtension";
constexpr std::string_view kFieldsV1 = "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1";

/// The part of a group that upstream's Go package is named after.
std::string_view PackageOf(std::string_view group) {
  return group.empty() ? std::string_view("core") : group.substr(0, group.find('.'));
}

std::string RefTo(std::string_view name) {
  return fmt::format(R"("$ref":"#/components/schemas/{}")", name);
}

/// Scalars with a schema of their own, by name; null for plain ones.
std::string_view NamedScalar(ValueKind kind) {
  switch (kind) {
    case ValueKind::kQuantity: return kQuantity;
    case ValueKind::kIntOrString: return kIntOrString;
    case ValueKind::kTime: return kTime;
    case ValueKind::kMicroTime: return kMicroTime;
    case ValueKind::kDuration: return kDuration;
    case ValueKind::kRaw: return kRaw;
    case ValueKind::kFieldsV1: return kFieldsV1;
    default: return {};
  }
}

std::string_view NamedScalarSchema(std::string_view name) {
  if (name == kQuantity) {
    return R"({"description":"A number with an optional suffix: 100m, 2, 10Gi.","oneOf":[{"type":"string"},{"type":"number"}]})";
  }
  if (name == kIntOrString) {
    return R"({"description":"A whole number or a text.","format":"int-or-string","oneOf":[{"type":"integer"},{"type":"string"}]})";
  }
  if (name == kTime || name == kMicroTime) {
    return R"({"description":"A point in time in RFC 3339.","type":"string","format":"date-time"})";
  }
  if (name == kDuration) {
    return R"({"description":"A length of time such as 1h30m.","type":"string"})";
  }
  return R"({"description":"Any JSON object.","type":"object"})";
}

std::string_view PlainScalar(ValueKind kind) {
  switch (kind) {
    case ValueKind::kBool: return R"("type":"boolean")";
    case ValueKind::kInt32: return R"("type":"integer","format":"int32")";
    case ValueKind::kInt64: return R"("type":"integer","format":"int64")";
    case ValueKind::kDouble: return R"("type":"number","format":"double")";
    case ValueKind::kBytes: return R"("type":"string","format":"byte")";
    case ValueKind::kStringList: return R"("type":"array","items":{"type":"string","default":""})";
    default: return R"("type":"string")";
  }
}

/// What upstream gives as the default of a value that is not a pointer.
std::string_view ZeroOf(ValueKind kind) {
  switch (kind) {
    case ValueKind::kBool: return "false";
    case ValueKind::kInt32:
    case ValueKind::kInt64:
    case ValueKind::kDouble: return "0";
    case ValueKind::kString: return "\"\"";
    default: return {};
  }
}

void AppendText(std::string& out, std::string_view key, std::string_view text) {
  if (!text.empty()) {
    AppendJsonKey(out, key);
    AppendJsonString(out, text);
  }
}

}  // namespace

std::string SchemaName(const TypeDesc& type) {
  if (type.group == "meta.k8s.io") {
    return fmt::format("io.k8s.apimachinery.pkg.apis.meta.{}.{}", type.version, type.name);
  }
  return fmt::format("io.k8s.api.{}.{}.{}", PackageOf(type.group), type.version, type.name);
}

void SchemaWriter::Add(const TypeDesc& type) {
  pending_.push_back(&type);
  while (!pending_.empty()) {
    const TypeDesc& next = *pending_.back();
    pending_.pop_back();
    std::string name = SchemaName(next);
    if (!schemas_.contains(name)) {
      schemas_.emplace(name, "");  // stops recursion of types that contain themselves
      schemas_[name] = Define(next);
    }
  }
}

std::string SchemaWriter::Define(const TypeDesc& type) {
  std::string properties = "{";
  std::string required;
  for (const schema::JsonField& json : type.json_fields) {
    const FieldDesc& field = *json.field;
    AppendJsonKey(properties, field.name);
    properties += Property(field);
    if (field.required) {
      AppendJsonComma(required);
      AppendJsonString(required, field.name);
    }
  }
  properties += '}';
  std::string out = "{";
  AppendText(out, "description", type.doc);
  AppendJsonKey(out, "type");
  out += "\"object\"";
  if (!required.empty()) {
    AppendJsonKey(out, "required");
    out += fmt::format("[{}]", required);
  }
  if (properties != "{}") {
    AppendJsonKey(out, "properties");
    out += properties;
  }
  if (const api::KindInfo* const info = api::FindType(type); info != nullptr) {
    AppendJsonKey(out, "x-kubernetes-group-version-kind");
    out += fmt::format(
        R"([{{"group":"{}","version":"{}","kind":"{}"}}])", info->group, info->version, info->kind);
  }
  return out + "}";
}

std::string SchemaWriter::Reference(const FieldDesc& field) {
  if (field.kind == ValueKind::kMessage) {
    pending_.push_back(field.message);
    return RefTo(SchemaName(*field.message));
  }
  const std::string_view named = NamedScalar(field.kind);
  if (named.empty()) {
    return {};
  }
  schemas_.emplace(std::string(named), std::string(NamedScalarSchema(named)));
  return RefTo(named);
}

std::string SchemaWriter::ValueSchema(const FieldDesc& field) {
  const std::string reference = Reference(field);
  if (reference.empty()) {
    return fmt::format("{{{},\"default\":{}}}",
                       PlainScalar(field.kind),
                       ZeroOf(field.kind).empty() ? std::string_view("\"\"") : ZeroOf(field.kind));
  }
  if (field.kind == ValueKind::kMessage) {
    return fmt::format(R"({{"allOf":[{{{}}}],"default":{{}}}})", reference);
  }
  return fmt::format("{{{}}}", reference);
}

std::string SchemaWriter::Property(const FieldDesc& field) {
  std::string out = "{";
  AppendText(out, "description", field.doc);
  if (field.shape == Shape::kList) {
    AppendJsonKey(out, "type");
    out += R"("array","items":)" + ValueSchema(field);
    if (field.list_type != schema::ListType::kAtomic || !field.list_keys.empty()) {
      AppendText(
          out, "x-kubernetes-list-type", field.list_type == schema::ListType::kMap ? "map" : "set");
    } else {
      AppendText(out, "x-kubernetes-list-type", "atomic");
    }
    if (!field.list_keys.empty()) {
      AppendJsonKey(out, "x-kubernetes-list-map-keys");
      out += '[';
      for (const std::string_view key : field.list_keys) {
        AppendJsonComma(out);
        AppendJsonString(out, key);
      }
      out += ']';
    }
    AppendText(out, "x-kubernetes-patch-strategy", field.patch_strategy);
    AppendText(out, "x-kubernetes-patch-merge-key", field.patch_merge_key);
    return out + "}";
  }
  if (field.shape == Shape::kMap) {
    AppendJsonKey(out, "type");
    out += R"("object","additionalProperties":)" + ValueSchema(field);
    return out + "}";
  }
  const std::string reference = Reference(field);
  AppendJsonComma(out);
  if (reference.empty()) {
    out += PlainScalar(field.kind);
  } else {
    out += fmt::format(R"("allOf":[{{{}}}])", reference);
  }
  if (!field.enum_values.empty()) {
    AppendJsonKey(out, "enum");
    out += '[';
    for (const std::string_view value : field.enum_values) {
      AppendJsonComma(out);
      AppendJsonString(out, value);
    }
    out += ']';
  }
  if (!field.default_value.empty()) {
    AppendJsonKey(out, "default");
    out += field.default_value;
  } else if (field.shape == Shape::kValue && field.required && reference.empty() &&
             !ZeroOf(field.kind).empty()) {
    AppendJsonKey(out, "default");
    out += ZeroOf(field.kind);
  } else if (field.shape == Shape::kValue && field.kind == ValueKind::kMessage) {
    AppendJsonKey(out, "default");
    out += "{}";
  }
  return out + "}";
}

std::string SchemaWriter::Write() const {
  std::string out = "{";
  for (const auto& [name, body] : schemas_) {
    AppendJsonKey(out, name);
    out += body;
  }
  return out + "}";
}

}  // namespace allot::apiserver
