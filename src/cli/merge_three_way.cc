#include "cli/merge_three_way.h"

namespace allot::cli {

using text::Value;

Value MergeThreeWay(const Value& last, const Value& wanted, const Value& live) {
  Value patch = Value::Object();
  for (const text::Member& member : wanted.members()) {
    const Value* const current = live.Find(member.key);
    const Value* const before = last.Find(member.key);
    if (current == nullptr) {
      patch.Set(member.key, member.value);
      continue;
    }
    if (member.value.is_object() && current->is_object()) {
      Value inner = MergeThreeWay(before != nullptr ? *before : Value(), member.value, *current);
      if (!inner.members().empty()) {
        patch.Set(member.key, std::move(inner));
      }
      continue;
    }
    // The server fills defaults into the elements of lists, so a list is compared with what was
    // applied last.
    const bool same = member.value == *current ||
                      (member.value.is_array() && before != nullptr && member.value == *before);
    if (!same) {
      patch.Set(member.key, member.value);
    }
  }
  for (const text::Member& member : last.members()) {
    if (wanted.Find(member.key) == nullptr && live.Find(member.key) != nullptr) {
      patch.Set(member.key, Value());
    }
  }
  return patch;
}

}  // namespace allot::cli
