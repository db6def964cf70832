// allocation_check: compares many random problems, for the runs that are too long for the test
// suite.
//
//   allocation_check plain MIX SEED COUNT          pruned search against the plain one
//   allocation_check exhaustive [PART OF]          the same, every instance of the small alphabet
//   allocation_check oracle PATH MIX SEED COUNT    against the real allocator, in batches
//   allocation_check print MIX SEED COUNT          the problems as JSON lines
// MIX: usual (basic and everything), wide. Differences are counted by kind.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "differential/answers.h"
#include "differential/problems.h"

namespace allot::testing {
namespace {

constexpr std::uint64_t kBatch = 1000;
constexpr std::uint64_t kShown = 5;

using MakeProblem = std::string (*)(std::uint64_t);

std::string Usual(std::uint64_t seed) {
  return RandomProblem(seed, seed % 4 == 0 ? ProblemMix::kBasic : ProblemMix::kEverything);
}

MakeProblem MixOf(std::string_view name) {
  return name == "wide"    ? WideProblem
         : name == "usual" ? Usual
         : name == "sets"  ? SetProblem
                           : nullptr;
}

class Tally {
 public:
  void Count(std::uint64_t seed,
             const snapshot::AllocationAnswer& got,
             const snapshot::AllocationAnswer& expected) {
    ++compared_;
    ++outcomes_[expected.outcome];
    const std::string difference = Difference(got, expected);
    if (difference.empty()) {
      return;
    }
    const std::string kind = got.outcome == expected.outcome
                                 ? difference.substr(0, difference.find_first_of(" \n"))
                                 : got.outcome + " instead of " + expected.outcome;
    if (++kinds_[kind] <= kShown) {
      std::printf("seed %lu: %s\n", seed, difference.c_str());
    }
  }
  void Skip(const std::string& why) { ++skipped_[why]; }

  int Report() const {
    std::printf("%lu compared\n", compared_);
    for (const auto& [outcome, count] : outcomes_) {
      std::printf("  %lu %s\n", count, outcome.c_str());
    }
    for (const auto& [why, count] : skipped_) {
      std::printf("%lu not compared: %s\n", count, why.c_str());
    }
    std::uint64_t differ = 0;
    for (const auto& [kind, count] : kinds_) {
      std::printf("%lu differ: %s\n", count, kind.c_str());
      differ += count;
    }
    std::printf("%lu differ in all\n", differ);
    return differ == 0 ? 0 : 1;
  }

 private:
  std::uint64_t compared_ = 0;
  std::map<std::string, std::uint64_t> outcomes_, skipped_, kinds_;
};

void ComparePlain(std::uint64_t seed, const std::string& problem, Tally& tally) {
  const auto plain = Solve(problem, {.steps = 1'000'000, .plain = true}, 0);
  // Every other one without any plain search before.
  const auto pruned =
      Solve(problem,
            seed % 2 == 0 ? allocator::Limits{.plain_trials = 0} : allocator::Limits{},
            seed % 5);
  if (!plain || !pruned) {
    tally.Skip("cannot be read");
  } else if (plain->answer.outcome == "timeout") {
    tally.Skip("undecided by the plain search");
  } else {
    tally.Count(seed, pruned->answer, plain->answer);
  }
}

int Plain(MakeProblem make, std::uint64_t seed, std::uint64_t count) {
  Tally tally;
  for (std::uint64_t s = seed; s < seed + count; ++s) {
    ComparePlain(s, make(s), tally);
  }
  return tally.Report();
}

int Exhaustive(std::uint64_t part, std::uint64_t of) {
  Tally tally;
  for (std::uint64_t n = part; n < ExhaustiveCount(); n += of) {
    ComparePlain(n * 2, ExhaustiveProblem(n), tally);
  }
  for (std::uint64_t n = part; n < ExhaustiveSetCount(); n += of) {
    ComparePlain(n * 2, ExhaustiveSetProblem(n), tally);
  }
  return tally.Report();
}

int CompareOracle(const char* path, MakeProblem make, std::uint64_t seed, std::uint64_t count) {
  Tally tally;
  for (std::uint64_t first = seed; first < seed + count; first += kBatch) {
    std::vector<std::string> problems;
    for (std::uint64_t s = first; s < std::min(first + kBatch, seed + count); ++s) {
      problems.push_back(make(s));
    }
    const auto answers = Oracle(path).Ask(problems);
    if (!answers) {
      std::printf("seeds from %lu: %s\n", first, answers.error().message().c_str());
      return 2;
    }
    for (std::size_t i = 0; i < problems.size(); ++i) {
      const auto expected = ParseAnswer((*answers)[i], /*expected=*/false);
      const auto got = Solve(problems[i], {}, (first + i) % 5);
      if (!expected || !got) {
        tally.Skip("cannot be read: " +
                   (got ? expected.error().message() : got.error().message()).substr(0, 60));
      } else if (expected->answer.outcome == "timeout" || expected->answer.outcome == "panic") {
        tally.Skip(expected->answer.outcome + " there");
      } else if (expected->answer.error.find("internal error: runtime error") !=
                 std::string::npos) {
        tally.Skip("crash inside an expression there");
      } else {
        tally.Count(first + i, got->answer, expected->answer);
      }
    }
    std::fflush(stdout);
  }
  return tally.Report();
}

int Main(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  const auto number = [&](int i) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : std::uint64_t{0};
  };
  const auto mix = [&](int i) {
    return MixOf(argc > i ? argv[i] : "");
  };
  if (verb == "plain" && argc == 5 && mix(2) != nullptr) {
    return Plain(mix(2), number(3), number(4));
  }
  if (verb == "exhaustive" && (argc == 2 || argc == 4)) {
    return argc == 2 ? Exhaustive(0, 1) : Exhaustive(number(2), number(3));
  }
  if (verb == "oracle" && argc == 6 && mix(3) != nullptr) {
    return CompareOracle(argv[2], mix(3), number(4), number(5));
  }
  if (verb == "print" && argc == 5 && mix(2) != nullptr) {
    for (std::uint64_t s = number(3); s < number(3) + number(4); ++s) {
      std::printf("%s\n", mix(2)(s).c_str());
    }
    return 0;
  }
  std::printf(
      "usage: allocation_check plain MIX SEED COUNT | exhaustive [PART OF] |\n"
      "       oracle PATH MIX SEED COUNT | print MIX SEED COUNT     (MIX: usual, wide, sets)\n");
  return 2;
}

}  // namespace
}  // namespace allot::testing

int main(int argc, char** argv) {
  return allot::testing::Main(argc, argv);
}
