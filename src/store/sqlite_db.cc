#include "store/sqlite_db.h"

#include <cerrno>

#include <sqlite3.h>

#include <fmt/format.h>

namespace allot::store {
namespace {

constexpr int kBusyMillis = 5000;  // a person with the sqlite3 tool may hold a lock for a moment

int OnWalCommit(void* pages, sqlite3*, const char*, int in_wal) {
  *static_cast<std::uint64_t*>(pages) = static_cast<std::uint64_t>(in_wal);
  return SQLITE_OK;
}

}  // namespace

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void SqliteStatement::BindInteger(int parameter, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), parameter, value);
}

void SqliteStatement::BindBlob(int parameter, std::string_view bytes) {
  // An empty view may have a null pointer, which SQLite would take for NULL.
  const char* const data = bytes.data() != nullptr ? bytes.data() : "";
  sqlite3_bind_blob64(statement_.get(), parameter, data, bytes.size(), SQLITE_STATIC);
}

void SqliteStatement::BindNull(int parameter) {
  sqlite3_bind_null(statement_.get(), parameter);
}

int SqliteStatement::Step() {
  return sqlite3_step(statement_.get());
}

void SqliteStatement::Reset() {
  sqlite3_reset(statement_.get());
}

std::int64_t SqliteStatement::Integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view SqliteStatement::Blob(int column) const {
  const auto* const data = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return data != nullptr ? std::string_view(data, static_cast<std::size_t>(size))
                         : std::string_view();
}

bool SqliteStatement::IsNull(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void SqliteDb::Close::operator()(sqlite3* db) const {
  sqlite3_close_v2(db);
}

base::Result<SqliteDb> SqliteDb::Open(const std::string& path, const std::string& vfs) {
  SqliteDb made;
  made.path_ = path;
  made.wal_pages_ = std::make_unique<std::uint64_t>(0);
  sqlite3* db = nullptr;
  constexpr int kFlags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(path.c_str(), &db, kFlags, vfs.empty() ? nullptr : vfs.c_str());
  made.db_.reset(db);
  if (code != SQLITE_OK) {
    return base::Error(made.ErrorStatus("open"));
  }
  sqlite3_busy_timeout(db, kBusyMillis);
  sqlite3_wal_hook(db, OnWalCommit, made.wal_pages_.get());  // also ends automatic checkpoints
  return made;
}

base::Status SqliteDb::ErrorStatus(std::string_view doing) const {
  const int system = db_ != nullptr ? sqlite3_system_errno(db_.get()) : 0;
  std::string text = fmt::format(
      "{}: {}: {}", path_, doing, db_ != nullptr ? sqlite3_errmsg(db_.get()) : "out of memory");
  if (system != 0) {
    text += fmt::format(" (system error {})", system);
  }
  return {base::Reason::kInternalError, std::move(text)};
}

int SqliteDb::Run(const char* sql) {
  return sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr);
}

base::Result<void> SqliteDb::Exec(const char* sql) {
  if (Run(sql) != SQLITE_OK) {
    return base::Error(ErrorStatus(sql));
  }
  return {};
}

base::Result<SqliteStatement> SqliteDb::Prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(db_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) !=
      SQLITE_OK) {
    return base::Error(ErrorStatus(sql));
  }
  return SqliteStatement(statement);
}

base::Result<std::int64_t> SqliteDb::QueryInteger(const char* sql) {
  ALLOT_ASSIGN_OR_RETURN(SqliteStatement statement, Prepare(sql));
  switch (statement.Step()) {
    case SQLITE_ROW: return statement.Integer(0);
    case SQLITE_DONE: return 0;
    default: return base::Error(ErrorStatus(sql));
  }
}

LogFailure SqliteDb::Failure(int code, std::string_view doing) const {
  LogFailure failure;
  failure.message = ErrorStatus(doing).message();
  switch (code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_NOMEM: failure.kind = LogFailure::Kind::kNoSpace; break;
    case SQLITE_IOERR:
      // A user's quota is a full disk by another name.
      if (code == SQLITE_IOERR_WRITE && sqlite3_system_errno(db_.get()) == EDQUOT) {
        failure.kind = LogFailure::Kind::kNoSpace;
      }
      break;
    default: break;
  }
  return failure;
}

void SqliteDb::Rollback() {
  if (sqlite3_get_autocommit(db_.get()) == 0) {
    static_cast<void>(Run("ROLLBACK"));
  }
}

int SqliteDb::CheckpointRestart() {
  sqlite3_busy_timeout(db_.get(), 0);
  const int code =
      sqlite3_wal_checkpoint_v2(db_.get(), "main", SQLITE_CHECKPOINT_RESTART, nullptr, nullptr);
  sqlite3_busy_timeout(db_.get(), kBusyMillis);
  if (code == SQLITE_OK) {
    *wal_pages_ = 0;
  }
  return code;
}

void SqliteDb::KeepWal() {
  int keep = 1;
  sqlite3_file_control(db_.get(), "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
}

}  // namespace allot::store
