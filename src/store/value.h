// Value: a reference to the immutable bytes of one stored object, without knowing its type.
//
// The store keeps whatever counted object its user hands in (schema::Object for the API server), so
// store, watch cache and informers share one allocation. A type fits when it is a base::RefCounted
// with `bytes()` or `body()`; when it also has `StampRevision(int64)`, the sequencer calls that
// once, before anyone else can see the object. Thread safety: as base::Ref.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/ref.h"

namespace allot::store {

/// A position in the one sequence of all writes. Never used twice. 0: before the first write.
using Revision = std::int64_t;

/// What the store does with a value it does not know.
struct ValueOps {
  void (*add_ref)(const void*);
  void (*release)(const void*);
  std::string_view (*bytes)(const void*);
  void (*stamp)(const void*, Revision);  ///< null: the value does not carry its revision
};

template <typename T>
inline constexpr ValueOps kValueOps{
    .add_ref = [](const void* object) { static_cast<const T*>(object)->AddRef(); },
    .release = [](const void* object) { static_cast<const T*>(object)->Release(); },
    .bytes = [](const void* object) -> std::string_view {
      if constexpr (requires { static_cast<const T*>(object)->bytes(); }) {
        return static_cast<const T*>(object)->bytes();
      } else {
        return static_cast<const T*>(object)->body();
      }
    },
    .stamp = [] -> void (*)(const void*, Revision) {
      if constexpr (requires(const T* object) { object->StampRevision(Revision{}); }) {
        return [](const void* object, Revision at) {
          static_cast<const T*>(object)->StampRevision(at);
        };
      } else {
        return nullptr;
      }
    }(),
};

class Value {
 public:
  Value() = default;
  /// Shares `object`.
  template <typename T>
  [[nodiscard]] static Value Of(base::Ref<const T> object) {
    Value value;
    value.object_ = object.get();
    value.ops_ = object ? &kValueOps<T> : nullptr;
    value.AddRef();
    return value;
  }
  /// A new value with a copy of `bytes`. Cost: one allocation.
  [[nodiscard]] static Value Copy(std::string_view bytes);

  Value(const Value& other) : object_(other.object_), ops_(other.ops_) { AddRef(); }
  Value(Value&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), ops_(std::exchange(other.ops_, nullptr)) {}
  Value& operator=(Value other) noexcept {
    std::swap(object_, other.object_);
    std::swap(ops_, other.ops_);
    return *this;
  }
  ~Value() {
    if (object_ != nullptr) {
      ops_->release(object_);
    }
  }

  explicit operator bool() const { return object_ != nullptr; }
  /// What the log holds. Lifetime: this value.
  [[nodiscard]] std::string_view bytes() const {
    return object_ != nullptr ? ops_->bytes(object_) : std::string_view();
  }
  /// The object as the T it was made of; null when it is another type. Lifetime: this value.
  template <typename T>
  [[nodiscard]] const T* As() const {
    return ops_ == &kValueOps<T> ? static_cast<const T*>(object_) : nullptr;
  }
  /// As As, as a reference of its own.
  template <typename T>
  [[nodiscard]] base::Ref<const T> Get() const {
    return base::Ref<const T>::Share(As<T>());
  }
  void Stamp(Revision revision) const {
    if (object_ != nullptr && ops_->stamp != nullptr) {
      ops_->stamp(object_, revision);
    }
  }

 private:
  void AddRef() const {
    if (object_ != nullptr) {
      ops_->add_ref(object_);
    }
  }

  const void* object_ = nullptr;
  const ValueOps* ops_ = nullptr;
};

}  // namespace allot::store
