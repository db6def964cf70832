// Equality and deep copies of structs by their tables.
#include <cstring>

#include "schema/codec.h"
#include "schema/layout.h"
#include "schema/short_copy.h"
#include "schema/wire_table.h"

namespace allot::schema {
namespace {

bool SameValue(const FieldDesc& field, const char* a, const char* b);

bool SameElements(const FieldDesc& field,
                  const AnyList& a,
                  const AnyList& b,
                  std::size_t size,
                  bool keyed,
                  std::size_t value) {
  if (a.count != b.count) {
    return false;
  }
  if (a.items == b.items) {
    return true;
  }
  for (std::uint32_t i = 0; i < a.count; ++i) {
    const char* const left = At(a.items, i * size);
    const char* const right = At(b.items, i * size);
    if (keyed && Load<Str>(left) != Load<Str>(right)) {
      return false;
    }
    if (!SameValue(field, left + value, right + value)) {
      return false;
    }
  }
  return true;
}

bool SameMember(const FieldDesc& field, const char* a, const char* b) {
  switch (field.shape) {
    case Shape::kValue: return SameValue(field, a, b);
    case Shape::kPointer: {
      const auto* const left = Load<const char*>(a);
      const auto* const right = Load<const char*>(b);
      if (left == nullptr || right == nullptr) {
        return left == right;
      }
      return left == right || SameValue(field, left, right);
    }
    case Shape::kList:
      return SameElements(
          field, Load<AnyList>(a), Load<AnyList>(b), LayoutOf(field).size, /*keyed=*/false, 0);
    case Shape::kMap: {
      const EntryLayout layout = EntryLayoutOf(field);
      return SameElements(
          field, Load<AnyList>(a), Load<AnyList>(b), layout.size, /*keyed=*/true, layout.value);
    }
  }
  return false;
}

bool SameValue(const FieldDesc& field, const char* a, const char* b) {
  switch (field.kind) {
    case ValueKind::kString:
    case ValueKind::kBytes:
    case ValueKind::kRaw:
    case ValueKind::kFieldsV1: return Load<Str>(a) == Load<Str>(b);
    case ValueKind::kBool: return Load<bool>(a) == Load<bool>(b);
    case ValueKind::kInt32: return Load<std::int32_t>(a) == Load<std::int32_t>(b);
    case ValueKind::kInt64:
    case ValueKind::kDuration: return Load<std::int64_t>(a) == Load<std::int64_t>(b);
    case ValueKind::kDouble: return Load<double>(a) == Load<double>(b);
    case ValueKind::kQuantity: return Load<quantity::Quantity>(a) == Load<quantity::Quantity>(b);
    case ValueKind::kIntOrString: {
      const auto left = Load<IntOrString>(a);
      const auto right = Load<IntOrString>(b);
      return left.is_string == right.is_string && left.number == right.number &&
             left.text == right.text;
    }
    case ValueKind::kTime:
    case ValueKind::kMicroTime: return Load<quantity::Time>(a) == Load<quantity::Time>(b);
    case ValueKind::kMessage: return SemanticEqual(*field.message, a, b);
    case ValueKind::kStringList: {
      const auto left = Load<List<Str>>(a);
      const auto right = Load<List<Str>>(b);
      return std::equal(left.begin(), left.end(), right.begin(), right.end());
    }
  }
  return false;
}

class Copier {
 public:
  explicit Copier(base::Arena& arena) : arena_(arena) {}

  void Object(const WireTable& type, char* at) {
    for (const WireField& field : type.pointing) {
      Member(field, at + field.offset);
    }
  }

 private:
  /// Replaces what the shallow copy at `at` points to by copies.
  void Member(const WireField& field, char* at) {
    if (field.shape == Shape::kValue) {
      if (field.kind == ValueKind::kString) {
        Text(at);
      } else {
        Value(field, at);
      }
      return;
    }
    // A pointer stands first in lists and maps too; most members are absent.
    const auto* const target = Load<const char*>(at);
    if (target == nullptr) {
      return;
    }
    if (field.shape != Shape::kPointer) {
      Elements(field, at);
      return;
    }
    char* const copy = static_cast<char*>(arena_.Allocate(field.size, field.alignment));
    std::memcpy(copy, target, field.size);
    Value(field, copy);
    Store<const void*>(at, copy);
  }

  void Elements(const WireField& field, char* at) {
    auto list = Load<AnyList>(at);
    const std::size_t bytes = std::size_t{list.count} * field.size;
    char* const copy = static_cast<char*>(arena_.Allocate(bytes, field.alignment));
    if (bytes != 0) {
      std::memcpy(copy, list.items, bytes);
    }
    for (std::uint32_t i = 0; i < list.count; ++i) {
      char* const element = copy + std::size_t{i} * field.size;
      if (field.shape == Shape::kMap) {
        Text(element);
      }
      Value(field, element + field.value);
    }
    list.items = copy;
    Store(at, list);
  }

  void Text(char* at) {
    const auto text = Load<Str>(at);
    if (!text.empty()) {
      char* const to = static_cast<char*>(arena_.Allocate(text.size(), 1));
      CopyText(to, text);
      Store(at, Str(to, text.size()));
    } else if (text.data() != nullptr) {
      Store(at, Str("", 0));
    }
  }

  void Value(const WireField& field, char* at) {
    switch (field.kind) {
      case ValueKind::kString:
      case ValueKind::kBytes:
      case ValueKind::kRaw:
      case ValueKind::kFieldsV1: Text(at); break;
      case ValueKind::kIntOrString: {
        auto value = Load<IntOrString>(at);
        value.text = arena_.Copy(value.text);
        Store(at, value);
        break;
      }
      case ValueKind::kMessage: Object(*field.message, at); break;
      case ValueKind::kStringList: {
        auto list = Load<List<Str>>(at);
        if (list.items == nullptr) {
          break;
        }
        Str* const copy = arena_.NewArray<Str>(list.count);
        for (std::uint32_t i = 0; i < list.count; ++i) {
          copy[i] = arena_.Copy(list[i]);
        }
        list.items = copy;
        Store(at, list);
        break;
      }
      default: break;
    }
  }

  base::Arena& arena_;
};

}  // namespace

bool SemanticEqual(const TypeDesc& type, const void* a, const void* b) {
  // An object changed by a draft shares most of its parts with the old one.
  if (std::memcmp(a, b, type.size) == 0) {
    return true;
  }
  for (const FieldDesc& field : type.fields) {
    if (!SameMember(field, At(a, field.offset), At(b, field.offset))) {
      return false;
    }
  }
  return true;
}

void DeepCopy(const TypeDesc& type, const void* from, void* to, base::Arena& arena) {
  std::memcpy(to, from, type.size);
  Copier(arena).Object(WireTableOf(type), static_cast<char*>(to));
}

}  // namespace allot::schema
