// Arena: bump allocation for values that live and die together (decoded objects, drafts, requests).
//
// Only trivially destructible things may be put into it: nothing is ever destroyed, one call frees
// all. Thread safety: one writer; what was put in may be read from any thread once publishing it is
// ordered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace allot::base {

class Arena {
 public:
  /// `first_block` is the size of the first block taken from the heap (none is taken before need).
  explicit Arena(std::size_t first_block = 1024) : next_block_(first_block) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  Arena(Arena&& other) noexcept { *this = std::move(other); }
  Arena& operator=(Arena&& other) noexcept;
  ~Arena() { Reset(); }

  /// Raw memory. Lifetime: until Reset or destruction.
  [[nodiscard]] void* Allocate(std::size_t size, std::size_t alignment) {
    const auto at = (reinterpret_cast<std::uintptr_t>(cursor_) + alignment - 1) & ~(alignment - 1);
    if (cursor_ == nullptr || at + size > reinterpret_cast<std::uintptr_t>(end_)) {
      return AllocateSlow(size, alignment);
    }
    cursor_ = reinterpret_cast<char*>(at + size);
    return reinterpret_cast<void*>(at);
  }

  /// A value-initialised T, or T{args...}.
  template <typename T, typename... Args>
  [[nodiscard]] T* New(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return ::new (Allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }

  /// `count` value-initialised Ts.
  template <typename T>
  [[nodiscard]] T* NewArray(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    T* const first = static_cast<T*>(Allocate(sizeof(T) * count, alignof(T)));
    for (std::size_t i = 0; i < count; ++i) {
      ::new (static_cast<void*>(first + i)) T();
    }
    return first;
  }

  /// A copy of `text` that lives as long as the arena.
  [[nodiscard]] std::string_view Copy(std::string_view text) {
    if (text.empty()) {
      return {};
    }
    char* const to = static_cast<char*>(Allocate(text.size(), 1));
    std::memcpy(to, text.data(), text.size());
    return {to, text.size()};
  }

  /// Frees everything.
  void Reset();

  /// Unit: bytes taken from the heap.
  [[nodiscard]] std::size_t bytes_reserved() const { return reserved_; }

 private:
  struct Block;
  void* AllocateSlow(std::size_t size, std::size_t alignment);

  Block* blocks_ = nullptr;
  char* cursor_ = nullptr;
  char* end_ = nullptr;
  std::size_t next_block_ = 1024;
  std::size_t reserved_ = 0;
};

}  // namespace allot::base
