#include "cli/io.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace allot::cli {
namespace {

bool output_lost = false;

// Says once that output cannot be written. A reader that went away has seen what it wanted.
void WriteOutput(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) {
    return;
  }
  const int cause = errno;
  if (cause != EPIPE && !output_lost) {
    output_lost = true;
    std::fprintf(stderr, "error: standard output: %s\n", std::strerror(cause));
  }
}

void WriteError(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

constexpr std::size_t kMaxInput = std::size_t{1} << 30;

std::unexpected<base::Status> TooLarge(const std::string& name, std::size_t most) {
  return base::Error(base::Reason::kBadRequest,
                     name + ": more than " + std::to_string(most >> 20) + " MiB");
}

std::unexpected<base::Status> InputError(int cause) {
  return base::Error(base::Reason::kBadRequest,
                     std::string("standard input: ") + std::strerror(cause));
}

base::Result<std::string> ReadStandardInput() {
  std::string text;
  char buffer[65536];
  while (const std::size_t n = std::fread(buffer, 1, sizeof(buffer), stdin)) {
    text.append(buffer, n);
    if (text.size() > kMaxInput) {
      return TooLarge("standard input", kMaxInput);
    }
  }
  if (std::ferror(stdin) != 0) {
    return InputError(errno);
  }
  return text;
}

base::Result<bool> ReadStandardLine(std::string& line) {
  line.clear();
  char* raw = nullptr;
  std::size_t capacity = 0;
  const ssize_t size = ::getline(&raw, &capacity, stdin);
  if (size > 0) {
    line.assign(raw, static_cast<std::size_t>(size));
    if (line.back() == '\n') {
      line.pop_back();
    }
  }
  const int cause = errno;
  std::free(raw);
  if (size < 0 && std::ferror(stdin) != 0) {
    return InputError(cause);
  }
  return size >= 0;
}

// A standard file that is closed would be the next one that is opened: a connection or a store that
// takes in what is printed. Instead it is there, and cannot be used.
void OpenStandardFiles() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(file, F_GETFD) == -1 && errno == EBADF) {
      static_cast<void>(::open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY));
    }
  }
}

}  // namespace

int ExitCode(int code) {
  return code == kOk && output_lost ? kFailed : code;
}

Io ProcessIo() {
  OpenStandardFiles();
  Io io;
  io.out = WriteOutput;
  io.err = WriteError;
  io.read_input = ReadStandardInput;
  io.read_line = ReadStandardLine;
  io.environment = [](std::string_view name) {
    const char* const value = ::getenv(std::string(name).c_str());
    return std::string(value != nullptr ? value : "");
  };
  io.out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  io.clock = &base::SystemClock();
  return io;
}

base::Result<std::string> ReadFile(const Io& io, const std::string& path, std::size_t most) {
  const std::size_t limit = std::min(most, kMaxInput);
  if (path == "-") {
    ALLOT_ASSIGN_OR_RETURN(std::string text, io.read_input());
    if (text.size() > limit) {
      return TooLarge("standard input", limit);
    }
    return text;
  }
  std::FILE* const file = std::fopen(path.c_str(), "rbe");
  std::string text;
  bool read = file != nullptr;
  char buffer[65536];
  while (read && text.size() <= limit) {
    const std::size_t size = std::fread(buffer, 1, sizeof(buffer), file);
    text.append(buffer, size);
    read = size > 0;
  }
  const bool failed = file == nullptr || std::ferror(file) != 0;
  const int cause = errno;
  if (file != nullptr) {
    std::fclose(file);
  }
  if (failed) {
    return base::Error(base::Reason::kNotFound, path + ": " + std::strerror(cause));
  }
  if (text.size() > limit) {
    return TooLarge(path, limit);
  }
  return text;
}

int Fail(const Io& io, std::string_view text, int code) {
  io.err("error: " + std::string(text) + "\n");
  return code;
}

}  // namespace allot::cli
