// Equality and deep copies of structs by their tables.
#include "schema/codec.h"
#include "schema/layout.h"

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
          field, Load<AnyList>(a), Load<AnyList>(b), LayoutOf(field).size, false, 0);
    case Shape::kMap: {
      const EntryLayout layout = EntryLayoutOf(field);
      return SameElements(
          field, Load<AnyList>(a), Load<AnyList>(b), layout.size, true, layout.value);
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

  void Object(const TypeDesc& type, char* at) {
    for (const FieldDesc& field : type.fields) {
      Member(field, at + field.offset);
    }
  }

 private:
  /// Replaces what the shallow copy at `at` points to by copies.
  void Member(const FieldDesc& field, char* at) {
    switch (field.shape) {
      case Shape::kValue: Value(field, at); break;
      case Shape::kPointer:
        if (const auto* const target = Load<const char*>(at); target != nullptr) {
          const Layout layout = LayoutOf(field);
          char* const copy = static_cast<char*>(arena_.Allocate(layout.size, layout.alignment));
          std::memcpy(copy, target, layout.size);
          Value(field, copy);
          Store<const void*>(at, copy);
        }
        break;
      case Shape::kList: {
        const Layout layout = LayoutOf(field);
        Elements(field, at, layout.size, layout.alignment, false, 0);
        break;
      }
      case Shape::kMap: {
        const EntryLayout layout = EntryLayoutOf(field);
        Elements(field, at, layout.size, layout.alignment, true, layout.value);
        break;
      }
    }
  }

  void Elements(const FieldDesc& field,
                char* at,
                std::size_t size,
                std::size_t alignment,
                bool keyed,
                std::size_t value) {
    auto list = Load<AnyList>(at);
    if (list.items == nullptr) {
      return;
    }
    char* const copy = static_cast<char*>(arena_.Allocate(list.count * size, alignment));
    if (list.count != 0) {
      std::memcpy(copy, list.items, list.count * size);
    }
    for (std::uint32_t i = 0; i < list.count; ++i) {
      char* const element = copy + i * size;
      if (keyed) {
        Text(element);
      }
      Value(field, element + value);
    }
    list.items = copy;
    Store(at, list);
  }

  void Text(char* at) {
    const auto text = Load<Str>(at);
    if (!text.empty()) {
      Store(at, arena_.Copy(text));
    } else if (text.data() != nullptr) {
      Store(at, Str("", 0));
    }
  }

  void Value(const FieldDesc& field, char* at) {
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
  for (const FieldDesc& field : type.fields) {
    if (!SameMember(field, At(a, field.offset), At(b, field.offset))) {
      return false;
    }
  }
  return true;
}

void DeepCopy(const TypeDesc& type, const void* from, void* to, base::Arena& arena) {
  std::memcpy(to, from, type.size);
  Copier(arena).Object(type, static_cast<char*>(to));
}

}  // namespace allot::schema
