// Results as callers want them: a verdict, an attribute. Thread safety: pure functions.
#pragma once

#include <string>

#include "cel/device.h"
#include "cel/value.h"

namespace allot::cel {

/// The result of a selector. False: `error` has upstream's text.
[[nodiscard]] bool ToBool(const Value& value, bool& out, std::string& error);

/// The result of a derived attribute. False: `error` has upstream's text.
[[nodiscard]] bool ToAttribute(const Value& value, DerivedValue& out, std::string& error);

}  // namespace allot::cel
