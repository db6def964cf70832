// Problems of several equal counter sets, as partitionable devices have them: a set for each card,
// and devices that draw from one, or a few from two. Here and there a set, or a device, differs.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"
#include "differential/json_parts.h"
#include "differential/problems.h"

namespace allot::testing {
namespace {

struct Part {
  std::uint64_t set = 0;
  std::uint64_t size = 0;
  std::uint64_t mark = 0;  // an attribute that most have alike
  std::string group;
  bool wide = false;   // draws from the next set as well
  bool multi = false;  // may be shared
};

std::string SizeIs(std::uint64_t size) {
  return fmt::format(
      R"(,"selectors":[{{"cel":{{"expression":"device.attributes[\"x\"].size == {}"}}}}])", size);
}

std::string Ask(std::uint64_t count, const std::string& more) {
  return fmt::format(
      R"("deviceClassName":"any","allocationMode":"ExactCount","count":{}{})", count, more);
}

std::string Sets(const std::vector<std::uint64_t>& capacities) {
  Texts sets;
  for (std::size_t s = 0; s < capacities.size(); ++s) {
    sets.push_back(fmt::format(
        R"({{"name":"s{}","counters":{{"mem":{{"value":"{}"}},"slots":{{"value":"3"}}}}}})",
        s,
        capacities[s]));
  }
  return ListOf(sets);
}

std::string Device(std::size_t number, const Part& part, std::uint64_t sets) {
  Texts uses;
  for (const std::uint64_t set : {part.set, (part.set + 1) % sets}) {
    if (uses.empty() || (part.wide && sets > 1)) {
      uses.push_back(fmt::format(
          R"({{"counterSet":"s{}","counters":{{"mem":{{"value":"{}"}},"slots":{{"value":"1"}}}}{}}})",
          set,
          part.size,
          part.group.empty() ? "" : fmt::format(R"(,"compatibilityGroups":["{}"])", part.group)));
    }
  }
  return fmt::format(
      R"({{"name":"d{}","attributes":{{"size":{{"int":{}}},"set":{{"int":{}}},"mark":{{"int":{}}}}},"consumesCounters":{}{}}})",
      number,
      part.size,
      part.set,
      part.mark,
      ListOf(uses),
      part.multi ? R"(,"allowMultipleAllocations":true,"capacity":{"c":{"value":"2"}})" : "");
}

std::string Problem(const std::vector<std::uint64_t>& capacities,
                    const std::vector<Part>& parts,
                    const Texts& claims,
                    const std::vector<std::size_t>& held,
                    const std::string& features) {
  Texts devices;
  for (std::size_t d = 0; d < parts.size(); ++d) {
    devices.push_back(Device(d, parts[d], capacities.size()));
  }
  Texts taken;
  for (const std::size_t d : held) {
    taken.push_back(fmt::format(R"({{"driver":"x","pool":"p","device":"d{}"}})", d));
  }
  const std::string slice =
      R"({{"metadata":{{"name":"{}"}},"spec":{{"driver":"x","pool":{{"name":"p","generation":1,"resourceSliceCount":2}},"nodeName":"n1",{}}}}})";
  return fmt::format(
      R"({{"id":"sets","node":{{"metadata":{{"name":"n1"}}}},"classes":[{{"metadata":{{"name":"any"}},"spec":{{}}}}],)"
      R"("slices":[{},{}],"claims":{},"allocated":{{"devices":{},"shared":[],"consumedCapacity":[]}}{}}})",
      fmt::format(fmt::runtime(slice), "a", "\"sharedCounters\":" + Sets(capacities)),
      fmt::format(fmt::runtime(slice), "b", "\"devices\":" + ListOf(devices)),
      ListOf(claims),
      ListOf(taken),
      features);
}

std::string Claim(std::uint64_t number, const Texts& requests, const std::string& constraints) {
  return fmt::format(
      R"({{"metadata":{{"name":"c{0}","namespace":"default","uid":"c{0}"}},"spec":{{"devices":{{"requests":{1}{2}}}}}}})",
      number,
      ListOf(requests),
      constraints);
}

constexpr std::array<std::string_view, 4> kConstraints = {
    "",
    R"(,"constraints":[{"matchAttribute":"x/set"}])",
    R"(,"constraints":[{"distinctAttribute":"x/set"}])",
    R"(,"constraints":[{"matchAttribute":"x/size"}])"};
constexpr std::array<std::array<std::uint64_t, 3>, 5> kFamilies = {
    {{1, 0, 0}, {1, 1, 0}, {1, 2, 0}, {2, 1, 0}, {1, 1, 2}}};
constexpr std::uint64_t kFlaws = 6;
constexpr std::uint64_t kAsks = 6;
constexpr std::uint64_t kRequests = kAsks + kAsks * kAsks + kAsks * kAsks * kAsks;

std::string SmallRequest(std::uint64_t number, std::uint64_t kind) {
  std::string body;
  switch (kind) {
    case 0: body = "\"exactly\":{" + Ask(1, "") + "}"; break;
    case 1: body = "\"exactly\":{" + Ask(2, "") + "}"; break;
    case 2: body = "\"exactly\":{" + Ask(1, SizeIs(1)) + "}"; break;
    case 3: body = "\"exactly\":{" + Ask(1, SizeIs(2)) + "}"; break;
    case 4: body = "\"exactly\":{" + Ask(2, SizeIs(1)) + "}"; break;
    default:
      body = "\"firstAvailable\":[{\"name\":\"a\"," + Ask(2, SizeIs(2)) + "},{\"name\":\"b\"," +
             Ask(1, SizeIs(1)) + "}]";
      break;
  }
  return fmt::format("{{\"name\":\"r{}\",{}}}", number, body);
}

}  // namespace

std::uint64_t ExhaustiveSetCount() {
  return 2 * 2 * 2 * kFamilies.size() * kFlaws * kRequests * kConstraints.size();
}

std::string ExhaustiveSetProblem(std::uint64_t n) {
  const auto digit = [&n](std::uint64_t base) {
    const std::uint64_t value = n % base;
    n /= base;
    return value;
  };
  const std::uint64_t sets = 2 + digit(2);
  std::vector<std::uint64_t> capacities(sets, 2 + digit(2));
  const bool by_size = digit(2) != 0;
  const auto& family = kFamilies[digit(kFamilies.size())];
  const std::uint64_t flaw = digit(kFlaws);
  const std::string constraint(kConstraints[digit(kConstraints.size())]);
  Texts requests;
  std::uint64_t asked = digit(kRequests);
  const std::uint64_t count = asked < kAsks ? 1 : asked < kAsks + kAsks * kAsks ? 2 : 3;
  for (std::uint64_t r = 0; r < count; ++r, asked /= kAsks) {
    requests.push_back(SmallRequest(r, asked % kAsks));
  }
  std::vector<Part> parts;
  for (std::uint64_t set = 0; set < sets; ++set) {
    for (const std::uint64_t size : family) {
      if (size != 0) {
        parts.push_back({.set = set, .size = size});
      }
    }
  }
  if (by_size) {
    std::stable_sort(
        parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.size < b.size; });
  }
  std::vector<std::size_t> held;
  switch (flaw) {
    case 1: --capacities.front(); break;
    case 2: --capacities.back(); break;
    case 3: held = {0}; break;
    case 4: held = {parts.size() - 1}; break;
    case 5: parts.front().wide = true; break;
    default: break;
  }
  return Problem(capacities, parts, {Claim(0, requests, constraint)}, held, "");
}

std::string SetProblem(std::uint64_t seed) {
  base::Random random(seed);
  const auto below = [&](std::uint64_t bound) {
    return random.Below(bound);
  };
  const auto chance = [&](std::uint64_t percent) {
    return below(100) < percent;
  };
  const std::uint64_t sets = 2 + below(4);
  std::vector<std::uint64_t> capacities(sets, 3 + below(6));
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t i = 0, count = 1 + below(4); i < count; ++i) {
    sizes.push_back(1 + below(5));
  }
  const bool groups = chance(25);
  const bool multi = chance(20);
  std::vector<Part> parts;
  for (std::uint64_t set = 0; set < sets; ++set) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      Part part{.set = set, .size = sizes[i]};
      part.group = groups ? (i % 2 == 0 ? "a" : "b") : "";
      part.multi = multi && i == 0;
      part.mark = chance(3) ? 1 : 0;
      part.wide = chance(4);
      parts.push_back(std::move(part));
    }
  }
  if (chance(60)) {
    std::stable_sort(
        parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.size < b.size; });
  } else if (chance(30)) {
    for (std::size_t i = parts.size(); i > 1; --i) {
      std::swap(parts[i - 1], parts[below(i)]);
    }
  }
  if (chance(30)) {
    capacities[below(sets)] += 1;
  }
  std::vector<std::size_t> held;
  for (std::size_t d = 0; d < parts.size(); ++d) {
    if (chance(8)) {
      held.push_back(d);
    }
  }
  Texts claims;
  for (std::uint64_t c = 0, count = chance(70) ? 1 : 2; c < count; ++c) {
    Texts requests;
    for (std::uint64_t r = 0, wanted = 1 + below(5); r < wanted; ++r) {
      std::string more = chance(70) ? SizeIs(sizes[below(sizes.size())]) : "";
      more += chance(5) ? ",\"adminAccess\":true" : "";
      std::string body = "\"exactly\":{" + Ask(1 + below(3), more) + "}";
      if (chance(15)) {
        body = "\"firstAvailable\":[{\"name\":\"a\"," + Ask(1 + below(3), SizeIs(sizes[0])) +
               "},{\"name\":\"b\"," + Ask(1, "") + "}]";
      }
      requests.push_back(fmt::format("{{\"name\":\"r{}\",{}}}", r, body));
    }
    std::string constraint(kConstraints[chance(60) ? 0 : below(kConstraints.size())]);
    if (chance(5)) {
      constraint = R"(,"constraints":[{"requests":["r0"],"matchAttribute":"x/mark"}])";
    }
    claims.push_back(Claim(c, requests, constraint));
  }
  return Problem(
      capacities, parts, claims, held, groups ? R"(,"features":{"CompatibilityGroups":true})" : "");
}

}  // namespace allot::testing
