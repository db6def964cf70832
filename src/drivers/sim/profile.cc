#include "drivers/sim/profile.h"

#include "drivers/sim/yaml_fields.h"
#include "quantity/quantity.h"
#include "text/yaml.h"

namespace allot::drivers::sim {
namespace {

base::Result<AttributeTemplate> ParseAttribute(const text::Member& member,
                                               const std::string& path) {
  constexpr std::string_view kTypes[] = {"string", "int", "bool", "version"};
  if (member.value.is_object() && member.value.members().size() == 1) {
    const text::Member& only = member.value.members().front();
    for (std::size_t i = 0; i < std::size(kTypes); ++i) {
      AttributeTemplate attribute{member.key, static_cast<AttributeType>(i), {}};
      if (only.key == kTypes[i] && ScalarText(only.value, attribute.text)) {
        return attribute;
      }
    }
  }
  return base::Error(Unexpected(path + "." + member.key,
                                member.value,
                                "one of {string: x}, {int: n}, {bool: b}, {version: v}"));
}

base::Result<void> ParseDevice(const text::Value& value,
                               const std::string& path,
                               Profile& profile) {
  const Fields fields(value, path);
  ALLOT_RETURN_IF_ERROR(fields.Check({"name", "attributes", "capacity"}));
  ALLOT_ASSIGN_OR_RETURN(profile.device_name, fields.Text("name"));
  if (const text::Value* const attributes = fields.Find("attributes"); attributes != nullptr) {
    for (const text::Member& member : attributes->members()) {
      ALLOT_ASSIGN_OR_RETURN(AttributeTemplate attribute,
                             ParseAttribute(member, fields.PathOf("attributes")));
      profile.attributes.push_back(std::move(attribute));
    }
  }
  ALLOT_ASSIGN_OR_RETURN(const auto capacity, fields.Texts("capacity"));
  for (const auto& [name, text] : capacity) {
    if (const auto quantity = quantity::ParseQuantity(text); !quantity) {
      return base::Error(base::Reason::kInvalid,
                         fields.PathOf("capacity") + "." + name + ": found \"" + text +
                             "\", expected a quantity: " + quantity.error().message());
    }
    profile.capacity.push_back({name, text});
  }
  return {};
}

base::Result<void> ParseClasses(const Fields& fields, Profile& profile) {
  ALLOT_ASSIGN_OR_RETURN(const text::Value* const classes, fields.List("classes"));
  if (classes == nullptr) {
    return {};
  }
  for (const text::Value& item : classes->items()) {
    const Fields entry(item,
                       fields.PathOf("classes[" + std::to_string(profile.classes.size()) + "]"));
    ALLOT_RETURN_IF_ERROR(entry.Check({"name", "expression", "extendedResourceName"}));
    ClassTemplate parsed;
    ALLOT_ASSIGN_OR_RETURN(parsed.name, entry.Text("name"));
    ALLOT_ASSIGN_OR_RETURN(parsed.expression, entry.Text("expression"));
    ALLOT_ASSIGN_OR_RETURN(parsed.extended_resource_name, entry.Text("extendedResourceName", ""));
    profile.classes.push_back(std::move(parsed));
  }
  return {};
}

}  // namespace

base::Result<Profile> ParseProfile(std::string_view yaml, std::string_view source) {
  auto document = text::ParseYaml(yaml);
  if (!document) {
    return base::Error(std::move(document).error().Prepend(std::string(source) + ": "));
  }
  const Fields fields(*document, std::string(source));
  ALLOT_RETURN_IF_ERROR(fields.Check({"profile", "driver", "count", "classes", "device", "rows"}));
  Profile profile;
  ALLOT_ASSIGN_OR_RETURN(profile.name, fields.Text("profile"));
  ALLOT_ASSIGN_OR_RETURN(profile.driver, fields.Text("driver"));
  ALLOT_ASSIGN_OR_RETURN(profile.count, fields.Int("count", 1, 0, 4096));
  ALLOT_RETURN_IF_ERROR(ParseClasses(fields, profile));
  const text::Value* const device = fields.Find("device");
  if (device == nullptr) {
    return base::Error(base::Reason::kInvalid, fields.PathOf("device") + ": missing");
  }
  ALLOT_RETURN_IF_ERROR(ParseDevice(*device, fields.PathOf("device"), profile));
  ALLOT_ASSIGN_OR_RETURN(const text::Value* const rows, fields.List("rows"));
  if (rows != nullptr) {
    for (const text::Value& row : rows->items()) {
      auto& columns = profile.rows.emplace_back();
      for (const text::Member& member : row.members()) {
        if (!ScalarText(member.value, columns[member.key])) {
          return base::Error(Unexpected(fields.PathOf("rows"), row, "a mapping of texts"));
        }
      }
    }
  }
  return profile;
}

base::Result<Profile> FindProfile(std::string_view name) {
  std::string names;
  for (const EmbeddedProfile& embedded : EmbeddedProfiles()) {
    if (embedded.name == name) {
      return ParseProfile(embedded.yaml, "profile " + std::string(name));
    }
    names += (names.empty() ? "" : ", ") + std::string(embedded.name);
  }
  return base::Error(base::Reason::kNotFound,
                     "device profile \"" + std::string(name) + "\" not found, there are: " + names);
}

base::Result<std::string> Expand(std::string_view text,
                                 const std::map<std::string, std::string>& values) {
  std::string out;
  while (true) {
    const std::size_t open = text.find('{');
    out += text.substr(0, open);
    if (open == std::string_view::npos) {
      return out;
    }
    const std::size_t close = text.find('}', open);
    const std::string name(
        text.substr(open + 1, close == std::string_view::npos ? close : close - open - 1));
    const auto value = values.find(name);
    if (close == std::string_view::npos || value == values.end()) {
      return base::Error(base::Reason::kInvalid, "unknown placeholder {" + name + "}");
    }
    out += value->second;
    text.remove_prefix(close + 1);
  }
}

}  // namespace allot::drivers::sim
