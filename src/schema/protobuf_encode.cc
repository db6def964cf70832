// Protobuf encoding by tables, written from the end to the front so that lengths are known when
// needed.
#include <charconv>
#include <memory>
#include <string>

#include "schema/codec.h"
#include "schema/layout.h"

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
    std::memcpy(cursor_, text.data(), text.size());
  }
  void Varint(std::uint64_t value) {
    Reserve(10);
    if (value < 0x80) {
      *--cursor_ = static_cast<char>(value);
      return;
    }
    char bytes[10];
    int count = 0;
    while (value >= 0x80) {
      bytes[count++] = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    bytes[count++] = static_cast<char>(value);
    cursor_ -= count;
    std::memcpy(cursor_, bytes, static_cast<std::size_t>(count));
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

 private:
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

  void Message(const TypeDesc& type, const char* base, bool without_revision = false) {
    for (std::size_t number = type.by_number.size(); number-- > 1;) {
      const std::uint8_t index = type.by_number[number];
      if (index == 255) {
        continue;
      }
      const FieldDesc& field = type.fields[index];
      if (without_revision && field.name == "resourceVersion") {
        continue;
      }
      Member(field, base + field.offset);
    }
  }

  void Root(const TypeDesc& type, const char* base, bool without_revision) {
    for (std::size_t number = type.by_number.size(); number-- > 1;) {
      const FieldDesc* const field = type.FindNumber(static_cast<std::uint32_t>(number));
      if (field == nullptr) {
        continue;
      }
      if (without_revision && field->name == "metadata" && field->kind == ValueKind::kMessage &&
          field->shape == Shape::kValue) {
        const std::size_t before = out_.size();
        Message(*field->message, base + field->offset, /*without_revision=*/true);
        out_.Close(field->protobuf, before);
      } else {
        Member(*field, base + field->offset);
      }
    }
  }

 private:
  void Member(const FieldDesc& field, const char* at) {
    switch (field.shape) {
      case Shape::kValue:
        // Plain members are written whatever they hold, as Go writes them; only absent bytes are
        // not.
        if (field.kind != ValueKind::kBytes || Load<Str>(at).data() != nullptr) {
          Value(field, field.protobuf, at);
        }
        break;
      case Shape::kPointer:
        if (const auto* const target = Load<const char*>(at); target != nullptr) {
          Value(field, field.protobuf, target);
        }
        break;
      case Shape::kList: {
        const auto list = Load<AnyList>(at);
        const Layout layout = LayoutOf(field);
        for (std::uint32_t i = list.count; i-- > 0;) {
          Value(field, field.protobuf, At(list.items, static_cast<std::size_t>(i) * layout.size));
        }
        break;
      }
      case Shape::kMap: {
        const auto map = Load<AnyList>(at);
        const EntryLayout layout = EntryLayoutOf(field);
        for (std::uint32_t i = map.count; i-- > 0;) {
          const char* const entry = At(map.items, static_cast<std::size_t>(i) * layout.size);
          const std::size_t before = out_.size();
          // Go leaves absent bytes out of an entry, and nothing else.
          if (field.kind != ValueKind::kBytes ||
              Load<Str>(entry + layout.value).data() != nullptr) {
            Value(field, 2, entry + layout.value);
          }
          out_.Field(1, Load<Str>(entry));
          out_.Close(field.protobuf, before);
        }
        break;
      }
    }
  }

  void Integer(std::uint32_t number, std::int64_t value) {
    out_.Varint(static_cast<std::uint64_t>(value));
    out_.Tag(number, kVarint);
  }

  /// Writes one value with its tag.
  void Value(const FieldDesc& field, std::uint32_t number, const char* at) {
    const std::size_t before = out_.size();
    switch (field.kind) {
      case ValueKind::kString:
      case ValueKind::kBytes: out_.Field(number, Load<Str>(at)); return;
      case ValueKind::kBool: Integer(number, Load<bool>(at) ? 1 : 0); return;
      case ValueKind::kInt32: Integer(number, Load<std::int32_t>(at)); return;
      case ValueKind::kInt64: Integer(number, Load<std::int64_t>(at)); return;
      case ValueKind::kDouble: {
        const auto bits = std::bit_cast<std::uint64_t>(Load<double>(at));
        char bytes[8];
        for (int i = 0; i < 8; ++i) {
          bytes[i] = static_cast<char>(bits >> (8 * i));
        }
        out_.Put({bytes, 8});
        out_.Tag(number, kFixed64);
        return;
      }
      case ValueKind::kMessage: Message(*field.message, at); break;
      // From here on the helper messages of the API, with every field, as Go writes them.
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
    }
    out_.Close(number, before);
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
  char digits[24];
  const char* const end = std::to_chars(digits, digits + sizeof digits, revision).ptr;
  out.Field(version->protobuf, {digits, static_cast<std::size_t>(end - digits)});
  out.Close(metadata->protobuf, 0);
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
  Encoder(back).Root(
      type, static_cast<const char*>(root), options.revision != 0 || options.without_revision);
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
