// How the table-driven engine reads and writes members it knows only by their descriptor.
//
// Internal to schema. A List<T> or Map<T> of any T is a pointer and a count (AnyList); a map entry
// is its key followed by the value. Thread safety: stateless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/arena.h"
#include "schema/type_desc.h"
#include "schema/types.h"

namespace allot::schema {

/// Any List<T> or Map<T>.
struct AnyList {
  const void* items = nullptr;
  std::uint32_t count = 0;
};
static_assert(sizeof(AnyList) == sizeof(List<Str>));
static_assert(sizeof(MapEntry<bool>) == 24 && sizeof(MapEntry<quantity::Quantity>) == 48);

struct Layout {
  std::uint32_t size = 0;
  std::uint32_t alignment = 0;
};

/// Size and alignment of one value of this kind.
[[nodiscard]] inline Layout LayoutOf(ValueKind kind, const TypeDesc* message) {
  switch (kind) {
    case ValueKind::kString:
    case ValueKind::kBytes:
    case ValueKind::kRaw:
    case ValueKind::kFieldsV1: return {sizeof(Str), alignof(Str)};
    case ValueKind::kStringList: return {sizeof(AnyList), alignof(AnyList)};
    case ValueKind::kBool: return {sizeof(bool), alignof(bool)};
    case ValueKind::kInt32: return {sizeof(std::int32_t), alignof(std::int32_t)};
    case ValueKind::kInt64:
    case ValueKind::kDuration: return {sizeof(std::int64_t), alignof(std::int64_t)};
    case ValueKind::kDouble: return {sizeof(double), alignof(double)};
    case ValueKind::kQuantity: return {sizeof(quantity::Quantity), alignof(quantity::Quantity)};
    case ValueKind::kIntOrString: return {sizeof(IntOrString), alignof(IntOrString)};
    case ValueKind::kTime:
    case ValueKind::kMicroTime: return {sizeof(quantity::Time), alignof(quantity::Time)};
    case ValueKind::kMessage: return {message->size, message->alignment};
  }
  return {};
}

[[nodiscard]] inline Layout LayoutOf(const FieldDesc& field) {
  return LayoutOf(field.kind, field.message);
}

/// Where the value of a map entry starts, and the size of an entry.
struct EntryLayout {
  std::uint32_t value = 0;
  std::uint32_t size = 0;
  std::uint32_t alignment = 0;
};
[[nodiscard]] inline EntryLayout EntryLayoutOf(const FieldDesc& field) {
  const Layout value = LayoutOf(field);
  const std::uint32_t alignment =
      value.alignment > alignof(Str) ? value.alignment : static_cast<std::uint32_t>(alignof(Str));
  // Alignments are powers of two.
  const std::uint32_t at =
      (static_cast<std::uint32_t>(sizeof(Str)) + value.alignment - 1) & ~(value.alignment - 1);
  return {at, (at + value.size + alignment - 1) & ~(alignment - 1), alignment};
}

template <typename T>
[[nodiscard]] T Load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
void Store(void* to, const T& value) {
  std::memcpy(to, &value, sizeof(T));
}

[[nodiscard]] inline const char* At(const void* base, std::size_t offset) {
  return static_cast<const char*>(base) + offset;
}
[[nodiscard]] inline char* At(void* base, std::size_t offset) {
  return static_cast<char*>(base) + offset;
}

/// Zeroed memory in the arena: the value-initialised form of every API struct.
[[nodiscard]] inline char* NewZeroed(base::Arena& arena, std::size_t size, std::size_t alignment) {
  char* const memory = static_cast<char*>(arena.Allocate(size, alignment));
  std::memset(memory, 0, size);
  return memory;
}

/// A list under construction: grows by doubling inside the arena.
class ListBuilder {
 public:
  ListBuilder(base::Arena& arena, std::uint32_t size, std::uint32_t alignment)
      : arena_(arena), size_(size), alignment_(alignment) {}
  /// Goes on with the elements of `list`, which are copied when more are added.
  void Start(const AnyList& list) {
    items_ = static_cast<char*>(const_cast<void*>(list.items));
    count_ = list.count;
    capacity_ = list.count;
  }
  void Reserve(std::uint32_t capacity) {
    if (capacity > capacity_) {
      Grow(capacity);
    }
  }
  /// A zeroed element at the end. Lifetime: until the next call.
  [[nodiscard]] char* Add() {
    if (count_ == capacity_) {
      Grow(capacity_ == 0 ? (size_ > 64 ? 2 : 4) : capacity_ * 2);
    }
    char* const element = items_ + static_cast<std::size_t>(count_++) * size_;
    std::memset(element, 0, size_);
    return element;
  }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] char* operator[](std::uint32_t i) const {
    return items_ + static_cast<std::size_t>(i) * size_;
  }
  /// The list; present even when empty.
  [[nodiscard]] AnyList Finish() {
    if (items_ == nullptr) {
      items_ = static_cast<char*>(arena_.Allocate(0, alignment_));
    }
    return {items_, count_};
  }
  /// Sorts the entries of a map by key and keeps the last of equal keys.
  void SortEntries();

 private:
  void Grow(std::uint32_t capacity) {
    char* const grown =
        static_cast<char*>(arena_.Allocate(static_cast<std::size_t>(capacity) * size_, alignment_));
    if (count_ != 0) {
      std::memcpy(grown, items_, static_cast<std::size_t>(count_) * size_);
    }
    items_ = grown;
    capacity_ = capacity;
  }

  base::Arena& arena_;
  std::uint32_t size_;
  std::uint32_t alignment_;
  char* items_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint32_t capacity_ = 0;
};

/// The Go type of one value, for error texts ("v1.Container", "resource.Quantity", "int32").
[[nodiscard]] std::string_view GoScalarName(ValueKind kind);

}  // namespace allot::schema
