#include "telemetry/log.h"

#include <chrono>
#include <iterator>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace allot::telemetry {
namespace {

constexpr std::string_view kLevels[] = {"debug", "info", "warning", "error"};

spdlog::level::level_enum ToSpdlog(Level level) {
  switch (level) {
    case Level::kDebug: return spdlog::level::debug;
    case Level::kInfo: return spdlog::level::info;
    case Level::kWarning: return spdlog::level::warn;
    case Level::kError: return spdlog::level::err;
  }
  return spdlog::level::info;
}

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

bool NeedsQuotes(std::string_view text) {
  if (text.empty()) {
    return true;
  }
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == '"' || c == '=' || c == '\\') {
      return true;
    }
  }
  return false;
}

void AppendField(std::string& out, LogFormat format, const Field& field) {
  if (format == LogFormat::kJson) {
    out += ',';
    AppendQuoted(out, field.key);
    out += ':';
  } else {
    out += ' ';
    out += field.key;
    out += '=';
  }
  if (const auto* text = std::get_if<std::string_view>(&field.value)) {
    if (format == LogFormat::kJson || NeedsQuotes(*text)) {
      AppendQuoted(out, *text);
    } else {
      out += *text;
    }
    return;
  }
  std::visit([&out](const auto& value) { fmt::format_to(std::back_inserter(out), "{}", value); },
             field.value);
}

class FunctionSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FunctionSink(std::function<void(std::string_view)> take) : take_(std::move(take)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    take_(std::string_view(message.payload.data(), message.payload.size()));
  }
  void flush_() override {}

 private:
  std::function<void(std::string_view)> take_;
};

}  // namespace

struct Logger::Sink {
  LogFormat format;
  spdlog::logger logger;
};

base::Result<Logger> Logger::Make(const LogOptions& options) {
  std::shared_ptr<spdlog::sinks::sink> sink;
  if (options.sink) {
    sink = std::make_shared<FunctionSink>(options.sink);
  } else if (options.file.empty()) {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  } else {
    try {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file);
    } catch (const spdlog::spdlog_ex& error) {
      return base::Error(base::Reason::kInternalError,
                         fmt::format("log file {}: {}", options.file, error.what()));
    }
  }
  Logger made;
  made.sink_ = std::make_shared<Sink>(
      Sink{.format = options.format, .logger = spdlog::logger("allot", std::move(sink))});
  made.sink_->logger.set_pattern("%v");
  made.sink_->logger.set_level(ToSpdlog(options.level));
  made.sink_->logger.flush_on(spdlog::level::info);
  return made;
}

Logger Logger::Named(std::string_view name) const {
  Logger made = *this;
  made.name_ = name;
  return made;
}

bool Logger::Enabled(Level level) const {
  return sink_ != nullptr && sink_->logger.should_log(ToSpdlog(level));
}

void Logger::Log(Level level, std::string_view message, std::initializer_list<Field> fields) const {
  if (!Enabled(level)) {
    return;
  }
  // spdlog's own time stamp: the log is the one place where wall time is not an input of anything.
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(
      spdlog::log_clock::now().time_since_epoch());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(micros);
  const std::string time = fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z",
                                       fmt::gmtime(static_cast<std::time_t>(seconds.count())),
                                       (micros - seconds).count());
  const std::string_view level_text = kLevels[static_cast<std::size_t>(level)];
  std::string line;
  if (sink_->format == LogFormat::kJson) {
    line = fmt::format(R"({{"time":"{}","level":"{}")", time, level_text);
    if (!name_.empty()) {
      AppendField(line, sink_->format, Field("component", name_));
    }
    AppendField(line, sink_->format, Field("msg", message));
  } else {
    line = fmt::format("{} {:7} ", time, level_text);
    line += name_;
    line += name_.empty() ? "" : ": ";
    line += message;
  }
  for (const Field& field : fields) {
    AppendField(line, sink_->format, field);
  }
  line += sink_->format == LogFormat::kJson ? "}" : "";
  sink_->logger.log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

void Logger::Flush() const {
  if (sink_ != nullptr) {
    sink_->logger.flush();
  }
}

}  // namespace allot::telemetry
