#include "cel/context.h"

#include <algorithm>

#include "cel/operations.h"

namespace allot::cel {

void Context::Reset() {
  constexpr std::size_t kKeep = 1 << 16;
  if (arena_.bytes_reserved() > kKeep) {
    arena_ = base::Arena(kKeep);
  } else {
    arena_.Reset();
  }
  quantities_.clear();
  urls_.clear();
  exhausted_ = false;
  BeginWork();
  digits_ = 0;
  regexes_ = {};
  zones_.ForgetPassing();
}

Value Context::Panic(std::string_view text) {
  Value out = Error(text);
  out.panic = true;
  return out;
}

ListRep* Context::NewList(std::size_t capacity) {
  ListRep* const list = arena_.New<ListRep>();
  if (capacity > 0 && Room(capacity * sizeof(Value))) {
    list->items = arena_.NewArray<Value>(capacity);
    list->capacity = capacity;
  }
  return list;
}

void Context::Append(ListRep& list, Value value) {
  if (list.size == list.capacity) {
    const std::size_t capacity = std::max<std::size_t>(8, list.capacity * 2);
    if (!Room(capacity * sizeof(Value))) {
      return;
    }
    Value* const items = arena_.NewArray<Value>(capacity);
    std::copy_n(list.items, list.size, items);
    list.items = items;
    list.capacity = capacity;
  }
  list.items[list.size++] = value;
}

Value Context::ListValue(ListRep* list) {
  Value out;
  out.kind = ValueKind::kList;
  out.list = list;
  return exhausted_ ? Exhausted() : out;
}

Value Context::List(std::span<const Value> items) {
  ListRep* const list = NewList(items.size());
  for (const Value& item : items) {
    Append(*list, item);
  }
  return ListValue(list);
}

Value Context::ListOfStrings(std::span<const std::string> items) {
  ListRep* const list = NewList(items.size());
  list->go_type = "[]string";
  for (const std::string& item : items) {
    Append(*list, String(item));
  }
  return ListValue(list);
}

MapRep* Context::NewMap(std::size_t capacity) {
  MapRep* const map = arena_.New<MapRep>();
  if (capacity > 0 && Room(capacity * sizeof(MapEntry))) {
    map->entries = arena_.NewArray<MapEntry>(capacity);
    map->capacity = capacity;
  }
  return map;
}

void Context::Rehash(MapRep& map) {
  std::size_t size = 32;
  while (size < map.capacity * 2) {
    size *= 2;
  }
  if (!Room(size * sizeof(std::uint32_t))) {
    return;
  }
  map.hash = arena_.NewArray<std::uint32_t>(size);
  map.hash_size = size;
  for (std::size_t i = 0; i < map.size; ++i) {
    std::size_t at = HashKey(map.entries[i].key) & (size - 1);
    while (map.hash[at] != 0) {
      at = (at + 1) & (size - 1);
    }
    map.hash[at] = static_cast<std::uint32_t>(i + 1);
  }
}

bool Context::Insert(MapRep& map, Value key, Value value) {
  if (FindExact(map, key) != nullptr) {
    return false;
  }
  Put(map, key, value);
  return true;
}

void Context::Put(MapRep& map, Value key, Value value) {
  if (map.hash == nullptr) {
    for (std::size_t i = 0; i < map.size; ++i) {
      if (SameKey(map.entries[i].key, key)) {
        map.entries[i] = {key, value};  // of two zeros the later one
        return;
      }
    }
  } else {
    for (std::size_t at = HashKey(key) & (map.hash_size - 1); map.hash[at] != 0;
         at = (at + 1) & (map.hash_size - 1)) {
      MapEntry& entry = map.entries[map.hash[at] - 1];
      if (SameKey(entry.key, key)) {
        entry = {key, value};
        return;
      }
    }
  }
  if (map.size == map.capacity) {
    const std::size_t capacity = std::max<std::size_t>(8, map.capacity * 2);
    if (!Room(capacity * sizeof(MapEntry))) {
      return;
    }
    MapEntry* const entries = arena_.NewArray<MapEntry>(capacity);
    std::copy_n(map.entries, map.size, entries);
    map.entries = entries;
    map.capacity = capacity;
    map.hash = nullptr;
  }
  map.sorted = map.sorted && (map.size == 0 || KeyLess(map.entries[map.size - 1].key, key));
  map.entries[map.size++] = {key, value};
  constexpr std::size_t kHashFrom = 16;
  if (map.hash != nullptr) {
    std::size_t at = HashKey(key) & (map.hash_size - 1);
    while (map.hash[at] != 0) {
      at = (at + 1) & (map.hash_size - 1);
    }
    map.hash[at] = static_cast<std::uint32_t>(map.size);
  } else if (map.size >= kHashFrom) {
    Rehash(map);
  }
}

void Context::Erase(MapRep& map, Value key) {
  for (std::size_t i = 0; i < map.size; ++i) {
    if (SameKey(map.entries[i].key, key)) {
      std::copy(map.entries + i + 1, map.entries + map.size, map.entries + i);
      --map.size;
      map.hash = nullptr;
      return;
    }
  }
}

void Context::Sort(MapRep& map) {
  if (!map.sorted) {
    std::sort(map.entries, map.entries + map.size, [](const MapEntry& a, const MapEntry& b) {
      return KeyLess(a.key, b.key);
    });
    map.sorted = true;
    if (map.hash != nullptr) {
      Rehash(map);
    }
  }
}

Value Context::Map(MapRep* map) {
  Sort(*map);
  Value out;
  out.kind = ValueKind::kMap;
  out.map = map;
  return exhausted_ ? Exhausted() : out;
}

Value Context::Timestamp(const quantity::OffsetTime& time) {
  quantity::OffsetTime* const copy = arena_.New<quantity::OffsetTime>();
  *copy = time;
  Value out;
  out.kind = ValueKind::kTimestamp;
  out.time = copy;
  return out;
}

Value Context::Optional(Value value) {
  Value* const copy = arena_.New<Value>();
  *copy = value;
  Value out;
  out.kind = ValueKind::kOptional;
  out.optional = copy;
  return out;
}

Value Context::None() {
  Value out;
  out.kind = ValueKind::kOptional;
  out.optional = nullptr;
  return out;
}

Value Context::Quantity(quantity::ExactQuantity quantity, bool computed, std::string_view text) {
  if (quantity.slow() != nullptr) {
    if (!Room(quantity.slow()->bytes())) {
      return Exhausted();
    }
    digits_ += quantity.slow()->bytes();
  }
  quantities_.push_back({std::move(quantity), text});
  Value out;
  out.kind = ValueKind::kQuantity;
  out.computed = computed;
  out.quantity = &quantities_.back();
  return out;
}

Value Context::Semver(const quantity::Semver& semver) {
  quantity::Semver* const copy = arena_.New<quantity::Semver>();
  *copy = semver;
  Value out;
  out.kind = ValueKind::kSemver;
  out.semver = copy;
  return out;
}

const Url* Context::Keep(Url url) {
  urls_.push_back(std::move(url));
  return &urls_.back();
}

}  // namespace allot::cel
