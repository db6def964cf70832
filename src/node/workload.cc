#include "node/workload.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace allot::node {
namespace {

using std::chrono::milliseconds;

/// A sleep of this many seconds is a way of writing "until stopped".
constexpr double kForeverSeconds = 9999;

template <std::size_t N>
bool IsOneOf(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string_view BaseName(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool IsShell(std::string_view word) {
  return IsOneOf(BaseName(word),
                 std::array<std::string_view, 5>{"sh", "bash", "ash", "dash", "zsh"});
}

/// Commands that end at once with code 0 as far as a simulation is concerned.
bool EndsAtOnce(std::string_view word) {
  return IsOneOf(BaseName(word),
                 std::array<std::string_view, 30>{
                     "echo",  "printf", "export",     "env",      "set",  "trap", "cat", "ls",
                     "date",  "id",     "true",       "test",     "[",    ":",    "cd",  "mkdir",
                     "touch", "rm",     "cp",         "grep",     "sort", "head", "wc",  "uname",
                     "pwd",   "lspci",  "nvidia-smi", "hostname", "awk",  "sed"});
}

/// Duration of the words after `sleep`; unset = forever.
std::optional<milliseconds> SleepOf(const std::vector<std::string_view>& words) {
  double seconds = 0;
  for (std::size_t i = 1; i < words.size(); ++i) {
    double number = 0;
    const auto [end, error] =
        std::from_chars(words[i].data(), words[i].data() + words[i].size(), number);
    const std::string_view unit(end,
                                static_cast<std::size_t>(words[i].data() + words[i].size() - end));
    if (error != std::errc() || unit.size() > 1) {
      return std::nullopt;  // infinity, or a variable that only the shell knows
    }
    seconds += number * (unit == "m" ? 60 : unit == "h" ? 3600 : unit == "d" ? 86400 : 1);
  }
  if (words.size() < 2 || !(seconds < kForeverSeconds)) {
    return std::nullopt;
  }
  return milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

/// Splits a line at blanks; quotes group words and are dropped.
std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(" \t", at)) != std::string_view::npos) {
    if (line[at] == '"' || line[at] == '\'') {
      const std::size_t close = line.find(line[at], at + 1);
      words.push_back(
          line.substr(at + 1, close == std::string_view::npos ? close : close - at - 1));
      at = close == std::string_view::npos ? line.size() : close + 1;
    } else {
      const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
      words.push_back(line.substr(at, end - at));
      at = end;
    }
  }
  return words;
}

/// The statements of a script, split at ; | & and line ends outside quotes, comments left out.
std::vector<std::string_view> Statements(std::string_view script) {
  std::vector<std::string_view> statements;
  char quote = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= script.size(); ++i) {
    const char c = i < script.size() ? script[i] : '\n';
    if (quote != 0) {
      quote = c == quote ? '\0' : quote;
      if (i < script.size()) {
        continue;
      }
    }
    if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == ';' || c == '&' || c == '|' || c == '\n') {
      statements.push_back(script.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return statements;
}

bool IsNumber(std::string_view text, int& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

}  // namespace

ContainerRun RunOfScript(std::string_view script) {
  ContainerRun run{.duration = milliseconds(0), .exit_code = 0};
  for (const std::string_view statement : Statements(script)) {
    std::vector<std::string_view> words = Words(statement);
    while (!words.empty() && (words[0] == "exec" || words[0] == "do" || words[0] == "then")) {
      words.erase(words.begin());
    }
    if (words.empty() || words[0].starts_with('#')) {
      continue;
    }
    if (words[0] == "exit") {
      int code = 0;
      run.exit_code = words.size() > 1 && IsNumber(words[1], code) ? code & 0xff : run.exit_code;
      return run;
    }
    const ContainerRun step = RunOfCommand(words);
    if (!step.duration) {
      return {};
    }
    *run.duration += *step.duration;
    run.exit_code = step.exit_code;
  }
  return run;
}

ContainerRun RunOfCommand(const std::vector<std::string_view>& words) {
  if (words.empty()) {
    return {};
  }
  if (IsShell(words[0])) {
    const auto option = std::find_if(words.begin(), words.end(), [](std::string_view word) {
      return word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    });
    const bool has_script = option != words.end() && option + 1 != words.end();
    return has_script ? RunOfScript(*(option + 1)) : ContainerRun{};
  }
  if (BaseName(words[0]) == "sleep") {
    return {.duration = SleepOf(words), .exit_code = 0};
  }
  if (BaseName(words[0]) == "false") {
    return {.duration = milliseconds(0), .exit_code = 1};
  }
  const bool assignment = words.size() == 1 && words[0].find('=') != std::string_view::npos;
  if (EndsAtOnce(words[0]) || assignment) {
    return {.duration = milliseconds(0), .exit_code = 0};
  }
  return {};
}

ContainerRun RunOfContainer(const api::core::Pod& pod, const api::core::Container& container) {
  ContainerRun run;
  std::vector<std::string_view> words(container.command.begin(), container.command.end());
  words.insert(words.end(), container.args.begin(), container.args.end());
  run = RunOfCommand(words);
  int number = 0;
  if (IsNumber(pod.metadata.annotations.Get(kRunSecondsAnnotation), number) && number >= 0) {
    run.duration = std::chrono::seconds(number);
  }
  if (IsNumber(pod.metadata.annotations.Get(kExitCodeAnnotation), number)) {
    run.exit_code = number & 0xff;
    if (!run.duration) {
      run.duration = milliseconds(0);
    }
  }
  return run;
}

}  // namespace allot::node
