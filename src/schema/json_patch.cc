// JSON Patch and JSON Merge Patch with the behaviour of the library upstream uses: negative indices
// count from the end, `replace` of an absent member adds it, an absent value is null.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "quantity/go_text.h"
#include "schema/patch.h"
#include "text/json.h"

namespace allot::schema {
namespace {

using base::Reason;
using base::Result;
using text::Value;

constexpr std::string_view kMissing = "missing value";

std::unexpected<base::Status> Fail(std::string message) {
  return base::Error(Reason::kInvalid, std::move(message));
}

std::unexpected<base::Status> FailWith(const std::string& context, const base::Status& why) {
  return Fail(context + ": " + why.message());
}

/// ~1 and ~0 of a JSON Pointer become / and ~.
std::string PointerKey(std::string_view token) {
  std::string key;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1')) {
      key += token[++i] == '1' ? '/' : '~';
    } else {
      key += token[i];
    }
  }
  return key;
}

Result<std::int64_t> Index(const std::string& key) {
  return quantity::GoParseInt(key, "Atoi");
}

std::string BadIndex(std::int64_t index) {
  return "Unable to access invalid index: " + std::to_string(index) + ": invalid index referenced";
}

/// The element's place in an array of `size`; negative indices count from `base`.
Result<std::size_t> Place(std::int64_t index, std::size_t size, std::size_t base) {
  const auto limit = static_cast<std::int64_t>(size);
  const auto from = static_cast<std::int64_t>(base);
  if (index >= limit || index < -from) {
    return Fail(BadIndex(index));
  }
  return static_cast<std::size_t>(index < 0 ? index + from : index);
}

/// An object or array inside the document and the last token of the path into it.
struct Target {
  Value* container = nullptr;
  std::string key;
  int depth = 0;  // of what is put there
};

constexpr int kDeepest = 10000;  // as deep as a document may be read

/// Unit: levels of arrays and objects.
int DepthOf(const Value& value) {
  int deepest = 0;
  for (const Value& item : value.items()) {
    deepest = std::max(deepest, DepthOf(item));
  }
  for (const text::Member& member : value.members()) {
    deepest = std::max(deepest, DepthOf(member.value));
  }
  return value.is_array() || value.is_object() ? deepest + 1 : 0;
}

/// Copies into their own copies double the depth, so it is checked with every value put in.
Result<void> CheckDepth(const Target& target, const Value& value) {
  if (target.depth + DepthOf(value) > kDeepest) {
    return Fail("exceeded max depth");
  }
  return {};
}

/// The member or element; null when an object lacks it. Errors: no index, or out of range.
Result<Value*> Get(Value& container, const std::string& key) {
  if (!container.is_array()) {
    return container.Find(key);
  }
  ALLOT_ASSIGN_OR_RETURN(const std::int64_t index, Index(key));
  auto& items = container.MutableItems();
  ALLOT_ASSIGN_OR_RETURN(const std::size_t place, Place(index, items.size(), items.size()));
  return &items[place];
}

Target FindTarget(Value& document, std::string_view path) {
  if (path.find('/') == std::string_view::npos) {
    return {};
  }
  path.remove_prefix(path.find('/') + 1);
  Value* at = &document;
  for (int depth = 1;; ++depth) {
    const std::size_t slash = path.find('/');
    const std::string key = PointerKey(path.substr(0, slash));
    if (slash == std::string_view::npos) {
      return {at, key, depth};
    }
    path.remove_prefix(slash + 1);
    auto next = Get(*at, key);
    if (!next || *next == nullptr || !((*next)->is_array() || (*next)->is_object())) {
      return {};
    }
    at = *next;
  }
}

Result<void> Add(const Target& target, Value value) {
  ALLOT_RETURN_IF_ERROR(CheckDepth(target, value));
  if (!target.container->is_array()) {
    target.container->Set(target.key, std::move(value));
    return {};
  }
  auto& items = target.container->MutableItems();
  if (target.key == "-") {
    items.push_back(std::move(value));
    return {};
  }
  const auto index = Index(target.key);
  if (!index) {
    return Fail("value was not a proper array index: '" + target.key +
                "': " + index.error().message());
  }
  ALLOT_ASSIGN_OR_RETURN(const std::size_t place,
                         Place(*index, items.size() + 1, items.size() + 1));
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(place), std::move(value));
  return {};
}

Result<void> Remove(const Target& target) {
  if (!target.container->is_array()) {
    if (!target.container->Erase(target.key)) {
      return Fail("Unable to remove nonexistent key: " + target.key + ": " + std::string(kMissing));
    }
    return {};
  }
  ALLOT_ASSIGN_OR_RETURN(const std::int64_t index, Index(target.key));
  auto& items = target.container->MutableItems();
  ALLOT_ASSIGN_OR_RETURN(const std::size_t place, Place(index, items.size(), items.size()));
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(place));
  return {};
}

class Operation {
 public:
  Operation(const Value& spec, Value& document, std::int64_t& copied)
      : spec_(spec), document_(document), copied_(copied) {}

  Result<void> Apply() {
    const Value* const op = spec_.Find("op");
    const std::string_view kind = op != nullptr && op->is_string() ? op->AsString() : "unknown";
    const std::string name(kind);
    const bool known = name == "add" || name == "remove" || name == "replace" || name == "move" ||
                       name == "test" || name == "copy";
    if (!known) {
      return Fail("Unexpected kind: " + name);
    }
    if (name == "move" || name == "copy") {
      return MoveOrCopy(name == "move");
    }
    const Value* const path = spec_.Find("path");
    if (path == nullptr || !path->is_string()) {
      return Fail(name + " operation failed to decode path: " +
                  (name == "add" || name == "remove" ? ""
                   : path == nullptr                 ? "operation missing path field: "
                                                     : "") +
                  std::string(kMissing));
    }
    const std::string where(path->AsString());
    if (where.empty() && name == "replace") {
      return ReplaceAll();
    }
    if (where.empty() && name == "test") {
      return Same(&document_) ? Result<void>() : Fail("testing value  failed: test failed");
    }
    const Target target = FindTarget(document_, where);
    if (target.container == nullptr) {
      const bool quoted = name == "add" || name == "remove";
      const std::string shown = quoted ? "\"" + where + "\"" : where;
      return Fail(name + " operation does not apply: " + (name == "test" ? "" : "doc ") +
                  "is missing path: " + shown + ": " + std::string(kMissing));
    }
    return name == "add"       ? AddAt(target, where)
           : name == "remove"  ? RemoveAt(target, where)
           : name == "replace" ? ReplaceAt(target, where)
                               : TestAt(target, where);
  }

 private:
  Value NewValue() const {
    const Value* const value = spec_.Find("value");
    return value != nullptr ? *value : Value();
  }

  /// Whether `value` (null: absent) equals the operation's value; absent and null are the same.
  bool Same(const Value* value) const {
    const Value* const wanted = spec_.Find("value");
    const bool no_value = value == nullptr || value->is_null();
    const bool no_wanted = wanted == nullptr || wanted->is_null();
    return no_value || no_wanted ? no_value == no_wanted : *value == *wanted;
  }

  Result<void> AddAt(const Target& target, const std::string& where) {
    if (auto added = Add(target, NewValue()); !added) {
      return FailWith("error in add for path: '" + where + "'", added.error());
    }
    return {};
  }

  Result<void> RemoveAt(const Target& target, const std::string& where) {
    if (auto removed = Remove(target); !removed) {
      return FailWith("error in remove for path: '" + where + "'", removed.error());
    }
    return {};
  }

  Result<void> ReplaceAll() {
    Value value = NewValue();
    if (!value.is_array() && !value.is_object()) {
      return Fail("replace operation value must be object or array");
    }
    document_ = std::move(value);
    return {};
  }

  Result<void> ReplaceAt(const Target& target, const std::string& where) {
    auto found = Get(*target.container, target.key);
    if (!found) {
      return Fail("replace operation does not apply: doc is missing key: " + where + ": " +
                  std::string(kMissing));
    }
    Value value = NewValue();
    ALLOT_RETURN_IF_ERROR(CheckDepth(target, value));
    if (*found != nullptr) {
      **found = std::move(value);
    } else {
      target.container->Set(target.key, std::move(value));
    }
    return {};
  }

  Result<void> TestAt(const Target& target, const std::string& where) {
    auto found = Get(*target.container, target.key);
    if (!found) {
      return FailWith("error in test for path: '" + where + "'", found.error());
    }
    return Same(*found) ? Result<void>() : Fail("testing value " + where + " failed: test failed");
  }

  Result<void> MoveOrCopy(bool move) {
    const std::string name = move ? "move" : "copy";
    const Value* const from = spec_.Find("from");
    if (from == nullptr || !from->is_string()) {
      return Fail(name + " operation failed to decode from: operation, missing from field: " +
                  std::string(kMissing));
    }
    const std::string source(from->AsString());
    const Target target = FindTarget(document_, source);
    if (target.container == nullptr) {
      return Fail(name + " operation does not apply: doc is missing from path: " + source + ": " +
                  std::string(kMissing));
    }
    auto found = Get(*target.container, target.key);
    if (!found) {
      return FailWith(
          "error in " + name + " for " + (move ? "path: '" + target.key : "from: '" + source) + "'",
          found.error());
    }
    Value value = *found != nullptr ? **found : Value();
    if (move) {
      if (auto removed = Remove(target); !removed) {
        return FailWith("error in move for path: '" + target.key + "'", removed.error());
      }
    }
    const Value* const path = spec_.Find("path");
    if (path == nullptr || !path->is_string()) {
      return Fail(name + " operation failed to decode path: " +
                  (move && path == nullptr ? "operation missing path field: " : "") +
                  std::string(kMissing));
    }
    const std::string where(path->AsString());
    const Target destination = FindTarget(document_, where);
    if (destination.container == nullptr) {
      return Fail(name + " operation does not apply: doc is missing destination path: " + where +
                  ": " + std::string(kMissing));
    }
    if (!move) {
      copied_ += static_cast<std::int64_t>(text::ToJson(value).size());
      if (copied_ > kMostCopiedBytes) {
        return Fail("Unable to complete the copy, the accumulated size increase of copy is " +
                    std::to_string(copied_) + ", exceeding the limit " +
                    std::to_string(kMostCopiedBytes));
      }
    }
    if (auto added = Add(destination, std::move(value)); !added) {
      return FailWith(
          move ? "error in move for path: '" + where + "'" : "error while adding value during copy",
          added.error());
    }
    return {};
  }

  const Value& spec_;
  Value& document_;
  std::int64_t& copied_;
};

/// Members with null inside a value that is taken over whole are left out; elements of lists stay.
void PruneNulls(Value& value) {
  if (value.is_object()) {
    auto& members = value.MutableMembers();
    std::erase_if(members, [](const text::Member& member) { return member.value.is_null(); });
    for (text::Member& member : members) {
      PruneNulls(member.value);
    }
  } else if (value.is_array()) {
    for (Value& item : value.MutableItems()) {
      PruneNulls(item);
    }
  }
}

}  // namespace

Result<void> ApplyJsonPatch(Value& document, const Value& patch) {
  std::int64_t copied = 0;
  for (const Value& operation : patch.items()) {
    ALLOT_RETURN_IF_ERROR(Operation(operation, document, copied).Apply());
  }
  return {};
}

void ApplyMergePatch(Value& document, const Value& patch) {
  if (!patch.is_object() || !document.is_object()) {
    // Nulls go when the patch takes the place of something that is no object; a list that replaces
    // an object keeps its own.
    const bool prune = !document.is_object();
    document = patch;
    if (prune) {
      PruneNulls(document);
    }
    return;
  }
  for (const text::Member& member : patch.members()) {
    if (member.value.is_null()) {
      document.Erase(member.key);
    } else {
      ApplyMergePatch(document[member.key], member.value);
    }
  }
  // Upstream merges in maps: what the patch touched comes out sorted, the rest as it was. Error
  // texts show it.
  std::ranges::sort(document.MutableMembers(), {}, &text::Member::key);
}

}  // namespace allot::schema
