// ALLOT_CHECK: invariants of our own code. Never reachable by input: foreign bytes get a Status.
#pragma once

namespace allot::base {

/// Prints the failed condition with its place and aborts.
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace allot::base

#define ALLOT_CHECK(condition)                                                                    \
  (__builtin_expect(!(condition), 0) ? ::allot::base::CheckFailed(#condition, __FILE__, __LINE__) \
                                     : static_cast<void>(0))

#ifdef NDEBUG
#define ALLOT_DCHECK(condition) static_cast<void>(sizeof(!(condition)))
#else
#define ALLOT_DCHECK(condition) ALLOT_CHECK(condition)
#endif
