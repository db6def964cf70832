// allot: one program, one verb an invocation.
#include <csignal>
#include <span>
#include <string>
#include <vector>

#include "allot/verbs.h"
#include "cli/cel_command.h"
#include "cli/io.h"
#include "cli/simulate_command.h"
#include "cli/verbs.h"

namespace {

struct Row {
  std::string_view name;
  int (*run)(allot::cli::Arguments, const allot::cli::Io&);
};

constexpr Row kRows[] = {
    {"apply", allot::cli::RunApply},
    {"cel", allot::cli::RunCel},
    {"completion", allot::cli::RunCompletion},
    {"controllers", allot::RunControllers},
    {"delete", allot::cli::RunDelete},
    {"describe", allot::cli::RunDescribe},
    {"get", allot::cli::RunGet},
    {"explain", allot::cli::RunExplain},
    {"scheduler", allot::RunScheduler},
    {"simulate", allot::cli::RunSimulate},
    {"up", allot::RunUp},
    {"version", allot::cli::RunVersion},
    {"wait", allot::cli::RunWait},
};

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const std::vector<std::string> words(argv + 1, argv + argc);
  const allot::cli::Io io = allot::cli::ProcessIo();
  const std::string verb = words.empty() ? "help" : words[0];
  if (verb == "help" || verb == "--help" || verb == "-h") {
    io.out(allot::cli::HelpText());
    return allot::cli::ExitCode(allot::cli::kOk);
  }
  for (const Row& row : kRows) {
    if (row.name == verb) {
      return allot::cli::ExitCode(row.run(std::span(words).subspan(1), io));
    }
  }
  io.err("error: unknown verb \"" + verb + "\"\nSee 'allot help'.\n");
  return allot::cli::kUsage;
}
