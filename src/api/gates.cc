#include "api/gates.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace allot::api {
namespace {

using base::Reason;

std::optional<std::size_t> FindGate(std::string_view name) {
  const auto gates = Gates();
  const auto at = std::ranges::lower_bound(gates, name, {}, &GateInfo::name);
  if (at == gates.end() || at->name != name) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(at - gates.begin());
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// The spellings of Go's strconv.ParseBool.
std::optional<bool> ParseBool(std::string_view text) {
  constexpr std::array<std::string_view, 6> kTrue = {"1", "t", "T", "TRUE", "true", "True"};
  constexpr std::array<std::string_view, 6> kFalse = {"0", "f", "F", "FALSE", "false", "False"};
  if (std::ranges::find(kTrue, text) != kTrue.end()) {
    return true;
  }
  if (std::ranges::find(kFalse, text) != kFalse.end()) {
    return false;
  }
  return std::nullopt;
}

using Settings = std::vector<std::pair<std::string_view, bool>>;  // the last one of a name wins

base::Result<Settings> Split(std::string_view text) {
  Settings settings;
  for (std::size_t at = 0; at <= text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    const std::string_view part = text.substr(at, comma - at);
    at = comma + 1;
    if (part.empty()) {
      continue;
    }
    const auto equals = part.find('=');
    const std::string_view name = Trim(part.substr(0, equals));
    if (equals == std::string_view::npos) {
      return base::Error(Reason::kInvalid, fmt::format("missing bool value for {}", name));
    }
    const std::string_view value = Trim(part.substr(equals + 1));
    const std::optional<bool> on = ParseBool(value);
    if (!on) {
      return base::Error(
          Reason::kInvalid,
          fmt::format(
              "invalid value of {}={}, err: strconv.ParseBool: parsing \"{}\": invalid syntax",
              name,
              value,
              value));
    }
    std::erase_if(settings, [name](const auto& set) { return set.first == name; });
    settings.emplace_back(name, *on);
  }
  return settings;
}

std::string Join(const std::vector<std::string>& texts) {
  if (texts.size() == 1) {
    return texts.front();
  }
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

}  // namespace

std::string_view StageText(GateStage stage) {
  switch (stage) {
    case GateStage::kAlpha: return "ALPHA";
    case GateStage::kBeta: return "BETA";
    case GateStage::kStable: return "";
    case GateStage::kDeprecated: return "DEPRECATED";
  }
  return "";
}

GateSet::GateSet() {
  const auto gates = Gates();
  for (std::size_t i = 0; i < gates.size(); ++i) {
    on_[i] = gates[i].on;
  }
}

bool GateSet::Enabled(std::string_view name) const {
  const auto at = FindGate(name);
  return at && on_[*at];
}

base::Result<void> GateSet::Parse(std::string_view text) {
  ALLOT_ASSIGN_OR_RETURN(const Settings settings, Split(text));
  const auto gates = Gates();
  GateSet next;
  const auto special = [&](std::string_view name, GateStage stage) {
    for (const auto& [set, on] : settings) {
      if (set != name) {
        continue;
      }
      for (std::size_t i = 0; i < gates.size(); ++i) {
        if (gates[i].stage == stage && !gates[i].locked) {
          next.on_[i] = on;
        }
      }
    }
  };
  special("AllAlpha", GateStage::kAlpha);
  special("AllBeta", GateStage::kBeta);

  std::vector<std::string> errors;
  for (const auto& [name, on] : settings) {
    if (name == "AllAlpha" || name == "AllBeta") {
      continue;
    }
    const auto at = FindGate(name);
    if (!at) {
      return base::Error(Reason::kInvalid, fmt::format("unrecognized feature gate: {}", name));
    }
    if (gates[*at].locked && gates[*at].on != on) {
      errors.push_back(fmt::format(
          "cannot set feature gate {} to {}, feature is locked to {}", name, on, gates[*at].on));
      continue;
    }
    next.on_[*at] = on;
  }
  const bool settings_are_good = errors.empty();
  for (std::size_t i = 0; settings_are_good && i < gates.size(); ++i) {
    std::vector<std::string_view> off;
    for (const std::string_view need : gates[i].needs) {
      if (next.on_[i] && !next.Enabled(need)) {
        off.push_back(need);
      }
    }
    if (!off.empty()) {
      errors.push_back(fmt::format("{} is enabled, but depends on features that are disabled: [{}]",
                                   gates[i].name,
                                   fmt::join(off, " ")));
    }
  }
  if (!errors.empty()) {
    return base::Error(Reason::kInvalid, Join(errors));
  }
  on_ = next.on_;
  return {};
}

}  // namespace allot::api
