#include "api/go_value.h"

#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "api/layout.h"
#include "quantity/quantity.h"
#include "quantity/time.h"
#include "schema/codec.h"

namespace allot::api {
namespace {

using schema::FieldDesc;
using schema::List;
using schema::Shape;
using schema::Str;
using schema::TypeDesc;
using schema::ValueKind;

void AppendObject(const TypeDesc& type, const char* root, std::string& out);

/// Go's json.Marshal of a string, which escapes HTML as well.
void AppendText(Str text, std::string& out) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
      case '\\':
        out += '\\';
        out += c;
        break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == '<' || c == '>' || c == '&') {
          out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

/// The Go name of a field: `deviceClassName` -> `DeviceClassName`, with Go's initialisms.
std::string GoName(std::string_view json_name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kSpecial = {{
      {"cel", "CEL"},
      {"uid", "UID"},
      {"ips", "IPs"},
      {"ip", "IP"},
      {"apiGroup", "APIGroup"},
      {"apiVersion", "APIVersion"},
      {"int", "IntValue"},
      {"bool", "BoolValue"},
      {"seLinuxOptions", "SELinuxOptions"},
      {"httpGet", "HTTPGet"},
  }};
  for (const auto& [json, go] : kSpecial) {
    if (json == json_name) {
      return std::string(go);
    }
  }
  std::string out(json_name);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') {
    out[0] = static_cast<char>(out[0] - 'a' + 'A');
  }
  return out;
}

template <typename T>
const T& At(const char* at) {
  return *reinterpret_cast<const T*>(at);
}

void AppendTime(const quantity::Time& time, std::string& out) {
  out += time.set ? fmt::format("\"{}\"", quantity::FormatTime(time)) : "null";
}

void AppendValue(const FieldDesc& field, const char* at, std::string& out) {
  switch (field.kind) {
    case ValueKind::kString: AppendText(At<Str>(at), out); return;
    case ValueKind::kBytes: out += At<Str>(at).empty() ? "null" : "\"...\""; return;
    case ValueKind::kBool: out += At<bool>(at) ? "true" : "false"; return;
    case ValueKind::kInt32: out += fmt::to_string(At<std::int32_t>(at)); return;
    case ValueKind::kInt64: out += fmt::to_string(At<std::int64_t>(at)); return;
    case ValueKind::kDouble: out += fmt::to_string(At<double>(at)); return;
    case ValueKind::kQuantity: AppendText(At<quantity::Quantity>(at).ToString(), out); return;
    case ValueKind::kIntOrString: {
      const auto& value = At<schema::IntOrString>(at);
      if (value.is_string) {
        AppendText(value.text, out);
      } else {
        out += fmt::to_string(value.number);
      }
      return;
    }
    case ValueKind::kTime:
    case ValueKind::kMicroTime: AppendTime(At<quantity::Time>(at), out); return;
    case ValueKind::kDuration:
      AppendText(quantity::FormatDuration(At<schema::Duration>(at).nanos), out);
      return;
    case ValueKind::kRaw:
    case ValueKind::kFieldsV1: {
      const Str text = At<schema::RawJson>(at).text;
      out += text.empty() ? "null" : text;
      return;
    }
    case ValueKind::kMessage: AppendObject(*field.message, at, out); return;
    case ValueKind::kStringList: out += GoTexts(At<List<Str>>(at)).text(); return;
  }
}

void AppendField(const FieldDesc& field, const char* root, std::string& out) {
  const char* const at = root + field.offset;
  switch (field.shape) {
    case Shape::kValue: AppendValue(field, at, out); return;
    case Shape::kPointer:
      if (const char* const target = At<const char*>(at); target != nullptr) {
        AppendValue(field, target, out);
      } else {
        out += "null";
      }
      return;
    case Shape::kList:
    case Shape::kMap: {
      // A list and a map share their layout; a map's element is its key followed by its value.
      const auto& list = At<List<char>>(at);
      const bool map = field.shape == Shape::kMap;
      if (list.items == nullptr) {
        out += "null";
        return;
      }
      const ElementLayout layout = ElementLayoutOf(field);
      out += map ? '{' : '[';
      for (std::uint32_t i = 0; i < list.count; ++i) {
        const char* const element = list.items + (i * layout.stride);
        if (i != 0) {
          out += ',';
        }
        if (map) {
          AppendText(At<Str>(element), out);
          out += ':';
        }
        AppendValue(field, element + layout.value_at, out);
      }
      out += map ? '}' : ']';
      return;
    }
  }
}

void AppendObject(const TypeDesc& type, const char* root, std::string& out) {
  out += '{';
  bool first = true;
  const auto comma = [&] {
    if (!first) {
      out += ',';
    }
    first = false;
  };
  for (const FieldDesc& field : type.fields) {
    if (type.is_kind && (field.name == "kind" || field.name == "apiVersion")) {
      continue;
    }
    // ObjectMeta is embedded and keeps its JSON names.
    if (field.name == "metadata" && field.kind == ValueKind::kMessage) {
      std::string metadata;
      schema::EncodeJson(*field.message, root + field.offset, metadata);
      if (metadata.size() > 2) {
        comma();
        out.append(metadata, 1, metadata.size() - 2);
      }
      continue;
    }
    if (field.is_inline) {
      std::string inlined;
      AppendObject(*field.message, root + field.offset, inlined);
      comma();
      out.append(inlined, 1, inlined.size() - 2);
      continue;
    }
    comma();
    out += fmt::format("\"{}\":", GoName(field.name));
    AppendField(field, root, out);
  }
  out += '}';
}

}  // namespace

BadValue GoValue(const TypeDesc& type, const void* root) {
  std::string out;
  AppendObject(type, static_cast<const char*>(root), out);
  return BadValue::Raw(std::move(out));
}

BadValue GoValues(const TypeDesc& type, const void* first, std::size_t count) {
  if (first == nullptr) {
    return BadValue::Null();
  }
  std::string out = "[";
  for (std::size_t i = 0; i < count; ++i) {
    out += i != 0 ? "," : "";
    AppendObject(type, static_cast<const char*>(first) + (i * type.size), out);
  }
  out += ']';
  return BadValue::Raw(std::move(out));
}

BadValue GoTexts(const List<Str>& texts) {
  if (texts.items == nullptr) {
    return BadValue::Null();
  }
  std::string out = "[";
  for (const Str text : texts) {
    out += out.size() > 1 ? "," : "";
    AppendText(text, out);
  }
  out += ']';
  return BadValue::Raw(std::move(out));
}

}  // namespace allot::api
