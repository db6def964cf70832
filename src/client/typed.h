// Thin typed calls on a Client: Get<T>, Create, Update, UpdateStatus, Patch, Delete, List<T>.
// Thread safety: as Client.
#pragma once

#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "client/client.h"
#include "client/resources.h"
#include "schema/codec.h"

namespace allot::api::meta {
struct ObjectMeta;
}

namespace allot::client {

/// The metadata of an object of any kind. REQUIRES: `root` is a struct of `type`, a kind.
[[nodiscard]] const api::meta::ObjectMeta& MetadataOf(const schema::TypeDesc& type,
                                                      const void* root);

/// A record and its typed view.
template <typename T>
struct Typed {
  ObjectRef object;
  schema::View<T> view;

  const T& operator*() const { return *view; }
  const T* operator->() const { return view.get(); }
  /// The version to name as precondition of the next write.
  [[nodiscard]] Revision revision() const { return object ? object->revision() : 0; }
};

namespace internal {
/// An arena that owns nothing: what keeps a view alive is the count of its shared pointer.
[[nodiscard]] const base::Arena& NoArena();
}  // namespace internal

/// REQUIRES: the view was made from a T.
template <typename T>
[[nodiscard]] schema::View<T> ToView(const AnyView& any) {
  return schema::View<T>(std::shared_ptr<const base::Arena>(any, &internal::NoArena()),
                         static_cast<const T*>(any.get()));
}

template <typename T>
[[nodiscard]] AnyView ToAny(const schema::View<T>& view) {
  return AnyView(view.arena(), view.get());
}

/// The typed view of an item, decoded when the implementation had only bytes.
/// REQUIRES: item.object is not null and of type T.
template <typename T>
[[nodiscard]] base::Result<Typed<T>> ViewOf(const Item& item) {
  if (item.view != nullptr) {
    return Typed<T>{item.object, ToView<T>(item.view)};
  }
  ALLOT_ASSIGN_OR_RETURN(schema::View<T> view, schema::DecodeAs<T>(item.object));
  return Typed<T>{item.object, std::move(view)};
}

namespace internal {
template <typename T>
base::Result<Typed<T>> DoTyped(Client& client, const Request& request) {
  ALLOT_ASSIGN_OR_RETURN(const Item item, client.Do(request));
  if (!item.object) {
    return Typed<T>{};
  }
  return ViewOf<T>(item);
}

template <typename T>
Request MakeRequest(Verb verb,
                    std::string_view ns,
                    std::string_view name,
                    std::string_view subresource,
                    const WriteOptions& options) {
  Request request;
  request.verb = verb;
  request.resource = &ResourceOf<T>();
  request.ns = ns;
  request.name = name;
  request.subresource = subresource;
  request.options = options;
  return request;
}

template <typename T>
base::Result<Typed<T>> Put(Client& client,
                           schema::Draft<T>& draft,
                           std::string_view subresource,
                           const WriteOptions& options) {
  Request request = MakeRequest<T>(
      Verb::kUpdate, draft->metadata.namespace_, draft->metadata.name, subresource, options);
  if (request.options.preconditions.revision == 0) {
    const std::string_view text = draft->metadata.resource_version;
    std::from_chars(text.data(), text.data() + text.size(), request.options.preconditions.revision);
  }
  request.body = ToAny(draft.Freeze());
  return DoTyped<T>(client, request);
}
}  // namespace internal

template <typename T>
base::Result<Typed<T>> Get(Client& client, std::string_view ns, std::string_view name) {
  return internal::DoTyped<T>(client, internal::MakeRequest<T>(Verb::kGet, ns, name, "", {}));
}

/// Creates draft in its metadata.namespace. The draft must not be written afterwards.
template <typename T>
base::Result<Typed<T>> Create(Client& client,
                              schema::Draft<T>& draft,
                              const WriteOptions& options = {}) {
  Request request =
      internal::MakeRequest<T>(Verb::kCreate, draft->metadata.namespace_, "", "", options);
  request.body = ToAny(draft.Freeze());
  return internal::DoTyped<T>(client, request);
}

/// Replaces the object (everything but its status). The version in options.preconditions, else the
/// draft's metadata.resourceVersion, must be the stored one. Errors: kConflict when it is not.
template <typename T>
base::Result<Typed<T>> Update(Client& client,
                              schema::Draft<T>& draft,
                              const WriteOptions& options = {}) {
  return internal::Put<T>(client, draft, "", options);
}

/// Replaces the status of the object; as Update.
template <typename T>
base::Result<Typed<T>> UpdateStatus(Client& client,
                                    schema::Draft<T>& draft,
                                    const WriteOptions& options = {}) {
  return internal::Put<T>(client, draft, "status", options);
}

template <typename T>
base::Result<Typed<T>> Patch(Client& client,
                             std::string_view ns,
                             std::string_view name,
                             PatchType type,
                             std::string_view patch,
                             std::string_view subresource = "",
                             const WriteOptions& options = {}) {
  Request request = internal::MakeRequest<T>(Verb::kPatch, ns, name, subresource, options);
  request.patch = patch;
  request.patch_type = type;
  return internal::DoTyped<T>(client, request);
}

template <typename T>
base::Result<void> Delete(Client& client,
                          std::string_view ns,
                          std::string_view name,
                          const WriteOptions& options = {}) {
  ALLOT_RETURN_IF_ERROR(client.Do(internal::MakeRequest<T>(Verb::kDelete, ns, name, "", options)));
  return {};
}

template <typename T>
struct TypedList {
  std::vector<Typed<T>> items;
  Revision revision = 0;
  std::string continue_token;
};

template <typename T>
base::Result<TypedList<T>> List(Client& client,
                                std::string_view ns = "",
                                const ListOptions& options = {}) {
  ALLOT_ASSIGN_OR_RETURN(ListAnswer answer, client.List(ResourceOf<T>(), ns, options));
  TypedList<T> list{
      .items = {}, .revision = answer.revision, .continue_token = std::move(answer.continue_token)};
  list.items.reserve(answer.items.size());
  for (const Item& item : answer.items) {
    ALLOT_ASSIGN_OR_RETURN(Typed<T> typed, ViewOf<T>(item));
    list.items.push_back(std::move(typed));
  }
  return list;
}

}  // namespace allot::client
