// DiagnoseNode: walks the tests of the search one after the other to tell where devices are lost.
// Internal to the module; Allocator::Diagnose is the door. Thread safety: as the search.
#pragma once

#include "allocator/diagnosis.h"
#include "allocator/search.h"

namespace allot::allocator {

[[nodiscard]] NodeDiagnosis DiagnoseNode(const inventory::Inventory& inventory,
                                         Search& search,
                                         const Problem& problem,
                                         const Limits& limits);

}  // namespace allot::allocator
