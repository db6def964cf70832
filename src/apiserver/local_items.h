// The forms in which clients of the same process take and give objects: a local item shares record
// and typed view with the store; a kind that is stored as another one is converted on the way.
// Thread safety: stateless.
#pragma once

#include "apiserver/any_object.h"
#include "apiserver/authn.h"
#include "apiserver/resources.h"
#include "base/status.h"
#include "client/backend.h"
#include "store/entry.h"

namespace allot::apiserver {

/// The user that a component of this process acts as.
[[nodiscard]] User UserOf(const client::Identity& identity);

/// An object in the kind the client asked for. `view` is in the stored type and may be null where
/// nothing is converted.
[[nodiscard]] client::Item ItemOf(const Resource& resource,
                                  const base::Ref<const schema::Object>& object,
                                  AnyView view,
                                  store::Revision revision);
/// The same of a stored entry. Errors: a damaged record.
[[nodiscard]] base::Result<client::Item> ItemOfEntry(const Resource& resource,
                                                     const store::Entry& entry);
/// A draft in the stored type of what the client gave.
[[nodiscard]] AnyDraft DraftOf(const Resource& resource, const AnyView& body);

}  // namespace allot::apiserver
