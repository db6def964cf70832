#include "cel/result.h"

#include <fmt/format.h>

#include "cel/operations.h"

namespace allot::cel {
namespace {

std::string ConversionError(const Value& value) {
  switch (value.kind) {
    case ValueKind::kString: return "unsupported native conversion from string to 'bool'";
    case ValueKind::kInt:
    case ValueKind::kUint:
      return fmt::format("unsupported type conversion from '{}' to bool", TypeName(value));
    case ValueKind::kDouble: return "type conversion error from Double to 'bool'";
    case ValueKind::kBytes: return "type conversion error from Bytes to 'bool'";
    case ValueKind::kNull: return "type conversion error from 'null_type' to 'bool'";
    case ValueKind::kList: return "type conversion error from list to 'bool'";
    case ValueKind::kMap: return "type conversion error from map to 'bool'";
    case ValueKind::kDuration: return "type conversion error from 'Duration' to 'bool'";
    case ValueKind::kTimestamp: return "type conversion error from 'Timestamp' to 'bool'";
    case ValueKind::kQuantity: return "type conversion error from 'Quantity' to 'bool'";
    case ValueKind::kSemver: return "type conversion error from 'Semver' to 'bool'";
    case ValueKind::kUrl: return "type conversion error from 'URL' to 'bool'";
    case ValueKind::kIp: return "type conversion error from 'IP' to 'bool'";
    case ValueKind::kCidr: return "type conversion error from 'CIDR' to 'bool'";
    case ValueKind::kFormat: return "type conversion error from 'Format' to 'bool'";
    case ValueKind::kType: return "type conversion not supported for 'type'";
    case ValueKind::kMessage: return "type conversion error from '*emptypb.Empty' to 'bool'";
    case ValueKind::kOptional:
      return value.optional == nullptr ? "optional.none() dereference"
                                       : ConversionError(*value.optional);
    case ValueKind::kError:
    case ValueKind::kBool: break;
  }
  return std::string(value.text());
}

// The Go type a value is converted to a native attribute by, seen through optionals.
const Value* Inner(const Value* value) {
  while (value != nullptr && value->Is(ValueKind::kOptional)) {
    value = value->optional;
  }
  return value;
}

AttributeKind ScalarKind(const Value* value) {
  if (value == nullptr) {
    return AttributeKind::kMissing;
  }
  switch (value->kind) {
    case ValueKind::kBool: return AttributeKind::kBool;
    case ValueKind::kInt: return AttributeKind::kInt;
    case ValueKind::kString:
    case ValueKind::kType: return AttributeKind::kString;
    case ValueKind::kSemver: return AttributeKind::kVersion;
    default: return AttributeKind::kMissing;
  }
}

std::string ScalarText(const Value& value) {
  return value.Is(ValueKind::kSemver) ? value.semver->ToString() : std::string(value.text());
}

std::string_view KindText(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kBool: return "bool";
    case AttributeKind::kInt: return "int";
    case AttributeKind::kString: return "string";
    default: return "semver";
  }
}

bool ListToAttribute(const ListRep& list, DerivedValue& out, std::string& error) {
  if (list.size == 0) {
    out.kind = AttributeKind::kStrings;
    return true;
  }
  const AttributeKind kind = ScalarKind(Inner(&list.items[0]));
  if (kind == AttributeKind::kMissing) {
    error = fmt::format("unsupported list element type: {}", GoValueTypeName(list.items[0]));
    return false;
  }
  for (std::size_t i = 0; i < list.size; ++i) {
    const Value* const item = Inner(&list.items[i]);
    if (ScalarKind(item) != kind) {
      error = fmt::format("expected list element at index {} to be {}, got {}",
                          i,
                          KindText(kind),
                          GoValueTypeName(list.items[i]));
      return false;
    }
    switch (kind) {
      case AttributeKind::kBool: out.booleans.push_back(item->boolean); break;
      case AttributeKind::kInt: out.integers.push_back(item->integer); break;
      default: out.texts.push_back(ScalarText(*item));
    }
  }
  switch (kind) {
    case AttributeKind::kBool: out.kind = AttributeKind::kBools; break;
    case AttributeKind::kInt: out.kind = AttributeKind::kInts; break;
    case AttributeKind::kString: out.kind = AttributeKind::kStrings; break;
    default: out.kind = AttributeKind::kVersions;
  }
  return true;
}

}  // namespace

bool ToBool(const Value& value, bool& out, std::string& error) {
  const Value* const inner = Inner(&value);
  if (inner != nullptr && inner->Is(ValueKind::kBool)) {
    out = inner->boolean;
    return true;
  }
  error = fmt::format("CEL result of type {} could not be converted to bool: {}",
                      TypeName(value),
                      ConversionError(value));
  return false;
}

bool ToAttribute(const Value& value, DerivedValue& out, std::string& error) {
  const Value* const inner = Inner(&value);
  out.kind = ScalarKind(inner);
  switch (out.kind) {
    case AttributeKind::kBool: out.boolean = inner->boolean; return true;
    case AttributeKind::kInt: out.integer = inner->integer; return true;
    case AttributeKind::kString:
    case AttributeKind::kVersion: out.text = ScalarText(*inner); return true;
    default: break;
  }
  if (value.Is(ValueKind::kList)) {
    return ListToAttribute(*value.list, out, error);
  }
  error = fmt::format("unsupported CEL return type: {}", GoValueTypeName(value));
  return false;
}

}  // namespace allot::cel
