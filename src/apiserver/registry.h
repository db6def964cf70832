// Registry: the one way objects are written, for requests over the wire and for local clients
// alike: default, admit, prepare, validate, commit.
//
// A write is sequenced when a call returns; its outcome goes to the commit sink the caller passed.
// Everything runs on the calling thread; the store's sequencer is the only lock. Thread safety: any
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/disabled_fields.h"
#include "api/gates.h"
#include "api/strategy.h"
#include "apiserver/any_object.h"
#include "apiserver/authn.h"
#include "apiserver/resources.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/status.h"
#include "store/store.h"

namespace allot::api::core {
struct Binding;
struct Pod;
}  // namespace allot::api::core

namespace allot::api::resource {
struct ResourceSlice;
}  // namespace allot::api::resource

namespace allot::apiserver {

/// Who writes and how. Lifetime: the call.
struct WriteContext {
  const User& user;
  /// Texts for Warning headers; may be null.
  std::vector<std::string>* warnings = nullptr;
  bool dry_run = false;
  std::string_view manager;  ///< field manager, or the first word of the user agent
  store::CommitSink* sink = nullptr;
  std::uint64_t token = 0;
  /// The draft of a create points into memory of the caller that does not outlive the call.
  bool borrowed = false;
};

/// What a write led to.
struct Written {
  /// The stored entry; null after a dry run.
  base::Ref<const store::Entry> entry;
  AnyView view;  ///< in the stored type
  store::Revision revision = 0;
  /// The sink will hear the outcome. Otherwise nothing was written; `revision` must be durable
  /// before the answer is given (it is, unless another write is under way).
  bool pending = false;
  bool removed = false;  ///< the object is gone (or would be)
  bool created = false;  ///< it did not exist before
};

/// DeleteOptions after decoding.
struct Deletion {
  std::optional<std::int64_t> grace_seconds;
  std::optional<std::string> uid;
  std::optional<std::string> resource_version;
  std::string propagation;  ///< "", Background, Foreground, Orphan
};

/// The conflict of a write whose condition on identity or version does not hold, in upstream's
/// words. `what` is UID or ResourceVersion.
[[nodiscard]] base::Status PreconditionError(const Resource& resource,
                                             std::string_view ns,
                                             std::string_view name,
                                             std::string_view what,
                                             std::string_view wanted,
                                             std::string_view found);

/// Whether the object is the one the deletion means. Errors: kConflict as upstream.
[[nodiscard]] base::Result<void> CheckPreconditions(const api::KindInfo& info,
                                                    const api::meta::ObjectMeta& metadata,
                                                    store::Revision revision,
                                                    const Deletion& deletion);

/// Makes the new state from the old one; called again when another write came between.
/// `old` is in the stored type and null when the object does not exist (create on update). The
/// answer is in the stored type.
using UpdateSource =
    std::function<base::Result<AnyDraft>(const AnyView& old, store::Revision old_revision)>;

class Registry final : private api::Lookup {
 public:
  /// REQUIRES: everything outlives the registry.
  Registry(store::Store& store,
           const ResourceSet& resources,
           const api::GateSet& gates,
           const base::Clock& clock,
           base::Random& random)
      : store_(store),
        resources_(resources),
        gates_(gates),
        disabled_(gates),
        clock_(clock),
        random_(random) {}

  /// Stores a new object. `draft` is in the stored type, decoded but not defaulted.
  base::Result<Written> Create(const WriteContext& context,
                               const Resource& resource,
                               std::string_view ns,
                               AnyDraft draft);
  /// Changes an object, or the part of it that `subresource` names. `unconditional` writes are
  /// repeated when another write came between, the others conflict.
  base::Result<Written> Update(const WriteContext& context,
                               const Resource& resource,
                               std::string_view ns,
                               std::string_view name,
                               std::string_view subresource,
                               bool unconditional,
                               const UpdateSource& source);
  base::Result<Written> Delete(const WriteContext& context,
                               const Resource& resource,
                               std::string_view ns,
                               std::string_view name,
                               const Deletion& deletion);
  /// `pods/NAME/binding`.
  base::Result<Written> Bind(const WriteContext& context,
                             std::string_view ns,
                             std::string_view name,
                             const api::core::Binding& binding);

  /// The durable entry of an object; null when there is none.
  [[nodiscard]] base::Ref<const store::Entry> Get(const Resource& resource,
                                                  std::string_view ns,
                                                  std::string_view name) const;
  /// Fills what the defaults fill; for views of a served kind that is not the stored one.
  [[nodiscard]] api::StrategyContext StrategyContextNow() const;

  [[nodiscard]] store::Store& store() const { return store_; }
  [[nodiscard]] const ResourceSet& resources() const { return resources_; }
  [[nodiscard]] const api::GateSet& gates() const { return gates_; }
  [[nodiscard]] const base::Clock& clock() const { return clock_; }

 private:
  base::Result<bool> AdminAccessAllowed(std::string_view ns) const override;

  /// Wipes what only the server sets and fills uid, times and a generated name.
  base::Result<void> FillNewMetadata(const Resource& resource,
                                     std::string_view ns,
                                     AnyDraft& draft,
                                     bool& generated);
  base::Result<Written> CommitNew(const WriteContext& context,
                                  const Resource& resource,
                                  AnyDraft& draft);
  base::Result<Written> UpdateOnce(const WriteContext& context,
                                   const Resource& resource,
                                   const store::Entry& entry,
                                   std::string_view subresource,
                                   bool unconditional,
                                   const UpdateSource& source);
  base::Result<Written> CommitUpdate(const WriteContext& context,
                                     const Resource& resource,
                                     const store::Entry& old,
                                     AnyDraft& draft,
                                     bool remove);
  base::Result<Written> DeleteOnce(const WriteContext& context,
                                   const Resource& resource,
                                   const store::Entry& entry,
                                   const Deletion& deletion);

  /// Removes an object whose draft says that its grace is over.
  base::Result<Written> MarkAndRemove(const WriteContext& context,
                                      const Resource& resource,
                                      const store::Entry& entry,
                                      AnyDraft& draft);

  // Admission (admission.cc).
  base::Result<void> AdmitNamespace(const Resource& resource,
                                    std::string_view ns,
                                    std::string_view name) const;
  base::Result<void> AdmitCreate(const Resource& resource, std::string_view ns, AnyDraft& draft);
  base::Result<void> AdmitPod(std::string_view ns, api::core::Pod& pod, AnyDraft& draft);
  base::Result<void> AdmitServiceAccount(std::string_view ns, api::core::Pod& pod, AnyDraft& draft);
  base::Result<void> AdmitUpdate(const Resource& resource,
                                 std::string_view subresource,
                                 AnyDraft& draft,
                                 const AnyView& old);
  /// What is refused although the object is valid in itself.
  base::Result<void> AdmitValid(const Resource& resource, const AnyDraft& draft) const;
  base::Result<void> ValidateSliceNodes(const Resource& resource,
                                        const api::resource::ResourceSlice& slice) const;

  store::Store& store_;
  const ResourceSet& resources_;
  const api::GateSet& gates_;
  const api::DisabledFields disabled_;
  const base::Clock& clock_;
  base::Random& random_;
};

/// Now, in whole seconds as metav1.Time has it.
[[nodiscard]] quantity::Time NowSeconds(const base::Clock& clock);

}  // namespace allot::apiserver
