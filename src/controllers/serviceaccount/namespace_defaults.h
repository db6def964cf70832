// What every namespace gets: the ServiceAccount "default" and the ConfigMap kube-root-ca.crt.
//
// Two controllers on one pattern: something must be in each active namespace, and comes back when
// it is deleted or changed. Thread safety: the loop's thread.
#pragma once

#include <string>

#include "client/typed.h"
#include "controllers/context.h"

namespace allot::controllers {

/// Keeps a ServiceAccount "default" in every active namespace.
class ServiceAccountController final : public Controller {
 public:
  explicit ServiceAccountController(Context& context);

 private:
  base::Result<void> Sync(const std::string& ns);

  Context& context_;
  client::Informer& namespaces_;
  client::Informer& accounts_;
  client::WorkQueue queue_;
};

/// Keeps the certificate of the API server's authority in a ConfigMap of every active namespace.
class RootCaPublisher final : public Controller {
 public:
  /// `ca` is the PEM text of the bundle.
  RootCaPublisher(Context& context, std::string ca);

 private:
  base::Result<void> Sync(const std::string& ns);

  Context& context_;
  std::string ca_;
  client::Informer& namespaces_;
  client::Informer& maps_;
  client::WorkQueue queue_;
};

}  // namespace allot::controllers
