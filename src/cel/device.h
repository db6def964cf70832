// DeviceView: what a device expression sees of a device, as views into memory the caller keeps.
//
// The inventory fills one per device without copying: names and strings are views, lists are spans.
// Thread safety: values. Lifetime: everything pointed to outlives the evaluation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quantity/quantity.h"

namespace allot::cel {

/// Which of the eight attribute fields of the API is set.
enum class AttributeKind : std::uint8_t {
  kMissing,  ///< none: evaluation of any expression on the device fails
  kInt,
  kBool,
  kString,
  kVersion,
  kInts,
  kBools,
  kStrings,
  kVersions,
};

/// One attribute value. Only the member that `kind` names is read.
struct AttributeValue {
  AttributeKind kind = AttributeKind::kMissing;
  bool boolean = false;
  std::int64_t integer = 0;
  std::string_view text;                    ///< string, version
  std::span<const std::int64_t> integers;   ///< ints
  std::span<const bool> booleans;           ///< bools
  std::span<const std::string_view> texts;  ///< strings, versions
};

/// An attribute under its qualified name: "domain/id", or "id" in the domain of the driver.
struct Attribute {
  std::string_view name;
  AttributeValue value;
};

/// A capacity under its qualified name.
struct Capacity {
  std::string_view name;
  quantity::Quantity value;
  /// The text the quantity was written with; empty: its canonical text. It decides whether the
  /// value counts as an integer.
  std::string_view text = {};
};

struct DeviceView {
  std::string_view driver;
  std::span<const Attribute> attributes;
  std::span<const Capacity> capacities;
  bool allow_multiple_allocations = false;
};

/// The value of a derived attribute, owned.
struct DerivedValue {
  AttributeKind kind = AttributeKind::kMissing;
  bool boolean = false;
  std::int64_t integer = 0;
  std::string text;
  std::vector<std::int64_t> integers;
  std::vector<bool> booleans;
  std::vector<std::string> texts;
};

}  // namespace allot::cel
