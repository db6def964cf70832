// The keys by which selectors share their terms.
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

void AppendValue(const Value& value, std::string& out) {
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
      for (const Value& item : value.list->values()) {
        AppendValue(item, out);
      }
      break;
    default: {
      // Constants of rare types are like no other.
      static std::uint64_t serial = 0;
      AppendRaw(++serial, out);
    }
  }
}

// A key that only equal tests have, whatever program they stand in.
void AppendNode(const SlotPlan& plan, const SlotPlan::Node& node, std::string& out) {
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
    case SlotOp::kIndex: AppendValue(node.constant, out); break;
    case SlotOp::kMatches: AppendText(node.step->args[1]->constant.text(), out); break;
    case SlotOp::kInSet:
      AppendRaw(node.step->set->size, out);
      for (const MapEntry& entry : node.step->set->values()) {
        AppendValue(entry.key, out);
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
    AppendNode(plan, plan.Operand(node, i), out);
  }
}

}  // namespace

std::string TermKey(const SlotPlan& plan, const SlotPlan::Node& node, bool is_root) {
  std::string out(1, is_root ? 'r' : 't');
  AppendRaw(plan.libraries(), out);
  AppendNode(plan, node, out);
  return out;
}

}  // namespace allot::cel
