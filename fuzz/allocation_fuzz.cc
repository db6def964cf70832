// Allocation problems from foreign bytes: no crash, the pruned search answers like the plain one,
// and a refusal can be explained.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "analysis/answer_case.h"
#include "base/arena.h"
#include "snapshot/allocation_case.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto problem = allot::snapshot::ParseAllocationCase(text);
  if (!problem) {
    return 0;
  }
  allot::base::Arena arena;
  const auto plain = allot::analysis::AnswerCase(*problem, {.steps = 20'000, .plain = true}, arena);
  const auto pruned =
      allot::analysis::AnswerCase(*problem, {.steps = 320'000, .plain_trials = 0}, arena);
  if (plain.outcome != "timeout" && pruned.outcome != "timeout" &&
      plain.outcome != pruned.outcome) {
    std::abort();
  }
  if (problem->unsupported.empty()) {
    const auto diagnosis = allot::analysis::DiagnoseCase(*problem, {.steps = 2'000});
    if (diagnosis.reasons.empty() != diagnosis.causes.empty()) {
      std::abort();  // no without a cause, or a cause without a no
    }
  }
  return 0;
}
