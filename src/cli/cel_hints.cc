#include "cli/cel_hints.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "cel/bind.h"
#include "cel/cel.h"
#include "cli/edit_distance.h"

namespace allot::cli {
namespace {

/// A read of device.attributes or device.capacity as far as the text shows it.
struct Read {
  bool capacity = false;
  std::string_view domain;
  std::string_view name;
};

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The key after a map: ["key"], .key or .?key. Empty: none. Moves `text` past it.
std::string_view TakeKey(std::string_view& text) {
  std::string_view rest = text;
  if (rest.starts_with("[?")) {
    rest.remove_prefix(2);
  } else if (rest.starts_with("[") || rest.starts_with(".")) {
    const bool bracket = rest[0] == '[';
    rest.remove_prefix(1);
    if (!bracket) {
      if (rest.starts_with("?")) {
        rest.remove_prefix(1);
      }
      std::size_t end = 0;
      while (end < rest.size() && IsNameCharacter(rest[end])) {
        ++end;
      }
      if (end == 0 || (end < rest.size() && rest[end] == '(')) {
        return {};
      }
      text = rest.substr(end);
      return rest.substr(0, end);
    }
  } else {
    return {};
  }
  if (rest.empty() || (rest[0] != '"' && rest[0] != '\'')) {
    return {};
  }
  const std::size_t end = rest.find(rest[0], 1);
  if (end == std::string_view::npos) {
    return {};
  }
  const std::string_view key = rest.substr(1, end - 1);
  rest.remove_prefix(end + 1);
  if (!rest.starts_with("]")) {
    return {};
  }
  text = rest.substr(1);
  return key;
}

std::vector<Read> FindReads(std::string_view expression) {
  std::vector<Read> out;
  for (const bool capacity : {false, true}) {
    const std::string_view map = capacity ? "device.capacity" : "device.attributes";
    for (std::size_t at = expression.find(map); at != std::string_view::npos;
         at = expression.find(map, at + 1)) {
      std::string_view rest = expression.substr(at + map.size());
      Read read{capacity, {}, {}};
      read.domain = TakeKey(rest);
      if (!read.domain.empty()) {
        read.name = TakeKey(rest);
        out.push_back(read);
      }
    }
  }
  return out;
}

class Hints {
 public:
  explicit Hints(const cel::DeviceView* device) : device_(device) {}

  void Add(std::string hint) {
    if (std::ranges::find(hints_, hint) == hints_.end()) {
      hints_.push_back(std::move(hint));
    }
  }

  void Check(const Read& read) {
    if (const std::size_t slash = read.domain.find('/'); slash != std::string_view::npos) {
      Add(fmt::format("\"{}\" is a whole qualified name; write device.{}[\"{}\"].{}",
                      read.domain,
                      read.capacity ? "capacity" : "attributes",
                      read.domain.substr(0, slash),
                      read.domain.substr(slash + 1)));
      return;
    }
    if (device_ == nullptr || read.name.empty() || Has(read.capacity, read)) {
      return;
    }
    if (Has(!read.capacity, read)) {
      Add(fmt::format("\"{}\" is {} of the device, not {}; write device.{}[\"{}\"].{}",
                      read.name,
                      read.capacity ? "an attribute" : "a capacity",
                      read.capacity ? "a capacity" : "an attribute",
                      read.capacity ? "attributes" : "capacity",
                      read.domain,
                      read.name));
      return;
    }
    const std::string what = read.capacity ? "capacity" : "attribute";
    const auto [domain, name] = Closest(read);
    std::string hint =
        fmt::format("driver {} publishes no {} \"{}\" in domain \"{}\" on this device",
                    device_->driver,
                    what,
                    read.name,
                    read.domain);
    if (!name.empty()) {
      hint += fmt::format("; did you mean device.{}[\"{}\"].{}?",
                          read.capacity ? "capacity" : "attributes",
                          domain,
                          name);
    }
    Add(std::move(hint));
  }

  std::vector<std::string> Take() { return std::move(hints_); }

 private:
  template <typename Visit>
  void ForEach(bool capacity, Visit visit) const {
    if (capacity) {
      for (const cel::Capacity& item : device_->capacities) {
        visit(cel::SplitName(item.name, device_->driver));
      }
    } else {
      for (const cel::Attribute& item : device_->attributes) {
        visit(cel::SplitName(item.name, device_->driver));
      }
    }
  }

  [[nodiscard]] bool Has(bool capacity, const Read& read) const {
    bool found = false;
    ForEach(capacity, [&](const cel::QualifiedName& name) {
      found = found || (name.domain == read.domain && name.id == read.name);
    });
    return found;
  }

  // The most similar name the device has; empty: none is close.
  [[nodiscard]] std::pair<std::string, std::string> Closest(const Read& read) const {
    std::pair<std::string, std::string> best;
    std::size_t best_distance = read.name.size() / 3 + 3;
    ForEach(read.capacity, [&](const cel::QualifiedName& name) {
      const std::size_t distance =
          EditDistance(name.id, read.name) + (name.domain == read.domain ? 0U : 1U);
      if (distance < best_distance) {
        best_distance = distance;
        best = {std::string(name.domain), std::string(name.id)};
      }
    });
    return best;
  }

  const cel::DeviceView* device_;
  std::vector<std::string> hints_;
};

}  // namespace

std::vector<std::string> CelHints(std::string_view expression,
                                  std::string_view error,
                                  const cel::DeviceView* device) {
  Hints hints(device);
  for (const Read& read : FindReads(expression)) {
    hints.Check(read);
  }
  if (error.contains("kubernetes.Quantity") || error.contains("no such overload")) {
    if (expression.contains("capacity") || expression.contains("quantity(")) {
      hints.Add(
          "quantities have no operators; use compareTo, isGreaterThan or isLessThan: "
          "device.capacity[\"d\"].memory.compareTo(quantity(\"16Gi\")) >= 0");
    }
  }
  if (error.contains("kubernetes.Semver")) {
    hints.Add(
        "versions have no operators but == and !=; use compareTo, isGreaterThan or isLessThan");
  }
  if (!cel::RuntimeErrorHint(error).empty()) {
    hints.Add(
        "guard the read with has(...) or \"d\" in device.attributes, or use .?name.orValue(...): "
        "an "
        "error on any device stops the allocation");
  }
  return hints.Take();
}

}  // namespace allot::cli
