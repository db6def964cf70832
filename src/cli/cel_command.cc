#include "cli/cel_command.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cel/cel.h"
#include "cel/value_json.h"
#include "cli/cel_hints.h"
#include "cli/cel_records.h"
#include "cli/flags.h"
#include "quantity/go_text.h"
#include "text/documents.h"
#include "text/value.h"

namespace allot::cli {
namespace {

constexpr std::string_view kUsageText =
    "Evaluates and checks device expressions as API server and scheduler do.\n"
    "\n"
    "Usage: allot cel eval EXPR [--device FILE|-] [flags]   the value, its cost, hints\n"
    "       allot cel check EXPR [flags]                    type and cost limit\n"
    "       allot cel eval --jsonl                          one case a line in, one answer a line "
    "out\n";

/// Of a file with an expression or a device. Unit: bytes.
constexpr std::size_t kMaxFile = std::size_t{16} << 20;

// The part of a long line that people look at, round `at`.
std::string CutLine(std::string_view line, std::size_t at) {
  constexpr std::size_t kShown = 300;
  constexpr std::size_t kBefore = 100;
  std::size_t start = at > kBefore && line.size() > kShown ? at - kBefore : 0;
  std::size_t end = std::min(line.size(), start + kShown);
  const auto inside = [&](std::size_t i) {
    return i < line.size() && (static_cast<unsigned char>(line[i]) & 0xC0) == 0x80;
  };
  while (inside(start)) {
    ++start;
  }
  while (inside(end)) {
    ++end;
  }
  return fmt::format("{}{}{}",
                     start > 0 ? "..." : "",
                     line.substr(start, end - start),
                     end < line.size() ? "..." : "");
}

// An error as a terminal can show it: control characters by their numbers, long lines cut. An
// excerpt that is cut shows what is round the mark below it, which goes.
std::string ForTerminal(std::string_view error) {
  constexpr std::string_view kMargin = " | ";
  std::string out;
  while (!error.empty()) {
    const std::size_t size = std::min(error.find('\n'), error.size());
    const std::string_view line = error.substr(0, size);
    error.remove_prefix(std::min(size + 1, error.size()));
    const std::size_t mark = std::min(error.find('\n'), error.size());
    std::string shown = CutLine(line, 0);
    if (line.starts_with(kMargin) && shown.size() < line.size() && error.starts_with(kMargin)) {
      const std::size_t at = error.substr(0, mark).find('^');
      const std::size_t column = at == std::string_view::npos ? 0 : at;
      shown = CutLine(line, column);
      error.remove_prefix(std::min(mark + 1, error.size()));
    }
    for (std::size_t i = 0; i < shown.size();) {
      const quantity::Rune rune = quantity::DecodeRune(std::string_view(shown).substr(i));
      const bool control = rune.value < 0x20 || (rune.value >= 0x7F && rune.value < 0xA0);
      const bool invalid = rune.value == 0xFFFD && rune.width == 1;
      if (rune.value != '\t' && (control || invalid)) {
        for (const char c : std::string_view(shown).substr(i, rune.width)) {
          out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        }
      } else {
        out += shown.substr(i, rune.width);
      }
      i += rune.width;
    }
    out += error.empty() ? "" : "\n";
  }
  return out;
}

struct Request {
  std::string device;
  std::string file;
  std::string environment = "stored";
  bool derived = false;
  bool raw = false;
  bool jsonl = false;
};

void PrintHints(const Io& io,
                std::string_view expression,
                std::string_view error,
                const cel::DeviceView* device) {
  for (const std::string& hint : CelHints(expression, error, device)) {
    io.err("hint: " + hint + "\n");
  }
}

int RunJsonLines(const Io& io) {
  CelRecords records;
  std::string line;
  std::string out;
  constexpr std::size_t kFlushAt = 1 << 16;
  int code = kOk;
  for (int number = 1;; ++number) {
    const auto more = io.read_line(line);
    if (!more || !*more) {
      io.out(out);
      if (!more) {
        return Fail(io, more.error().message(), kFailed);
      }
      return code;
    }
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      continue;
    }
    if (auto done = records.Run(line, out); !done) {
      // The next lines are answered all the same, so that tools stay in step.
      out += fmt::format(R"({{"line":{},"error":)", number);
      cel::AppendJsonString(done.error().message(), out);
      out += "}\n";
      io.err(fmt::format("error: line {}: {}\n", number, done.error().message()));
      code = kFailed;
    }
    if (out.size() >= kFlushAt) {
      io.out(out);
      out.clear();
    }
  }
}

// A device as ResourceSlice devices are written (name, attributes, capacity), or with its driver
// beside them.
base::Result<std::unique_ptr<CelDevice>> ReadDevice(const Io& io, const std::string& path) {
  ALLOT_ASSIGN_OR_RETURN(const std::string content, ReadFile(io, path, kMaxFile));
  ALLOT_ASSIGN_OR_RETURN(const auto documents, text::ParseDocuments(content));
  if (documents.size() > 1) {
    return base::Error(base::Reason::kBadRequest,
                       fmt::format("found {} documents, expected one device", documents.size()));
  }
  auto device = CelDevice::Parse(documents.empty() ? text::Value() : documents.front().value,
                                 CelDevice::Form::kFile);
  if (!device) {
    return base::Error(std::move(device.error()).Prepend("device: "));
  }
  return device;
}

int Eval(const Io& io,
         const std::string& expression,
         const Request& request,
         const cel::Compilation& compiled,
         const cel::DeviceView* device) {
  static const cel::DeviceView kEmpty;
  const cel::DeviceView* const view = device == nullptr ? &kEmpty : device;
  cel::Evaluator evaluator;
  std::string value;
  std::string error;
  std::optional<std::uint64_t> cost;
  if (request.raw || request.derived) {
    auto outcome = evaluator.EvaluateToJson(*compiled.program, *view);
    value = std::move(outcome.json);
    error = std::move(outcome.error);
    cost = outcome.cost;
  } else {
    auto outcome = evaluator.Match(*compiled.program, *view);
    value = outcome.verdict == cel::Verdict::kTrue ? "true" : "false";
    error = std::move(outcome.error);
    cost = outcome.cost;
  }
  if (error.empty()) {
    io.out(fmt::format("{}\n", value));
  } else {
    io.err(fmt::format("error: {}{}\n", ForTerminal(error), cel::RuntimeErrorHint(error)));
  }
  if (cost) {
    io.err(fmt::format("cost: {} of at most {}\n", *cost, cel::kMaxCost));
  }
  if (!error.empty() || value == "false") {
    PrintHints(io, expression, error, device);
  }
  return error.empty() ? kOk : kFailed;
}

int Check(const Io& io, const Request& request, const cel::Compilation& compiled) {
  io.out(fmt::format("type: {}\nmaximal cost: {}\n", compiled.type, compiled.max_cost.value_or(0)));
  if (request.environment == "new" && compiled.max_cost.value_or(0) > cel::kMaxCost) {
    io.err("error: too complex, exceeds cost limit\n");
    return kFailed;
  }
  return kOk;
}

// One expression of the command line.
int RunOne(const Io& io,
           const std::string& verb,
           const std::string& expression,
           const Request& request) {
  if (request.environment == "new" && expression.size() > cel::kMaxExpressionLength) {
    io.err(fmt::format("error: the expression has {} bytes, may not be more than {}\n",
                       expression.size(),
                       cel::kMaxExpressionLength));
    return kFailed;
  }
  cel::CompileOptions options;
  options.environment =
      request.environment == "new" ? cel::Environment::kNew : cel::Environment::kStored;
  if (request.raw) {
    options.purpose = cel::Purpose::kAnyValue;
  } else if (request.derived) {
    options.purpose = cel::Purpose::kDerivedAttribute;
  }
  std::unique_ptr<CelDevice> device;
  if (!request.device.empty()) {
    auto read = ReadDevice(io, request.device);
    if (!read) {
      return Fail(io, read.error().message(), kFailed);
    }
    device = *std::move(read);
  }
  const cel::DeviceView* const view = device == nullptr ? nullptr : &device->view();
  const cel::Compilation compiled = cel::CompileVerbose(expression, options);
  if (compiled.program == nullptr) {
    io.err("error: " + ForTerminal(compiled.error) + "\n");
    PrintHints(io, expression, compiled.error, view);
    return kFailed;
  }
  return verb == "check" ? Check(io, request, compiled)
                         : Eval(io, expression, request, compiled, view);
}

}  // namespace

int RunCel(Arguments arguments, const Io& io) {
  if (arguments.empty() || arguments[0] == "-h" || arguments[0] == "--help") {
    (arguments.empty() ? io.err : io.out)(kUsageText);
    return arguments.empty() ? kUsage : kOk;
  }
  const std::string verb = arguments[0];
  if (verb != "eval" && verb != "check") {
    io.err(fmt::format("error: unknown command \"{}\" for \"allot cel\"\n", verb));
    return kUsage;
  }
  Request request;
  Flags flags(fmt::format("cel {} EXPR", verb), "Works on one device expression.");
  flags.Text("--env", request.environment, "stored (default) or new: the rules of new expressions");
  flags.Text("-f,--file", request.file, "read the expression from a file, - for standard input");
  flags.Bool("--derived", request.derived, "the expression of a derived attribute");
  if (verb == "eval") {
    flags.Text("-d,--device", request.device, "a device in JSON or YAML, - for standard input");
    flags.Bool("--raw", request.raw, "allow any type of result and print it with its type");
    flags.Bool("--jsonl", request.jsonl, "read cases from standard input, one JSON object a line");
  }
  std::vector<std::string> positional;
  if (const auto end = flags.Begin(arguments.subspan(1), io, positional)) {
    return *end;
  }
  if (request.environment != "stored" && request.environment != "new") {
    io.err(
        fmt::format("error: --env: found \"{}\", expected stored or new\n", request.environment));
    return kUsage;
  }
  if (request.jsonl) {
    if (!positional.empty() || !request.file.empty() || !request.device.empty() || request.raw ||
        request.derived || request.environment != "stored") {
      io.err("error: --jsonl takes all from the records on standard input, no other flag\n");
      return kUsage;
    }
    return RunJsonLines(io);
  }
  if (!request.file.empty()) {
    if (request.file == "-" && request.device == "-") {
      io.err("error: expression and device cannot both be read from standard input\n");
      return kUsage;
    }
    auto content = ReadFile(io, request.file, kMaxFile);
    if (!content) {
      return Fail(io, content.error().message(), kFailed);
    }
    while (content->ends_with('\n')) {
      content->pop_back();
    }
    positional.insert(positional.begin(), *std::move(content));
  }
  if (positional.size() != 1) {
    io.err(fmt::format("error: allot cel {} takes one expression\n", verb));
    return kUsage;
  }
  return RunOne(io, verb, positional.front(), request);
}

}  // namespace allot::cli
