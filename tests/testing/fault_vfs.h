// FaultDisk: a disk in memory behind an SQLite VFS, which knows what has been synced and what has
// not.
//
// A test registers it, opens a log over it, takes the images a crash could leave (at any write or
// sync), and makes it run full or fail. Crash images are disks of their own.
// Thread safety: one log at a time; the functions of a test while the log rests, the hook on the
// thread of the log.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"

struct sqlite3_vfs;

namespace allot::testing {

class FaultDisk {
 public:
  /// What a crash does to writes that were not synced.
  enum class Crash : std::uint8_t {
    kDropUnsynced,  ///< all of them are lost
    kKeepSome,      ///< each survives or not
    kTear,          ///< as kKeepSome, and a surviving one may be cut at a sector
  };

  FaultDisk();
  ~FaultDisk();
  FaultDisk(const FaultDisk&) = delete;
  FaultDisk& operator=(const FaultDisk&) = delete;

  /// The name under which SQLite finds this disk.
  [[nodiscard]] const std::string& vfs() const { return name_; }

  /// The disk as a crash now could leave it.
  [[nodiscard]] std::unique_ptr<FaultDisk> CrashImage(Crash crash, base::Random& random) const;

  /// Called before every sync (`after` false) and after it.
  std::function<void(bool after)> on_sync;
  /// Files together may hold this many bytes; writes beyond find no space.
  std::optional<std::uint64_t> space;
  /// The next sync fails, and what it should have kept counts as not synced.
  bool fail_next_sync = false;
  [[nodiscard]] std::uint64_t syncs() const { return syncs_; }
  /// Bytes that were written behind the end of a file.
  [[nodiscard]] std::uint64_t extended() const { return extended_; }

 private:
  friend struct FaultFile;
  struct Write {
    std::uint64_t offset = 0;
    std::string bytes;
    bool truncate = false;  // to `offset`
  };
  struct Content {
    std::string now;
    std::string synced;
    std::vector<Write> unsynced;
  };
  static void Apply(std::string& content, const Write& write);
  [[nodiscard]] std::uint64_t Used() const;

  std::string name_;
  std::map<std::string, std::shared_ptr<Content>> files_;
  std::unique_ptr<sqlite3_vfs> vfs_;
  std::uint64_t syncs_ = 0;
  std::uint64_t extended_ = 0;
};

}  // namespace allot::testing
