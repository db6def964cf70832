// Validation of one device of a slice. Module-private.
#pragma once

#include "api/resource/rules.h"

namespace allot::api::resource {

/// `old` is the stored device of the same name, null when it is new; `per_device_nodes` is the
/// slice's choice.
void ValidateDevice(const StrategyContext& context,
                    const Device& device,
                    const Device* old,
                    bool per_device_nodes,
                    const Path& path,
                    Report& report);
/// Node names of slices and devices.
void ValidateNodeName(schema::Str name, const Path& path, FieldErrors& errors);
/// `{"x":{"value":..}}` of a counter set or consumption at `path`.
void ValidateCounters(const schema::Map<Counter>& counters, const Path& path, Report& report);

}  // namespace allot::api::resource
