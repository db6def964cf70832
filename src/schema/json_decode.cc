// Typed JSON decoding: one pass over the text, one walk over the tables.
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "schema/codec.h"
#include "schema/json_reader.h"
#include "schema/layout.h"

namespace allot::schema {
namespace {

using base::Reason;
using base::Result;

class Decoder {
 public:
  Decoder(std::string_view text, base::Arena& arena, const DecodeOptions& options)
      : in_(text, arena, options) {}

  bool Run(const TypeDesc& type, void* root) {
    in_.Blanks();
    if (in_.AtEnd()) {
      return false;
    }
    if (in_.Peek() == '{') {
      if (!Object(type, static_cast<char*>(root), nullptr, in_.max_depth())) {
        return false;
      }
    } else if (!in_.AtNull()) {
      if (!in_.Mismatch(nullptr, std::string(type.version) + "." + std::string(type.name))) {
        return false;
      }
    } else if (!in_.Null()) {
      return false;
    }
    in_.Blanks();
    return in_.error().empty() && in_.AtEnd();
  }

  /// What went wrong beyond syntax; empty when only the syntax is broken.
  std::string& error() { return in_.error(); }

 private:
  bool Object(const TypeDesc& type, char* to, const Frame* parent, int depth) {
    if (depth <= 0) {
      return false;
    }
    if (in_.OpenEmpty('}')) {
      return true;
    }
    Frame frame{.parent = parent, .type = &type};
    std::uint64_t seen[2] = {0, 0};
    bool bad = false;
    do {
      Str key;
      if (!in_.Key(key)) {
        return false;
      }
      const JsonField* const found = type.Find(key);
      if (found == nullptr) {
        in_.Report("unknown", parent, key);
        if (!in_.Skip(depth - 1)) {
          return false;
        }
        continue;
      }
      const auto index = static_cast<std::size_t>(found - type.json_fields.data());
      std::uint64_t& word = seen[index / 64 & 1];
      const std::uint64_t bit = std::uint64_t{1} << (index % 64);
      if ((word & bit) != 0) {
        in_.Report("duplicate", parent, key);
      }
      word |= bit;
      frame.field = found;
      if (!Member(*found->field, to + found->offset, frame, depth)) {
        return false;
      }
    } while (in_.More('}', bad));
    return !bad;
  }

  bool Member(const FieldDesc& field, char* to, const Frame& frame, int depth) {
    switch (field.shape) {
      case Shape::kValue: return Value(field, to, frame, depth, /*element=*/false);
      case Shape::kPointer: return Pointer(field, to, frame, depth);
      case Shape::kList: return ListOf(field, to, frame, depth);
      case Shape::kMap: return MapOf(field, to, frame, depth);
    }
    return false;
  }

  bool Pointer(const FieldDesc& field, char* to, const Frame& frame, int depth) {
    if (in_.AtNull()) {
      Store<const void*>(to, nullptr);
      return in_.Null();
    }
    auto* target = static_cast<char*>(const_cast<void*>(Load<const void*>(to)));
    if (target == nullptr) {
      const Layout layout = LayoutOf(field);
      target = NewZeroed(in_.arena(), layout.size, layout.alignment);
      Store<const void*>(to, target);
    }
    return Value(field, target, frame, depth, /*element=*/false);
  }

  bool ListOf(const FieldDesc& field, char* to, const Frame& parent, int depth) {
    if (in_.AtNull()) {
      Store(to, AnyList());
      return in_.Null();
    }
    if (in_.Peek() != '[') {
      return in_.Mismatch(&parent, GoType(field, /*element=*/false, parent.type));
    }
    if (depth <= 0) {
      return false;
    }
    const Layout layout = LayoutOf(field);
    ListBuilder list(in_.arena(), layout.size, layout.alignment);
    if (in_.OpenEmpty(']')) {
      Store(to, list.Finish());
      return true;
    }
    Frame frame{.parent = &parent, .is_list = true};
    bool bad = false;
    do {
      in_.Blanks();
      if (in_.AtEnd() || !Value(field, list.Add(), frame, depth - 1, /*element=*/true)) {
        return false;
      }
      ++frame.index;
    } while (in_.More(']', bad));
    Store(to, list.Finish());
    return !bad;
  }

  bool MapOf(const FieldDesc& field, char* to, const Frame& parent, int depth) {
    if (in_.AtNull()) {
      Store(to, AnyList());
      return in_.Null();
    }
    if (in_.Peek() != '{') {
      return in_.Mismatch(&parent, GoType(field, /*element=*/false, parent.type));
    }
    if (depth <= 0) {
      return false;
    }
    const EntryLayout layout = EntryLayoutOf(field);
    ListBuilder list(in_.arena(), layout.size, layout.alignment);
    list.Start(Load<AnyList>(to));
    const std::uint32_t before = list.count();
    if (in_.OpenEmpty('}')) {
      Store(to, list.Finish());
      return true;
    }
    Frame frame{.parent = &parent};
    bool sorted = before == 0;
    bool bad = false;
    do {
      Str key;
      if (!in_.Key(key)) {
        return false;
      }
      sorted = sorted && (list.count() == 0 || Load<Str>(list[list.count() - 1]) < key);
      if (!sorted && in_.is_strict() && HasKey(list, before, key)) {
        in_.Report("duplicate", &parent, key);
      }
      char* const entry = list.Add();
      Store(entry, key);
      frame.key = key;
      if (!MapValue(field, entry + layout.value, frame, depth - 1)) {
        return false;
      }
    } while (in_.More('}', bad));
    if (!sorted) {
      list.SortEntries();
    }
    Store(to, list.Finish());
    return !bad;
  }

  static bool HasKey(const ListBuilder& list, std::uint32_t from, Str key) {
    for (std::uint32_t i = from; i < list.count(); ++i) {
      if (Load<Str>(list[i]) == key) {
        return true;
      }
    }
    return false;
  }

  bool MapValue(const FieldDesc& field, char* to, const Frame& frame, int depth) {
    return field.kind == ValueKind::kStringList ? StringList(to, frame)
                                                : Value(field, to, frame, depth, /*element=*/true);
  }

  bool StringList(char* to, const Frame& parent) {
    if (in_.AtNull()) {
      return in_.Null();
    }
    if (in_.Peek() != '[') {
      return in_.Mismatch(&parent, "[]string");
    }
    ListBuilder list(in_.arena(), sizeof(Str), alignof(Str));
    if (in_.OpenEmpty(']')) {
      Store(to, list.Finish());
      return true;
    }
    bool bad = false;
    do {
      in_.Blanks();
      if (in_.AtEnd()) {
        return false;
      }
      char* const element = list.Add();
      if (in_.AtNull()) {
        if (!in_.Null()) {
          return false;
        }
      } else if (in_.Peek() != '"') {
        return in_.Mismatch(&parent, "string");
      } else if (!String(element)) {
        return false;
      }
    } while (in_.More(']', bad));
    Store(to, list.Finish());
    return !bad;
  }

  bool String(char* to) {
    Str text;
    if (!in_.String(text)) {
      return false;
    }
    Store(to, text);
    return true;
  }

  /// Reads one value of the field's kind. `to` is zero, or holds an earlier value that is
  /// overwritten.
  bool Value(const FieldDesc& field, char* to, const Frame& frame, int depth, bool element) {
    const char c = in_.Peek();
    switch (field.kind) {
      case ValueKind::kString:
        if (c == '"') {
          return String(to);
        }
        break;
      case ValueKind::kMessage:
        if (c == '{') {
          return Object(*field.message, to, &frame, depth - 1);
        }
        break;
      case ValueKind::kBool:
        if (c == 't' || c == 'f') {
          Store(to, c == 't');
          return in_.Literal(c == 't' ? "true" : "false");
        }
        break;
      case ValueKind::kInt32:
        if (in_.AtNumber()) {
          return Integer<std::int32_t>(field, to, frame, element);
        }
        break;
      case ValueKind::kInt64:
        if (in_.AtNumber()) {
          return Integer<std::int64_t>(field, to, frame, element);
        }
        break;
      case ValueKind::kDouble:
        if (in_.AtNumber()) {
          return Double(field, to, frame, element);
        }
        break;
      default: return DecodeSpecialJson(in_, field, to, frame, depth);
    }
    if (c == 'n') {
      return in_.Null();  // leaves the zero value, as Go does
    }
    if (field.kind == ValueKind::kMessage && c == '[' && depth <= 0) {
      return false;
    }
    return in_.Mismatch(&frame, GoType(field, element, frame.type));
  }

  template <typename T>
  bool Integer(const FieldDesc& field, char* to, const Frame& frame, bool element) {
    Str token;
    bool is_integer = false;
    if (!in_.Number(token, is_integer)) {
      return false;
    }
    T value = 0;
    if (!is_integer ||
        std::from_chars(token.data(), token.data() + token.size(), value).ec != std::errc()) {
      in_.Cannot("number " + std::string(token), &frame, GoType(field, element, frame.type));
      return true;
    }
    Store(to, value);
    return true;
  }

  bool Double(const FieldDesc& field, char* to, const Frame& frame, bool element) {
    Str token;
    bool is_integer = false;
    if (!in_.Number(token, is_integer)) {
      return false;
    }
    double value = 0;
    if (std::from_chars(token.data(), token.data() + token.size(), value).ec ==
        std::errc::result_out_of_range) {
      value = std::strtod(std::string(token).c_str(), nullptr);
      if (std::isinf(value)) {
        in_.Cannot("number " + std::string(token), &frame, GoType(field, element, frame.type));
        return true;
      }
    }
    Store(to, value);
    return true;
  }

  JsonReader in_;
};

}  // namespace

Result<void> DecodeJson(const TypeDesc& type,
                        std::string_view text,
                        base::Arena& arena,
                        void* root,
                        const DecodeOptions& options) {
  Decoder decoder(text, arena, options);
  if (decoder.Run(type, root)) {
    return {};
  }
  // Go checks the syntax of the whole text first, so a syntax error anywhere comes before others.
  if (auto error = text::FindJsonError(text, options.max_depth)) {
    return base::Error(Reason::kBadRequest, std::move(error->message));
  }
  return base::Error(Reason::kBadRequest,
                     decoder.error().empty() ? "invalid character '{' exceeded max depth"
                                             : std::move(decoder.error()));
}

}  // namespace allot::schema
