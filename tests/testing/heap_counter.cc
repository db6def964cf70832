#include "testing/heap_counter.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> allocations{0};

}  // namespace

#ifndef ALLOT_TEST_SANITIZED
void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* const block = std::malloc(size == 0 ? 1 : size);
  if (block == nullptr) {
    std::abort();
  }
  return block;
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t /*size*/) noexcept {
  std::free(block);
}
#endif

namespace allot::testing {

std::uint64_t HeapAllocations() {
  return allocations.load(std::memory_order_relaxed);
}

}  // namespace allot::testing
