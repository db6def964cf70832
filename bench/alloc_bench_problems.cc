#include "alloc_bench_problems.h"

#include <functional>

#include <fmt/format.h>

namespace allot::bench {
namespace {

std::string Joined(int count, const std::function<std::string(int)>& one) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    out += (i == 0 ? "" : ",") + one(i);
  }
  return out;
}

std::string Case(const std::string& slices, const std::string& claims) {
  return fmt::format(
      R"({{"id":"bench","node":{{"metadata":{{"name":"n1"}}}},"classes":[{{"metadata":{{"name":"any"}},"spec":{{}}}}],)"
      R"("slices":[{}],"claims":[{}]}})",
      slices,
      claims);
}

std::string Slice(const std::string& name, int count, const std::string& content) {
  return fmt::format(
      R"({{"metadata":{{"name":"{}"}},"spec":{{"driver":"x","pool":{{"name":"p","generation":1,"resourceSliceCount":{}}},"nodeName":"n1",{}}}}})",
      name,
      count,
      content);
}

std::string Devices(int count, const std::function<std::string(int)>& content) {
  return "\"devices\":[" +
         Joined(count,
                [&](int i) { return fmt::format("{{\"name\":\"d{}\"{}}}", i, content(i)); }) +
         "]";
}

std::string Claim(const std::string& name,
                  const std::string& requests,
                  const std::string& constraints = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"default","uid":"{}"}},"spec":{{"devices":{{"requests":[{}]{}}}}}}})",
      name,
      name,
      requests,
      constraints);
}

std::string Request(const std::string& name, int count, const std::string& selector = "") {
  return fmt::format(
      R"({{"name":"{}","exactly":{{"deviceClassName":"any","allocationMode":"ExactCount","count":{}{}}}}})",
      name,
      count,
      selector.empty()
          ? ""
          : fmt::format(R"(,"selectors":[{{"cel":{{"expression":"{}"}}}}])", selector));
}

// m+1 of m identical devices, in claims of at most 32.
std::string OneTooMany(int m) {
  std::string claims;
  for (int left = m + 1, n = 0; left > 0; left -= 32, ++n) {
    claims += (n == 0 ? "" : ",") + Claim(fmt::format("c{}", n), Request("r", std::min(left, 32)));
  }
  return Case(Slice("s", 1, Devices(m, [](int) { return ""; })), claims);
}

std::string MatchGroups(int groups, int requests) {
  return Case(Slice("s",
                    1,
                    Devices(128,
                            [&](int i) {
                              return fmt::format(R"(,"attributes":{{"g":{{"int":{}}}}})",
                                                 i % groups);
                            })),
              Claim("c",
                    Joined(requests, [](int i) { return Request(fmt::format("r{}", i), 1); }),
                    R"(,"constraints":[{"matchAttribute":"x/g"}])"));
}

// Overlapping selectors: request i takes devices whose key is at least 3 i modulo 97.
std::string Mixed(int requests) {
  return Case(
      Slice("s",
            1,
            Devices(128,
                    [](int i) {
                      return fmt::format(R"(,"attributes":{{"k":{{"int":{}}}}})", (i * 37) % 128);
                    })),
      Claim("c", Joined(requests, [](int i) {
              return Request(fmt::format("r{}", i),
                             1,
                             fmt::format("device.attributes[\\\"x\\\"].k >= {}", (i * 53) % 97));
            })));
}

// Devices of 10 units of one counter, one of 20 first in the list: only the others fit together.
std::string PartitionBacktracking(int devices) {
  const std::string counters =
      fmt::format(R"("sharedCounters":[{{"name":"set","counters":{{"mem":{{"value":"{}"}}}}}}])",
                  (devices - 1) * 10);
  return Case(
      Slice("a", 2, counters) + "," +
          Slice(
              "b",
              2,
              Devices(
                  devices,
                  [](int i) {
                    return fmt::format(
                        R"(,"consumesCounters":[{{"counterSet":"set","counters":{{"mem":{{"value":"{}"}}}}}}])",
                        i == 0 ? 20 : 10);
                  })),
      Claim("c", Request("r", devices - 1)));
}

std::string Distinct(int values, int requests) {
  return Case(Slice("s",
                    1,
                    Devices(128,
                            [&](int i) {
                              return fmt::format(R"(,"attributes":{{"g":{{"int":{}}}}})",
                                                 i % values);
                            })),
              Claim("c",
                    Joined(requests, [](int i) { return Request(fmt::format("r{}", i), 1); }),
                    R"(,"constraints":[{"distinctAttribute":"x/g"}])"));
}

// Devices that take one slot of one counter each, two devices a counter; a request for `requests`.
std::string Counters(int counters, int requests) {
  const std::string sets =
      Joined(counters, [](int i) { return fmt::format(R"("c{}":{{"value":"1"}})", i); });
  return Case(
      Slice("a", 2, R"("sharedCounters":[{"name":"set","counters":{)" + sets + "}}]") + "," +
          Slice(
              "b",
              2,
              Devices(
                  2 * counters,
                  [&](int i) {
                    return fmt::format(
                        R"(,"consumesCounters":[{{"counterSet":"set","counters":{{"c{}":{{"value":"1"}}}}}}])",
                        i / 2);
                  })),
      Claim("c", Joined(requests, [](int i) { return Request(fmt::format("r{}", i), 1); })));
}

// Cards of ten units, each with a counter set of its own and partitions of 6, 5, 5, 4, 4 and 3: a
// six for half of the cards, and one five more than the other half holds.
std::string Cards(int cards) {
  constexpr int kSizes[] = {6, 5, 5, 4, 4, 3};
  const std::string sets = Joined(cards, [](int i) {
    return fmt::format(R"({{"name":"g{}","counters":{{"mem":{{"value":"10"}}}}}})", i);
  });
  const auto size = [&](int i) {
    return kSizes[i / cards];
  };
  return Case(
      Slice("a", 2, "\"sharedCounters\":[" + sets + "]") + "," +
          Slice(
              "b",
              2,
              Devices(
                  6 * cards,
                  [&](int i) {
                    return fmt::format(
                        R"(,"attributes":{{"size":{{"int":{}}}}},"consumesCounters":[{{"counterSet":"g{}","counters":{{"mem":{{"value":"{}"}}}}}}])",
                        size(i),
                        i % cards,
                        size(i));
                  })),
      Claim(
          "c",
          Request("six", cards / 2, "device.attributes[\\\"x\\\"].size == 6") + "," +
              Request(
                  "five", 2 * (cards - cards / 2) + 1, "device.attributes[\\\"x\\\"].size == 5")));
}

}  // namespace

std::string CardsProblem(int cards) {
  return Cards(cards);
}

std::string MatchProblem(int groups, int requests) {
  return MatchGroups(groups, requests);
}

std::string CounterProblem(int counters, int requests) {
  return Counters(counters, requests);
}

std::string OneTooManyProblem(int m) {
  return OneTooMany(m);
}

std::vector<std::pair<std::string, std::string>> HardProblems() {
  std::vector<std::pair<std::string, std::string>> out;
  for (const int m : {4, 8, 12, 16, 20, 24, 31, 63, 127}) {
    out.emplace_back(fmt::format("one too many, m={}", m), OneTooMany(m));
  }
  for (const int groups : {1, 2, 4, 5, 8, 16, 32, 64}) {
    out.emplace_back(fmt::format("match, 128 in {} groups x 32", groups), MatchGroups(groups, 32));
  }
  for (const int values : {31, 32, 64}) {
    out.emplace_back(fmt::format("distinct, {} values x 32", values), Distinct(values, 32));
  }
  for (const int requests : {8, 16, 32}) {
    out.emplace_back(fmt::format("mixed, {} requests x 128", requests), Mixed(requests));
  }
  for (const int devices : {8, 16, 32}) {
    out.emplace_back(fmt::format("partitions with a wrong first, {}", devices),
                     PartitionBacktracking(devices));
  }
  return out;
}

}  // namespace allot::bench
