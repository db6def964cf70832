#include "api/layout.h"

#include <algorithm>
#include <cstdint>

#include "schema/types.h"

namespace allot::api {
namespace {

using schema::FieldDesc;
using schema::Str;
using schema::ValueKind;

struct SizeAndAlignment {
  std::size_t size;
  std::size_t alignment;
};

template <typename T>
constexpr SizeAndAlignment Of() {
  return {sizeof(T), alignof(T)};
}

SizeAndAlignment ValueLayout(const FieldDesc& field) {
  switch (field.kind) {
    case ValueKind::kString:
    case ValueKind::kBytes: return Of<Str>();
    case ValueKind::kBool: return Of<bool>();
    case ValueKind::kInt32: return Of<std::int32_t>();
    case ValueKind::kInt64: return Of<std::int64_t>();
    case ValueKind::kDouble: return Of<double>();
    case ValueKind::kQuantity: return Of<quantity::Quantity>();
    case ValueKind::kIntOrString: return Of<schema::IntOrString>();
    case ValueKind::kTime:
    case ValueKind::kMicroTime: return Of<quantity::Time>();
    case ValueKind::kDuration: return Of<schema::Duration>();
    case ValueKind::kRaw:
    case ValueKind::kFieldsV1: return Of<schema::RawJson>();
    case ValueKind::kMessage: return {field.message->size, field.message->alignment};
    case ValueKind::kStringList: return Of<schema::List<Str>>();
  }
  return {0, 1};
}

std::size_t AlignUp(std::size_t size, std::size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

}  // namespace

std::size_t ValueSize(const FieldDesc& field) {
  return ValueLayout(field).size;
}

ElementLayout LayoutOf(const FieldDesc& field) {
  const SizeAndAlignment value = ValueLayout(field);
  if (field.shape != schema::Shape::kMap) {
    return {.stride = value.size, .value_at = 0, .alignment = value.alignment};
  }
  const std::size_t alignment = std::max(value.alignment, alignof(Str));
  const std::size_t value_at = AlignUp(sizeof(Str), value.alignment);
  return {.stride = AlignUp(value_at + value.size, alignment),
          .value_at = value_at,
          .alignment = alignment};
}

std::size_t MemberSize(const FieldDesc& field) {
  switch (field.shape) {
    case schema::Shape::kValue: return ValueSize(field);
    case schema::Shape::kPointer: return sizeof(void*);
    case schema::Shape::kList:
    case schema::Shape::kMap: return sizeof(schema::List<char>);
  }
  return 0;
}

}  // namespace allot::api
