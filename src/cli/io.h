// Io: what a verb may touch of the outside world besides the server: output, error output, input,
// environment.
//
// Verbs never print themselves, so that tests read what they say.  Thread safety: one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/status.h"

namespace allot::cli {

struct Io {
  std::function<void(std::string_view)> out;
  std::function<void(std::string_view)> err;
  /// Everything on standard input. Errors: kBadRequest, it cannot be read (a folder).
  std::function<base::Result<std::string>()> read_input;
  /// The next line of standard input without its end; false at the end. For batch doors. Errors: as
  /// read_input.
  std::function<base::Result<bool>(std::string&)> read_line;
  /// A variable of the environment; "" when it is not set.
  std::function<std::string(std::string_view name)> environment;
  bool out_is_terminal = false;
  const base::Clock* clock = nullptr;
};

/// The process's own. Output that cannot be written is reported once. Lifetime: the process.
[[nodiscard]] Io ProcessIo();
/// What the process ends with: the code of its verb, but no success when output was lost.
[[nodiscard]] int ExitCode(int code);

/// A whole file ("-" = standard input). Errors: kNotFound naming the path and why; kBadRequest:
/// more than `most` bytes, or a gibibyte.
[[nodiscard]] base::Result<std::string> ReadFile(const Io& io,
                                                 const std::string& path,
                                                 std::size_t most = ~std::size_t{0});

/// Arguments after the verb's own name.
using Arguments = std::span<const std::string>;

/// Exit codes of every verb.
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;

/// Says "error: TEXT"; returns `code`.
int Fail(const Io& io, std::string_view text, int code);

}  // namespace allot::cli
