// The verbs of the command line, one function and one file each. Every verb returns its exit code.
// Thread safety: one thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/io.h"

namespace allot::cli {

int RunApply(Arguments arguments, const Io& io);
int RunCompletion(Arguments arguments, const Io& io);
int RunDelete(Arguments arguments, const Io& io);
int RunDescribe(Arguments arguments, const Io& io);
int RunExplain(Arguments arguments, const Io& io);
int RunGet(Arguments arguments, const Io& io);
int RunVersion(Arguments arguments, const Io& io);
int RunWait(Arguments arguments, const Io& io);

/// A verb as help and completion list it.
struct VerbInfo {
  std::string_view name;
  std::string_view about;
};
/// All verbs, those of the server wiring included, in the order of the help text.
[[nodiscard]] std::span<const VerbInfo> Verbs();
/// The text of `allot help`.
[[nodiscard]] std::string HelpText();

}  // namespace allot::cli
