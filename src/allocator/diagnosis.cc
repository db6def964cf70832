#include "allocator/diagnosis.h"

namespace allot::allocator {

std::string_view CauseName(CauseKind kind) {
  switch (kind) {
    case CauseKind::kNoNodes: return "NoNodes";
    case CauseKind::kClaimMissing: return "ClaimMissing";
    case CauseKind::kTemplateMissing: return "TemplateMissing";
    case CauseKind::kClaimPinned: return "ClaimPinned";
    case CauseKind::kClassMissing: return "ClassMissing";
    case CauseKind::kRequestInvalid: return "RequestInvalid";
    case CauseKind::kDriverAbsent: return "DriverAbsent";
    case CauseKind::kPoolIncomplete: return "PoolIncomplete";
    case CauseKind::kPoolInvalid: return "PoolInvalid";
    case CauseKind::kClassSelectsNothing: return "ClassSelectsNothing";
    case CauseKind::kSelector: return "Selector";
    case CauseKind::kSelectorError: return "SelectorError";
    case CauseKind::kAttributeMissing: return "AttributeMissing";
    case CauseKind::kWrongSection: return "WrongSection";
    case CauseKind::kOtherNode: return "OtherNode";
    case CauseKind::kTainted: return "Tainted";
    case CauseKind::kInUse: return "InUse";
    case CauseKind::kCapacity: return "Capacity";
    case CauseKind::kCounters: return "Counters";
    case CauseKind::kGroups: return "CompatibilityGroups";
    case CauseKind::kNodeFeature: return "NodeFeature";
    case CauseKind::kConstraint: return "Constraint";
    case CauseKind::kTooFew: return "TooFew";
    case CauseKind::kTooMany: return "TooMany";
    case CauseKind::kCombination: return "Combination";
    case CauseKind::kBudget: return "BudgetExhausted";
    case CauseKind::kNodeUnschedulable: return "NodeUnschedulable";
    case CauseKind::kNodeName: return "NodeName";
    case CauseKind::kNodeTaint: return "NodeTaint";
    case CauseKind::kNodeAffinity: return "NodeAffinity";
    case CauseKind::kNodePorts: return "NodePorts";
    case CauseKind::kNodeResources: return "NodeResources";
  }
  return "Unknown";
}

}  // namespace allot::allocator
