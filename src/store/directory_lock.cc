#include "store/directory_lock.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fmt/format.h>

namespace allot::store {
namespace {

std::string OwnerOf(int descriptor) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
  std::string_view owner(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  owner = owner.substr(0, owner.find('\n'));
  return owner.empty() ? "another process" : fmt::format("process {}", owner);
}

std::unexpected<base::Status> Failed(std::string_view doing, const std::string& path, int error) {
  return base::Error(base::Reason::kInternalError,
                     fmt::format("{} {}: {}", doing, path, std::generic_category().message(error)));
}

}  // namespace

base::Result<DirectoryLock> DirectoryLock::Acquire(const std::string& directory) {
  std::error_code error;
  const bool existed = std::filesystem::exists(directory, error);
  std::filesystem::create_directories(directory, error);
  if (error) {
    return Failed("cannot make data directory", directory, error.value());
  }
  if (!existed) {
    // Secrets lie in there.
    std::filesystem::permissions(directory, std::filesystem::perms::owner_all, error);
  }
  const std::string path = directory + "/lock";
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return Failed("cannot open", path, errno);
  }
  DirectoryLock lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      return Failed("cannot lock", path, errno);
    }
    return base::Error(base::Reason::kServiceUnavailable,
                       fmt::format("data directory {} is in use by {}: stop it first, or choose "
                                   "another directory",
                                   directory,
                                   OwnerOf(descriptor)));
  }
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(descriptor, 0) != 0 ||
      ::pwrite(descriptor, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    // The pid only serves the message above; a full disk must not keep the server from starting.
    static_cast<void>(::ftruncate(descriptor, 0));
  }
  return lock;
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

DirectoryLock::~DirectoryLock() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

}  // namespace allot::store
