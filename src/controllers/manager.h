// Manager: the controllers of one process, chosen by name as --controllers does, on one loop.
// Thread safety: as Context.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/context.h"

namespace allot::controllers {

struct Options {
  /// As kube-controller-manager: "*" is all that are on by default, "-name" all but this, "name"
  /// this.
  std::string controllers = "*";
  /// PEM text for kube-root-ca.crt; empty: that controller does not run.
  std::string root_ca{};
  /// Gates DRADeviceTaints and DRADeviceTaintRules: whether device taints evict pods, and whether
  /// those of rules do.
  bool device_taints = true;
  bool device_taint_rules = true;
};

class Manager {
 public:
  /// Makes the chosen controllers. REQUIRES: all arguments outlive the manager; before the loop
  /// runs. Errors: kBadRequest for a name nobody knows, in upstream's words.
  static base::Result<std::unique_ptr<Manager>> Make(client::Client& client,
                                                     client::Loop& loop,
                                                     telemetry::Registry& metrics,
                                                     const telemetry::Logger& log,
                                                     const Options& options);

  /// Lists and watches; controllers act once all informers are in sync.
  void Start() { context_.StartInformers(); }
  [[nodiscard]] bool Synced() { return context_.Synced(); }
  /// Names of the controllers that run.
  [[nodiscard]] const std::vector<std::string>& running() const { return running_; }

 private:
  Manager(client::Client& client,
          client::Loop& loop,
          telemetry::Registry& metrics,
          telemetry::Logger log)
      : context_(client, loop, metrics, std::move(log)) {}

  Context context_;
  std::vector<std::unique_ptr<Controller>> controllers_;
  std::vector<std::string> running_;
};

/// Whether `--controllers VALUE` turns this controller on.
[[nodiscard]] bool IsEnabled(std::string_view value, std::string_view name);

}  // namespace allot::controllers
