#include "cel/bind.h"

#include <algorithm>

#include <fmt/format.h>

#include "cel/operations.h"

namespace allot::cel {
namespace {

Value ParseVersion(Context& context, std::string_view text) {
  const auto parsed = quantity::ParseSemver(text);
  return parsed ? context.Semver(*parsed)
                : context.Error("parse semantic version: " + parsed.error().message());
}

// The inner map of a domain, made when it is first needed.
MapRep* Domain(Context& context, MapRep& outer, std::string_view domain, std::string_view go_type) {
  const Value key = Value::String(domain);
  if (const Value* const found = FindExact(outer, key); found != nullptr) {
    return found->map;
  }
  MapRep* const inner = context.NewMap(8);
  inner->native = true;
  inner->go_type = go_type;
  Value value;
  value.kind = ValueKind::kMap;
  value.map = inner;
  context.Put(outer, key, value);
  return inner;
}

void SortAll(Context& context, MapRep& outer) {
  for (std::size_t i = 0; i < outer.size; ++i) {
    context.Sort(*outer.entries[i].value.map);
  }
  context.Sort(outer);
}

MapRep* OuterMap(Context& context) {
  MapRep* const map = context.NewMap(4);
  map->native = true;
  map->default_empty = true;
  map->go_type = "map[string]interface {}";
  return map;
}

}  // namespace

QualifiedName SplitName(std::string_view name, std::string_view driver) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) {
    return {driver, name};
  }
  return {name.substr(0, slash), name.substr(slash + 1)};
}

Value AttributeToValue(Context& context, const AttributeValue& attribute) {
  switch (attribute.kind) {
    case AttributeKind::kMissing: return Value::Error("unsupported attribute value");
    case AttributeKind::kInt: return Value::Int(attribute.integer);
    case AttributeKind::kBool: return Value::Bool(attribute.boolean);
    case AttributeKind::kString: return Value::String(attribute.text);
    case AttributeKind::kVersion: return ParseVersion(context, attribute.text);
    default: break;
  }
  ListRep* const list = context.NewList(attribute.integers.size() + attribute.booleans.size() +
                                        attribute.texts.size());
  switch (attribute.kind) {
    case AttributeKind::kInts:
      list->go_type = "[]int64";
      for (const std::int64_t value : attribute.integers) {
        context.Append(*list, Value::Int(value));
      }
      break;
    case AttributeKind::kBools:
      list->go_type = "[]bool";
      for (const bool value : attribute.booleans) {
        context.Append(*list, Value::Bool(value));
      }
      break;
    case AttributeKind::kStrings:
      list->go_type = "[]string";
      for (const std::string_view text : attribute.texts) {
        context.Append(*list, Value::String(text));
      }
      break;
    default:
      list->go_type = "[]cel.Semver";
      for (const std::string_view text : attribute.texts) {
        const Value version = ParseVersion(context, text);
        if (version.IsError()) {
          return version;
        }
        context.Append(*list, version);
      }
      break;
  }
  return context.ListValue(list);
}

Value CapacityToValue(Context& context, const Capacity& capacity) {
  if (capacity.text.empty()) {
    return context.Quantity(quantity::ExactQuantity::FromQuantity(capacity.value), false);
  }
  auto parsed = quantity::ExactQuantity::Parse(capacity.text);
  if (!parsed) {
    return context.Quantity(quantity::ExactQuantity::FromQuantity(capacity.value), false);
  }
  const bool keep = parsed->keeps_text();
  return context.Quantity(*std::move(parsed), false, keep ? capacity.text : std::string_view());
}

bool BindDevice(Context& context, const DeviceView& device, Value& out, std::string& error) {
  MapRep* const attributes = OuterMap(context);
  const Attribute* bad = nullptr;
  for (const Attribute& attribute : device.attributes) {
    const Value value = AttributeToValue(context, attribute.value);
    if (value.IsError()) {
      // Upstream reports whichever comes first in a random order; we the first by name.
      if (bad == nullptr || attribute.name < bad->name) {
        bad = &attribute;
        error = fmt::format("attribute {}: {}", attribute.name, value.text());
      }
      continue;
    }
    const QualifiedName name = SplitName(attribute.name, device.driver);
    context.Put(*Domain(context, *attributes, name.domain, "map[string]interface {}"),
                Value::String(name.id),
                value);
  }
  if (bad != nullptr) {
    return false;
  }
  MapRep* const capacities = OuterMap(context);
  for (const Capacity& capacity : device.capacities) {
    const QualifiedName name = SplitName(capacity.name, device.driver);
    context.Put(*Domain(context, *capacities, name.domain, "map[string]cel.Quantity"),
                Value::String(name.id),
                CapacityToValue(context, capacity));
  }
  SortAll(context, *attributes);
  SortAll(context, *capacities);
  MapRep* const map = context.NewMap(4);
  map->native = true;
  map->go_type = "map[string]interface {}";
  context.Put(*map,
              Value::String("allowMultipleAllocations"),
              Value::Bool(device.allow_multiple_allocations));
  context.Put(*map, Value::String("attributes"), context.Map(attributes));
  context.Put(*map, Value::String("capacity"), context.Map(capacities));
  context.Put(*map, Value::String("driver"), Value::String(device.driver));
  out = context.Map(map);
  return true;
}

}  // namespace allot::cel
