#include "schema/object.h"

#include <charconv>
#include <new>

#include "schema/codec.h"
#include "schema/layout.h"

namespace allot::schema {

base::Ref<const Object> Object::Make(const ObjectHeader& header,
                                     std::string_view body,
                                     std::int64_t revision) {
  const std::size_t texts = header.namespace_.size() + header.name.size() + header.uid.size();
  char* const memory = static_cast<char*>(::operator new(sizeof(Object) + texts + body.size()));
  auto* const object = ::new (memory) Object();
  char* to = memory + sizeof(Object);
  const auto copy = [&to](std::string_view text) {
    if (!text.empty()) {
      std::memcpy(to, text.data(), text.size());
    }
    const std::string_view view(to, text.size());
    to += text.size();
    return view;
  };
  object->type_ = header.type;
  object->revision_ = revision;
  object->namespace_text_ = copy(header.namespace_);
  object->name_ = copy(header.name);
  object->uid_ = copy(header.uid);
  object->body_ = copy(body);
  return base::Ref<const Object>::Adopt(object);
}

void Object::Destroy(const Object* object) {
  object->~Object();
  ::operator delete(const_cast<Object*>(object));
}

namespace {

/// What a decoded object keeps alive: the record its texts point into, and the arena.
struct Decoded {
  base::Ref<const Object> record;
  base::Arena arena;

  Decoded(base::Ref<const Object> object, std::size_t first_block)
      : record(std::move(object)), arena(first_block) {}
};

/// "v1" or "group/version" of a type. Lifetime: the arena.
Str ApiVersion(const TypeDesc& type, base::Arena& arena) {
  if (type.group.empty()) {
    return type.version;
  }
  const std::size_t size = type.group.size() + 1 + type.version.size();
  char* const text = static_cast<char*>(arena.Allocate(size, 1));
  std::memcpy(text, type.group.data(), type.group.size());
  text[type.group.size()] = '/';
  std::memcpy(text + type.group.size() + 1, type.version.data(), type.version.size());
  return {text, size};
}

void FillHeader(const Object& record, base::Arena& arena, char* root) {
  const TypeDesc& type = record.type();
  if (type.is_kind) {
    Store(root + type.json_fields[0].offset, type.name);
    Store(root + type.json_fields[1].offset, ApiVersion(type, arena));
  }
  const JsonField* const metadata = type.Find("metadata");
  if (record.revision() == 0 || metadata == nullptr || metadata->field->message == nullptr) {
    return;
  }
  const JsonField* const version = metadata->field->message->Find("resourceVersion");
  if (version != nullptr) {
    constexpr std::size_t kDigits = 20;
    char* const digits = static_cast<char*>(arena.Allocate(kDigits, 1));
    const char* const end = std::to_chars(digits, digits + kDigits, record.revision()).ptr;
    Store(root + metadata->offset + version->offset,
          Str(digits, static_cast<std::size_t>(end - digits)));
  }
}

}  // namespace

base::Result<DecodedObject> DecodeObject(const base::Ref<const Object>& object) {
  const TypeDesc& type = object->type();
  // Structs with their pointers take about twice the bytes of the body; one block is the usual
  // case.
  auto decoded = std::make_shared<Decoded>(object, type.size + 2 * object->body().size() + 256);
  char* const root = NewZeroed(decoded->arena, type.size, type.alignment);
  ALLOT_RETURN_IF_ERROR(DecodeOwnProtobuf(type, object->body(), decoded->arena, root));
  FillHeader(*object, decoded->arena, root);
  const base::Arena* const arena = &decoded->arena;
  return DecodedObject{std::shared_ptr<const base::Arena>(std::move(decoded), arena), root};
}

}  // namespace allot::schema
