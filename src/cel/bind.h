// Makes the `device` variable of an evaluation. Thread safety: one thread.
#pragma once

#include <string>
#include <string_view>

#include "cel/context.h"
#include "cel/device.h"

namespace allot::cel {

/// Splits a qualified name at the first slash; without one the domain is the driver.
struct QualifiedName {
  std::string_view domain;
  std::string_view id;
};
[[nodiscard]] QualifiedName SplitName(std::string_view name, std::string_view driver);

/// The value of an attribute; an error value with upstream's text when it has none.
[[nodiscard]] Value AttributeToValue(Context& context, const AttributeValue& attribute);
/// The value of a capacity in the form (fast or slow) its text has.
[[nodiscard]] Value CapacityToValue(Context& context, const Capacity& capacity);

/// Binds a device. False: `error` has upstream's text ("attribute x: ..."); no expression can be
/// evaluated on it.
[[nodiscard]] bool BindDevice(Context& context,
                              const DeviceView& device,
                              Value& out,
                              std::string& error);

}  // namespace allot::cel
