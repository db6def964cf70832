#include "cli/io.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include <unistd.h>

namespace allot::cli {
namespace {

void Write(std::FILE* file, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
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

}  // namespace

Io ProcessIo() {
  Io io;
  io.out = [](std::string_view text) {
    Write(stdout, text);
  };
  io.err = [](std::string_view text) {
    Write(stderr, text);
  };
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

base::Result<std::string> ReadFile(const Io& io, const std::string& path) {
  if (path == "-") {
    return io.read_input();
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file.is_open() || file.bad() || errno == EISDIR) {
    return base::Error(base::Reason::kNotFound, path + ": " + std::strerror(errno));
  }
  return std::move(text).str();
}

int Fail(const Io& io, std::string_view text, int code) {
  io.err("error: " + std::string(text) + "\n");
  return code;
}

}  // namespace allot::cli
