// Profile: a family of simulated devices as data (profiles/*.yaml): driver, classes, device
// template.
//
// Texts of the template may name {index}, {node}, {uuid} and the columns of the profile's rows.
// Thread safety: values.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace allot::drivers::sim {

/// The type of an attribute value, as the field names of DeviceAttribute.
enum class AttributeType : std::uint8_t { kString, kInt, kBool, kVersion };

struct AttributeTemplate {
  std::string name;
  AttributeType type = AttributeType::kString;
  std::string text;  // with {placeholders}
};

struct CapacityTemplate {
  std::string name;
  std::string quantity;
};

struct ClassTemplate {
  std::string name;
  std::string expression;
  std::string extended_resource_name;  // "" = none
};

struct Profile {
  std::string name;
  std::string driver;
  int count = 1;  // devices a node when the fleet does not say
  std::vector<ClassTemplate> classes;
  std::string device_name;
  std::vector<AttributeTemplate> attributes;
  std::vector<CapacityTemplate> capacity;
  std::vector<std::map<std::string, std::string>> rows;
};

/// Reads one profile. Errors: kInvalid naming `source` and the field.
[[nodiscard]] base::Result<Profile> ParseProfile(std::string_view yaml, std::string_view source);

/// A profile file that is compiled in.
struct EmbeddedProfile {
  std::string_view name;
  std::string_view yaml;
};
/// All compiled-in profiles; defined by a generated file.
[[nodiscard]] std::span<const EmbeddedProfile> EmbeddedProfiles();
/// The compiled-in profile of this name. Errors: kNotFound listing the names there are.
[[nodiscard]] base::Result<Profile> FindProfile(std::string_view name);

/// Replaces {name} by its value. Errors: kInvalid for an unknown name.
[[nodiscard]] base::Result<std::string> Expand(std::string_view text,
                                               const std::map<std::string, std::string>& values);

}  // namespace allot::drivers::sim
