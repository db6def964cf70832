// Object: the one encoded record of an API object, shared by store, watch cache and informers;
// View<T>: its decoded form; Draft<T>: the only way to write one.
//
// See: docs/architecture.md, representation. An Object is one immutable, reference-counted
// allocation: header (revision, type, key, uid) and the protobuf body with the API's own field
// numbers, without resourceVersion. Thread safety: Object and View are immutable; a Draft belongs
// to one thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "base/arena.h"
#include "base/ref.h"
#include "base/status.h"
#include "schema/type_desc.h"
#include "schema/types.h"

namespace allot::schema {

/// What a record says about itself without decoding its body.
struct ObjectHeader {
  const TypeDesc* type = nullptr;
  Str namespace_;  // "" when cluster-scoped
  Str name;
  Str uid;
};

class Object final : public base::RefCounted<Object> {
 public:
  /// A record with a copy of the header's texts and of `body` (protobuf of `header.type`, no
  /// resourceVersion).
  [[nodiscard]] static base::Ref<const Object> Make(const ObjectHeader& header,
                                                    std::string_view body,
                                                    std::int64_t revision = 0);

  [[nodiscard]] const TypeDesc& type() const { return *type_; }
  [[nodiscard]] Str namespace_() const { return namespace_text_; }
  [[nodiscard]] Str name() const { return name_; }
  [[nodiscard]] Str uid() const { return uid_; }
  [[nodiscard]] std::int64_t revision() const { return revision_; }
  /// Sets the revision the store assigned. REQUIRES: nobody else has seen the record yet.
  void StampRevision(std::int64_t revision) const { revision_ = revision; }
  [[nodiscard]] std::string_view body() const { return body_; }
  static void Destroy(const Object* object);

 private:
  Object() = default;

  const TypeDesc* type_ = nullptr;
  mutable std::int64_t revision_ = 0;
  Str namespace_text_;
  Str name_;
  Str uid_;
  std::string_view body_;
};

/// A decoded, frozen object: the struct and the memory it points into.
template <typename T>
class View {
 public:
  View() = default;
  View(std::shared_ptr<const base::Arena> arena, const T* root)
      : arena_(std::move(arena)), root_(root) {}

  const T& operator*() const { return *root_; }
  const T* operator->() const { return root_; }
  [[nodiscard]] const T* get() const { return root_; }
  explicit operator bool() const { return root_ != nullptr; }
  [[nodiscard]] const std::shared_ptr<const base::Arena>& arena() const { return arena_; }

 private:
  std::shared_ptr<const base::Arena> arena_;
  const T* root_ = nullptr;
};

/// Writes into structs of one arena. What lies behind a pointer or list is copied before it is
/// changed, so what the struct was copied from never changes. Lifetime: the arena.
class Editor {
 public:
  explicit Editor(base::Arena& arena) : arena_(arena) {}
  [[nodiscard]] base::Arena& arena() const { return arena_; }

  /// A copy of a dynamic string that lives as long as the draft and what is made of it.
  [[nodiscard]] Str Copy(std::string_view text) { return arena_.Copy(text); }

  /// A writable copy of the pointee (a value-initialised one when null), put in place of it.
  template <typename U>
  U& Mutable(const U*& member) {
    U* const copy = member != nullptr ? arena_.New<U>(*member) : arena_.New<U>();
    member = copy;
    return *copy;
  }
  /// Sets an optional scalar.
  template <typename U, typename V>
  void Set(const U*& member, V value) {
    member = arena_.New<U>(static_cast<U>(value));
  }
  /// A writable copy of the elements with `extra` more value-initialised ones at the end. Lifetime:
  /// the draft.
  template <typename U>
  U* MutableList(List<U>& list, std::size_t extra = 0) {
    U* const copy = arena_.NewArray<U>(list.size() + extra);
    std::copy(list.begin(), list.end(), copy);
    list.items = copy;
    list.count += static_cast<std::uint32_t>(extra);
    return copy;
  }
  template <typename U>
  void Append(List<U>& list, U value) {
    U* const items = MutableList(list, 1);
    items[list.size() - 1] = value;
  }
  /// Keeps the elements for which `keep` is true.
  template <typename U, typename Keep>
  void Filter(List<U>& list, Keep keep) {
    U* const copy = arena_.NewArray<U>(list.size());
    std::uint32_t count = 0;
    for (const U& element : list) {
      if (keep(element)) {
        copy[count++] = element;
      }
    }
    list.items = count != 0 ? copy : nullptr;
    list.count = count;
  }
  /// Sets `map[key] = value`, keeping the order of keys.
  template <typename V>
  void Put(Map<V>& map, Str key, V value) {
    MapEntry<V>* const copy = arena_.NewArray<MapEntry<V>>(map.size() + 1);
    std::uint32_t count = 0;
    bool placed = false;
    for (const auto& entry : map) {
      if (!placed && entry.key >= key) {
        copy[count++] = {key, value};
        placed = true;
        if (entry.key == key) {
          continue;
        }
      }
      copy[count++] = entry;
    }
    if (!placed) {
      copy[count++] = {key, value};
    }
    map.items = copy;
    map.count = count;
  }
  template <typename V>
  void Erase(Map<V>& map, Str key) {
    Filter(static_cast<List<MapEntry<V>>&>(map),
           [key](const MapEntry<V>& entry) { return entry.key != key; });
  }

 private:
  base::Arena& arena_;
};

/// A writable object: a fresh arena, a shallow copy of the root, and the base kept alive. Members
/// of the root are changed directly, what lies behind them by the Editor's functions.
template <typename T>
class Draft {
 public:
  Draft() : arena_(std::make_shared<base::Arena>()), root_(arena_->New<T>()) {}
  explicit Draft(const View<T>& base) : Draft() {
    base_ = base.arena();
    *root_ = *base;
  }

  T& operator*() { return *root_; }
  T* operator->() { return root_; }
  const T& operator*() const { return *root_; }
  const T* operator->() const { return root_; }
  [[nodiscard]] base::Arena& arena() { return *arena_; }
  [[nodiscard]] Editor editor() { return Editor(*arena_); }

  // The Editor's functions on this draft; see there.
  [[nodiscard]] Str Copy(std::string_view text) { return arena_->Copy(text); }
  template <typename U>
  U& Mutable(const U*& member) {
    return editor().Mutable(member);
  }
  template <typename U, typename V>
  void Set(const U*& member, V value) {
    editor().Set(member, value);
  }
  template <typename U>
  U* MutableList(List<U>& list, std::size_t extra = 0) {
    return editor().MutableList(list, extra);
  }
  template <typename U>
  void Append(List<U>& list, U value) {
    editor().Append(list, value);
  }
  template <typename U, typename Keep>
  void Filter(List<U>& list, Keep keep) {
    editor().Filter(list, keep);
  }
  template <typename V>
  void Put(Map<V>& map, Str key, V value) {
    editor().Put(map, key, value);
  }
  template <typename V>
  void Erase(Map<V>& map, Str key) {
    editor().Erase(map, key);
  }

  /// Keeps what `other` points to alive as long as this draft and what is made of it.
  template <typename U>
  void KeepAlive(const View<U>& other) {
    if (base_ == nullptr) {
      base_ = other.arena();
      return;
    }
    using Memory = std::shared_ptr<const base::Arena>;
    auto both = std::make_shared<std::pair<Memory, Memory>>(base_, other.arena());
    const base::Arena* const first = both->first.get();
    base_ = Memory(std::move(both), first);
  }

  /// Ends writing: the frozen view. The draft keeps reading from it but must not be written any
  /// more.
  [[nodiscard]] View<T> Freeze() const {
    if (base_ == nullptr) {
      return View<T>(arena_, root_);
    }
    struct Both {
      std::shared_ptr<const base::Arena> base;
      std::shared_ptr<base::Arena> own;
    };
    auto both = std::make_shared<Both>(base_, arena_);
    const base::Arena* const own = both->own.get();
    return View<T>(std::shared_ptr<const base::Arena>(std::move(both), own), root_);
  }

 private:
  std::shared_ptr<const base::Arena> base_;
  std::shared_ptr<base::Arena> arena_;
  T* root_;
};

}  // namespace allot::schema
