// Protobuf decoding by tables: strings are views of the body, lists are counted before they are
// filled.
#include <bit>
#include <string>
#include <utility>

#include "schema/codec.h"
#include "schema/layout.h"
#include "schema/wire_table.h"
#include "text/json_scanner.h"

namespace allot::schema {
namespace {

using base::Reason;
using base::Result;

constexpr std::uint32_t kVarint = 0;
constexpr std::uint32_t kFixed64 = 1;
constexpr std::uint32_t kBytes = 2;
constexpr std::uint32_t kStartGroup = 3;
constexpr std::uint32_t kFixed32 = 5;
constexpr int kDeepest = 10000;

/// A position in protobuf bytes. Every read returns false at the end or on malformed bytes.
struct Input {
  const char* at;
  const char* end;

  [[nodiscard]] bool empty() const { return at == end; }

  bool Varint(std::uint64_t& value) {
    if (at != end && static_cast<unsigned char>(*at) < 0x80) {
      value = static_cast<unsigned char>(*at++);
      return true;
    }
    value = 0;
    for (int shift = 0; shift < 64 && at != end; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at++);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) {
        return true;
      }
    }
    return false;
  }
  bool Tag(std::uint32_t& number, std::uint32_t& wire) {
    std::uint64_t tag = 0;
    if (!Varint(tag) || tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF) {
      return false;
    }
    number = static_cast<std::uint32_t>(tag >> 3);
    wire = static_cast<std::uint32_t>(tag & 7);
    return true;
  }
  bool Text(Str& text) {
    std::uint64_t size = 0;
    if (!Varint(size) || size > static_cast<std::uint64_t>(end - at)) {
      return false;
    }
    text = {at, static_cast<std::size_t>(size)};
    at += size;
    return true;
  }
  bool Part(Input& part) {
    Str text;
    if (!Text(text)) {
      return false;
    }
    part = {text.data(), text.data() + text.size()};
    return true;
  }
  bool Fixed64(std::uint64_t& bits) {
    if (end - at < 8) {
      return false;
    }
    bits = 0;
    for (int i = 0; i < 8; ++i) {
      bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(at[i])) << (8 * i);
    }
    at += 8;
    return true;
  }
  bool Skip(std::uint32_t wire) {
    int groups = 0;
    while (true) {
      std::uint64_t number = 0;
      Str text;
      switch (wire) {
        case kVarint:
          if (!Varint(number)) {
            return false;
          }
          break;
        case kFixed64:
        case kFixed32: {
          const std::ptrdiff_t size = wire == kFixed64 ? 8 : 4;
          if (end - at < size) {
            return false;
          }
          at += size;
          break;
        }
        case kBytes:
          if (!Text(text)) {
            return false;
          }
          break;
        case kStartGroup: ++groups; break;
        case 4:
          if (--groups < 0) {
            return false;
          }
          break;
        default: return false;
      }
      if (groups == 0) {
        return true;
      }
      std::uint32_t field = 0;
      if (!Tag(field, wire)) {
        return false;
      }
    }
  }
};

class Decoder {
 public:
  Decoder(base::Arena& arena, bool trusted) : arena_(arena), trusted_(trusted) {}

  bool Message(const WireTable& type, Input in, char* to, int depth) {
    if (depth > kDeepest) {
      return false;
    }
    while (!in.empty()) {
      const char* const start = in.at;
      std::uint32_t number = 0;
      std::uint32_t wire = 0;
      if (!in.Tag(number, wire)) {
        return false;
      }
      const WireField* const field = type.Find(number);
      if (field == nullptr) {
        if (!in.Skip(wire)) {
          return false;
        }
        continue;
      }
      char* const member = to + field->offset;
      const bool plain_text =
          field->kind == ValueKind::kString && field->shape == Shape::kValue && wire == kBytes;
      if (plain_text ? !TextMember(in, member) : !Member(*field, wire, start, in, member, depth)) {
        if (error_.empty()) {
          const FieldDesc& desc = *field->desc;
          error_ = "proto: " + std::string(type.type->name) + ": malformed field " +
                   std::string(desc.name.empty() ? desc.message->name : desc.name);
        }
        return false;
      }
    }
    return true;
  }

  std::string& error() { return error_; }

 private:
  static bool TextMember(Input& in, char* to) {
    Str text;
    if (!in.Text(text)) {
      return false;
    }
    Store(to, text);
    return true;
  }

  bool Member(const WireField& field,
              std::uint32_t wire,
              const char* start,
              Input& in,
              char* to,
              int depth) {
    switch (field.shape) {
      case Shape::kValue: return wire == field.wire && Value(field, in, to, depth);
      case Shape::kPointer: {
        auto* target = static_cast<char*>(const_cast<void*>(Load<const void*>(to)));
        if (target == nullptr) {
          target = NewZeroed(arena_, field.size, field.alignment);
          Store<const void*>(to, target);
        }
        return wire == field.wire && Value(field, in, target, depth);
      }
      case Shape::kList: return ListOf(field, wire, start, in, to, depth);
      case Shape::kMap: return wire == kBytes && MapOf(field, start, in, to, depth);
    }
    return false;
  }

  /// How many fields with the tag at `start` follow each other.
  static std::uint32_t CountRun(const char* start,
                                const char* content,
                                const char* end,
                                std::uint32_t wire) {
    const Str tag(start, static_cast<std::size_t>(content - start));
    Input in{content, end};
    std::uint32_t count = 0;
    while (in.Skip(wire)) {
      ++count;
      if (static_cast<std::size_t>(in.end - in.at) < tag.size() || Str(in.at, tag.size()) != tag) {
        break;
      }
      in.at += tag.size();
    }
    return count;
  }

  /// Goes to the next field of a run; false when the run is over.
  static bool NextOfRun(const char* start, const char* content, Input& in) {
    const Str tag(start, static_cast<std::size_t>(content - start));
    if (static_cast<std::size_t>(in.end - in.at) < tag.size() || Str(in.at, tag.size()) != tag) {
      return false;
    }
    in.at += tag.size();
    return true;
  }

  bool ListOf(const WireField& field,
              std::uint32_t wire,
              const char* start,
              Input& in,
              char* to,
              int depth) {
    ListBuilder list(arena_, field.size, field.alignment);
    list.Start(Load<AnyList>(to));
    if (wire == kBytes && field.wire == kVarint) {
      // Packed numbers: not written by the API's own encoders, but legal.
      Input part{};
      if (!in.Part(part)) {
        return false;
      }
      while (!part.empty()) {
        if (!Value(field, part, list.Add(), depth)) {
          return false;
        }
      }
      Store(to, list.Finish());
      return true;
    }
    if (wire != field.wire) {
      return false;
    }
    const char* const content = in.at;
    list.Reserve(list.count() + CountRun(start, content, in.end, wire));
    do {
      if (!Value(field, in, list.Add(), depth)) {
        return false;
      }
    } while (NextOfRun(start, content, in));
    Store(to, list.Finish());
    return true;
  }

  bool MapOf(const WireField& field, const char* start, Input& in, char* to, int depth) {
    ListBuilder list(arena_, field.size, field.alignment);
    list.Start(Load<AnyList>(to));
    const char* const content = in.at;
    list.Reserve(list.count() + CountRun(start, content, in.end, kBytes));
    do {
      Input part{};
      if (!in.Part(part) || !Entry(field, part, list.Add(), depth)) {
        return false;
      }
    } while (NextOfRun(start, content, in));
    list.SortEntries();
    Store(to, list.Finish());
    return true;
  }

  bool Entry(const WireField& field, Input in, char* entry, int depth) {
    while (!in.empty()) {
      std::uint32_t number = 0;
      std::uint32_t wire = 0;
      if (!in.Tag(number, wire)) {
        return false;
      }
      if (number == 1 && wire == kBytes) {
        Str key;
        if (!in.Text(key)) {
          return false;
        }
        Store(entry, key);
      } else if (number == 2 && wire == field.value_wire) {
        if (!Value(field, in, entry + field.value, depth)) {
          return false;
        }
      } else if (!in.Skip(wire)) {
        return false;
      }
    }
    if (field.kind == ValueKind::kBytes && Load<Str>(entry + field.value).data() == nullptr) {
      Store(entry + field.value, Str("", 0));  // present, and empty rather than null
    }
    return true;
  }

  bool Value(const WireField& field, Input& in, char* to, int depth) {
    std::uint64_t number = 0;
    switch (field.kind) {
      case ValueKind::kString:
      case ValueKind::kBytes: {
        Str text;
        if (!in.Text(text)) {
          return false;
        }
        Store(to, text);
        return true;
      }
      case ValueKind::kBool:
        if (!in.Varint(number)) {
          return false;
        }
        Store(to, number != 0);
        return true;
      case ValueKind::kInt32:
        if (!in.Varint(number)) {
          return false;
        }
        Store(to, static_cast<std::int32_t>(number));
        return true;
      case ValueKind::kInt64:
        if (!in.Varint(number)) {
          return false;
        }
        Store(to, static_cast<std::int64_t>(number));
        return true;
      case ValueKind::kDouble:
        if (!in.Fixed64(number)) {
          return false;
        }
        Store(to, std::bit_cast<double>(number));
        return true;
      default: break;
    }
    Input part{};
    if (!in.Part(part)) {
      return false;
    }
    if (field.kind == ValueKind::kMessage) {
      return Message(*field.message, part, to, depth + 1);
    }
    return Helper(field.kind, part, to);
  }

  /// The numbered members of the API's helper messages.
  struct Members {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    Str text;
  };

  static bool ReadMembers(Input in, std::uint32_t text_number, Members& out) {
    while (!in.empty()) {
      std::uint32_t number = 0;
      std::uint32_t wire = 0;
      if (!in.Tag(number, wire)) {
        return false;
      }
      bool good = false;
      if (wire == kBytes && number == text_number) {
        good = in.Text(out.text);
      } else if (wire == kVarint && number == 1) {
        good = in.Varint(out.first);
      } else if (wire == kVarint && number == 2) {
        good = in.Varint(out.second);
      } else {
        good = in.Skip(wire);
      }
      if (!good) {
        return false;
      }
    }
    return true;
  }

  bool Helper(ValueKind kind, Input in, char* to) {
    if (kind == ValueKind::kStringList) {
      return StringList(in, to);
    }
    const bool own_text =
        kind == ValueKind::kQuantity || kind == ValueKind::kRaw || kind == ValueKind::kFieldsV1;
    Members members;
    if (!ReadMembers(in, own_text ? 1 : kind == ValueKind::kIntOrString ? 3 : 0, members)) {
      return false;
    }
    switch (kind) {
      case ValueKind::kQuantity: return Quantity(members.text, to);
      case ValueKind::kIntOrString:
        Store(to,
              IntOrString{.is_string = members.first == 1,
                          .number = static_cast<std::int32_t>(members.second),
                          .text = members.text});
        return true;
      case ValueKind::kTime:
      case ValueKind::kMicroTime: Store(to, TimeOf(kind, members)); return true;
      case ValueKind::kDuration:
        Store(to, Duration{static_cast<std::int64_t>(members.first)});
        return true;
      case ValueKind::kRaw:
      case ValueKind::kFieldsV1: return Raw(members.text, to);
      default: return false;
    }
  }

  bool StringList(Input in, char* to) {
    ListBuilder list(arena_, sizeof(Str), alignof(Str));
    list.Start(Load<AnyList>(to));
    while (!in.empty()) {
      std::uint32_t number = 0;
      std::uint32_t wire = 0;
      if (!in.Tag(number, wire)) {
        return false;
      }
      if (number != 1 || wire != kBytes) {
        if (!in.Skip(wire)) {
          return false;
        }
        continue;
      }
      Str text;
      if (!in.Text(text)) {
        return false;
      }
      Store(list.Add(), text);
    }
    Store(to, list.Finish());
    return true;
  }

  bool Quantity(Str text, char* to) {
    if (text.empty()) {
      return true;
    }
    const auto value = quantity::ParseQuantity(text);
    if (!value) {
      error_ = value.error().message();
      return false;
    }
    Store(to, *value);
    return true;
  }

  static quantity::Time TimeOf(ValueKind kind, const Members& members) {
    const auto nanos = static_cast<std::int32_t>(members.second);
    if (members.first == 0 && nanos == 0) {
      return {};
    }
    // Seconds for metav1.Time, microseconds for MicroTime: finer parts are not kept.
    const bool whole = kind == ValueKind::kTime || nanos < 0 || nanos > 999'999'999;
    return {.seconds = static_cast<std::int64_t>(members.first),
            .nanos = whole ? 0 : nanos / 1000 * 1000,
            .set = true};
  }

  /// Kept JSON from a stranger is checked, because it goes out as it is.
  bool Raw(Str json, char* to) {
    if (!trusted_ && !json.empty()) {
      const char* const end = json.data() + json.size();
      const char* const next = text::SkipValue(json.data(), end, kDeepest);
      if (next == nullptr || text::SkipBlanks(next, end) != end) {
        error_ = "proto: a raw field does not hold JSON";
        return false;
      }
    }
    Store(to, RawJson{json});
    return true;
  }

  base::Arena& arena_;
  bool trusted_;
  std::string error_;
};

Result<void> Decode(
    const TypeDesc& type, std::string_view bytes, base::Arena& arena, void* root, bool trusted) {
  Decoder decoder(arena, trusted);
  if (decoder.Message(WireTableOf(type),
                      {bytes.data(), bytes.data() + bytes.size()},
                      static_cast<char*>(root),
                      0)) {
    return {};
  }
  return base::Error(Reason::kBadRequest,
                     decoder.error().empty() ? "unexpected EOF" : std::move(decoder.error()));
}

}  // namespace

Result<void> DecodeProtobuf(const TypeDesc& type,
                            std::string_view bytes,
                            base::Arena& arena,
                            void* root) {
  return Decode(type, bytes, arena, root, /*trusted=*/false);
}

Result<void> DecodeOwnProtobuf(const TypeDesc& type,
                               std::string_view bytes,
                               base::Arena& arena,
                               void* root) {
  return Decode(type, bytes, arena, root, /*trusted=*/true);
}

Result<Envelope> DecodeEnvelope(std::string_view bytes) {
  if (!bytes.starts_with(std::string_view("k8s\0", 4))) {
    return base::Error(Reason::kBadRequest,
                       "provided data does not appear to be a protobuf message, expected prefix "
                       "[107 56 115 0]");
  }
  Envelope envelope;
  Input in{bytes.data() + 4, bytes.data() + bytes.size()};
  while (!in.empty()) {
    std::uint32_t number = 0;
    std::uint32_t wire = 0;
    bool good = in.Tag(number, wire);
    if (good && wire == kBytes && number == 1) {
      Input part{};
      good = in.Part(part);
      while (good && !part.empty()) {
        good = part.Tag(number, wire);
        if (good && wire == kBytes && (number == 1 || number == 2)) {
          good = part.Text(number == 1 ? envelope.api_version : envelope.kind);
        } else {
          good = good && part.Skip(wire);
        }
      }
    } else if (good && wire == kBytes && number == 2) {
      good = in.Text(envelope.raw);
    } else {
      good = good && in.Skip(wire);
    }
    if (!good) {
      return base::Error(Reason::kBadRequest, "unexpected EOF");
    }
  }
  return envelope;
}

}  // namespace allot::schema
