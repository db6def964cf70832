#include "apiserver/local_items.h"

#include <utility>

namespace allot::apiserver {

User UserOf(const client::Identity& identity) {
  User user{identity.user, "", identity.groups, {}};
  user.groups.emplace_back(kAuthenticatedGroup);
  return user;
}

client::Item ItemOf(const Resource& resource,
                    const base::Ref<const schema::Object>& object,
                    AnyView view,
                    store::Revision revision) {
  if (resource.conversion == nullptr || view == nullptr) {
    return {object, std::move(view)};
  }
  AnyDraft served(*resource.info->type, nullptr, view);
  resource.conversion->from_stored(view.get(), served);
  served.SetTypeMeta(resource.info->kind, resource.info->api_version);
  MetadataOf(served.type(), served.root()).resource_version = {};
  const base::Ref<const schema::Object> record = EncodeRecord(served.type(), served.root());
  record->StampRevision(revision);
  return {record, served.Freeze()};
}

base::Result<client::Item> ItemOfEntry(const Resource& resource, const store::Entry& entry) {
  AnyView view = entry.Attached(store::Entry::kTyped);
  if (view == nullptr && resource.conversion != nullptr) {
    ALLOT_ASSIGN_OR_RETURN(view, ViewOf(entry));
  }
  return ItemOf(resource, ObjectOf(entry), std::move(view), entry.revision());
}

AnyDraft DraftOf(const Resource& resource, const AnyView& body) {
  AnyDraft draft(*resource.info->type, body);
  if (resource.conversion == nullptr) {
    return draft;
  }
  AnyDraft stored(*resource.conversion->stored, nullptr, draft.Freeze());
  resource.conversion->to_stored(draft.root(), stored);
  return stored;
}

}  // namespace allot::apiserver
