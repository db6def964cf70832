#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "store/directory_lock.h"
#include "store/log.h"
#include "store/sqlite_db.h"

namespace allot::store {
namespace {

constexpr std::int64_t kFormat = 1;
constexpr std::uint64_t kPage = 8192;
constexpr std::uint64_t kWalFrame = kPage + 24;
constexpr std::uint64_t kVacuumAbove = 16 << 20;  // free bytes worth giving back
constexpr const char* kCreate =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE IF NOT EXISTS log(rev INTEGER PRIMARY KEY, key BLOB NOT NULL,"
    " created INTEGER NOT NULL, value BLOB);"
    "CREATE TABLE IF NOT EXISTS meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO meta VALUES('format', 1);"
    "INSERT OR IGNORE INTO meta VALUES('compacted', 0);"
    "COMMIT";

class SqliteLog final : public Log {
 public:
  SqliteLog(DirectoryLock lock, SqliteDb db, SqliteOptions options)
      : lock_(std::move(lock)),
        options_(std::move(options)),
        db_(std::move(db)),
        checkpoint_at_(options_.wal_checkpoint_bytes) {}
  ~SqliteLog() override = default;

  base::Result<void> Prepare();
  base::Result<LogState> Load(const std::function<base::Result<void>(const LogRow&)>& row) override;
  std::expected<void, LogFailure> Append(std::span<const LogRow> rows) override;
  std::expected<void, LogFailure> Compact(Revision compacted,
                                          std::span<const Revision> dead) override;
  std::expected<void, LogFailure> Probe() override;
  std::expected<bool, LogFailure> Maintain(bool idle) override;
  [[nodiscard]] LogSize size() const override;

 private:
  std::expected<void, LogFailure> Checkpoint();
  std::unexpected<LogFailure> Fail(int code, std::string_view doing);
  int InsertRow(const LogRow& row);
  int DeleteRows(Revision compacted, std::span<const Revision> dead);

  DirectoryLock lock_;
  SqliteOptions options_;
  SqliteDb db_;  // before the statements, which must go first
  SqliteStatement begin_;
  SqliteStatement commit_;
  SqliteStatement insert_;
  SqliteStatement delete_;
  SqliteStatement compacted_;
  std::uint64_t checkpoints_ = 0;
  std::uint64_t checkpoint_at_ = 0;  // write-ahead log in use that asks for a checkpoint
  bool vacuum_due_ = false;
  bool reader_warned_ = false;
};

// Writes zeros behind the end of the write-ahead log until it has `bytes`. SQLite then overwrites
// the file instead of extending it, and a sync needs no commit of the file system's journal.
base::Result<void> GrowWal(const std::string& path, std::uint64_t bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) {
    return {};  // a VFS of its own kind (tests): nothing to grow
  }
  struct stat info{};
  int error = ::fstat(file, &info) == 0 ? 0 : errno;
  std::uint64_t at = static_cast<std::uint64_t>(info.st_size);
  const std::vector<char> zeros(1 << 16);
  while (error == 0 && at < bytes) {
    const std::size_t want = std::min<std::uint64_t>(zeros.size(), bytes - at);
    const ssize_t written = ::pwrite(file, zeros.data(), want, static_cast<off_t>(at));
    error = written < 0 && errno != EINTR ? errno : 0;
    at += written > 0 ? static_cast<std::uint64_t>(written) : 0;
  }
  if (error == 0 && ::fsync(file) != 0) {
    error = errno;
  }
  ::close(file);
  // Without space the log still works, only slower.
  if (error != 0 && error != ENOSPC && error != EDQUOT) {
    return base::Error(base::Reason::kInternalError,
                       fmt::format("{}: {}", path, std::generic_category().message(error)));
  }
  return {};
}

base::Result<void> SqliteLog::Prepare() {
  for (const char* const sql : {"PRAGMA page_size=8192",
                                "PRAGMA auto_vacuum=INCREMENTAL",
                                "PRAGMA journal_mode=WAL",
                                "PRAGMA synchronous=FULL",
                                "PRAGMA cache_size=-8192",
                                "PRAGMA secure_delete=FAST",
                                "PRAGMA temp_store=MEMORY"}) {
    ALLOT_RETURN_IF_ERROR(db_.Exec(sql));
  }
  ALLOT_ASSIGN_OR_RETURN(const std::int64_t tables,
                         db_.QueryInteger("SELECT count(*) FROM sqlite_schema"));
  ALLOT_ASSIGN_OR_RETURN(
      const std::int64_t ours,
      db_.QueryInteger("SELECT count(*) FROM sqlite_schema WHERE name IN ('log', 'meta')"));
  if (tables > 0 && ours != 2) {
    return base::Error(base::Reason::kInternalError,
                       fmt::format("{}/allot.db holds other tables: not a data directory of allot",
                                   options_.directory));
  }
  if (ours == 0) {
    ALLOT_RETURN_IF_ERROR(db_.Exec(kCreate));
  }
  ALLOT_ASSIGN_OR_RETURN(const std::int64_t format,
                         db_.QueryInteger("SELECT value FROM meta WHERE name='format'"));
  if (format != kFormat) {
    return base::Error(base::Reason::kInternalError,
                       fmt::format("{}/allot.db has format {}, this program knows {}: use the "
                                   "version that wrote it",
                                   options_.directory,
                                   format,
                                   kFormat));
  }
  db_.KeepWal();
  ALLOT_RETURN_IF_ERROR(GrowWal(options_.directory + "/allot.db-wal", options_.wal_initial_bytes));
  ALLOT_ASSIGN_OR_RETURN(begin_, db_.Prepare("BEGIN IMMEDIATE"));
  ALLOT_ASSIGN_OR_RETURN(commit_, db_.Prepare("COMMIT"));
  ALLOT_ASSIGN_OR_RETURN(
      insert_, db_.Prepare("INSERT INTO log(rev, key, created, value) VALUES(?1, ?2, ?3, ?4)"));
  ALLOT_ASSIGN_OR_RETURN(delete_, db_.Prepare("DELETE FROM log WHERE rev=?1"));
  ALLOT_ASSIGN_OR_RETURN(compacted_,
                         db_.Prepare("UPDATE meta SET value=?1 WHERE name='compacted'"));
  return {};
}

base::Result<LogState> SqliteLog::Load(
    const std::function<base::Result<void>(const LogRow&)>& row) {
  LogState state;
  ALLOT_ASSIGN_OR_RETURN(state.compacted,
                         db_.QueryInteger("SELECT value FROM meta WHERE name='compacted'"));
  state.last = state.compacted;
  ALLOT_ASSIGN_OR_RETURN(SqliteStatement scan,
                         db_.Prepare("SELECT rev, key, created, value FROM log ORDER BY rev"));
  int code = SQLITE_OK;
  while ((code = scan.Step()) == SQLITE_ROW) {
    LogRow view;
    view.revision = scan.Integer(0);
    view.key = scan.Blob(1);
    view.created = scan.Integer(2);
    if (!scan.IsNull(3)) {
      view.value = scan.Blob(3);
    }
    ALLOT_RETURN_IF_ERROR(row(view));
    state.last = view.revision;
  }
  if (code != SQLITE_DONE) {
    return base::Error(db_.ErrorStatus("read the log"));
  }
  state.last = std::max(state.last, state.compacted);
  return state;
}

// Ends the transaction in which `code` came up.
std::unexpected<LogFailure> SqliteLog::Fail(int code, std::string_view doing) {
  LogFailure failure = db_.Failure(code, doing);
  insert_.Reset();
  delete_.Reset();
  compacted_.Reset();
  begin_.Reset();
  commit_.Reset();
  if (failure.kind == LogFailure::Kind::kNoSpace) {
    db_.Rollback();
  }
  return std::unexpected(std::move(failure));
}

int SqliteLog::InsertRow(const LogRow& row) {
  insert_.BindInteger(1, row.revision);
  insert_.BindBlob(2, row.key);
  insert_.BindInteger(3, row.created);
  if (row.value) {
    insert_.BindBlob(4, *row.value);
  } else {
    insert_.BindNull(4);
  }
  const int code = insert_.Step();
  insert_.Reset();
  return code;
}

std::expected<void, LogFailure> SqliteLog::Append(std::span<const LogRow> rows) {
  if (const int code = begin_.Step(); code != SQLITE_DONE) {
    return Fail(code, "begin");
  }
  begin_.Reset();
  for (const LogRow& row : rows) {
    if (const int code = InsertRow(row); code != SQLITE_DONE) {
      return Fail(code, "insert");
    }
  }
  if (const int code = commit_.Step(); code != SQLITE_DONE) {
    return Fail(code, "commit");
  }
  commit_.Reset();
  return {};
}

int SqliteLog::DeleteRows(Revision compacted, std::span<const Revision> dead) {
  compacted_.BindInteger(1, compacted);
  int code = compacted_.Step();
  compacted_.Reset();
  for (const Revision revision : dead) {
    if (code != SQLITE_DONE) {
      break;
    }
    delete_.BindInteger(1, revision);
    code = delete_.Step();
    delete_.Reset();
  }
  return code;
}

std::expected<void, LogFailure> SqliteLog::Compact(Revision compacted,
                                                   std::span<const Revision> dead) {
  if (const int code = begin_.Step(); code != SQLITE_DONE) {
    return Fail(code, "begin");
  }
  begin_.Reset();
  if (const int code = DeleteRows(compacted, dead); code != SQLITE_DONE) {
    return Fail(code, "compact");
  }
  if (const int code = commit_.Step(); code != SQLITE_DONE) {
    return Fail(code, "commit of a compaction");
  }
  commit_.Reset();
  vacuum_due_ = true;
  return {};
}

std::expected<void, LogFailure> SqliteLog::Checkpoint() {
  const int code = db_.CheckpointRestart();
  if (code == SQLITE_OK) {
    ++checkpoints_;
    reader_warned_ = false;
    checkpoint_at_ = options_.wal_checkpoint_bytes;
    return {};
  }
  if ((code & 0xff) == SQLITE_BUSY) {
    // Each try copies and syncs what is new: not again before there is as much of it once more.
    checkpoint_at_ = db_.wal_pages() * kWalFrame + options_.wal_checkpoint_bytes;
    if (!std::exchange(reader_warned_, true)) {
      options_.logger.Warning(
          "another program reads the database: its write-ahead log grows until that ends",
          {{"directory", options_.directory}, {"wal_bytes", db_.wal_pages() * kWalFrame}});
    }
    return {};
  }
  return std::unexpected(db_.Failure(code, "checkpoint"));
}

std::expected<void, LogFailure> SqliteLog::Probe() {
  if (auto done = Checkpoint(); !done) {
    return done;
  }
  const int code = db_.Run(
      "BEGIN IMMEDIATE;"
      "INSERT OR REPLACE INTO meta VALUES('probe', zeroblob(65536));"
      "DELETE FROM meta WHERE name='probe';"
      "COMMIT");
  if (code != SQLITE_OK) {
    return Fail(code, "probe");
  }
  return {};
}

std::expected<bool, LogFailure> SqliteLog::Maintain(bool idle) {
  if (db_.wal_pages() * kWalFrame > checkpoint_at_) {
    if (auto done = Checkpoint(); !done) {
      return std::unexpected(done.error());
    }
  }
  if (!idle || !vacuum_due_) {
    return false;
  }
  const LogSize now = size();
  if (now.free_bytes < std::max(kVacuumAbove, now.bytes / 4)) {
    vacuum_due_ = false;
    return false;
  }
  if (const int code = db_.Run("PRAGMA incremental_vacuum(64)"); code != SQLITE_OK) {
    return Fail(code, "vacuum");
  }
  return true;
}

LogSize SqliteLog::size() const {
  auto& db = const_cast<SqliteDb&>(db_);  // reading counters of the connection changes nothing
  LogSize size;
  size.bytes = static_cast<std::uint64_t>(db.QueryInteger("PRAGMA page_count").value_or(0)) * kPage;
  size.free_bytes =
      static_cast<std::uint64_t>(db.QueryInteger("PRAGMA freelist_count").value_or(0)) * kPage;
  size.wal_bytes = db.wal_pages() * kWalFrame;
  size.checkpoints = checkpoints_;
  return size;
}

}  // namespace

base::Result<std::unique_ptr<Log>> OpenSqliteLog(const SqliteOptions& options) {
  ALLOT_ASSIGN_OR_RETURN(DirectoryLock lock, DirectoryLock::Acquire(options.directory));
  ALLOT_ASSIGN_OR_RETURN(SqliteDb db, SqliteDb::Open(options.directory + "/allot.db", options.vfs));
  auto log = std::make_unique<SqliteLog>(std::move(lock), std::move(db), options);
  ALLOT_RETURN_IF_ERROR(log->Prepare());
  return log;
}

}  // namespace allot::store
