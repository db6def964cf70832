// AnyObject: an API object whose type is known only at run time, as the pipeline handles it.
//
// A draft belongs to one thread; Freeze makes the shared view that events, answers and in-process
// readers use. Strings may point into the request body, which the memory of the object keeps alive.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "api/meta/v1.gen.h"
#include "base/arena.h"
#include "base/ref.h"
#include "base/status.h"
#include "schema/object.h"
#include "schema/type_desc.h"
#include "store/entry.h"

namespace allot::apiserver {

/// A frozen object: points to the root, owns its memory. The same form as client::AnyView.
using AnyView = std::shared_ptr<const void>;

class AnyDraft {
 public:
  AnyDraft() = default;
  /// The empty object of a type.
  explicit AnyDraft(const schema::TypeDesc& type);
  /// A shallow copy of `base`, which stays alive and unchanged.
  AnyDraft(const schema::TypeDesc& type, AnyView base);
  /// The empty object of a type, to be filled with parts of `lender`, which stays alive with it.
  AnyDraft(const schema::TypeDesc& type, std::nullptr_t empty, AnyView lender);

  [[nodiscard]] const schema::TypeDesc& type() const { return *type_; }
  [[nodiscard]] void* root() { return root_; }
  [[nodiscard]] const void* root() const { return root_; }
  template <typename T>
  [[nodiscard]] T& As() {
    return *static_cast<T*>(root_);
  }
  [[nodiscard]] base::Arena& arena() { return memory_->arena; }
  [[nodiscard]] schema::Str Copy(std::string_view text) { return arena().Copy(text); }
  /// Keeps a text alive that the object points into, and returns where it is kept.
  [[nodiscard]] std::string_view Keep(std::string text);
  explicit operator bool() const { return root_ != nullptr; }
  /// Sets kind and apiVersion; the texts must outlive the object (those of the kind tables do).
  void SetTypeMeta(std::string_view kind, std::string_view api_version);

  /// Ends writing. The draft may be read but not written afterwards.
  [[nodiscard]] AnyView Freeze() const { return {memory_, root_}; }
  /// A frozen deep copy that keeps nothing else alive: for objects made of parts of older ones,
  /// which would otherwise each hold their predecessor for ever. `body` is the size of its record:
  /// what the copy takes follows from it.
  [[nodiscard]] AnyView FreezeCopy(std::size_t body) const;

 private:
  AnyDraft(const schema::TypeDesc& type, std::size_t first_block);

  struct Memory {
    explicit Memory(std::size_t first_block) : arena(first_block) {}
    base::Arena arena;
    std::string text;
    AnyView base;
  };
  std::shared_ptr<Memory> memory_;
  const schema::TypeDesc* type_ = nullptr;
  void* root_ = nullptr;
};

/// The metadata of an object of any kind. REQUIRES: the type has metadata of type ObjectMeta.
[[nodiscard]] api::meta::ObjectMeta& MetadataOf(const schema::TypeDesc& type, void* root);
[[nodiscard]] const api::meta::ObjectMeta& MetadataOf(const schema::TypeDesc& type,
                                                      const void* root);

/// The record of a stored entry. REQUIRES: the entry's value is a schema::Object.
[[nodiscard]] base::Ref<const schema::Object> ObjectOf(const store::Entry& entry);

/// The typed view of a stored entry: the one its writer left, or decoded and left for the next
/// reader. Errors: a damaged record.
[[nodiscard]] base::Result<AnyView> ViewOf(const store::Entry& entry);

/// A record of `root` (whose resourceVersion is left out) at a revision to be stamped.
[[nodiscard]] base::Ref<const schema::Object> EncodeRecord(const schema::TypeDesc& type,
                                                           const void* root);

}  // namespace allot::apiserver
