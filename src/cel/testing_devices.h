// Devices for the tests of the tiers: ordinary ones, ones with values of other types, and ones
// whose values do not fit a slot.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cel/device.h"

namespace allot::cel::testing {

/// A device that owns what its view points to where that is not static text.
struct TestDevice {
  std::string_view name;
  std::string_view driver = "gpu.example.com";
  std::vector<Attribute> attributes = {};
  std::vector<Capacity> capacities = {};
  bool shareable = false;
  /// Whether all its values fit a slot.
  bool fits = true;

  [[nodiscard]] DeviceView view() const { return {driver, attributes, capacities, shareable}; }
};

inline Attribute Int(std::string_view name, std::int64_t value) {
  Attribute out{name, {}};
  out.value.kind = AttributeKind::kInt;
  out.value.integer = value;
  return out;
}
inline Attribute Bool(std::string_view name, bool value) {
  Attribute out{name, {}};
  out.value.kind = AttributeKind::kBool;
  out.value.boolean = value;
  return out;
}
inline Attribute Text(std::string_view name,
                      std::string_view value,
                      AttributeKind kind = AttributeKind::kString) {
  Attribute out{name, {}};
  out.value.kind = kind;
  out.value.text = value;
  return out;
}
inline Attribute Version(std::string_view name, std::string_view value) {
  return Text(name, value, AttributeKind::kVersion);
}
inline Attribute Ints(std::string_view name, std::span<const std::int64_t> values) {
  Attribute out{name, {}};
  out.value.kind = AttributeKind::kInts;
  out.value.integers = values;
  return out;
}
inline Attribute Texts(std::string_view name,
                       std::span<const std::string_view> values,
                       AttributeKind kind = AttributeKind::kStrings) {
  Attribute out{name, {}};
  out.value.kind = kind;
  out.value.texts = values;
  return out;
}
inline Capacity Amount(std::string_view name, std::string_view text) {
  return {name, *quantity::ParseQuantity(text), text};
}

/// The devices.
inline std::vector<TestDevice> Devices() {
  static constexpr std::int64_t kIds[] = {3, 1, 2};
  static constexpr std::string_view kNames[] = {"ib0", "ib1", "eth0"};
  static constexpr std::string_view kVersions[] = {"1.0.0", "2.0.0", "1.5.0-beta"};
  static constexpr bool kFlags[] = {true, false};
  static const std::vector<std::int64_t> kMany(100, 1);
  static const std::string kLong(5000, 'a');
  Attribute flags{"flags", {}};
  flags.value.kind = AttributeKind::kBools;
  flags.value.booleans = kFlags;
  std::vector<TestDevice> out;
  out.push_back({"empty"});
  out.push_back({"full",
                 "gpu.example.com",
                 {Int("n", 5),
                  Bool("off", false),
                  Bool("ready", true),
                  Text("model", "H100"),
                  Text("s", "ib0"),
                  Version("v", "1.2.3"),
                  Ints("ids", kIds),
                  Texts("names", kNames),
                  flags,
                  Texts("vers", kVersions, AttributeKind::kVersions),
                  Int("other.example.com/n", 7),
                  Text("other.example.com/model", "A100")},
                 {Amount("memory", "40Gi"), Amount("cores", "132"), Amount("frac", "1500m")},
                 true});
  out.push_back({"swapped",
                 "gpu.example.com",
                 {Text("n", "5"),
                  Int("off", 0),
                  Text("ready", "true"),
                  Texts("model", kNames),
                  Int("s", 12),
                  Text("v", "1.2.3"),
                  Int("ids", 3),
                  Text("names", "ib0"),
                  Bool("flags", true),
                  Version("vers", "1.0.0")},
                 {Amount("memory", "0"), Amount("cores", "1.0")}});
  out.push_back({"lists0",
                 "gpu.example.com",
                 {Ints("ids", {}), Texts("names", {}), Int("n", 0), Version("s", "0.1.0-a.b")}});
  out.push_back(
      {"other", "other.example.com", {Int("n", 5), Text("gpu.example.com/model", "H100")}});
  out.push_back({"bad version", "gpu.example.com", {Int("n", 5), Version("v", "1.2")}});
  out.push_back({"outgrown",
                 "gpu.example.com",
                 {Ints("ids", kMany), Text("long", kLong), Text("model", kLong), Int("n", 5)},
                 {Amount("memory", "1.5Gi"), Amount("huge", "9999999999999999999999")},
                 false,
                 false});
  return out;
}

}  // namespace allot::cel::testing
