// Allocation problems built here, beside those read from a file: the shapes that grow badly
// elsewhere.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace allot::bench {

/// (name, case as a JSON line).
[[nodiscard]] std::vector<std::pair<std::string, std::string>> HardProblems();

/// `requests` single devices under one matchAttribute; 128 devices in `groups` values.
[[nodiscard]] std::string MatchProblem(int groups, int requests);
/// Partitions of `cards` equal cards: one more than they hold.
[[nodiscard]] std::string CardsProblem(int cards);
/// `requests` devices that each take one of `counters` counters; one device more than there are.
[[nodiscard]] std::string CounterProblem(int counters, int requests);
/// One device more than the `m` identical ones.
[[nodiscard]] std::string OneTooManyProblem(int m);

}  // namespace allot::bench
