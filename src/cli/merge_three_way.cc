#include "cli/merge_three_way.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace allot::cli {
namespace {

using text::Value;

// `value` with a merge patch applied.
Value Patched(Value value, const Value& patch) {
  for (const text::Member& member : patch.members()) {
    Value* const old = value.Find(member.key);
    if (member.value.is_null()) {
      value.Erase(member.key);
    } else if (old != nullptr && old->is_object() && member.value.is_object()) {
      *old = Patched(std::move(*old), member.value);
    } else {
      value.Set(member.key, member.value);
    }
  }
  return value;
}

const Value* FindElement(const Value& list, std::string_view key, const Value& id) {
  for (const Value& element : list.items()) {
    if (const Value* const found = element.Find(key); found != nullptr && *found == id) {
      return &element;
    }
  }
  return nullptr;
}

// Whether every element is an object with a key of its own.
bool IsKeyed(const Value& list, std::string_view key) {
  return list.is_array() &&
         std::all_of(list.items().begin(), list.items().end(), [&](const Value& element) {
           const Value* const id = element.is_object() ? element.Find(key) : nullptr;
           return id != nullptr && FindElement(list, key, *id) == &element;
         });
}

// The list that should be there: the wanted elements in their order, then those that neither the
// user wrote now nor had applied before. Empty when it cannot be merged by the key.
std::optional<Value> MergedList(const Value& last,
                                const Value& wanted,
                                const Value& live,
                                std::string_view key,
                                const schema::TypeDesc* type) {
  if (!IsKeyed(wanted, key) || !IsKeyed(live, key) || !(last.is_null() || IsKeyed(last, key))) {
    return std::nullopt;
  }
  Value merged = Value::Array();
  for (const Value& element : wanted.items()) {
    const Value& id = *element.Find(key);
    const Value* const current = FindElement(live, key, id);
    const Value* const before = last.is_null() ? nullptr : FindElement(last, key, id);
    merged.Append(
        current == nullptr
            ? element
            : Patched(
                  *current,
                  MergeThreeWay(before != nullptr ? *before : Value(), element, *current, type)));
  }
  for (const Value& element : live.items()) {
    const Value& id = *element.Find(key);
    if (FindElement(wanted, key, id) == nullptr &&
        (last.is_null() || FindElement(last, key, id) == nullptr)) {
      merged.Append(element);
    }
  }
  return merged;
}

}  // namespace

Value MergeThreeWay(const Value& last,
                    const Value& wanted,
                    const Value& live,
                    const schema::TypeDesc* type) {
  Value patch = Value::Object();
  for (const text::Member& member : wanted.members()) {
    const Value* const current = live.Find(member.key);
    const Value* const before = last.Find(member.key);
    if (current == nullptr) {
      patch.Set(member.key, member.value);
      continue;
    }
    const schema::JsonField* const known = type != nullptr ? type->Find(member.key) : nullptr;
    const schema::TypeDesc* const inner_type = known != nullptr ? known->field->message : nullptr;
    if (member.value.is_object() && current->is_object()) {
      const bool map = known != nullptr && known->field->shape == schema::Shape::kMap;
      Value inner = MergeThreeWay(before != nullptr ? *before : Value(),
                                  member.value,
                                  *current,
                                  map ? nullptr : inner_type);
      if (!inner.members().empty()) {
        patch.Set(member.key, std::move(inner));
      }
      continue;
    }
    if (known != nullptr && !known->field->patch_merge_key.empty()) {
      if (auto list = MergedList(before != nullptr ? *before : Value(),
                                 member.value,
                                 *current,
                                 known->field->patch_merge_key,
                                 inner_type)) {
        if (*list != *current) {
          patch.Set(member.key, *std::move(list));
        }
        continue;
      }
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
