// allocation_check: compares many random problems, for the runs that are too long for the test
// suite.
//
//   allocation_check plain SEED COUNT           pruned search against the plain one
//   allocation_check oracle PATH SEED COUNT     against the real allocator, in batches
//   allocation_check print SEED COUNT           the problems as JSON lines
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "differential/answers.h"
#include "differential/problems.h"

namespace allot::testing {
namespace {

constexpr std::uint64_t kBatch = 2000;

int ComparePlain(std::uint64_t seed, std::uint64_t count) {
  std::uint64_t differ = 0;
  std::uint64_t undecided = 0;
  std::uint64_t allocated = 0;
  for (std::uint64_t s = seed; s < seed + count; ++s) {
    const std::string problem =
        RandomProblem(s, s % 4 == 0 ? ProblemMix::kBasic : ProblemMix::kEverything);
    const auto plain = Solve(problem, {.steps = 1'000'000, .plain = true}, false);
    const auto pruned = Solve(problem, {.plain_undos = 0}, true);
    if (!plain || !pruned) {
      std::printf("seed %lu: cannot be read\n", s);
      ++differ;
      continue;
    }
    if (plain->answer.outcome == "timeout") {
      ++undecided;
      continue;
    }
    allocated += plain->answer.outcome == "allocated" ? 1 : 0;
    const std::string difference = Difference(pruned->answer, plain->answer);
    if (!difference.empty()) {
      ++differ;
      std::printf("seed %lu: %s\n", s, difference.c_str());
    }
  }
  std::printf("%lu problems, %lu allocated, %lu undecided by the plain search, %lu differ\n",
              count,
              allocated,
              undecided,
              differ);
  return differ == 0 ? 0 : 1;
}

int CompareOracle(const char* path, std::uint64_t seed, std::uint64_t count) {
  std::uint64_t differ = 0;
  std::uint64_t skipped = 0;
  for (std::uint64_t first = seed; first < seed + count; first += kBatch) {
    std::vector<std::string> problems;
    for (std::uint64_t s = first; s < std::min(first + kBatch, seed + count); ++s) {
      problems.push_back(
          RandomProblem(s, s % 4 == 0 ? ProblemMix::kBasic : ProblemMix::kEverything));
    }
    const auto answers = Oracle(path).Ask(problems);
    if (!answers) {
      std::printf("%s\n", answers.error().message().c_str());
      return 2;
    }
    for (std::size_t i = 0; i < problems.size(); ++i) {
      const auto expected = ParseAnswer((*answers)[i], /*expected=*/false);
      const auto got = Solve(problems[i], {}, true);
      if (!expected || !got || expected->answer.outcome == "timeout" ||
          expected->answer.outcome == "panic") {
        ++skipped;
        continue;
      }
      const std::string difference = Difference(got->answer, expected->answer);
      if (!difference.empty()) {
        ++differ;
        std::printf("seed %lu: %s\n", first + i, difference.c_str());
      }
    }
    std::fflush(stdout);
  }
  std::printf(
      "%lu problems, %lu skipped (time-out or crash there), %lu differ\n", count, skipped, differ);
  return differ == 0 ? 0 : 1;
}

int Main(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  const auto number = [&](int i) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : std::uint64_t{0};
  };
  if (verb == "plain" && argc == 4) {
    return ComparePlain(number(2), number(3));
  }
  if (verb == "oracle" && argc == 5) {
    return CompareOracle(argv[2], number(3), number(4));
  }
  if (verb == "print" && argc == 4) {
    for (std::uint64_t s = number(2); s < number(2) + number(3); ++s) {
      std::printf(
          "%s\n",
          RandomProblem(s, s % 4 == 0 ? ProblemMix::kBasic : ProblemMix::kEverything).c_str());
    }
    return 0;
  }
  std::printf(
      "usage: allocation_check plain SEED COUNT | oracle PATH SEED COUNT | print SEED COUNT\n");
  return 2;
}

}  // namespace
}  // namespace allot::testing

int main(int argc, char** argv) {
  return allot::testing::Main(argc, argv);
}
