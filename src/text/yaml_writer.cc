// Writing: libyaml's emitter with the styles and the order of keys that kubectl prints.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <yaml.h>

#include "text/json_scanner.h"
#include "text/yaml.h"
#include "text/yaml_resolve.h"

namespace allot::text {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

/// Bytes of other scripts count as letters.
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

/// The digits from `at` on as a number; saturates.
std::uint64_t NumberAt(std::string_view text, std::size_t& at, std::uint64_t start) {
  std::uint64_t value = start;
  for (; at < text.size() && IsDigit(text[at]); ++at) {
    value = value * 10 + static_cast<std::uint64_t>(text[at] - '0');
  }
  return value;
}

/// Order of keys as upstream's YAML library has it: numbers inside the text count by value, and
/// letters come after everything else.
bool KeyLess(std::string_view a, std::string_view b) {
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (a[i] == b[i]) {
      continue;
    }
    const bool a_letter = IsLetter(a[i]);
    const bool b_letter = IsLetter(b[i]);
    if (a_letter && b_letter) {
      return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[i]);
    }
    if (a_letter || b_letter) {
      return b_letter;
    }
    std::uint64_t start = 0;
    if (a[i] == '0' || b[i] == '0') {
      for (std::size_t j = i; j > 0 && IsDigit(a[j - 1]); --j) {
        if (a[j - 1] != '0') {
          start = 1;
          break;
        }
      }
    }
    std::size_t a_end = i;
    std::size_t b_end = i;
    const std::uint64_t a_number = NumberAt(a, a_end, start);
    const std::uint64_t b_number = NumberAt(b, b_end, start);
    if (a_number != b_number) {
      return a_number < b_number;
    }
    if (a_end != b_end) {
      return a_end < b_end;
    }
    return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[i]);
  }
  return a.size() < b.size();
}

int Append(void* to, unsigned char* bytes, std::size_t size) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), size);
  return 1;
}

class Writer {
 public:
  explicit Writer(std::string& out) {
    yaml_emitter_initialize(&emitter_);
    yaml_emitter_set_output(&emitter_, &Append, &out);
    yaml_emitter_set_unicode(&emitter_, 1);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { yaml_emitter_delete(&emitter_); }

  void Document(const Value& value) {
    yaml_event_t event;
    yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
    Emit(event);
    yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1);
    Emit(event);
    Node(value);
    yaml_document_end_event_initialize(&event, 1);
    Emit(event);
    emitter_.open_ended = 0;  // no `...` after a text that keeps its line breaks
    yaml_stream_end_event_initialize(&event);
    Emit(event);
  }

 private:
  void Emit(yaml_event_t& event) { yaml_emitter_emit(&emitter_, &event); }

  void Scalar(std::string_view text, yaml_scalar_style_t style) {
    yaml_event_t event;
    yaml_scalar_event_initialize(&event,
                                 nullptr,
                                 nullptr,
                                 reinterpret_cast<const yaml_char_t*>(text.data()),
                                 static_cast<int>(text.size()),
                                 1,
                                 1,
                                 style);
    Emit(event);
  }

  void String(std::string_view text) {
    std::string clean;
    if (!IsValidUtf8(text)) {
      clean.resize(UnescapedBound(text));
      // Only the replacement of stray bytes is wanted; a backslash stands for itself.
      char* to = clean.data();
      for (std::string_view rest = text; !rest.empty();) {
        const std::size_t length = Utf8Length(rest);
        const std::string_view piece =
            length != 0 ? rest.substr(0, length) : std::string_view("\xEF\xBF\xBD");
        to = std::copy(piece.begin(), piece.end(), to);
        rest.remove_prefix(length != 0 ? length : 1);
      }
      clean.resize(static_cast<std::size_t>(to - clean.data()));
      text = clean;
    }
    if (text.find('\n') != std::string_view::npos) {
      Scalar(text, YAML_LITERAL_SCALAR_STYLE);
      return;
    }
    const bool plain = yaml::Resolve(text).kind == yaml::ScalarKind::kString &&
                       !yaml::IsBase60(text) && text != "<<" &&
                       text != "=";  // a merge and a default value to other readers
    Scalar(text, plain ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
  }

  void Node(const Value& value) {
    yaml_event_t event;
    switch (value.kind()) {
      case Value::Kind::kNull: Scalar("null", YAML_PLAIN_SCALAR_STYLE); break;
      case Value::Kind::kBool:
        Scalar(value.AsBool() ? "true" : "false", YAML_PLAIN_SCALAR_STYLE);
        break;
      case Value::Kind::kInt: Scalar(std::to_string(value.AsInt()), YAML_PLAIN_SCALAR_STYLE); break;
      case Value::Kind::kDouble:
        Scalar(yaml::FormatGeneral(value.AsDouble()), YAML_PLAIN_SCALAR_STYLE);
        break;
      case Value::Kind::kString: String(value.AsString()); break;
      case Value::Kind::kArray:
        yaml_sequence_start_event_initialize(
            &event, nullptr, nullptr, 1, YAML_BLOCK_SEQUENCE_STYLE);
        Emit(event);
        for (const Value& item : value.items()) {
          Node(item);
        }
        yaml_sequence_end_event_initialize(&event);
        Emit(event);
        break;
      case Value::Kind::kObject: Mapping(value); break;
    }
  }

  void Mapping(const Value& value) {
    // KeyLess is no strict order (k10 < k1a < k9 < k10), so members are inserted one by one.
    std::vector<const Member*> members;
    members.reserve(value.members().size());
    for (const Member& member : value.members()) {
      const auto place = std::upper_bound(
          members.begin(), members.end(), &member, [](const Member* left, const Member* right) {
            return KeyLess(left->key, right->key);
          });
      members.insert(place, &member);
    }
    yaml_event_t event;
    yaml_mapping_start_event_initialize(&event, nullptr, nullptr, 1, YAML_BLOCK_MAPPING_STYLE);
    Emit(event);
    for (const Member* const member : members) {
      String(member->key);
      Node(member->value);
    }
    yaml_mapping_end_event_initialize(&event);
    Emit(event);
  }

  yaml_emitter_t emitter_{};
};

}  // namespace

void WriteYaml(const Value& value, std::string& out) {
  Writer(out).Document(value);
}

std::string ToYaml(const Value& value) {
  std::string out;
  WriteYaml(value, out);
  return out;
}

}  // namespace allot::text
