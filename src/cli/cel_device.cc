#include "cli/cel_device.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "quantity/go_text.h"
#include "quantity/quantity.h"
#include "text/json.h"

namespace allot::cli {
namespace {

using base::Reason;

std::unexpected<base::Status> Bad(std::string text) {
  return base::Error(Reason::kBadRequest, std::move(text));
}

// A number, or a decimal string.
base::Result<std::int64_t> IntOf(const text::Value& value, std::string_view path) {
  if (value.is_int()) {
    return value.AsInt();
  }
  if (value.is_string()) {
    auto parsed = quantity::GoParseInt(value.AsString(), "ParseInt");
    if (!parsed) {
      return base::Error(std::move(parsed.error()).Prepend(fmt::format("{}: ", path)));
    }
    return parsed;
  }
  return WrongShape(path, value, "a 64-bit integer");
}

// Which kind counts when several are set.
int Precedence(cel::AttributeKind kind) {
  switch (kind) {
    case cel::AttributeKind::kInts: return 8;
    case cel::AttributeKind::kBools: return 7;
    case cel::AttributeKind::kStrings: return 6;
    case cel::AttributeKind::kVersions: return 5;
    case cel::AttributeKind::kInt: return 4;
    case cel::AttributeKind::kBool: return 3;
    case cel::AttributeKind::kString: return 2;
    case cel::AttributeKind::kVersion: return 1;
    case cel::AttributeKind::kMissing: break;
  }
  return 0;
}

// The fields of a device in a slice (resource.k8s.io/v1).
constexpr std::string_view kFields[] = {"name",
                                        "attributes",
                                        "capacity",
                                        "consumesCounters",
                                        "nodeName",
                                        "nodeSelector",
                                        "allNodes",
                                        "taints",
                                        "bindsToNode",
                                        "bindingConditions",
                                        "bindingFailureConditions",
                                        "allowMultipleAllocations",
                                        "nodeAllocatableResources"};

// What a file holds that is no device, told from what it looks like.
base::Result<void> CheckFields(const text::Value& root) {
  if (const std::string_view kind = root.StringAt({"kind"}); !kind.empty()) {
    return Bad(fmt::format(
        "found a whole {}, expected one device: an entry of spec.devices, with \"driver\" beside "
        "its fields",
        kind));
  }
  for (const text::Member& field : root.members()) {
    if (field.key == "basic") {
      return Bad("basic: since v1beta2 what was in it stands in the device itself");
    }
    if (field.key != "driver" && field.key != "device_name" &&
        std::ranges::find(kFields, field.key) == std::end(kFields)) {
      return Bad(
          fmt::format("{}: unknown field, expected those of a device (name, attributes, capacity, "
                      "allowMultipleAllocations, ...) or driver",
                      field.key));
    }
  }
  return {};
}

// The field when it is there, and not null. Errors: it is of another kind.
base::Result<const text::Value*> FieldOf(const text::Value& root,
                                         std::string_view name,
                                         bool (text::Value::*is)() const,
                                         std::string_view expected,
                                         std::string_view path) {
  const text::Value* const value = root.Find(name);
  if (value == nullptr || value->is_null()) {
    return nullptr;
  }
  if (!(value->*is)()) {
    return WrongShape(fmt::format("{}{}", path, name), *value, expected);
  }
  return value;
}

}  // namespace

std::unexpected<base::Status> WrongShape(std::string_view path,
                                         const text::Value& found,
                                         std::string_view expected) {
  // The tree keeps an integer that does not fit as a double; printed as one, it does not look like
  // what it was.
  std::string text = found.is_number() && !found.is_int() ? fmt::format("{:e}", found.AsDouble())
                                                          : text::ToJson(found);
  constexpr std::size_t kShown = 80;
  if (text.size() > kShown) {
    text = found.is_object() ? "an object" : found.is_array() ? "a list" : "a long text";
  }
  return Bad(fmt::format("{}: found {}, expected {}", path, text, expected));
}

base::Result<std::unique_ptr<CelDevice>> CelDevice::Parse(const text::Value& json,
                                                          Form form,
                                                          std::string_view path) {
  if (!json.is_object()) {
    return Bad("a device must be a JSON object");
  }
  std::unique_ptr<CelDevice> device(new CelDevice);
  device->json_ = json;
  const text::Value& root = device->json_;
  using text::Value;
  if (form == Form::kFile) {
    ALLOT_RETURN_IF_ERROR(CheckFields(root));
  }
  ALLOT_ASSIGN_OR_RETURN(const Value* const driver,
                         FieldOf(root, "driver", &Value::is_string, "a string", path));
  ALLOT_ASSIGN_OR_RETURN(
      const Value* const several,
      FieldOf(root, "allowMultipleAllocations", &Value::is_bool, "true or false", path));
  ALLOT_ASSIGN_OR_RETURN(
      const Value* const attributes,
      FieldOf(root, "attributes", &Value::is_object, "an object of attributes by name", path));
  ALLOT_ASSIGN_OR_RETURN(
      const Value* const capacity,
      FieldOf(root, "capacity", &Value::is_object, "an object of quantities by name", path));
  device->view_.driver = driver == nullptr ? std::string_view() : driver->AsString();
  device->view_.allow_multiple_allocations = several != nullptr && several->AsBool();
  if (attributes != nullptr) {
    for (const text::Member& attribute : attributes->members()) {
      ALLOT_RETURN_IF_ERROR(
          device->AddAttribute(attribute, fmt::format("{}attributes.{}", path, attribute.key)));
    }
  }
  if (capacity != nullptr) {
    for (const text::Member& member : capacity->members()) {
      ALLOT_RETURN_IF_ERROR(
          device->AddCapacity(member, form, fmt::format("{}capacity.{}", path, member.key)));
    }
  }
  device->view_.attributes = device->attributes_;
  device->view_.capacities = device->capacities_;
  return device;
}

base::Result<void> CelDevice::AddCapacity(const text::Member& member,
                                          Form form,
                                          const std::string& path) {
  // The API's form is {"value": QUANTITY}.
  const text::Value* value = &member.value;
  if (const text::Value* const inner = value->Find("value"); inner != nullptr) {
    value = inner;
  }
  std::string_view text = value->AsString();
  if (form == Form::kFile && value->is_number()) {
    owned_.push_back(std::make_unique<std::string>(text::ToJson(*value)));
    text = *owned_.back();
  } else if (!value->is_string()) {
    return WrongShape(path, *value, "a quantity such as \"40Gi\"");
  }
  auto parsed = quantity::ParseQuantity(text);
  if (!parsed) {
    return base::Error(std::move(parsed.error()).Prepend(path + ": "));
  }
  capacities_.push_back({member.key, *parsed, text});
  return {};
}

base::Result<void> CelDevice::AddAttribute(const text::Member& attribute, const std::string& path) {
  if (!attribute.value.is_object() && !attribute.value.is_null()) {
    return WrongShape(path, attribute.value, "an object such as {\"string\": \"a\"}");
  }
  cel::Attribute out{attribute.key, {}};
  for (const text::Member& kind : attribute.value.members()) {
    cel::AttributeValue value;
    ALLOT_RETURN_IF_ERROR(
        SetKind(kind.key, kind.value, fmt::format("{}.{}", path, kind.key), value));
    if (Precedence(value.kind) > Precedence(out.value.kind)) {
      out.value = value;
    }
  }
  attributes_.push_back(out);
  return {};
}

base::Result<void> CelDevice::SetKind(std::string_view kind,
                                      const text::Value& value,
                                      const std::string& path,
                                      cel::AttributeValue& out) {
  if (kind == "ints" || kind == "bools" || kind == "strings" || kind == "versions") {
    return SetList(kind, value, path, out);
  }
  if (kind == "int") {
    ALLOT_ASSIGN_OR_RETURN(out.integer, IntOf(value, path));
    out.kind = cel::AttributeKind::kInt;
    return {};
  }
  if (kind != "bool" && kind != "string" && kind != "version") {
    return Bad(fmt::format("{}: unknown attribute kind {}",
                           path.substr(0, path.size() - kind.size() - 1),
                           quantity::GoQuote(kind)));
  }
  if (value.is_null()) {
    return {};
  }
  if (kind == "bool") {
    if (!value.is_bool()) {
      return WrongShape(path, value, "true or false");
    }
    out.kind = cel::AttributeKind::kBool;
    out.boolean = value.AsBool();
    return {};
  }
  if (!value.is_string()) {
    return WrongShape(path, value, "a string");
  }
  out.kind = kind == "string" ? cel::AttributeKind::kString : cel::AttributeKind::kVersion;
  out.text = value.AsString();
  return {};
}

// An element that is null stands for the empty value of its kind, but for integers.
base::Result<void> CelDevice::SetList(std::string_view kind,
                                      const text::Value& value,
                                      const std::string& path,
                                      cel::AttributeValue& out) {
  if (value.is_null() && kind != "ints") {
    return {};
  }
  if (!value.is_array() && !value.is_null()) {
    return WrongShape(path, value, "a list");
  }
  const std::vector<text::Value>& items = value.items();
  const auto item_path = [&](std::size_t i) {
    return fmt::format("{}[{}]", path, i);
  };
  if (kind == "ints") {
    integers_.push_back(std::make_unique<std::int64_t[]>(items.size()));
    for (std::size_t i = 0; i < items.size(); ++i) {
      ALLOT_ASSIGN_OR_RETURN(integers_.back()[i], IntOf(items[i], item_path(i)));
    }
    out.kind = cel::AttributeKind::kInts;
    out.integers = {integers_.back().get(), items.size()};
  } else if (kind == "bools") {
    booleans_.push_back(std::make_unique<bool[]>(items.size()));
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!items[i].is_bool() && !items[i].is_null()) {
        return WrongShape(item_path(i), items[i], "true or false");
      }
      booleans_.back()[i] = items[i].AsBool();
    }
    out.kind = cel::AttributeKind::kBools;
    out.booleans = {booleans_.back().get(), items.size()};
  } else {
    texts_.push_back(std::make_unique<std::string_view[]>(items.size()));
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!items[i].is_string() && !items[i].is_null()) {
        return WrongShape(item_path(i), items[i], "a string");
      }
      texts_.back()[i] = items[i].AsString();
    }
    out.kind = kind == "strings" ? cel::AttributeKind::kStrings : cel::AttributeKind::kVersions;
    out.texts = {texts_.back().get(), items.size()};
  }
  return {};
}

}  // namespace allot::cli
