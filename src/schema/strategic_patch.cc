// The strategic merge patch: lists with a merge key are merged element by element, directives
// ($patch, $retainKeys, $setElementOrder/x, $deleteFromPrimitiveList/x) say what a merge cannot.
#include <algorithm>
#include <string>
#include <utility>

#include "schema/patch.h"
#include "text/json.h"

namespace allot::schema {
namespace {

using base::Reason;
using base::Result;
using text::Member;
using text::Value;

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kDeleteList = "$deleteFromPrimitiveList";
constexpr std::string_view kElementOrder = "$setElementOrder";

std::unexpected<base::Status> Fail(std::string message, Reason reason = Reason::kUnknown) {
  return base::Error(reason, std::move(message));
}

std::unexpected<base::Status> BadFormat(std::string_view of) {
  return Fail("invalid patch format of " + std::string(of), Reason::kBadRequest);
}

std::string_view GoTypeName(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull: return "%!s(<nil>)";
    case Value::Kind::kBool: return "bool";
    case Value::Kind::kInt: return "int64";
    case Value::Kind::kDouble: return "float64";
    case Value::Kind::kString: return "string";
    case Value::Kind::kArray: return "[]interface {}";
    case Value::Kind::kObject: return "map[string]interface {}";
  }
  return {};
}

std::unexpected<base::Status> WrongType(std::string_view expected, const Value& got) {
  return Fail("expected a " + std::string(expected) + ", but received a " +
              std::string(GoTypeName(got)));
}

std::unexpected<base::Status> NoMergeKey(const Value& map, std::string_view key) {
  return Fail("map: " + GoText(map) + " does not contain declared merge key: " + std::string(key));
}

/// What the tables say about one place of the tree: a struct, the values of a map, or nothing.
struct Schema {
  const TypeDesc* type = nullptr;
  const FieldDesc* map = nullptr;
};

struct PatchMeta {
  Schema child;  // of the value; of the elements when it is a list
  std::string_view strategy;
  std::string_view merge_key;
};

/// "merge", "replace" or empty, without retainKeys.
std::string_view MainStrategy(std::string_view strategies) {
  while (!strategies.empty()) {
    const std::size_t comma = strategies.find(',');
    const std::string_view one = strategies.substr(0, comma);
    if (one != "retainKeys") {
      return one;
    }
    strategies.remove_prefix(comma == std::string_view::npos ? strategies.size() : comma + 1);
  }
  return {};
}

Result<PatchMeta> Lookup(const Schema& schema, std::string_view key) {
  if (schema.type != nullptr) {
    const JsonField* const found = schema.type->Find(key);
    if (found == nullptr) {
      return Fail("unable to find api field in struct " + std::string(schema.type->name) +
                  " for the json field \"" + std::string(key) + "\"");
    }
    const FieldDesc& field = *found->field;
    PatchMeta meta{.child = {},
                   .strategy = MainStrategy(field.patch_strategy),
                   .merge_key = field.patch_merge_key};
    if (field.shape == Shape::kMap) {
      meta.child.map = &field;
    } else {
      meta.child.type = field.message;
    }
    return meta;
  }
  PatchMeta meta;
  if (schema.map != nullptr) {
    meta.child.type = schema.map->message;
  }
  return meta;
}

bool IsDeletion(const Value& element) {
  const Value* const directive = element.Find(kDirective);
  return directive != nullptr && directive->AsString() == "delete";
}

/// The elements' common kind; Go's complaint when they differ. REQUIRES: not both empty.
Result<Value::Kind> ElementKind(const std::vector<Value>& a, const std::vector<Value>& b) {
  const Value* first = nullptr;
  for (const auto* const list : {&a, &b}) {
    for (const Value& element : *list) {
      if (first == nullptr) {
        first = &element;
        if (element.is_array()) {
          return Fail("lists of lists are not supported", Reason::kInvalid);
        }
      } else if (element.kind() != first->kind()) {
        return Fail("list element types are not identical: [" + GoText(Value::Array(a)) + " " +
                    GoText(Value::Array(b)) + "]");
      }
    }
  }
  if (first == nullptr) {
    return Fail("no elements in any of the given slices");
  }
  return first->kind();
}

bool SameKey(const Value& a, const Value& b, std::string_view merge_key) {
  if (merge_key.empty()) {
    return a == b;
  }
  const Value* const left = a.Find(merge_key);
  const Value* const right = b.Find(merge_key);
  if (left == nullptr || right == nullptr) {
    return left == right;
  }
  return *left == *right;
}

/// Position of the element with the same key; npos when there is none.
std::size_t IndexOf(const std::vector<Value>& list,
                    const Value& wanted,
                    std::string_view merge_key) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (SameKey(list[i], wanted, merge_key)) {
      return i;
    }
  }
  return std::string::npos;
}

Result<std::size_t> FindByKey(const std::vector<Value>& list,
                              std::string_view merge_key,
                              const Value& key) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_object()) {
      return Fail("value for key " + std::to_string(i) + " is not a map");
    }
    const Value* const own = list[i].Find(merge_key);
    if (own != nullptr && *own == key) {
      return i;
    }
  }
  return std::string::npos;
}

/// Puts the elements that `order` names into its order; deletions go last.
void SortByOrder(std::vector<Value>& list,
                 const std::vector<Value>& order,
                 std::string_view merge_key) {
  struct Named {
    std::size_t place;
    std::size_t position;
    Value element;
  };
  std::vector<Named> named;
  std::vector<Value> deletions;
  for (Value& element : list) {
    if (!merge_key.empty() && IsDeletion(element)) {
      deletions.push_back(std::move(element));
    } else {
      const std::size_t place = IndexOf(order, element, merge_key);
      named.push_back({place, named.size(), std::move(element)});
    }
  }
  std::sort(named.begin(), named.end(), [](const Named& a, const Named& b) {
    return a.place != b.place ? a.place < b.place : a.position < b.position;
  });
  list.clear();
  for (Named& one : named) {
    list.push_back(std::move(one.element));
  }
  std::move(deletions.begin(), deletions.end(), std::back_inserter(list));
}

/// Merges the elements the patch named and those only the server has into one list: patch order for
/// the former, server order for the latter, and the server's order between the two where it knows
/// both.
std::vector<Value> InOrder(std::vector<Value> patched,
                           std::vector<Value> server_only,
                           const std::vector<Value>& patch_order,
                           const std::vector<Value>& server_order,
                           std::string_view merge_key) {
  SortByOrder(patched, patch_order, merge_key);
  SortByOrder(server_only, server_order, merge_key);
  std::vector<Value> merged;
  std::size_t left = 0;
  std::size_t right = 0;
  while (left < server_only.size() || right < patched.size()) {
    bool take_left = right >= patched.size();
    if (!take_left && left < server_only.size()) {
      const std::size_t a = IndexOf(server_order, server_only[left], merge_key);
      const std::size_t b = IndexOf(server_order, patched[right], merge_key);
      take_left = a != std::string::npos && b != std::string::npos && a < b;
    }
    merged.push_back(std::move(take_left ? server_only[left++] : patched[right++]));
  }
  return merged;
}

/// Splits `list` into what `by` names and the rest.
Result<void> Partition(std::vector<Value> list,
                       const std::vector<Value>& by,
                       std::string_view merge_key,
                       std::vector<Value>& named,
                       std::vector<Value>& rest) {
  for (Value& element : list) {
    if (!merge_key.empty()) {
      if (!element.is_object()) {
        return WrongType("map[string]interface {}", element);
      }
      if (element.Find(merge_key) == nullptr) {
        return NoMergeKey(element, merge_key);
      }
    }
    (IndexOf(by, element, merge_key) != std::string::npos ? named : rest)
        .push_back(std::move(element));
  }
  return {};
}

Result<void> RequireMergeKeys(const std::vector<Value>& list, std::string_view merge_key) {
  for (const Value& element : list) {
    if (!element.is_object()) {
      return WrongType("map[string]interface {}", element);
    }
    if (element.Find(merge_key) == nullptr) {
      return NoMergeKey(element, merge_key);
    }
  }
  return {};
}

/// Takes directives out of a value that is added whole. False when the value itself is one.
bool RemoveDirectives(Value& value) {
  if (value.is_object()) {
    if (value.Find(kDirective) != nullptr) {
      return false;
    }
    std::erase_if(value.MutableMembers(),
                  [](Member& member) { return !RemoveDirectives(member.value); });
  } else if (value.is_array()) {
    std::erase_if(value.MutableItems(), [](Value& item) { return !RemoveDirectives(item); });
  }
  return true;
}

void DiscardNulls(Value& value) {
  if (value.is_object()) {
    std::erase_if(value.MutableMembers(),
                  [](const Member& member) { return member.value.is_null(); });
    for (Member& member : value.MutableMembers()) {
      DiscardNulls(member.value);
    }
  } else if (value.is_array()) {
    for (Value& item : value.MutableItems()) {
      DiscardNulls(item);
    }
  }
}

/// Elements of the patch must stand in the order that the order list gives them.
Result<void> CheckOrder(const std::vector<Value>& patch,
                        const std::vector<Value>& order,
                        std::string_view merge_key) {
  std::vector<const Value*> kept;
  for (const Value& element : patch) {
    if (!merge_key.empty() && !element.is_object()) {
      return WrongType("map[string]interface {}", element);
    }
    if (merge_key.empty() || !IsDeletion(element)) {
      kept.push_back(&element);
    }
  }
  if (order.empty() || patch.empty()) {
    return {};
  }
  std::size_t at = 0;
  std::size_t in_order = 0;
  while (at < kept.size() && in_order < order.size()) {
    if (kept[at]->Find(kDirective) != nullptr) {
      ++at;
      continue;
    }
    if (!merge_key.empty()) {
      for (const Value* const side : {kept[at], &order[in_order]}) {
        if (!side->is_object()) {
          return WrongType("map[string]interface {}", *side);
        }
        if (side->Find(merge_key) == nullptr) {
          return NoMergeKey(*side, merge_key);
        }
      }
    }
    at += SameKey(*kept[at], order[in_order], merge_key) ? 1 : 0;
    ++in_order;
  }
  if (at < kept.size()) {
    return Fail("The order in patch list:\n" + GoText(Value::Array(patch)) + "\n doesn't match " +
                std::string(kElementOrder) + " list:\n" + GoText(Value::Array(order)) + "\n");
  }
  return {};
}

/// The part after the slash of "$setElementOrder/containers".
Result<std::string> DirectiveField(std::string_view key, std::string_view prefix) {
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos || key.substr(0, slash) != prefix) {
    return BadFormat(prefix == kDeleteList ? "primitive list" : "setElementOrder list");
  }
  return std::string(key.substr(slash + 1));
}

class Merger {
 public:
  /// Merges `patch` (consumed) into `original`, both objects.
  Result<void> Map(Value& original, Value patch, const Schema& schema);

 private:
  Result<void> RetainKeys(Value& original, Value& patch);
  Result<void> OrderedLists(Value& original, Value& patch, const Schema& schema);
  Result<void> OneOrderedList(Value& original,
                              Value& patch,
                              const std::string& key,
                              const Value& order,
                              const Schema& schema);
  Result<void> Entry(
      Value& original, const std::string& key, Value value, bool is_deletion, const Schema& schema);
  Result<std::vector<Value>> List(std::vector<Value> original,
                                  std::vector<Value> patch,
                                  const PatchMeta& meta,
                                  bool is_deletion,
                                  std::vector<Value>& server_order);
  Result<void> SpecialElements(std::vector<Value>& original,
                               std::vector<Value>& patch,
                               std::string_view merge_key,
                               std::vector<Value>& server_order);
};

Result<void> Merger::RetainKeys(Value& original, Value& patch) {
  const Value* const found = patch.Find(kRetainKeys);
  if (found == nullptr) {
    return {};
  }
  if (!found->is_array()) {
    return BadFormat("retainKeys");
  }
  const std::vector<Value> kept = found->items();
  patch.Erase(kRetainKeys);
  const auto is_kept = [&kept](std::string_view key) {
    return std::any_of(kept.begin(), kept.end(), [key](const Value& one) {
      return one.is_string() && one.AsString() == key;
    });
  };
  for (const Member& member : patch.members()) {
    if (!member.value.is_null() && !member.key.starts_with(kDeleteList) &&
        !member.key.starts_with(kElementOrder) && !is_kept(member.key)) {
      return BadFormat("retainKeys");
    }
  }
  std::erase_if(original.MutableMembers(),
                [&is_kept](const Member& member) { return !is_kept(member.key); });
  return {};
}

Result<void> Merger::OrderedLists(Value& original, Value& patch, const Schema& schema) {
  std::vector<Member> orders;
  std::erase_if(patch.MutableMembers(), [&orders](Member& member) {
    if (!member.key.starts_with(kElementOrder)) {
      return false;
    }
    orders.push_back(std::move(member));
    return true;
  });
  for (const Member& order : orders) {
    if (!order.value.is_array()) {
      return WrongType("[]interface {}", order.value);
    }
    ALLOT_ASSIGN_OR_RETURN(const std::string key, DirectiveField(order.key, kElementOrder));
    ALLOT_RETURN_IF_ERROR(OneOrderedList(original, patch, key, order.value, schema));
  }
  return {};
}

Result<void> Merger::OneOrderedList(Value& original,
                                    Value& patch,
                                    const std::string& key,
                                    const Value& order,
                                    const Schema& schema) {
  const Value* const in_original = original.Find(key);
  const Value* const in_patch = patch.Find(key);
  for (const Value* const side : {in_original, in_patch}) {
    if (side != nullptr && !side->is_array()) {
      return WrongType("[]interface {}", *side);
    }
  }
  ALLOT_ASSIGN_OR_RETURN(const PatchMeta meta, Lookup(schema, key));
  std::vector<Value> before = in_original != nullptr ? in_original->items() : std::vector<Value>();
  std::vector<Value> patch_items = in_patch != nullptr ? in_patch->items() : std::vector<Value>();
  ALLOT_RETURN_IF_ERROR(CheckOrder(patch_items, order.items(), meta.merge_key));
  if (in_original == nullptr && in_patch == nullptr) {
    return {};
  }
  ALLOT_ASSIGN_OR_RETURN(const Value::Kind kind, ElementKind(before, patch_items));
  std::vector<Value> merged = before;
  if (in_original == nullptr) {
    Value added = Value::Array(std::move(patch_items));
    RemoveDirectives(added);
    merged = std::move(added.MutableItems());
  } else if (in_patch != nullptr) {
    if (meta.strategy == "merge") {
      ALLOT_ASSIGN_OR_RETURN(merged, List(before, std::move(patch_items), meta, false, before));
    } else {
      merged = std::move(patch_items);
    }
  }
  std::vector<Value> named;
  std::vector<Value> rest;
  ALLOT_RETURN_IF_ERROR(Partition(std::move(merged), order.items(), meta.merge_key, named, rest));
  if (kind == Value::Kind::kObject) {
    for (const auto* const list :
         std::initializer_list<const std::vector<Value>*>{&named, &order.items(), &rest, &before}) {
      ALLOT_RETURN_IF_ERROR(RequireMergeKeys(*list, meta.merge_key));
    }
  }
  original.Set(key,
               Value::Array(InOrder(
                   std::move(named), std::move(rest), order.items(), before, meta.merge_key)));
  patch.Erase(key);
  return {};
}

Result<void> Merger::Map(Value& original, Value patch, const Schema& schema) {
  if (const Value* const directive = patch.Find(kDirective); directive != nullptr) {
    if (directive->AsString() == "replace") {
      patch.Erase(kDirective);
      original = std::move(patch);
      return {};
    }
    if (directive->AsString() == "delete") {
      original = Value::Object();
      return {};
    }
    return Fail("unknown patch type: " + GoText(*directive) + " in map: " + GoText(patch));
  }
  ALLOT_RETURN_IF_ERROR(RetainKeys(original, patch));
  ALLOT_RETURN_IF_ERROR(OrderedLists(original, patch, schema));
  for (Member& member : patch.MutableMembers()) {
    std::string key = member.key;
    const bool is_deletion = key.starts_with(kDeleteList);
    if (is_deletion) {
      ALLOT_ASSIGN_OR_RETURN(key, DirectiveField(member.key, kDeleteList));
    }
    ALLOT_RETURN_IF_ERROR(Entry(original, key, std::move(member.value), is_deletion, schema));
  }
  return {};
}

Result<void> Merger::Entry(
    Value& original, const std::string& key, Value value, bool is_deletion, const Schema& schema) {
  if (value.is_null()) {
    original.Erase(key);
    return {};
  }
  Value* const present = original.Find(key);
  if (present == nullptr || present->kind() != value.kind()) {
    if (!is_deletion) {
      DiscardNulls(value);
      if (RemoveDirectives(value)) {
        original.Set(key, std::move(value));
      } else {
        original.Erase(key);
      }
    }
    return {};
  }
  if (value.is_object()) {
    ALLOT_ASSIGN_OR_RETURN(const PatchMeta meta, Lookup(schema, key));
    if (meta.strategy == "replace") {
      *present = std::move(value);
      return {};
    }
    return Map(*present, std::move(value), meta.child);
  }
  if (value.is_array()) {
    ALLOT_ASSIGN_OR_RETURN(const PatchMeta meta, Lookup(schema, key));
    if (meta.strategy != "merge" && !is_deletion) {
      *present = std::move(value);
      return {};
    }
    std::vector<Value> order;
    ALLOT_ASSIGN_OR_RETURN(auto merged,
                           List(std::move(present->MutableItems()),
                                std::move(value.MutableItems()),
                                meta,
                                is_deletion,
                                order));
    *present = Value::Array(std::move(merged));
    return {};
  }
  *present = std::move(value);
  return {};
}

Result<void> Merger::SpecialElements(std::vector<Value>& original,
                                     std::vector<Value>& patch,
                                     std::string_view merge_key,
                                     std::vector<Value>& server_order) {
  std::vector<Value> plain;
  bool replace = false;
  for (Value& element : patch) {
    const Value* const directive = element.Find(kDirective);
    if (directive == nullptr) {
      plain.push_back(std::move(element));
    } else if (directive->AsString() == "delete") {
      const Value* const key = element.Find(merge_key);
      if (key == nullptr) {
        return NoMergeKey(element, merge_key);
      }
      while (true) {
        ALLOT_ASSIGN_OR_RETURN(const std::size_t at, FindByKey(original, merge_key, *key));
        if (at == std::string::npos) {
          break;
        }
        original.erase(original.begin() + static_cast<std::ptrdiff_t>(at));
        // What stood behind moves up; the last place keeps what it had.
        std::copy(original.begin(), original.end(), server_order.begin());
      }
    } else if (directive->AsString() == "replace") {
      replace = true;
    } else if (directive->AsString() == "merge") {
      return Fail("merging lists cannot yet be specified in the patch");
    } else {
      return Fail("unknown patch type: " + GoText(*directive) + " in map: " + GoText(element));
    }
  }
  if (replace) {
    original = std::move(plain);
    patch.clear();
  } else {
    patch = std::move(plain);
  }
  return {};
}

Result<std::vector<Value>> Merger::List(std::vector<Value> original,
                                        std::vector<Value> patch,
                                        const PatchMeta& meta,
                                        bool is_deletion,
                                        std::vector<Value>& server_order) {
  if (original.empty() && patch.empty()) {
    return original;
  }
  server_order = original;
  ALLOT_ASSIGN_OR_RETURN(const Value::Kind kind, ElementKind(original, patch));
  const std::string_view merge_key = meta.merge_key;
  std::vector<Value> merged;
  if (kind != Value::Kind::kObject) {
    if (is_deletion) {
      std::erase_if(original, [&patch](const Value& element) {
        return std::find(patch.begin(), patch.end(), element) != patch.end();
      });
      return original;
    }
    for (const auto* const list : {&original, &patch}) {
      for (const Value& element : *list) {
        if (std::find(merged.begin(), merged.end(), element) == merged.end()) {
          merged.push_back(element);
        }
      }
    }
  } else {
    if (merge_key.empty()) {
      return Fail("cannot merge lists without merge key for struct");
    }
    ALLOT_RETURN_IF_ERROR(SpecialElements(original, patch, merge_key, server_order));
    merged = original;
    for (const Value& element : patch) {
      const Value* const key = element.Find(merge_key);
      if (key == nullptr) {
        return NoMergeKey(element, merge_key);
      }
      ALLOT_ASSIGN_OR_RETURN(const std::size_t at, FindByKey(merged, merge_key, *key));
      if (at == std::string::npos) {
        if (merged.size() < server_order.size()) {
          server_order[merged.size()] = element;
        }
        merged.push_back(element);
      } else {
        ALLOT_RETURN_IF_ERROR(Map(merged[at], element, meta.child));
      }
    }
  }
  std::vector<Value> named;
  std::vector<Value> rest;
  ALLOT_RETURN_IF_ERROR(Partition(std::move(merged), patch, merge_key, named, rest));
  if (kind == Value::Kind::kObject) {
    for (const auto* const list :
         std::initializer_list<const std::vector<Value>*>{&named, &patch, &rest, &original}) {
      ALLOT_RETURN_IF_ERROR(RequireMergeKeys(*list, merge_key));
    }
  }
  return InOrder(std::move(named), std::move(rest), patch, original, merge_key);
}

}  // namespace

Result<void> ApplyStrategicMergePatch(const TypeDesc& type, Value& document, const Value& patch) {
  return Merger().Map(document, patch, {.type = &type, .map = nullptr});
}

}  // namespace allot::schema
