// DirectoryLock: one process at a time in a data directory.
//
// Thread safety: one thread. The lock goes with the process, however it ends.
#pragma once

#include <string>

#include "base/status.h"

namespace allot::store {

class DirectoryLock {
 public:
  /// Makes the directory when missing and locks it. Errors: ServiceUnavailable when another process
  /// holds it (with its pid); InternalError when the directory cannot be made or written.
  static base::Result<DirectoryLock> Acquire(const std::string& directory);

  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace allot::store
