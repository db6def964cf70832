// Log: the durable sequence of rows under a local store; one row a revision.
//
// Two implementations: memory (tests, throw-away servers) and SQLite. Thread safety: one thread at
// a time: the opener until the store runs, then its writer thread.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "store/value.h"
#include "telemetry/log.h"

namespace allot::store {

/// One row. Lifetime of the texts: the call they are passed to.
struct LogRow {
  Revision revision = 0;
  Revision created = 0;
  std::string_view key;
  std::optional<std::string_view> value;  ///< nullopt: the key was deleted
};

/// Why an append did not become durable.
struct LogFailure {
  enum class Kind : std::uint8_t {
    kNoSpace,  ///< nothing of the batch was written; worth another try later
    kUnknown,  ///< the batch may or may not survive: only a restart can tell
  };
  Kind kind = Kind::kUnknown;
  std::string message;
};

struct LogState {
  Revision compacted = 0;
  /// The highest revision the log knows of, rows or not.
  Revision last = 0;
};

struct LogSize {
  std::uint64_t bytes = 0;      ///< main file
  std::uint64_t wal_bytes = 0;  ///< write-ahead log as far as it is in use
  std::uint64_t free_bytes = 0;
  std::uint64_t checkpoints = 0;
};

class Log {
 public:
  virtual ~Log() = default;

  /// Calls `row` for every row in order of revision. Errors: of `row`, or a damaged file.
  virtual base::Result<LogState> Load(
      const std::function<base::Result<void>(const LogRow&)>& row) = 0;
  /// Makes all rows durable with one sync, or none. REQUIRES: revisions rise over all appends.
  virtual std::expected<void, LogFailure> Append(std::span<const LogRow> rows) = 0;
  /// Records `compacted` and deletes `dead` rows in one commit. Repeating it is harmless.
  virtual std::expected<void, LogFailure> Compact(Revision compacted,
                                                  std::span<const Revision> dead) = 0;
  /// Tries whether the log has space for writes again.
  virtual std::expected<void, LogFailure> Probe() = 0;
  /// Housekeeping that may run between two appends (checkpoint when due); `idle`: nobody waits, so
  /// free pages may be given back. Returns true when more of it is left to do.
  virtual std::expected<bool, LogFailure> Maintain(bool idle) = 0;
  [[nodiscard]] virtual LogSize size() const = 0;
};

/// What a memory log has "on disk"; outlives the log, so that a second one can be opened over it.
class MemoryDisk {
 public:
  struct Row {
    Revision created = 0;
    std::string key;
    std::optional<std::string> value;
  };
  std::map<Revision, Row> rows;
  Revision compacted = 0;
};

/// A log in memory. Without `disk` rows are not kept at all: nothing survives the store.
[[nodiscard]] std::unique_ptr<Log> MakeMemoryLog(std::shared_ptr<MemoryDisk> disk = nullptr);

struct SqliteOptions {
  /// Data directory; made when missing. Holds allot.db, its write-ahead log and the lock file.
  std::string directory;
  /// Name of a registered SQLite VFS; empty: the system's. For fault injection.
  std::string vfs{};
  telemetry::Logger logger{};
  std::uint64_t wal_initial_bytes = 8 << 20;     ///< written once at creation, then reused in place
  std::uint64_t wal_checkpoint_bytes = 4 << 20;  ///< checkpoint when more is in use
};

/// Opens or creates the log in a directory and locks it against other processes.
/// Errors: ServiceUnavailable when another process has it open (with its pid); InternalError when
/// the directory cannot be used or the file is damaged or of a newer format, each with what to do.
[[nodiscard]] base::Result<std::unique_ptr<Log>> OpenSqliteLog(const SqliteOptions& options);

}  // namespace allot::store
