// SqliteDb: one SQLite connection: statements, transactions and errors. Inside the store.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "store/log.h"

struct sqlite3;
struct sqlite3_stmt;

namespace allot::store {

/// A prepared statement. Column and parameter numbers as SQLite counts them (columns from 0,
/// parameters from 1).
class SqliteStatement {
 public:
  SqliteStatement() = default;
  explicit SqliteStatement(sqlite3_stmt* statement) : statement_(statement) {}

  void BindInteger(int parameter, std::int64_t value);
  /// Lifetime: `bytes` until the next Step or Reset.
  void BindBlob(int parameter, std::string_view bytes);
  void BindNull(int parameter);
  /// The result code of SQLite: SQLITE_ROW, SQLITE_DONE or an error.
  [[nodiscard]] int Step();
  void Reset();
  [[nodiscard]] std::int64_t Integer(int column) const;
  /// Lifetime: the next Step or Reset.
  [[nodiscard]] std::string_view Blob(int column) const;
  [[nodiscard]] bool IsNull(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class SqliteDb {
 public:
  /// Errors: InternalError, with the path and SQLite's words.
  static base::Result<SqliteDb> Open(const std::string& path, const std::string& vfs);

  /// Runs statements without results. Returns SQLite's extended result code.
  [[nodiscard]] int Run(const char* sql);
  /// As Run, with an error that names `sql`.
  base::Result<void> Exec(const char* sql);
  base::Result<SqliteStatement> Prepare(const char* sql);
  /// The first column of the first row; 0 without rows. Errors as Exec.
  base::Result<std::int64_t> QueryInteger(const char* sql);

  /// What `code` means for a transaction that was not committed when it came.
  [[nodiscard]] LogFailure Failure(int code, std::string_view doing) const;
  /// Ends a failed transaction, if one is open.
  void Rollback();
  /// Copies the write-ahead log into the main file, so that the next write starts it anew in place.
  /// Does not wait for foreign readers. Returns SQLite's extended result code.
  [[nodiscard]] int CheckpointRestart();
  /// Keeps the write-ahead log file when the connection closes.
  void KeepWal();
  /// Pages the write-ahead log held after the last commit. Reset by CheckpointRestart.
  [[nodiscard]] std::uint64_t wal_pages() const { return *wal_pages_; }

  [[nodiscard]] base::Status ErrorStatus(std::string_view doing) const;

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  std::string path_;
  std::unique_ptr<std::uint64_t> wal_pages_;
  std::unique_ptr<sqlite3, Close> db_;
};

}  // namespace allot::store
