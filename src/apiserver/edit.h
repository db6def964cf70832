// Writing into the arena structs of a draft: what lies behind a pointer or in a list is copied
// first. Thread safety: one draft, one thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/arena.h"
#include "schema/types.h"

namespace allot::apiserver {

/// Puts a writable copy of the pointee (an empty one when null) in place of it.
template <typename U>
U& Mutable(base::Arena& arena, const U*& member) {
  U* const copy = member != nullptr ? arena.New<U>(*member) : arena.New<U>();
  member = copy;
  return *copy;
}

/// Sets an optional scalar.
template <typename U, typename V>
void SetValue(base::Arena& arena, const U*& member, V value) {
  member = arena.New<U>(static_cast<U>(value));
}

/// Copies the list with `extra` empty elements at its end and returns the writable elements.
template <typename U>
U* MutableList(base::Arena& arena, schema::List<U>& list, std::size_t extra = 0) {
  U* const copy = arena.NewArray<U>(list.size() + extra);
  std::copy(list.begin(), list.end(), copy);
  list.items = copy;
  list.count += static_cast<std::uint32_t>(extra);
  return copy;
}

template <typename U>
void Append(base::Arena& arena, schema::List<U>& list, U value) {
  U* const items = MutableList(arena, list, 1);
  items[list.size() - 1] = value;
}

/// Keeps the elements for which `keep` is true.
template <typename U, typename Keep>
void FilterList(base::Arena& arena, schema::List<U>& list, Keep keep) {
  U* const copy = arena.NewArray<U>(list.size());
  std::uint32_t count = 0;
  for (const U& element : list) {
    if (keep(element)) {
      copy[count++] = element;
    }
  }
  list.items = count != 0 ? copy : nullptr;
  list.count = count;
}

/// Sets map[key] = value, keeping the order of keys.
template <typename V>
void Put(base::Arena& arena, schema::Map<V>& map, schema::Str key, V value) {
  auto* const copy = arena.NewArray<schema::MapEntry<V>>(map.size() + 1);
  std::uint32_t count = 0;
  bool placed = false;
  for (const auto& entry : map) {
    if (!placed && key <= entry.key) {
      copy[count++] = {key, value};
      placed = true;
    }
    if (entry.key != key) {
      copy[count++] = entry;
    }
  }
  if (!placed) {
    copy[count++] = {key, value};
  }
  map.items = copy;
  map.count = count;
}

}  // namespace allot::apiserver
