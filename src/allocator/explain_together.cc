// Requests that have enough devices alone, but not together: constraints, combinations, and the
// single change after which they would fit.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "allocator/explainer.h"

namespace allot::allocator {
namespace {

using inventory::Device;

constexpr std::size_t kMaxNamed = 4;
// Steps of one trial of ChangeThatFits.
constexpr std::uint64_t kTrialSteps = 100'000;

std::string_view KindName(const PreparedConstraint& constraint) {
  return constraint.kind == ConstraintKind::kMatch ? "matchAttribute" : "distinctAttribute";
}

std::string Names(const std::vector<const Device*>& devices) {
  std::string text;
  for (std::size_t i = 0; i < devices.size() && i < kMaxNamed; ++i) {
    text += (i == 0 ? "" : ", ") + std::string(devices[i]->spec->name);
  }
  return devices.size() > kMaxNamed
             ? fmt::format("{} and {} more", text, devices.size() - kMaxNamed)
             : text;
}

bool InScope(const PreparedRequest& request, std::size_t ordinal) {
  return std::find(request.constraints.begin(),
                   request.constraints.end(),
                   static_cast<std::uint16_t>(ordinal)) != request.constraints.end();
}

}  // namespace

void Explainer::Together() {
  const bool explained =
      std::any_of(out_.causes.begin(), out_.causes.end(), [](const Cause& cause) {
        return cause.kind != CauseKind::kPoolIncomplete && cause.kind != CauseKind::kPoolInvalid;
      });
  // A request that lacks devices without a cause of its own lacks those of a pool that is told.
  if (explained || (!out_.causes.empty() && left_.size() < problem_.prepared->requests.size())) {
    return;
  }
  for (std::size_t c = 0; c < problem_.prepared->claims.size(); ++c) {
    const PreparedClaim& claim = problem_.prepared->claims[c];
    for (std::size_t k = 0; k < claim.constraints.size(); ++k) {
      ConstraintTogether(claim, c, k);
    }
  }
  if (!out_.causes.empty() && out_.causes.back().kind == CauseKind::kConstraint) {
    return;
  }
  bool counters = false;
  for (const Left& left : left_) {
    counters = CountersOfRequest(left) || counters;
  }
  if (counters) {
    return;
  }
  if (problem_.prepared->requests.size() == 1) {
    return Add({CauseKind::kCombination,
                Subject(problem_.prepared->requests.front()),
                left_.empty() ? 1 : left_.front().wanted,
                "each of the devices could be had alone, not as many at once",
                "ask for fewer devices"});
  }
  Add({CauseKind::kCombination,
       "all requests together",
       1,
       "no request is short of devices, but not all of them can be served at once",
       "ask for fewer devices"});
}

// The best set of devices under one constraint, when even that is too small.
void Explainer::ConstraintTogether(const PreparedClaim& claim,
                                   std::size_t index,
                                   std::size_t ordinal) {
  const PreparedConstraint& constraint = claim.constraints[ordinal];
  std::int64_t wanted = 0;
  std::map<std::uint32_t, std::vector<const Device*>> by_value;
  std::map<std::uint32_t, std::int64_t> served;
  for (const Left& left : left_) {
    // Of alternatives the first stands for all: the best set is an explanation, no proof.
    if (left.request->claim != index || !InScope(*left.request, ordinal) ||
        left.request->subrequest > 0) {
      continue;
    }
    wanted += left.wanted;
    std::map<std::uint32_t, std::int64_t> found;
    for (const Candidate& candidate : left.devices) {
      ValueIds values;
      if (search_.ValuesOf(*left.request, constraint, *candidate.device, values) !=
          Search::Tested::kYes) {
        continue;
      }
      for (const std::uint32_t value : values.ids) {
        auto& devices = by_value[value];
        if (std::find(devices.begin(), devices.end(), candidate.device) == devices.end()) {
          devices.push_back(candidate.device);
        }
        ++found[value];
      }
    }
    for (const auto& [value, count] : found) {
      served[value] += std::min(count, left.wanted);
    }
  }
  if (wanted == 0) {
    return;
  }
  const std::string subject =
      fmt::format("claim {}, {} {}", claim.display, KindName(constraint), constraint.attribute);
  if (by_value.empty()) {
    return Add({CauseKind::kConstraint,
                subject,
                0,
                "the devices have lists under that name, which cannot be compared",
                "turn on gate DRAListTypeAttributes, or drop the constraint"});
  }
  if (constraint.kind == ConstraintKind::kDistinct) {
    const auto values = static_cast<std::int64_t>(by_value.size());
    if (values < wanted) {
      Add({CauseKind::kConstraint,
           subject,
           values,
           fmt::format(
               "{} devices with different values are wanted, there are {} values", wanted, values),
           fmt::format("ask for at most {} devices, or drop the constraint", values)});
    }
    return;
  }
  const auto worth = [&](const auto& entry) {
    return std::min(served[entry.first], static_cast<std::int64_t>(entry.second.size()));
  };
  const auto best = std::max_element(
      by_value.begin(), by_value.end(), [&](auto& a, auto& b) { return worth(a) < worth(b); });
  const std::int64_t most = worth(*best);
  if (most < wanted) {
    Add({CauseKind::kConstraint,
         subject,
         most,
         fmt::format("{} devices with one value are wanted, the best value has {}: {}",
                     wanted,
                     most,
                     Names(best->second)),
         fmt::format("ask for at most {} devices, or drop the constraint", most)});
  }
}

namespace {

// Trials of changed claims on the same node and state.
class Trials {
 public:
  Trials(Search& search, const Problem& problem, const Limits& limits)
      : search_(search), problem_(problem), limits_(limits) {
    limits_.steps = std::min(limits_.steps, kTrialSteps);
  }

  [[nodiscard]] std::string Counts() {
    for (std::size_t r = 0; r < problem_.prepared->requests.size(); ++r) {
      const PreparedRequest& request = problem_.prepared->requests[r];
      if (request.mode != Mode::kExactCount || request.subrequest >= 0) {
        continue;
      }
      for (std::int64_t n = std::min(request.count, kMaxResults + 1) - 1; n > 0; --n) {
        if (Fits([&](Prepared& changed) { changed.requests[r].count = n; })) {
          return fmt::format(
              "{} would fit with count {} instead of {}", NameOf(request), n, request.count);
        }
      }
    }
    return {};
  }

  [[nodiscard]] std::string Constraints() {
    for (std::size_t c = 0; c < problem_.prepared->claims.size(); ++c) {
      const PreparedClaim& claim = problem_.prepared->claims[c];
      for (std::size_t k = 0; k < claim.constraints.size(); ++k) {
        if (Fits([&](Prepared& changed) {
              for (PreparedRequest& request : changed.requests) {
                if (request.claim == c) {
                  std::erase(request.constraints, static_cast<std::uint16_t>(k));
                }
              }
            })) {
          return fmt::format("it would fit without the constraint {} {}{}",
                             KindName(claim.constraints[k]),
                             claim.constraints[k].attribute,
                             WhichOf(claim, k));
        }
      }
    }
    return {};
  }

  // One member of one request dropped.
  [[nodiscard]] std::string Members() {
    static const api::resource::DeviceToleration kAny{.operator_ = "Exists"};
    for (std::size_t r = 0; r < problem_.prepared->requests.size(); ++r) {
      const PreparedRequest& request = problem_.prepared->requests[r];
      if (request.selectors == nullptr) {
        continue;
      }
      if (Fits([&](Prepared& changed) { changed.requests[r].tolerations = {&kAny, 1}; })) {
        return NameOf(request) + " would fit with a toleration of the taints";
      }
      if (request.capacity != nullptr &&
          Fits([&](Prepared& changed) { changed.requests[r].capacity = nullptr; })) {
        return NameOf(request) + " would fit without its capacity request";
      }
      if (request.selectors->size() > request.class_selectors && Fits([&](Prepared& changed) {
            changed.requests[r].selectors = ClassSelectors(request);
          })) {
        return NameOf(request) + " would fit without its selectors";
      }
    }
    return {};
  }

  [[nodiscard]] std::string Release() {
    const inventory::AllocatedState empty;
    Problem problem = problem_;
    problem.state = &empty;
    Outcome outcome;
    search_.Run(problem, limits_, outcome);
    return outcome.verdict == Verdict::kAllocated
               ? "it would fit once other claims have given their devices back"
               : "";
  }

  [[nodiscard]] std::string Requests() {
    for (const PreparedClaim& claim : problem_.prepared->claims) {
      for (const RequestChoices& choices : claim.requests) {
        if (problem_.prepared->requests.size() > 1 && Fits([&](Prepared& changed) {
              for (std::uint32_t r = choices.first; r < choices.end; ++r) {
                changed.requests[r].mode = Mode::kExactCount;
                changed.requests[r].count = 0;
              }
            })) {
          const PreparedRequest& request = problem_.prepared->requests[choices.first];
          return fmt::format("the rest would fit without request {} of claim {}",
                             claim.claim->spec.devices.requests[request.request].name,
                             claim.display);
        }
      }
    }
    return {};
  }

 private:
  // With the claim when there are several.
  [[nodiscard]] std::string NameOf(const PreparedRequest& request) const {
    return problem_.prepared->claims.size() == 1
               ? "request " + request.full_name
               : fmt::format("request {} of claim {}",
                             request.full_name,
                             problem_.prepared->claims[request.claim].display);
  }
  // What tells the constraint from others that look like it.
  [[nodiscard]] std::string WhichOf(const PreparedClaim& claim, std::size_t ordinal) const {
    std::string text = problem_.prepared->claims.size() == 1 ? "" : " of claim " + claim.display;
    const auto& all = claim.constraints;
    const auto alike = std::count_if(all.begin(), all.end(), [&](const auto& other) {
      return other.kind == all[ordinal].kind && other.attribute == all[ordinal].attribute;
    });
    const auto& requests = claim.claim->spec.devices.constraints[ordinal].requests;
    if (alike > 1) {
      text += requests.empty() ? std::string(" over all requests")
                               : fmt::format(" over requests {}",
                                             fmt::join(requests.begin(), requests.end(), ", "));
    }
    return text;
  }

  template <typename Change>
  bool Fits(Change change) {
    Prepared changed = *problem_.prepared;
    change(changed);
    Problem problem = problem_;
    problem.prepared = &changed;
    Outcome outcome;
    search_.Run(problem, limits_, outcome);
    return outcome.verdict == Verdict::kAllocated;
  }

  inventory::SelectorSetPtr ClassSelectors(const PreparedRequest& request) {
    std::vector<std::string_view> expressions;
    for (const auto& selector : request.device_class->spec->selectors) {
      expressions.push_back(selector.cel != nullptr ? selector.cel->expression
                                                    : std::string_view());
    }
    return search_.cache().Intern(expressions);
  }

  Search& search_;
  const Problem& problem_;
  Limits limits_;
};

}  // namespace

// From what costs the user least to what costs most.
std::string ChangeThatFits(Search& search, const Problem& problem, const Limits& limits) {
  Trials trials(search, problem, limits);
  for (const auto trial : {&Trials::Members,
                           &Trials::Constraints,
                           &Trials::Counts,
                           &Trials::Release,
                           &Trials::Requests}) {
    if (std::string change = (trials.*trial)(); !change.empty()) {
      return change;
    }
  }
  return {};
}

}  // namespace allot::allocator
