// NamespaceController: empties a namespace that is being deleted, then lets it go.
//
// Every resource the server has is deleted in the namespace, and once nothing is left the finalizer
// "kubernetes" is taken from spec.finalizers. What remains, and which finalizers hold it, is shown
// in the namespace's conditions. Thread safety: the loop's thread.
#pragma once

#include <string>

#include "client/typed.h"
#include "controllers/context.h"

namespace allot::controllers {

class NamespaceController final : public Controller {
 public:
  explicit NamespaceController(Context& context);

 private:
  struct Remaining;
  void OnNamespaces(std::span<const client::Change> changes);
  base::Result<void> Sync(const std::string& key);
  base::Result<void> DeleteContent(std::string_view ns, Remaining& remaining);
  base::Result<void> DeleteKind(const client::ServedResource& served,
                                std::string_view ns,
                                Remaining& remaining);
  base::Result<void> DeleteAll(const client::ServedResource& served,
                               std::string_view ns,
                               const client::ListAnswer& list);
  base::Result<void> WriteConditions(const client::Typed<api::core::Namespace>& ns,
                                     const Remaining& remaining);
  base::Result<void> Finalize(const client::Typed<api::core::Namespace>& ns);

  Context& context_;
  client::Informer& namespaces_;
  client::WorkQueue queue_;
};

}  // namespace allot::controllers
