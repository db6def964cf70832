#include "apiserver/any_object.h"

#include "base/check.h"
#include "schema/codec.h"

namespace allot::apiserver {
namespace {

constexpr std::size_t kRoomForChanges = 640;

std::size_t MetadataOffset(const schema::TypeDesc& type) {
  constexpr std::size_t kUsual = 2;  // after kind and apiVersion
  if (type.fields.size() > kUsual &&
      type.fields[kUsual].message == &api::Desc<api::meta::ObjectMeta>()) {
    return type.fields[kUsual].offset;
  }
  for (const schema::FieldDesc& field : type.fields) {
    if (field.name == "metadata") {
      ALLOT_DCHECK(field.message == &api::Desc<api::meta::ObjectMeta>());
      return field.offset;
    }
  }
  ALLOT_CHECK(false);
  return 0;
}

}  // namespace

// Room for the root and a few changes.
AnyDraft::AnyDraft(const schema::TypeDesc& type) : AnyDraft(type, type.size + kRoomForChanges) {}

AnyDraft::AnyDraft(const schema::TypeDesc& type, std::size_t first_block)
    : memory_(std::make_shared<Memory>(first_block)),
      type_(&type),
      root_(schema::NewStruct(type, memory_->arena)) {}

AnyDraft::AnyDraft(const schema::TypeDesc& type, AnyView base) : AnyDraft(type) {
  std::memcpy(root_, base.get(), type.size);
  memory_->base = std::move(base);
}

AnyDraft::AnyDraft(const schema::TypeDesc& type, std::nullptr_t /*empty*/, AnyView lender)
    : AnyDraft(type) {
  memory_->base = std::move(lender);
}

std::string_view AnyDraft::Keep(std::string text) {
  memory_->text = std::move(text);
  return memory_->text;
}

AnyView AnyDraft::FreezeCopy(std::size_t body) const {
  // Structs take about twice the bytes of the body, and the texts stand beside them.
  AnyDraft copy(*type_, type_->size + 3 * body + kRoomForChanges);
  schema::DeepCopy(*type_, root_, copy.root(), copy.arena());
  return copy.Freeze();
}

void AnyDraft::SetTypeMeta(std::string_view kind, std::string_view api_version) {
  for (const schema::FieldDesc& field : type_->fields.first(2)) {
    auto* const member = reinterpret_cast<schema::Str*>(static_cast<char*>(root_) + field.offset);
    *member = field.name == "kind" ? kind : api_version;
  }
}

api::meta::ObjectMeta& MetadataOf(const schema::TypeDesc& type, void* root) {
  return *reinterpret_cast<api::meta::ObjectMeta*>(static_cast<char*>(root) + MetadataOffset(type));
}

const api::meta::ObjectMeta& MetadataOf(const schema::TypeDesc& type, const void* root) {
  return *reinterpret_cast<const api::meta::ObjectMeta*>(static_cast<const char*>(root) +
                                                         MetadataOffset(type));
}

base::Ref<const schema::Object> ObjectOf(const store::Entry& entry) {
  return entry.value().Get<schema::Object>();
}

base::Result<AnyView> ViewOf(const store::Entry& entry) {
  if (AnyView view = entry.Attached(store::Entry::kTyped); view != nullptr) {
    return view;
  }
  ALLOT_ASSIGN_OR_RETURN(schema::DecodedObject decoded, schema::DecodeObject(ObjectOf(entry)));
  AnyView made(std::move(decoded.arena), decoded.root);
  return entry.Attach(store::Entry::kTyped, std::move(made));
}

base::Ref<const schema::Object> EncodeRecord(const schema::TypeDesc& type, const void* root) {
  const api::meta::ObjectMeta& metadata = MetadataOf(type, root);
  thread_local std::string body;
  body.clear();
  schema::EncodeProtobuf(type, root, body);
  return schema::Object::Make({&type, metadata.namespace_, metadata.name, metadata.uid}, body);
}

}  // namespace allot::apiserver
