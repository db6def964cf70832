// Field selectors: which fields each kind can be selected by, and their values; Filter puts
// namespace, label selector and field selector together.
// Thread safety: immutable values.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/any_object.h"
#include "apiserver/resources.h"
#include "apiserver/selectors.h"
#include "base/status.h"
#include "store/entry.h"

namespace allot::apiserver {

/// Errors: kBadRequest with the kind's own text when it cannot be selected by one of the fields.
[[nodiscard]] base::Result<void> CheckFields(const Resource& resource,
                                             const FieldSelector& selector);

/// The value of a selectable field other than metadata.name and metadata.namespace, from an object
/// in its stored type; nullopt when the kind has no such field.
[[nodiscard]] std::optional<std::string_view> FieldValue(const schema::TypeDesc& stored_type,
                                                         const void* root,
                                                         std::string_view field);

/// Decides which stored entries of one resource a list or watch shows.
class Filter {
 public:
  Filter() = default;
  /// Errors: of CheckFields.
  [[nodiscard]] static base::Result<Filter> Make(const Resource& resource,
                                                 std::string_view ns,
                                                 LabelSelector labels,
                                                 FieldSelector fields);

  /// Entries whose record cannot be decoded never match.
  [[nodiscard]] bool Matches(const store::Entry& entry) const;
  /// True when it only restricts the namespace: then all entries in the key range match.
  [[nodiscard]] bool ByNamespaceOnly() const { return labels_.empty() && fields_.empty(); }
  /// The part of all keys that can match: "" or "namespace/".
  [[nodiscard]] const std::string& key_prefix() const { return key_prefix_; }
  /// The one key that can match, when the selectors fix it.
  [[nodiscard]] std::optional<std::string> OnlyKey() const;

 private:
  bool namespaced_ = true;
  std::string ns_;
  std::string key_prefix_;
  LabelSelector labels_;
  FieldSelector fields_;
};

}  // namespace allot::apiserver
