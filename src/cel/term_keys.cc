// The keys by which selectors share their terms.
#include <algorithm>

#include "cel/slots.h"
#include "cel/terms.h"

namespace allot::cel {
namespace {

template <typename T>
void AppendRaw(const T& value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void AppendText(std::string_view text, std::string& out) {
  AppendRaw(static_cast<std::uint32_t>(text.size()), out);
  out += text;
}

// False: a constant of a rare type, which is like no other.
bool AppendValue(const Value& value, std::string& out) {
  out += static_cast<char>(value.kind);
  switch (value.kind) {
    case ValueKind::kNull: break;
    case ValueKind::kBool: out += value.boolean ? '1' : '0'; break;
    case ValueKind::kInt:
    case ValueKind::kUint:
    case ValueKind::kDouble:
    case ValueKind::kDuration: AppendRaw(value.uinteger, out); break;
    case ValueKind::kError:
    case ValueKind::kString:
    case ValueKind::kBytes:
    case ValueKind::kType: AppendText(value.text(), out); break;
    case ValueKind::kQuantity:
      AppendRaw(value.quantity->value.value(), out);
      AppendRaw(value.quantity->value.exponent(), out);
      break;
    case ValueKind::kSemver: AppendText(value.semver->ToString(), out); break;
    case ValueKind::kList:
      AppendRaw(value.list->size, out);
      return std::ranges::all_of(value.list->values(),
                                 [&](const Value& item) { return AppendValue(item, out); });
    default: return false;
  }
  return true;
}

// A key that only equal tests have, whatever program they stand in. False: it has none.
bool AppendNode(const SlotPlan& plan, const SlotPlan::Node& node, std::string& out) {
  out += static_cast<char>(node.op);
  out += node.two_variables ? '2' : '1';
  AppendRaw(node.count, out);
  switch (node.op) {
    case SlotOp::kSlot:
    case SlotOp::kHas:
    case SlotOp::kOptionalSlot: {
      const SlotKey& key = plan.slots()[node.slot];
      out += static_cast<char>(key.kind);
      AppendText(key.domain, out);
      AppendText(key.name, out);
      break;
    }
    case SlotOp::kConstant:
    case SlotOp::kIndex:
      if (!AppendValue(node.constant, out)) {
        return false;
      }
      break;
    case SlotOp::kMatches: AppendText(node.step->args[1]->constant.text(), out); break;
    case SlotOp::kInSet:
      AppendRaw(node.step->set->size, out);
      for (const MapEntry& entry : node.step->set->values()) {
        if (!AppendValue(entry.key, out)) {
          return false;
        }
      }
      break;
    default: AppendRaw(node.slot, out); break;
  }
  if (node.step != nullptr && node.step->function != nullptr) {
    // Functions and overloads live as long as the process.
    AppendRaw(node.step->function, out);
    AppendRaw(node.step->overload, out);
    AppendRaw(node.step->arity, out);
  }
  for (std::size_t i = 0; i < node.count; ++i) {
    if (!AppendNode(plan, plan.Operand(node, i), out)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string TermKey(const SlotPlan& plan, const SlotPlan::Node& node, bool is_root) {
  std::string out(1, is_root ? 'r' : 't');
  AppendRaw(plan.libraries(), out);
  return AppendNode(plan, node, out) ? out : std::string();
}

}  // namespace allot::cel
