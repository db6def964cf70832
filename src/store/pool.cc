#include "store/pool.h"

#include <new>

namespace allot::store {
namespace {

// Under AddressSanitizer every block goes through the heap, so that use after release is seen.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kReuse = false;
#else
constexpr bool kReuse = true;
#endif
#else
constexpr bool kReuse = true;
#endif

}  // namespace

Pool::~Pool() {
  for (std::vector<void*>& blocks : idle_) {
    for (void* const block : blocks) {
      ::operator delete(block);
    }
  }
}

void* Pool::Allocate(std::size_t size) {
  const std::size_t size_class = ClassOf(size);
  {
    const std::lock_guard lock(mutex_);
    ++live_;
    if (size_class <= kClasses && !idle_[size_class].empty()) {
      void* const block = idle_[size_class].back();
      idle_[size_class].pop_back();
      return block;
    }
  }
  return ::operator new(size_class <= kClasses ? size_class * kGrain : size);
}

void Pool::Free(void* block, std::size_t size) {
  const std::size_t size_class = ClassOf(size);
  bool last = false;
  {
    const std::lock_guard lock(mutex_);
    --live_;
    last = retired_ && live_ == 0;
    if (kReuse && !retired_ && size_class <= kClasses && idle_[size_class].size() < kMaxIdle) {
      idle_[size_class].push_back(block);
      block = nullptr;
    }
  }
  ::operator delete(block);
  if (last) {
    delete this;
  }
}

std::uint64_t Pool::NextEdit() {
  const std::lock_guard lock(mutex_);
  return ++edits_;
}

void Pool::Retire() {
  bool last = false;
  {
    const std::lock_guard lock(mutex_);
    retired_ = true;
    last = live_ == 0;
  }
  if (last) {
    delete this;
  }
}

}  // namespace allot::store
