// Seeded random allocation problems as JSON lines, over all features of devices and claims.
#pragma once

#include <cstdint>
#include <string>

namespace allot::testing {

/// What a problem may contain.
enum class ProblemMix : std::uint8_t {
  kBasic,       ///< counts, selectors, constraints, admin access, several claims
  kEverything,  ///< all features, all gates, broken objects now and then
  kWide,        ///< all features combined over bigger clusters, every gate set, hostile values
};

/// The problem of this seed: always the same text for the same arguments.
[[nodiscard]] std::string RandomProblem(std::uint64_t seed, ProblemMix mix);

/// The problems of ProblemMix::kWide.
[[nodiscard]] std::string WideProblem(std::uint64_t seed);

/// Problems of several counter sets that are equal, or nearly so.
[[nodiscard]] std::string SetProblem(std::uint64_t seed);

/// How many instances ExhaustiveSetProblem knows.
[[nodiscard]] std::uint64_t ExhaustiveSetCount();
/// The n-th instance of 2 or 3 counter sets with up to 3 devices each and up to 3 requests, with
/// one flaw or none. REQUIRES: n < count.
[[nodiscard]] std::string ExhaustiveSetProblem(std::uint64_t n);

/// How many instances ExhaustiveProblem knows.
[[nodiscard]] std::uint64_t ExhaustiveCount();
/// The n-th instance of up to 5 devices and 3 requests over a small alphabet. REQUIRES: n < count.
[[nodiscard]] std::string ExhaustiveProblem(std::uint64_t n);

}  // namespace allot::testing
