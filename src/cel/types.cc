#include "cel/types.h"

#include <fmt/format.h>

namespace allot::cel {
namespace {

constexpr Type Named(TypeKind kind, std::string_view name) {
  Type type;
  type.kind = kind;
  type.name = name;
  return type;
}

constexpr Type Wrapper(Type type) {
  type.nullable = true;
  return type;
}

constexpr Type Container(TypeKind kind,
                         std::string_view name,
                         const Type* first,
                         const Type* second = nullptr) {
  Type type = Named(kind, name);
  type.params = {first, second};
  type.param_count = second == nullptr ? 1 : 2;
  return type;
}

bool SameType(const Type* a, const Type* b, bool compare_param_names) {
  if (a == b) {
    return true;
  }
  if (a->kind != b->kind || a->param_count != b->param_count) {
    return false;
  }
  if (a->kind == TypeKind::kParam) {
    return !compare_param_names ||
           (a->fresh == b->fresh && a->variable == b->variable && (a->fresh || a->name == b->name));
  }
  if (a->name != b->name) {
    return false;
  }
  for (std::size_t i = 0; i < a->param_count; ++i) {
    if (!SameType(a->params[i], b->params[i], compare_param_names)) {
      return false;
    }
  }
  return true;
}

std::string DeclaredName(const Type* type) {
  if (type->kind == TypeKind::kParam && type->fresh) {
    return fmt::format("_var{}", type->variable);
  }
  // What is assignable from null without being null or dynamic is a wrapper.
  return type->nullable ? fmt::format("wrapper({})", type->name) : std::string(type->name);
}

template <typename F>
std::string WithParameters(const Type* type, std::string name, F format) {
  if (type->param_count == 0) {
    return name;
  }
  name += '(';
  for (std::size_t i = 0; i < type->param_count; ++i) {
    name += i > 0 ? ", " : "";
    name += format(type->params[i]);
  }
  name += ')';
  return name;
}

}  // namespace

namespace types {
constexpr Type kDyn = Named(TypeKind::kDyn, "dyn");
constexpr Type kAny = Named(TypeKind::kAny, "google.protobuf.Any");
constexpr Type kBool = Named(TypeKind::kBool, "bool");
constexpr Type kBytes = Named(TypeKind::kBytes, "bytes");
constexpr Type kDouble = Named(TypeKind::kDouble, "double");
constexpr Type kDuration = Named(TypeKind::kDuration, "google.protobuf.Duration");
constexpr Type kError = Named(TypeKind::kError, "error");
constexpr Type kInt = Named(TypeKind::kInt, "int");
constexpr Type kNull = Named(TypeKind::kNull, "null_type");
constexpr Type kString = Named(TypeKind::kString, "string");
constexpr Type kTimestamp = Named(TypeKind::kTimestamp, "google.protobuf.Timestamp");
constexpr Type kType = Named(TypeKind::kType, "type");
constexpr Type kUint = Named(TypeKind::kUint, "uint");
constexpr Type kListDyn = Container(TypeKind::kList, "list", &kDyn);
constexpr Type kMapDyn = Container(TypeKind::kMap, "map", &kDyn, &kDyn);
constexpr Type kMapStringDyn = Container(TypeKind::kMap, "map", &kString, &kDyn);
constexpr Type kBoolWrapper = Wrapper(kBool);
constexpr Type kBytesWrapper = Wrapper(kBytes);
constexpr Type kDoubleWrapper = Wrapper(kDouble);
constexpr Type kIntWrapper = Wrapper(kInt);
constexpr Type kStringWrapper = Wrapper(kString);
constexpr Type kUintWrapper = Wrapper(kUint);
constexpr Type kEmptyMessage = Named(TypeKind::kStruct, "google.protobuf.Empty");
constexpr Type kQuantity = Named(TypeKind::kStruct, "kubernetes.Quantity");
constexpr Type kSemver = Named(TypeKind::kStruct, "kubernetes.Semver");
constexpr Type kUrl = Named(TypeKind::kStruct, "kubernetes.URL");
constexpr Type kFormat = Named(TypeKind::kStruct, "kubernetes.NamedFormat");
constexpr Type kIp = Named(TypeKind::kOpaque, "net.IP");
constexpr Type kCidr = Named(TypeKind::kOpaque, "net.CIDR");
constexpr Type kOptionalDyn = Container(TypeKind::kOpaque, "optional_type", &kDyn);
}  // namespace types

Type* TypeFactory::New(TypeKind kind,
                       std::string_view name,
                       std::initializer_list<const Type*> params) {
  Type* const type = arena_.New<Type>();
  type->kind = kind;
  type->name = name;
  for (const Type* param : params) {
    type->params[type->param_count++] = param;
    type->parts += param->parts;
  }
  return type;
}

const Type* TypeFactory::Fitting(const Type* type) {
  if (type->parts <= kMaxParts) {
    return type;
  }
  overflowed_ = true;
  return &types::kDyn;
}

const Type* TypeFactory::List(const Type* element) {
  return Fitting(New(TypeKind::kList, "list", {element}));
}
const Type* TypeFactory::Map(const Type* key, const Type* value) {
  return Fitting(New(TypeKind::kMap, "map", {key, value}));
}
const Type* TypeFactory::Optional(const Type* value) {
  return Fitting(New(TypeKind::kOpaque, "optional_type", {value}));
}
const Type* TypeFactory::TypeOf(const Type* type) {
  return Fitting(New(TypeKind::kType, "type", {type}));
}

const Type* TypeFactory::Opaque(std::string_view name, std::span<const Type* const> params) {
  Type* const type = New(TypeKind::kOpaque, arena_.Copy(name), {});
  for (const Type* param : params.first(std::min<std::size_t>(params.size(), 2))) {
    type->params[type->param_count++] = param;
    type->parts += param->parts;
  }
  return Fitting(type);
}

const Type* TypeFactory::Struct(std::string_view name) {
  return New(TypeKind::kStruct, arena_.Copy(name), {});
}

const Type* TypeFactory::Nullable(const Type* type) {
  Type* const copy = arena_.New<Type>();
  *copy = *type;
  copy->nullable = true;
  return copy;
}

const Type* TypeFactory::Param(std::string_view name, std::uint32_t index) {
  Type* const type = New(TypeKind::kParam, name, {});
  type->variable = index;
  return type;
}

const Type* TypeFactory::Fresh(std::uint32_t variable) {
  Type* const type = New(TypeKind::kParam, {}, {});
  type->variable = variable;
  type->fresh = true;
  return type;
}

bool IsExactType(const Type* a, const Type* b) {
  return SameType(a, b, true);
}
bool IsEquivalentType(const Type* a, const Type* b) {
  return SameType(a, b, false);
}

std::string FormatType(const Type* type) {
  switch (type->kind) {
    case TypeKind::kAny: return "any";
    case TypeKind::kDuration: return "duration";
    case TypeKind::kError: return "!error!";
    case TypeKind::kNull: return "null";
    case TypeKind::kTimestamp: return "timestamp";
    default: return WithParameters(type, DeclaredName(type), FormatType);
  }
}

std::string TypeText(const Type* type) {
  if (type->kind == TypeKind::kParam) {
    return fmt::format("<{}>", DeclaredName(type));
  }
  return WithParameters(type, DeclaredName(type), TypeText);
}

}  // namespace allot::cel
