// AnswerCase: solves one AllocationCase with the allocator.
// Thread safety: pure function. Lifetime: the answer's results point into the case and `arena`.
#pragma once

#include "allocator/allocator.h"
#include "allocator/diagnosis.h"
#include "base/arena.h"
#include "snapshot/allocation_case.h"

namespace allot::analysis {

/// Answers `problem`; share ids are numbered share-1, share-2 ... in result order.
[[nodiscard]] snapshot::AllocationAnswer AnswerCase(const snapshot::AllocationCase& problem,
                                                    const allocator::Limits& limits,
                                                    base::Arena& arena);

/// Why the answer is no; empty reasons and causes when the claims fit.
/// REQUIRES: problem.unsupported is empty.
[[nodiscard]] allocator::NodeDiagnosis DiagnoseCase(const snapshot::AllocationCase& problem,
                                                    const allocator::Limits& limits);

}  // namespace allot::analysis
