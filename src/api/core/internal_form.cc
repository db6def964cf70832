#include "api/core/internal_form.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "api/core/internal_fields.h"
#include "api/layout.h"
#include "api/line_diff.h"
#include "quantity/quantity.h"
#include "quantity/time.h"
#include "schema/codec.h"
#include "schema/types.h"
#include "text/json.h"
#include "text/value.h"

namespace allot::api::core {
namespace {

using schema::FieldDesc;
using schema::Shape;
using schema::Str;
using schema::TypeDesc;
using schema::ValueKind;
using text::Value;

Value ObjectValue(const TypeDesc& type, const char* root);

template <typename T>
const T& At(const char* at) {
  return *reinterpret_cast<const T*>(at);
}

Value JsonValue(const TypeDesc& type, const void* root) {
  std::string json;
  schema::EncodeJson(type, root, json);
  auto value = text::ParseJson(json);
  return value ? *std::move(value) : Value();
}

Value TextList(const schema::List<Str>& texts) {
  if (texts.items == nullptr) {
    return {};
  }
  Value out = Value::Array();
  for (const Str text : texts) {
    out.Append(Value(text));
  }
  return out;
}

Value ScalarValue(const FieldDesc& field, const char* at) {
  switch (field.kind) {
    case ValueKind::kString: return Value(At<Str>(at));
    case ValueKind::kBytes: return At<Str>(at).empty() ? Value() : Value("...");
    case ValueKind::kBool: return Value(At<bool>(at));
    case ValueKind::kInt32: return Value(static_cast<std::int64_t>(At<std::int32_t>(at)));
    case ValueKind::kInt64: return Value(At<std::int64_t>(at));
    case ValueKind::kDouble: return Value(At<double>(at));
    case ValueKind::kQuantity: return Value(At<quantity::Quantity>(at).ToString());
    case ValueKind::kIntOrString: {
      const auto& value = At<schema::IntOrString>(at);
      return value.is_string ? Value(value.text) : Value(static_cast<std::int64_t>(value.number));
    }
    case ValueKind::kTime: {
      const auto& time = At<quantity::Time>(at);
      return time.set ? Value(quantity::FormatTime(time)) : Value();
    }
    case ValueKind::kMicroTime: {
      const auto& time = At<quantity::Time>(at);
      return time.set ? Value(quantity::FormatMicroTime(time)) : Value();
    }
    case ValueKind::kDuration:
      return Value(quantity::FormatDuration(At<schema::Duration>(at).nanos));
    case ValueKind::kRaw:
    case ValueKind::kFieldsV1: {
      auto value = text::ParseJson(At<schema::RawJson>(at).text);
      return value ? *std::move(value) : Value();
    }
    case ValueKind::kMessage: return ObjectValue(*field.message, at);
    case ValueKind::kStringList: return TextList(At<schema::List<Str>>(at));
  }
  return {};
}

Value FieldValue(const FieldDesc& field, const char* at) {
  switch (field.shape) {
    case Shape::kValue: return ScalarValue(field, at);
    case Shape::kPointer: {
      const char* const target = At<const char*>(at);
      return target != nullptr ? ScalarValue(field, target) : Value();
    }
    case Shape::kList:
    case Shape::kMap: break;
  }
  const auto& list = At<schema::List<char>>(at);
  if (list.items == nullptr) {
    return {};
  }
  const bool map = field.shape == Shape::kMap;
  const ElementLayout layout = ElementLayoutOf(field);
  Value out = map ? Value::Object() : Value::Array();
  for (std::uint32_t i = 0; i < list.count; ++i) {
    const char* const element = list.items + (i * layout.stride);
    Value value = ScalarValue(field, element + layout.value_at);
    if (map) {
      out.Set(At<Str>(element), std::move(value));
    } else {
      out.Append(std::move(value));
    }
  }
  return out;
}

/// The field of a name as it stands in JSON; null when there is none.
const schema::JsonField* Find(const TypeDesc& type, std::string_view json_name) {
  for (const schema::JsonField& field : type.json_fields) {
    if (field.field->name == json_name) {
      return &field;
    }
  }
  return nullptr;
}

std::string JsonName(std::string_view entry) {
  if (const std::size_t equals = entry.find('='); equals != std::string_view::npos) {
    return std::string(entry.substr(equals + 1));
  }
  std::string name(entry);
  name[0] = static_cast<char>(name[0] - 'A' + 'a');
  return name;
}

Value ObjectValue(const TypeDesc& type, const char* root) {
  std::string_view rest = InternalFields(type.name);
  if (rest.empty()) {
    return JsonValue(type, root);
  }
  Value out = Value::Object();
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view entry = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const schema::JsonField* const field = Find(type, JsonName(entry));
    if (field == nullptr) {
      continue;
    }
    Value value = FieldValue(*field->field, root + field->offset);
    if (entry.find('.') != std::string_view::npos) {  // embedded: its members stand in its place
      for (const text::Member& member : value.members()) {
        out.Set(member.key, member.value);
      }
      continue;
    }
    out.Set(entry.substr(0, entry.find('=')), std::move(value));
  }
  return out;
}

void Print(const Value& value, std::size_t level, std::string& out) {
  const bool object = value.is_object();
  if ((!object && !value.is_array()) ||
      (object ? value.members().empty() : value.items().empty())) {
    text::WriteJson(value, out);
    return;
  }
  const auto line = [&](bool first) {
    out += first ? "\n" : ",\n";
    out.append(level + 1, ' ');
  };
  out += object ? '{' : '[';
  bool first = true;
  if (object) {
    for (const text::Member& member : value.members()) {
      line(std::exchange(first, false));
      text::AppendJsonString(member.key, out);
      out += ": ";
      Print(member.value, level + 1, out);
    }
  } else {
    for (const Value& item : value.items()) {
      line(std::exchange(first, false));
      Print(item, level + 1, out);
    }
  }
  out += '\n';
  out.append(level, ' ');
  out += object ? '}' : ']';
}

}  // namespace

std::string InternalJson(const TypeDesc& type, const void* root) {
  std::string out;
  Print(ObjectValue(type, static_cast<const char*>(root)), 0, out);
  return out;
}

std::string InternalDiff(const TypeDesc& type, const void* before, const void* after) {
  return UnifiedDiff(InternalJson(type, before), InternalJson(type, after));
}

}  // namespace allot::api::core
