// The value forms of generated API structs: trivially copyable, strings and lists are views.
//
// A struct made of these owns nothing. What it points to lives in the arena (or the body) it was
// decoded from; see schema/object.h for View and Draft, which keep that memory alive. A
// value-initialised struct is the empty object. Thread safety: published structs are never changed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "quantity/quantity.h"
#include "quantity/time.h"

namespace allot::schema {

using Str = std::string_view;

/// A view of `count` elements in an arena. A list that is present but empty has non-null data.
template <typename T>
struct List {
  const T* items = nullptr;
  std::uint32_t count = 0;

  [[nodiscard]] const T* begin() const { return items; }
  [[nodiscard]] const T* end() const { return items + count; }
  [[nodiscard]] std::size_t size() const { return count; }
  [[nodiscard]] bool empty() const { return count == 0; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return items[i]; }
  [[nodiscard]] const T& front() const { return items[0]; }
  [[nodiscard]] const T& back() const { return items[count - 1]; }
};

template <typename V>
struct MapEntry {
  Str key;
  V value{};
};

/// Entries sorted by key, keys unique.
template <typename V>
struct Map : List<MapEntry<V>> {
  /// Null when the key is absent. Cost: O(log n).
  [[nodiscard]] const V* Find(Str key) const {
    const auto* const at =
        std::lower_bound(this->begin(), this->end(), key, [](const MapEntry<V>& entry, Str wanted) {
          return entry.key < wanted;
        });
    return at != this->end() && at->key == key ? &at->value : nullptr;
  }
  /// The value, or `otherwise` when the key is absent.
  [[nodiscard]] V Get(Str key, V otherwise = V{}) const {
    const V* const found = Find(key);
    return found != nullptr ? *found : otherwise;
  }
};

/// util/intstr.IntOrString.
struct IntOrString {
  bool is_string = false;
  std::int32_t number = 0;
  Str text;
};

/// metav1.Duration: Go text in JSON. Unit: nanoseconds.
struct Duration {
  std::int64_t nanos = 0;
};

/// JSON text kept as it is (RawExtension, FieldsV1): compact, valid JSON; empty = absent.
struct RawJson {
  Str text;
};

}  // namespace allot::schema
