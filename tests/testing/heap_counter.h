// Counts what a test or benchmark takes from the heap; for programs linked with heap_counter.cc.
#pragma once

#include <cstdint>

// Sanitizers bring an allocator of their own.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ALLOT_TEST_SANITIZED
#endif
#endif

namespace allot::testing {

/// Allocations of the process so far; always 0 under a sanitizer. Thread safety: any thread.
[[nodiscard]] std::uint64_t HeapAllocations();

}  // namespace allot::testing
