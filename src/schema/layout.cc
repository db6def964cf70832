#include "schema/layout.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "schema/codec.h"

namespace allot::schema {

void ListBuilder::SortEntries() {
  const auto key = [this](std::uint32_t i) {
    return Load<Str>((*this)[i]);
  };
  bool sorted = true;
  for (std::uint32_t i = 1; i < count_ && sorted; ++i) {
    sorted = key(i - 1) < key(i);
  }
  if (sorted) {
    return;
  }
  std::vector<std::uint32_t> order(count_);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&key](std::uint32_t a, std::uint32_t b) {
    const Str left = key(a);
    const Str right = key(b);
    return left != right ? left < right : a < b;
  });
  char* const to =
      static_cast<char*>(arena_.Allocate(static_cast<std::size_t>(count_) * size_, alignment_));
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i + 1 < order.size() && key(order[i]) == key(order[i + 1])) {
      continue;  // an equal key comes later
    }
    std::memcpy(to + static_cast<std::size_t>(count++) * size_, (*this)[order[i]], size_);
  }
  items_ = to;
  capacity_ = count_;
  count_ = count;
}

std::string_view GoScalarName(ValueKind kind) {
  switch (kind) {
    case ValueKind::kString: return "string";
    case ValueKind::kBool: return "bool";
    case ValueKind::kInt32: return "int32";
    case ValueKind::kInt64: return "int64";
    case ValueKind::kDouble: return "float64";
    case ValueKind::kBytes: return "[]uint8";
    case ValueKind::kQuantity: return "resource.Quantity";
    case ValueKind::kIntOrString: return "intstr.IntOrString";
    case ValueKind::kTime: return "v1.Time";
    case ValueKind::kMicroTime: return "v1.MicroTime";
    case ValueKind::kDuration: return "v1.Duration";
    case ValueKind::kRaw: return "runtime.RawExtension";
    case ValueKind::kFieldsV1: return "v1.FieldsV1";
    case ValueKind::kStringList: return "[]string";
    case ValueKind::kMessage: break;
  }
  return {};
}

void* NewStruct(const TypeDesc& type, base::Arena& arena) {
  return NewZeroed(arena, type.size, type.alignment);
}

}  // namespace allot::schema
