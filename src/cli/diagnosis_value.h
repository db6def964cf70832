// SetDiagnosis: a Diagnosis as members of a JSON or YAML object, for programs; people read
// diagnosis_text.h. Thread safety: pure.
#pragma once

#include "allocator/diagnosis.h"
#include "text/value.h"

namespace allot::cli {

/// Sets message, causes and nodeGroups of `object`.
void SetDiagnosis(const allocator::Diagnosis& diagnosis, text::Value& object);

}  // namespace allot::cli
