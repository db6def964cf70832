// DiagnosisText: a Diagnosis as text for people: the causes, and for each group of nodes the funnel
// of every request. Thread safety: pure.
#pragma once

#include <string>

#include "allocator/diagnosis.h"

namespace allot::cli {

[[nodiscard]] std::string DiagnosisText(const allocator::Diagnosis& diagnosis);

}  // namespace allot::cli
