#include "schema/patch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "quantity/go_text.h"
#include "text/json.h"

namespace allot::schema {
namespace {

using base::Reason;
using base::Result;
using text::Value;

/// What clients are told of a patch that can be read but not applied.
std::unexpected<base::Status> Rejected() {
  return base::Error(base::Status(Reason::kInvalid,
                                  "the server rejected our request due to an error in our request",
                                  base::StatusDetails{}));
}

/// 422 with one cause at field `patch`.
std::unexpected<base::Status> InvalidPatch(const std::string& shown, const std::string& why) {
  const std::string cause = "Invalid value: " + quantity::GoQuote(shown) + ": " + why;
  base::StatusDetails details;
  details.causes.push_back({"FieldValueInvalid", cause, "patch"});
  return base::Error(
      base::Status(Reason::kInvalid, " \"\" is invalid: patch: " + cause, std::move(details)));
}

Result<Value> ReadPatch(std::string_view patch, std::vector<std::string>* duplicates) {
  text::JsonOptions options;
  options.duplicates = duplicates;
  auto value = text::ParseJson(patch, options);
  if (!value) {
    return base::Error(Reason::kBadRequest, "invalid JSON patch");
  }
  return value;
}

/// What upstream says of a wrong type when it turns a tree, not a text, into an object: strategic
/// patches do. `why` is what decoding the text says.
std::string TreeError(const std::string& why) {
  constexpr std::string_view kStart = "json: cannot unmarshal ";
  constexpr std::string_view kType = " of type ";
  const std::size_t at = why.rfind(kType);
  if (!why.starts_with(kStart) || at == std::string::npos) {
    return why;
  }
  const std::string_view rest = std::string_view(why).substr(kStart.size());
  std::string_view found = rest.substr(0, rest.find(' '));
  found = found == "object"   ? "map"
          : found == "array"  ? "slice"
          : found == "number" ? "int64"
                              : found;
  const std::string type = why.substr(at + kType.size());
  if (type.starts_with("[]")) {
    return "cannot restore slice from " + std::string(found);
  }
  if (type.starts_with("map[")) {
    return "cannot restore map from " + std::string(found);
  }
  if (type == "string" && found == "int64") {
    return "cannot convert int64 to string";
  }
  if (type == "string" || type == "bool" || type == "int32" || type == "int64") {
    return "unrecognized type: " + type;
  }
  return "cannot restore struct from: " + std::string(found);
}

std::string_view GoKind(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull: return "null";
    case Value::Kind::kBool: return "bool";
    case Value::Kind::kInt:
    case Value::Kind::kDouble: return "number";
    case Value::Kind::kString: return "string";
    case Value::Kind::kArray: return "array";
    case Value::Kind::kObject: return "object";
  }
  return {};
}

std::unexpected<base::Status> CannotRead(const Value& value, const std::string& into) {
  return base::Error(Reason::kBadRequest,
                     "error decoding patch: json: cannot unmarshal " + std::string(GoKind(value)) +
                         " into Go " + into);
}

/// Checks that a JSON Patch is a list of operations and collects members that are none of RFC 6902.
Result<void> CheckOperations(const Value& patch, std::vector<std::string>& findings) {
  if (!patch.is_array()) {
    return CannotRead(patch, "value of type []handlers.jsonPatchOp");
  }
  std::size_t index = 0;
  for (const Value& operation : patch.items()) {
    if (!operation.is_object()) {
      if (!operation.is_null()) {
        return CannotRead(operation, "value of type handlers.jsonPatchOp");
      }
      ++index;
      continue;
    }
    for (const text::Member& member : operation.members()) {
      const bool is_text = member.key == "op" || member.key == "path" || member.key == "from";
      if (is_text && !member.value.is_string() && !member.value.is_null()) {
        return CannotRead(member.value,
                          "struct field jsonPatchOp." + member.key + " of type string");
      }
      if (!is_text && member.key != "value") {
        findings.push_back("json patch unknown field " +
                           quantity::GoQuote("[" + std::to_string(index) + "]." + member.key));
      }
    }
    ++index;
  }
  if (patch.items().size() > kMostJsonPatchOperations) {
    return base::Error(Reason::kRequestEntityTooLarge,
                       "The allowed maximum operations in a JSON patch is " +
                           std::to_string(kMostJsonPatchOperations) + ", got " +
                           std::to_string(patch.items().size()));
  }
  return {};
}

void AppendDuplicates(const std::vector<std::string>& paths,
                      std::string_view prefix,
                      std::vector<std::string>& findings) {
  for (const std::string& path : paths) {
    findings.push_back(std::string(prefix) + "duplicate field " + quantity::GoQuote(path));
  }
}

/// Applies the patch to the tree and collects what strict reading finds in the patch itself.
/// `shown` is how an error about the outcome prints it.
Result<void> ApplyToTree(PatchType patch_type,
                         const TypeDesc& type,
                         std::string_view patch,
                         Value& document,
                         std::vector<std::string>& findings,
                         std::string& shown) {
  std::vector<std::string> duplicates;
  switch (patch_type) {
    case PatchType::kJson: {
      ALLOT_ASSIGN_OR_RETURN(const Value operations, ReadPatch(patch, &duplicates));
      AppendDuplicates(duplicates, "json patch ", findings);
      ALLOT_RETURN_IF_ERROR(CheckOperations(operations, findings));
      if (!ApplyJsonPatch(document, operations)) {
        return Rejected();
      }
      break;
    }
    case PatchType::kMerge: {
      ALLOT_ASSIGN_OR_RETURN(const Value merge, ReadPatch(patch, &duplicates));
      AppendDuplicates(duplicates, "", findings);
      if (merge.is_null()) {
        return base::Error(Reason::kBadRequest, "Invalid JSON Patch");
      }
      if (!merge.is_object()) {
        return CannotRead(merge, "value of type map[string]interface {}");
      }
      ApplyMergePatch(document, merge);
      break;
    }
    case PatchType::kStrategicMerge: {
      ALLOT_ASSIGN_OR_RETURN(const Value merge, ReadPatch(patch, &duplicates));
      AppendDuplicates(duplicates, "", findings);
      if (!merge.is_object() && !merge.is_null()) {
        return base::Error(Reason::kBadRequest,
                           "json: cannot unmarshal " + std::string(GoKind(merge)) +
                               " into Go value of type map[string]interface {}");
      }
      shown = GoText(merge);
      if (merge.is_null()) {
        return {};
      }
      auto applied = ApplyStrategicMergePatch(type, document, merge);
      if (!applied && applied.error().reason() == Reason::kInvalid) {
        return Rejected();
      }
      return applied;
    }
  }
  shown = text::ToJson(document);
  return {};
}

void PrintGo(const Value& value, std::string& out) {
  switch (value.kind()) {
    case Value::Kind::kNull: out += "<nil>"; break;
    case Value::Kind::kBool: out += value.AsBool() ? "true" : "false"; break;
    case Value::Kind::kInt: out += std::to_string(value.AsInt()); break;
    case Value::Kind::kDouble: text::AppendJsonDouble(value.AsDouble(), out); break;
    case Value::Kind::kString: out += value.AsString(); break;
    case Value::Kind::kArray: {
      out += '[';
      bool first = true;
      for (const Value& item : value.items()) {
        out += first ? "" : " ";
        first = false;
        PrintGo(item, out);
      }
      out += ']';
      break;
    }
    case Value::Kind::kObject: {
      std::vector<const text::Member*> members;
      for (const text::Member& member : value.members()) {
        members.push_back(&member);
      }
      std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) {
        return a->key < b->key;
      });
      out += "map[";
      bool first = true;
      for (const auto* const member : members) {
        out += first ? "" : " ";
        first = false;
        out += member->key + ":";
        PrintGo(member->value, out);
      }
      out += ']';
      break;
    }
  }
}

}  // namespace

std::string GoText(const Value& value) {
  std::string out;
  PrintGo(value, out);
  return out;
}

Value ToValue(const TypeDesc& type, const void* root, const EncodeOptions& options) {
  std::string json;
  EncodeJson(type, root, json, options);
  auto value = text::ParseJson(json);
  // The encoder writes valid JSON unless kept JSON is broken, and decoders refuse that.
  return value ? *std::move(value) : Value::Object();
}

Result<void> FromValue(const TypeDesc& type,
                       const Value& value,
                       base::Arena& arena,
                       void* root,
                       const DecodeOptions& options) {
  return DecodeJson(type, arena.Copy(text::ToJson(value)), arena, root, options);
}

Result<void> ApplyPatch(PatchType patch_type,
                        const TypeDesc& type,
                        const void* current,
                        std::string_view patch,
                        base::Arena& arena,
                        void* patched,
                        const PatchOptions& options) {
  Value document = ToValue(type, current);
  std::vector<std::string> findings;
  std::string shown;
  ALLOT_RETURN_IF_ERROR(ApplyToTree(patch_type, type, patch, document, findings, shown));
  if (options.refuse && patch_type != PatchType::kStrategicMerge) {
    const std::string why =
        options.refuse(document.StringAt({"kind"}), document.StringAt({"apiVersion"}));
    if (!why.empty()) {
      return InvalidPatch(shown, why);
    }
  }
  StrictFindings strict;
  DecodeOptions decode;
  decode.strict = options.validation != FieldValidation::kIgnore ? &strict : nullptr;
  if (auto decoded = FromValue(type, document, arena, patched, decode); !decoded) {
    const std::string& why = decoded.error().message();
    return InvalidPatch(shown, patch_type == PatchType::kStrategicMerge ? TreeError(why) : why);
  }
  findings.insert(findings.end(), strict.errors.begin(), strict.errors.end());
  if (findings.empty() || options.validation == FieldValidation::kIgnore) {
    return {};
  }
  if (options.validation == FieldValidation::kWarn) {
    if (options.warnings != nullptr) {
      options.warnings->insert(options.warnings->end(), findings.begin(), findings.end());
    }
    return {};
  }
  std::string why = "strict decoding error: ";
  for (const std::string& finding : findings) {
    why += (&finding == &findings.front() ? "" : ", ") + finding;
  }
  return InvalidPatch(shown, why);
}

}  // namespace allot::schema
