// Pool: memory blocks of a few sizes that go round without the heap once the store is warm.
//
// Entries and tree nodes may outlive the store (a reader still holds a snapshot), so the pool lives
// until it is retired and its last block has come back. Thread safety: any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace allot::store {

class Pool {
 public:
  struct Retirer {
    void operator()(Pool* pool) const { pool->Retire(); }
  };
  using Owner = std::unique_ptr<Pool, Retirer>;

  [[nodiscard]] static Owner Make() { return Owner(new Pool()); }

  [[nodiscard]] void* Allocate(std::size_t size);
  /// REQUIRES: `block` came from Allocate(size).
  void Free(void* block, std::size_t size);
  /// A number never given before; tells apart the edits of trees that share this pool.
  [[nodiscard]] std::uint64_t NextEdit();

 private:
  static constexpr std::size_t kGrain = 32;
  static constexpr std::size_t kClasses = 24;       // up to 768 bytes; larger blocks use the heap
  static constexpr std::size_t kMaxIdle = 1 << 14;  // blocks kept for later, per class

  Pool() = default;
  ~Pool();
  void Retire();
  static std::size_t ClassOf(std::size_t size) { return (size + kGrain - 1) / kGrain; }

  std::mutex mutex_;
  std::array<std::vector<void*>, kClasses + 1> idle_;
  std::uint64_t live_ = 0;
  std::uint64_t edits_ = 0;
  bool retired_ = false;
};

}  // namespace allot::store
