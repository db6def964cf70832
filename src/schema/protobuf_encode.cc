// Protobuf encoding by tables, written from the end to the front so that lengths are known when
// needed.
#include <bit>
#include <charconv>
#include <memory>
#include <string>

#include "schema/codec.h"
#include "schema/layout.h"
#include "schema/short_copy.h"
#include "schema/wire_table.h"

namespace allot::schema {
namespace {

constexpr std::uint32_t kVarint = 0;
constexpr std::uint32_t kFixed64 = 1;
constexpr std::uint32_t kBytes = 2;

/// A buffer that fills from its end.
class BackOutput {
 public:
  BackOutput() : end_(inline_ + sizeof inline_), cursor_(end_), begin_(inline_) {}
  BackOutput(const BackOutput&) = delete;
  BackOutput& operator=(const BackOutput&) = delete;

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end_ - cursor_); }
  [[nodiscard]] std::string_view text() const { return {cursor_, size()}; }

  void Put(std::string_view text) {
    if (text.empty()) {
      return;
    }
    Reserve(text.size());
    cursor_ -= text.size();
    CopyText(cursor_, text);
  }
  void Varint(std::uint64_t value) {
    Reserve(kLongest);
    PutVarint(value);
  }
  void Tag(std::uint32_t number, std::uint32_t wire) { Varint(number << 3 | wire); }
  void Field(std::uint32_t number, std::string_view text) {
    Put(text);
    Varint(text.size());
    Tag(number, kBytes);
  }
  /// Closes a message whose content was written since size() was `before`.
  void Close(std::uint32_t number, std::size_t before) {
    Varint(size() - before);
    Tag(number, kBytes);
  }

  // The same with a tag made before.
  void Text(const WireField& field, std::string_view text) {
    Reserve(text.size() + kLongest + sizeof field.tag);
    cursor_ -= text.size();
    CopyText(cursor_, text);
    PutVarint(text.size());
    PutTag(field);
  }
  void Number(const WireField& field, std::uint64_t value) {
    Reserve(kLongest + sizeof field.tag);
    PutVarint(value);
    PutTag(field);
  }
  void Close(const WireField& field, std::size_t before) { Number(field, size() - before); }

 private:
  static constexpr std::size_t kLongest = 10;  // bytes of a varint

  void PutVarint(std::uint64_t value) {
    if (value < 0x80) {
      *--cursor_ = static_cast<char>(value);
      return;
    }
    char bytes[kLongest];
    int count = 0;
    while (value >= 0x80) {
      bytes[count++] = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    bytes[count++] = static_cast<char>(value);
    cursor_ -= count;
    std::memcpy(cursor_, bytes, static_cast<std::size_t>(count));
  }
  void PutTag(const WireField& field) {
    if (field.tag_size == 1) {
      *--cursor_ = field.tag[0];
      return;
    }
    cursor_ -= field.tag_size;
    std::memcpy(cursor_, field.tag, field.tag_size);
  }
  void Reserve(std::size_t more) {
    if (static_cast<std::size_t>(cursor_ - begin_) < more) {
      Grow(more);
    }
  }
  void Grow(std::size_t more) {
    const std::size_t used = size();
    const std::size_t capacity = std::max((used + more) * 2, sizeof inline_ * 2);
    auto bigger = std::make_unique_for_overwrite<char[]>(capacity);
    std::memcpy(bigger.get() + capacity - used, cursor_, used);
    heap_ = std::move(bigger);
    begin_ = heap_.get();
    end_ = begin_ + capacity;
    cursor_ = end_ - used;
  }

  char inline_[4096];
  std::unique_ptr<char[]> heap_;
  char* end_;
  char* cursor_;
  char* begin_;
};

class Encoder {
 public:
  explicit Encoder(BackOutput& out) : out_(out) {}

  void Root(const WireTable& type, const char* base, bool without_revision) {
    for (const WireField& field : type.fields) {
      if (without_revision && &field == type.metadata) {
        const std::size_t before = out_.size();
        Metadata(*field.message, base + field.offset);
        out_.Close(field, before);
      } else {
        Member(field, base + field.offset);
      }
    }
  }

 private:
  /// All but resourceVersion.
  void Metadata(const WireTable& type, const char* base) {
    for (const WireField& field : type.fields) {
      if (&field != type.revision) {
        Member(field, base + field.offset);
      }
    }
  }

  void Message(const WireTable& type, const char* base) {
    for (const WireField& field : type.fields) {
      Member(field, base + field.offset);
    }
  }

  void Member(const WireField& field, const char* at) {
    if (field.shape == Shape::kValue) {
      // Plain members are written whatever they hold, as Go writes them; only absent bytes are not.
      if (field.kind == ValueKind::kString) {
        out_.Text(field, Load<Str>(at));
      } else if (field.kind != ValueKind::kBytes || Load<Str>(at).data() != nullptr) {
        Value(field, at);
      }
      return;
    }
    // A pointer stands first in lists and maps too; most members are absent.
    if (const auto* const target = Load<const char*>(at); target != nullptr) {
      Present(field, at, target);
    }
  }

  void Present(const WireField& field, const char* at, const char* target) {
    switch (field.shape) {
      case Shape::kValue: break;
      case Shape::kPointer: Value(field, target); break;
      case Shape::kList: {
        const std::uint32_t count = Load<AnyList>(at).count;
        for (std::uint32_t i = count; i-- > 0;) {
          Value(field, At(target, static_cast<std::size_t>(i) * field.size));
        }
        break;
      }
      case Shape::kMap: MapOf(field, Load<AnyList>(at)); break;
    }
  }

  void MapOf(const WireField& field, const AnyList& map) {
    WireField value = field;  // number 2 of an entry
    value.number = 2;
    value.tag[0] = static_cast<char>(2U << 3U | field.value_wire);
    value.tag_size = 1;
    for (std::uint32_t i = map.count; i-- > 0;) {
      const char* const entry = At(map.items, static_cast<std::size_t>(i) * field.size);
      const std::size_t before = out_.size();
      // Go leaves absent bytes out of an entry, and nothing else.
      if (field.kind != ValueKind::kBytes || Load<Str>(entry + field.value).data() != nullptr) {
        Value(value, entry + field.value);
      }
      out_.Field(1, Load<Str>(entry));
      out_.Close(field, before);
    }
  }

  void Integer(std::uint32_t number, std::int64_t value) {
    out_.Varint(static_cast<std::uint64_t>(value));
    out_.Tag(number, kVarint);
  }

  /// Writes one value with its tag.
  void Value(const WireField& field, const char* at) {
    switch (field.kind) {
      case ValueKind::kString:
      case ValueKind::kBytes: out_.Text(field, Load<Str>(at)); return;
      case ValueKind::kBool: out_.Number(field, Load<bool>(at) ? 1 : 0); return;
      case ValueKind::kInt32:
        out_.Number(field, static_cast<std::uint64_t>(std::int64_t{Load<std::int32_t>(at)}));
        return;
      case ValueKind::kInt64:
        out_.Number(field, static_cast<std::uint64_t>(Load<std::int64_t>(at)));
        return;
      case ValueKind::kDouble: {
        const auto bits = std::bit_cast<std::uint64_t>(Load<double>(at));
        char bytes[8];
        for (int i = 0; i < 8; ++i) {
          bytes[i] = static_cast<char>(bits >> (8 * i));
        }
        out_.Put({bytes, 8});
        out_.Tag(field.number, kFixed64);
        return;
      }
      case ValueKind::kMessage: {
        const std::size_t before = out_.size();
        Message(*field.message, at);
        out_.Close(field, before);
        return;
      }
      default: Helper(field, at);
    }
  }

  /// The helper messages of the API, with every field, as Go writes them.
  void Helper(const WireField& field, const char* at) {
    const std::size_t before = out_.size();
    switch (field.kind) {
      case ValueKind::kQuantity: out_.Field(1, Load<quantity::Quantity>(at).ToString()); break;
      case ValueKind::kIntOrString: {
        const auto value = Load<IntOrString>(at);
        out_.Field(3, value.text);
        Integer(2, value.number);
        Integer(1, value.is_string ? 1 : 0);
        break;
      }
      case ValueKind::kTime:
      case ValueKind::kMicroTime: {
        const auto value = Load<quantity::Time>(at);
        if (!value.set) {
          break;
        }
        Integer(2, field.kind == ValueKind::kTime ? 0 : value.nanos / 1000 * 1000);
        Integer(1, value.seconds);
        break;
      }
      case ValueKind::kDuration: Integer(1, Load<Duration>(at).nanos); break;
      case ValueKind::kRaw:
      case ValueKind::kFieldsV1:
        if (const auto value = Load<RawJson>(at); !value.text.empty()) {
          out_.Field(1, value.text);
        }
        break;
      case ValueKind::kStringList: {
        const auto list = Load<List<Str>>(at);
        for (std::size_t i = list.size(); i-- > 0;) {
          out_.Field(1, list[i]);
        }
        break;
      }
      default: break;
    }
    out_.Close(field, before);
  }

  BackOutput& out_;
};

/// A further metadata message that holds the revision only; parsers merge it into the first.
void AppendRevision(const TypeDesc& type, std::int64_t revision, BackOutput& out) {
  const FieldDesc* const metadata = type.FindOwn("metadata");
  if (metadata == nullptr || metadata->message == nullptr) {
    return;
  }
  const FieldDesc* const version = metadata->message->FindOwn("resourceVersion");
  if (version == nullptr) {
    return;
  }
  const std::size_t before = out.size();
  char digits[24];
  const char* const end = std::to_chars(digits, digits + sizeof digits, revision).ptr;
  out.Field(version->protobuf, {digits, static_cast<std::size_t>(end - digits)});
  out.Close(metadata->protobuf, before);
}

}  // namespace

void EncodeProtobuf(const TypeDesc& type,
                    const void* root,
                    std::string& out,
                    const EncodeOptions& options) {
  BackOutput back;
  if (options.revision != 0) {
    AppendRevision(type, options.revision, back);
  }
  Encoder(back).Root(WireTableOf(type),
                     static_cast<const char*>(root),
                     options.revision != 0 || options.without_revision);
  out.append(back.text());
}

void AppendProtobufRevision(const TypeDesc& type, std::int64_t revision, std::string& out) {
  BackOutput back;
  AppendRevision(type, revision, back);
  out.append(back.text());
}

void EncodeEnvelope(const Envelope& envelope, std::string& out) {
  BackOutput back;
  // contentType and contentEncoding are written empty, as Go does.
  back.Field(4, {});
  back.Field(3, {});
  back.Field(2, envelope.raw);
  const std::size_t before = back.size();
  back.Field(2, envelope.kind);
  back.Field(1, envelope.api_version);
  back.Close(1, before);
  out.append("k8s\0", 4);
  out.append(back.text());
}

}  // namespace allot::schema
