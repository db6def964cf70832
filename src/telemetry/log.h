// Logger: structured log lines (a message and key/value fields), as key=value text or as JSON.
//
// A Logger is a small value: copy it, add fields with With, a name with Named. A default-made
// Logger discards everything. Messages are fixed texts; what varies goes into fields. Thread
// safety: any thread.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/status.h"

namespace allot::telemetry {

enum class Level : std::uint8_t { kDebug, kInfo, kWarning, kError };
enum class LogFormat : std::uint8_t { kText, kJson };

/// One key and value of a line. Lifetime: texts are views, used during the call only.
struct Field {
  using Value = std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool>;

  Field(std::string_view k, std::string_view v) : key(k), value(v) {}
  Field(std::string_view k, const char* v) : key(k), value(std::string_view(v)) {}
  Field(std::string_view k, const std::string& v) : key(k), value(std::string_view(v)) {}
  Field(std::string_view k, bool v) : key(k), value(v) {}
  Field(std::string_view k, double v) : key(k), value(v) {}
  template <std::signed_integral T>
  Field(std::string_view k, T v) : key(k), value(static_cast<std::int64_t>(v)) {}
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  Field(std::string_view k, T v) : key(k), value(static_cast<std::uint64_t>(v)) {}
  /// An error: its message under the key "err".
  explicit Field(const base::Status& status)
      : key("err"), value(std::string_view(status.message())) {}

  std::string_view key;
  Value value;
};

struct LogOptions {
  Level level = Level::kInfo;
  LogFormat format = LogFormat::kText;
  /// Empty: standard error.
  std::string file{};
  /// When set, takes the finished lines (without newline) instead of a file. For tests.
  std::function<void(std::string_view line)> sink{};
};

class Logger {
 public:
  /// Discards everything.
  Logger() = default;
  /// Errors: the log file cannot be opened.
  static base::Result<Logger> Make(const LogOptions& options);

  /// A logger for the component `name`.
  [[nodiscard]] Logger Named(std::string_view name) const;

  [[nodiscard]] bool Enabled(Level level) const;
  void Log(Level level, std::string_view message, std::initializer_list<Field> fields) const;
  void Debug(std::string_view message, std::initializer_list<Field> fields = {}) const {
    Log(Level::kDebug, message, fields);
  }
  void Info(std::string_view message, std::initializer_list<Field> fields = {}) const {
    Log(Level::kInfo, message, fields);
  }
  void Warning(std::string_view message, std::initializer_list<Field> fields = {}) const {
    Log(Level::kWarning, message, fields);
  }
  void Error(std::string_view message, std::initializer_list<Field> fields = {}) const {
    Log(Level::kError, message, fields);
  }
  /// Writes out what is buffered; before the process ends on purpose.
  void Flush() const;

 private:
  struct Sink;
  std::shared_ptr<Sink> sink_;
  std::string name_;
};

}  // namespace allot::telemetry
