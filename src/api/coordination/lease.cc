// Lease.
#include <array>
#include <string>

#include "api/coordination/v1.gen.h"
#include "api/names.h"
#include "api/strategies.h"
#include "api/strategy_of.h"

namespace allot::api::coordination {

using schema::Editor;

namespace {

void ValidateSpec(const LeaseSpec& spec, FieldErrors& errors) {
  const Path path("spec");
  if (spec.lease_duration_seconds != nullptr && *spec.lease_duration_seconds <= 0) {
    errors.Invalid(
        path.Child("leaseDurationSeconds"), *spec.lease_duration_seconds, "must be greater than 0");
  }
  if (spec.lease_transitions != nullptr && *spec.lease_transitions < 0) {
    errors.Invalid(path.Child("leaseTransitions"),
                   *spec.lease_transitions,
                   "must be greater than or equal to 0");
  }
  if (spec.strategy != nullptr) {
    const Path strategy = path.Child("strategy");
    const auto slash = spec.strategy->find('/');
    constexpr std::array<std::string_view, 1> kStrategies = {"OldestEmulationVersion"};
    if (slash != schema::Str::npos) {
      errors.InvalidAll(strategy, *spec.strategy, QualifiedNameProblems(*spec.strategy));
    } else if (*spec.strategy != kStrategies[0]) {
      errors.NotSupported(strategy, *spec.strategy, kStrategies);
    }
  }
  if (spec.preferred_holder != nullptr && !spec.preferred_holder->empty() &&
      (spec.strategy == nullptr || spec.strategy->empty())) {
    errors.Forbidden(path.Child("preferredHolder"),
                     "may only be specified if `strategy` is defined");
  }
}

void PrepareForCreate(const StrategyContext& context, Lease& lease, Editor editor) {
  DropDisabled<Lease>(context, lease, nullptr, editor);
}

void PrepareForUpdate(const StrategyContext& context,
                      Lease& next,
                      const Lease& old,
                      Editor editor) {
  DropDisabled(context, next, &old, editor);
}

void ValidateCreate(const StrategyContext&, const Lease& lease, Report& report) {
  ValidateObjectMeta(lease.metadata,
                     Scope::kNamespaced,
                     NameRule::kDnsSubdomain,
                     Path("metadata"),
                     report.hand,
                     FinalizerRule::kAny);
  ValidateSpec(lease.spec, report.hand);
}

void ValidateUpdate(const StrategyContext&, const Lease& next, const Lease& old, Report& report) {
  ValidateObjectMetaUpdate(
      next.metadata, old.metadata, Path("metadata"), report.hand, FinalizerRule::kAny);
  ValidateSpec(next.spec, report.hand);
}

constexpr std::array<UpdateRules, 1> kUpdates = {{
    {"", &Erased<Lease, PrepareForUpdate>, &Erased<Lease, ValidateUpdate>},
}};

}  // namespace

const Strategy kLeaseStrategy = {
    .type = &kLeaseDesc,
    .allow_unconditional_update = false,
    .allow_create_on_update = true,
    .metadata_offset = offsetof(Lease, metadata),
    .prepare_for_create = &Erased<Lease, PrepareForCreate>,
    .validate_create = &Erased<Lease, ValidateCreate>,
    .updates = kUpdates,
};

}  // namespace allot::api::coordination
