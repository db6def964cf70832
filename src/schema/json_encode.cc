// Typed JSON encoding: the order and the omissions of Go's encoder, from the tables.
#include <charconv>
#include <string>

#include "schema/base64.h"
#include "schema/codec.h"
#include "schema/layout.h"
#include "schema/output.h"
#include "schema/short_copy.h"
#include "schema/wire_table.h"
#include "text/json.h"
#include "text/json_scanner.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace allot::schema {
namespace {

/// Whether a plain member is not its zero value.
bool IsSet(ValueKind kind, const char* at) {
  switch (kind) {
    case ValueKind::kString:
    case ValueKind::kBytes:
    case ValueKind::kRaw:
    case ValueKind::kFieldsV1: return !Load<Str>(at).empty();
    case ValueKind::kBool: return Load<bool>(at);
    case ValueKind::kInt32: return Load<std::int32_t>(at) != 0;
    case ValueKind::kInt64: return Load<std::int64_t>(at) != 0;
    case ValueKind::kDouble: return Load<double>(at) != 0;
    case ValueKind::kTime:
    case ValueKind::kMicroTime: return Load<quantity::Time>(at).set;
    default: return true;  // Go never calls a struct empty
  }
}

bool IsWritten(const JsonRow& field, const char* at) {
  if (field.always) {
    return true;
  }
  switch (field.shape) {
    case Shape::kPointer: return Load<const void*>(at) != nullptr;
    case Shape::kList:
    case Shape::kMap: return Load<AnyList>(at).count != 0;
    case Shape::kValue: return IsSet(field.kind, at);
  }
  return true;
}

/// Bytes that may stand in a JSON string as they are, by the rules of Go's encoder.
bool IsPlain(unsigned char c) {
  return c >= 0x20 && c < 0x80 && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

/// Whether all eight bytes may stand in a JSON string as they are.
bool ArePlain(std::uint64_t bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
  constexpr std::uint64_t kHighs = 0x80 * kOnes;
  const auto zero = [](std::uint64_t word) {
    return (word - kOnes) & ~word;
  };
  const auto is = [&](char c) {
    return zero(bytes ^ (static_cast<unsigned char>(c) * kOnes));
  };
  // < and > differ from each other in one bit, which is set before comparing.
  const std::uint64_t angle = zero((bytes | 2 * kOnes) ^ (std::uint64_t{'>'} * kOnes));
  const std::uint64_t control = (bytes - 0x20 * kOnes) & ~bytes;
  return ((bytes | control | is('"') | is('\\') | is('&') | angle) & kHighs) == 0;
}

class Encoder {
 public:
  Encoder(std::string& out, const EncodeOptions& options) : out_(out), options_(options) {}

  void Root(const WireTable& type, const void* root) {
    out_.Put('{');
    bool first = true;
    for (const JsonRow& field : type.json) {
      const char* const at = At(root, field.offset);
      if (type.type->is_kind && (field.name == "kind" || field.name == "apiVersion")) {
        const Str text = field.name == "kind" && !options_.kind.empty() ? options_.kind
                         : field.name != "kind" && !options_.api_version.empty()
                             ? options_.api_version
                             : Load<Str>(at);
        if (!text.empty()) {
          Name(field.name, first);
          String(text);
        }
        continue;
      }
      if (!IsWritten(field, at)) {
        continue;
      }
      Name(field.name, first);
      const bool metadata = field.name == "metadata" && field.shape == Shape::kValue &&
                            field.kind == ValueKind::kMessage;
      if (metadata && (options_.revision != 0 || options_.without_revision)) {
        Metadata(*field.message, at);
      } else {
        Member(field, at);
      }
    }
    out_.Put('}');
  }

 private:
  void Metadata(const WireTable& type, const char* base) {
    out_.Put('{');
    bool first = true;
    for (const JsonRow& field : type.json) {
      const char* const at = base + field.offset;
      if (field.name == "resourceVersion") {
        if (options_.revision != 0) {
          Name(field.name, first);
          out_.Put('"');
          Integer(options_.revision);
          out_.Put('"');
        }
      } else if (IsWritten(field, at)) {
        Name(field.name, first);
        Member(field, at);
      }
    }
    out_.Put('}');
  }

  void Object(const WireTable& type, const char* base) {
    out_.Put('{');
    bool first = true;
    for (const JsonRow& field : type.json) {
      const char* const at = base + field.offset;
      if (IsWritten(field, at)) {
        Name(field.name, first);
        Member(field, at);
      }
    }
    out_.Put('}');
  }

  void Name(std::string_view name, bool& first) {
    char* to = out_.Room(name.size() + 4);
    if (!first) {
      *to++ = ',';
    }
    first = false;
    *to++ = '"';
    CopyText(to, name);
    to += name.size();
    *to++ = '"';
    *to++ = ':';
    out_.Advance(to);
  }

  void Member(const JsonRow& field, const char* at) {
    switch (field.shape) {
      case Shape::kValue: Value(field, at); break;
      case Shape::kPointer: {
        const auto* const target = Load<const char*>(at);
        if (target == nullptr) {
          out_.Put("null");
        } else {
          Value(field, target);
        }
        break;
      }
      case Shape::kList: ListOf(field, Load<AnyList>(at)); break;
      case Shape::kMap: MapOf(field, Load<AnyList>(at)); break;
    }
  }

  void ListOf(const JsonRow& field, const AnyList& list) {
    if (list.items == nullptr) {
      out_.Put("null");
      return;
    }
    out_.Put('[');
    for (std::uint32_t i = 0; i < list.count; ++i) {
      if (i != 0) {
        out_.Put(',');
      }
      Value(field, At(list.items, static_cast<std::size_t>(i) * field.size));
    }
    out_.Put(']');
  }

  void MapOf(const JsonRow& field, const AnyList& map) {
    if (map.items == nullptr) {
      out_.Put("null");
      return;
    }
    out_.Put('{');
    for (std::uint32_t i = 0; i < map.count; ++i) {
      const char* const entry = At(map.items, static_cast<std::size_t>(i) * field.size);
      if (i != 0) {
        out_.Put(',');
      }
      String(Load<Str>(entry));
      out_.Put(':');
      Value(field, entry + field.value);
    }
    out_.Put('}');
  }

  void Value(const JsonRow& field, const char* at) {
    switch (field.kind) {
      case ValueKind::kString: String(Load<Str>(at)); break;
      case ValueKind::kBool: out_.Put(Load<bool>(at) ? "true" : "false"); break;
      case ValueKind::kInt32: Integer(Load<std::int32_t>(at)); break;
      case ValueKind::kInt64: Integer(Load<std::int64_t>(at)); break;
      case ValueKind::kDouble: {
        std::string text;
        text::AppendJsonDouble(Load<double>(at), text);
        out_.Put(text);
        break;
      }
      case ValueKind::kBytes: Base64(Load<Str>(at)); break;
      case ValueKind::kQuantity: Quoted(Load<quantity::Quantity>(at).ToString()); break;
      case ValueKind::kIntOrString: {
        const auto value = Load<IntOrString>(at);
        if (value.is_string) {
          String(value.text);
        } else {
          Integer(value.number);
        }
        break;
      }
      case ValueKind::kTime:
      case ValueKind::kMicroTime: Time(field.kind, Load<quantity::Time>(at)); break;
      case ValueKind::kDuration: Quoted(quantity::FormatDuration(Load<Duration>(at).nanos)); break;
      case ValueKind::kRaw:
      case ValueKind::kFieldsV1: Raw(Load<RawJson>(at).text); break;
      case ValueKind::kMessage: Object(*field.message, at); break;
      case ValueKind::kStringList: StringList(Load<List<Str>>(at)); break;
    }
  }

  void StringList(const List<Str>& list) {
    if (list.items == nullptr) {
      out_.Put("null");
      return;
    }
    out_.Put('[');
    for (const Str& element : list) {
      if (&element != list.begin()) {
        out_.Put(',');
      }
      String(element);
    }
    out_.Put(']');
  }

  template <typename T>
  void Integer(T value) {
    char* const to = out_.Room(24);
    out_.Advance(std::to_chars(to, to + 24, value).ptr);
  }

  void Quoted(std::string_view text) {
    out_.Put('"');
    out_.Put(text);
    out_.Put('"');
  }

  void String(Str text) {
    char* to = out_.Room(text.size() + 18);
    *to++ = '"';
    if (text.size() - 4 <= 12 && ShortPlain(text)) {
      CopyText(to, text);
      to += text.size();
      *to++ = '"';
      out_.Advance(to);
      return;
    }
    const char* at = text.data();
    const char* const end = at + text.size();
#if defined(__SSE2__)
    while (end - at >= 16) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
      const auto equals = [bytes](char c) {
        return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c));
      };
      // < and > differ from each other in one bit, which is set before comparing.
      const __m128i angle =
          _mm_cmpeq_epi8(_mm_or_si128(bytes, _mm_set1_epi8(2)), _mm_set1_epi8('>'));
      const __m128i odd =
          _mm_or_si128(_mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')), equals('"')),
                       _mm_or_si128(_mm_or_si128(equals('\\'), equals('&')), angle));
      const auto mask = static_cast<unsigned>(_mm_movemask_epi8(odd));
      if (mask != 0) {
        const int clean = __builtin_ctz(mask);
        out_.Advance(to + clean);
        Escaped({at + clean, static_cast<std::size_t>(end - at - clean)});
        return;
      }
      at += 16;
      to += 16;
    }
#endif
    while (at != end) {
      if (!IsPlain(static_cast<unsigned char>(*at))) {
        out_.Advance(to);
        Escaped({at, static_cast<std::size_t>(end - at)});
        return;
      }
      *to++ = *at++;
    }
    *to++ = '"';
    out_.Advance(to);
  }

  /// Whether a text of 4 to 16 bytes may stand as it is.
  static bool ShortPlain(Str text) {
    if (text.size() < 8) {
      const auto first = std::uint64_t{Load<std::uint32_t>(text.data())};
      const auto last = std::uint64_t{Load<std::uint32_t>(text.data() + text.size() - 4)};
      return ArePlain(first | last << 32U);
    }
    return ArePlain(Load<std::uint64_t>(text.data())) &&
           ArePlain(Load<std::uint64_t>(text.data() + text.size() - 8));
  }

  /// The rest of a string from its first special byte on, and the closing quote.
  void Escaped(Str rest) {
    std::string text;
    text::AppendJsonString(rest, text);
    out_.Put(std::string_view(text).substr(1));
  }

  void Base64(Str bytes) {
    if (bytes.data() == nullptr) {
      out_.Put("null");
      return;
    }
    char* to = out_.Room(EncodedSize(bytes) + 2);
    *to++ = '"';
    to = EncodeBase64(bytes, to);
    *to++ = '"';
    out_.Advance(to);
  }

  void Time(ValueKind kind, const quantity::Time& time) {
    if (!time.set) {
      out_.Put("null");
      return;
    }
    const quantity::CivilTime civil = quantity::ToCivil(time.seconds);
    if (civil.year < 0 || civil.year > 9999) {
      Quoted(kind == ValueKind::kTime ? quantity::FormatTime(time)
                                      : quantity::FormatMicroTime(time));
      return;
    }
    char* to = out_.Room(32);
    const auto digits = [&to](std::int64_t value, int count) {
      for (int i = count - 1; i >= 0; --i, value /= 10) {
        to[i] = static_cast<char>('0' + value % 10);
      }
      to += count;
    };
    *to++ = '"';
    digits(civil.year, 4);
    *to++ = '-';
    digits(civil.month, 2);
    *to++ = '-';
    digits(civil.day, 2);
    *to++ = 'T';
    digits(civil.hour, 2);
    *to++ = ':';
    digits(civil.minute, 2);
    *to++ = ':';
    digits(civil.second, 2);
    if (kind == ValueKind::kMicroTime) {
      *to++ = '.';
      digits(time.nanos / 1000, 6);
    }
    *to++ = 'Z';
    *to++ = '"';
    out_.Advance(to);
  }

  /// Kept JSON; what Go escapes in strings is escaped here too.
  void Raw(Str json) {
    if (json.empty()) {
      out_.Put("null");
      return;
    }
    const std::size_t clean = HtmlPrefix(json);
    out_.Put(json.substr(0, clean));
    json.remove_prefix(clean);
    for (std::size_t i = 0; i < json.size(); ++i) {
      const char c = json[i];
      if (c == '<' || c == '>' || c == '&') {
        out_.Put(c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : "\\u0026");
      } else if (json.substr(i, 3) == "\xE2\x80\xA8" || json.substr(i, 3) == "\xE2\x80\xA9") {
        out_.Put(json[i + 2] == '\xA8' ? "\\u2028" : "\\u2029");
        i += 2;
      } else {
        out_.Put(c);
      }
    }
  }

  /// Unit: bytes before the first that Raw may have to escape.
  static std::size_t HtmlPrefix(Str json) {
    std::size_t at = 0;
#if defined(__SSE2__)
    for (; json.size() - at >= 16; at += 16) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(json.data() + at));
      const auto equals = [bytes](char c) {
        return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c));
      };
      const __m128i angle =
          _mm_cmpeq_epi8(_mm_or_si128(bytes, _mm_set1_epi8(2)), _mm_set1_epi8('>'));
      const __m128i odd = _mm_or_si128(_mm_or_si128(equals('&'), equals('\xE2')), angle);
      if (const auto mask = static_cast<unsigned>(_mm_movemask_epi8(odd)); mask != 0) {
        return at + static_cast<std::size_t>(__builtin_ctz(mask));
      }
    }
#endif
    while (at < json.size() && json[at] != '<' && json[at] != '>' && json[at] != '&' &&
           json[at] != '\xE2') {
      ++at;
    }
    return at;
  }

  Output out_;
  const EncodeOptions& options_;
};

}  // namespace

void EncodeJson(const TypeDesc& type,
                const void* root,
                std::string& out,
                const EncodeOptions& options) {
  Encoder(out, options).Root(WireTableOf(type), root);
}

}  // namespace allot::schema
