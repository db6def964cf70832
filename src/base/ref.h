// Ref<T>: a counted reference to an immutable, shared thing with its count inside (RefCounted).
// Thread safety: as shared_ptr: distinct Refs to one object may be used from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace allot::base {

/// Base of things held by Ref<T>. T needs `static void Destroy(const T*)` only when it was not made
/// by new.
template <typename T>
class RefCounted {
 public:
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  void AddRef() const { count_.fetch_add(1, std::memory_order_relaxed); }
  void Release() const {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      const T* const self = static_cast<const T*>(this);
      if constexpr (requires { T::Destroy(self); }) {
        T::Destroy(self);
      } else {
        delete self;
      }
    }
  }

 protected:
  ~RefCounted() = default;

 private:
  friend T;  // only `class T : public RefCounted<T>` is meant
  RefCounted() = default;

  mutable std::atomic<std::uint32_t> count_{1};
};

template <typename T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT(google-explicit-constructor): null converts as for any pointer
  /// Takes over the first reference of a new object.
  static Ref Adopt(T* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  /// Adds a reference to an object that someone else already holds.
  static Ref Share(T* object) {
    if (object != nullptr) {
      object->AddRef();
    }
    return Adopt(object);
  }
  Ref(const Ref& other) : object_(other.object_) {
    if (object_ != nullptr) {
      object_->AddRef();
    }
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) {
      object_->Release();
    }
  }

  [[nodiscard]] T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  friend bool operator==(const Ref&, const Ref&) = default;

 private:
  T* object_ = nullptr;
};

}  // namespace allot::base
