#include "drivers/sim/yaml_fields.h"

#include <algorithm>

#include "text/json.h"

namespace allot::drivers::sim {

bool ScalarText(const text::Value& value, std::string& out) {
  if (value.is_string()) {
    out = value.AsString();
    return true;
  }
  if (value.is_number() || value.is_bool()) {
    out = text::ToJson(value);
    return true;
  }
  return false;
}

base::Status Unexpected(std::string_view path,
                        const text::Value& found,
                        std::string_view expected) {
  return base::Status(
      base::Reason::kInvalid,
      std::string(path) + ": found " + text::ToJson(found) + ", expected " + std::string(expected));
}

base::Result<void> Fields::Check(std::initializer_list<std::string_view> known) const {
  if (!value_.is_object()) {
    return base::Error(Unexpected(path_, value_, "a mapping"));
  }
  for (const text::Member& member : value_.members()) {
    if (std::find(known.begin(), known.end(), member.key) == known.end()) {
      std::string names;
      for (const std::string_view name : known) {
        names += (names.empty() ? "" : ", ") + std::string(name);
      }
      return base::Error(
          base::Reason::kInvalid,
          path_ + ": unknown field \"" + member.key + "\", expected one of: " + names);
    }
  }
  return {};
}

base::Result<std::string> Fields::Text(std::string_view field) const {
  const text::Value* const found = value_.Find(field);
  if (found == nullptr) {
    return base::Error(base::Reason::kInvalid, PathOf(field) + ": missing");
  }
  std::string text;
  if (!ScalarText(*found, text) || text.empty()) {
    return base::Error(Unexpected(PathOf(field), *found, "a text"));
  }
  return text;
}

base::Result<std::string> Fields::Text(std::string_view field, std::string_view otherwise) const {
  if (value_.Find(field) == nullptr) {
    return std::string(otherwise);
  }
  return Text(field);
}

base::Result<int> Fields::Int(std::string_view field, int otherwise, int least, int most) const {
  const text::Value* const found = value_.Find(field);
  if (found == nullptr) {
    return otherwise;
  }
  if (!found->is_int() || found->AsInt() < least || found->AsInt() > most) {
    return base::Error(
        Unexpected(PathOf(field),
                   *found,
                   "a whole number from " + std::to_string(least) + " to " + std::to_string(most)));
  }
  return static_cast<int>(found->AsInt());
}

base::Result<std::map<std::string, std::string>> Fields::Texts(std::string_view field) const {
  std::map<std::string, std::string> texts;
  const text::Value* const found = value_.Find(field);
  if (found == nullptr || found->is_null()) {
    return texts;
  }
  if (!found->is_object()) {
    return base::Error(Unexpected(PathOf(field), *found, "a mapping of texts"));
  }
  for (const text::Member& member : found->members()) {
    if (!ScalarText(member.value, texts[member.key])) {
      return base::Error(Unexpected(PathOf(field) + "." + member.key, member.value, "a text"));
    }
  }
  return texts;
}

base::Result<const text::Value*> Fields::List(std::string_view field) const {
  const text::Value* const found = value_.Find(field);
  if (found != nullptr && !found->is_array()) {
    return base::Error(Unexpected(PathOf(field), *found, "a list"));
  }
  return found;
}

}  // namespace allot::drivers::sim
