// Rules that several DRA kinds share. Module-private.
// Thread safety: stateless.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "api/gates.h"
#include "api/resource/v1.gen.h"
#include "api/strategy.h"
#include "api/validate.h"
#include "schema/object.h"

namespace allot::api::resource {

// Limits of resource.k8s.io; docs/reference has the list.
inline constexpr std::size_t kMaxRequests = 32;
inline constexpr std::size_t kMaxConstraints = 32;
inline constexpr std::size_t kMaxConfigs = 32;
inline constexpr std::size_t kMaxSelectors = 32;
inline constexpr std::size_t kMaxSubRequests = 8;
inline constexpr std::size_t kMaxDerivedAttributes = 32;
inline constexpr std::size_t kMaxResults = 32;
inline constexpr std::size_t kMaxReservedFor = 256;
inline constexpr std::size_t kMaxBindingConditions = 4;
inline constexpr std::size_t kMaxParameters = 10 * 1024;
inline constexpr std::size_t kMaxConditions = 8;
inline constexpr std::size_t kMaxDomain = 63;
inline constexpr std::size_t kMaxIdentifier = 32;
inline constexpr std::size_t kMaxPoolName = 253;
inline constexpr std::size_t kMaxAttributeText = 64;

inline constexpr std::string_view kAdminAccessDetail =
    "admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the "
    "containing namespace";

/// Reports and answers true when a list is longer than `max`; its items are then not looked at.
inline bool TooMany(std::size_t size, std::size_t max, const Path& path, FieldErrors& errors) {
  if (size <= max) {
    return false;
  }
  errors.TooMany(path, size, max);
  return true;
}

/// A driver name by the hand-written rule: lower case is not asked for, the message says it is.
void ValidateDriverName(schema::Str name, const Path& path, FieldErrors& errors);
/// The same by the declared rule.
void ValidateDriverNameDeclared(schema::Str name, const Path& path, FieldErrors& errors);
/// A pool name by the hand-written rule.
void ValidatePoolName(schema::Str name, const Path& path, FieldErrors& errors);
/// The same by the declared rule (allocation results).
void ValidatePoolNameDeclared(schema::Str name, const Path& path, FieldErrors& errors);
void ValidateDnsLabel(schema::Str name, const Path& path, FieldErrors& errors);
/// A label value, also where it may be empty.
void ValidateLabelValue(schema::Str value, const Path& path, FieldErrors& errors);
/// `identifier` or `domain/identifier`; keys of attributes and capacities.
void ValidateQualifiedName(schema::Str name, const Path& path, FieldErrors& errors);
/// `domain/identifier` by the declared rule.
void ValidateFullyQualifiedName(schema::Str name, const Path& path, FieldErrors& errors);

/// What the checks of CEL expressions need.
struct CelContext {
  const GateSet& gates;
  bool stored = false;  // the expression was accepted before: neither compiled nor limited
  /// Sum of the costs of derived attributes; null = not summed.
  std::uint64_t* derived_cost = nullptr;
};
enum class CelUse : std::uint8_t { kSelector, kDerivedAttribute };
/// Length, then compilation, then the estimated cost.
void ValidateCelExpression(schema::Str expression,
                           CelUse use,
                           const CelContext& context,
                           const Path& path,
                           FieldErrors& errors);
void ValidateSelectors(const schema::List<DeviceSelector>& selectors,
                       const CelContext& context,
                       const Path& path,
                       Report& report);

/// The opaque part of a configuration; `stored` parameters may be longer than the limit.
void ValidateConfiguration(const DeviceConfiguration& config,
                           bool stored,
                           const Path& path,
                           Report& report);
/// A JSON object; REQUIRES: valid JSON or empty, as decoding leaves it.
void ValidateRawObject(const schema::RawJson& raw,
                       std::size_t max,
                       bool stored,
                       const Path& path,
                       FieldErrors& errors);

/// `old` is null for a new taint.
void ValidateTaint(const DeviceTaint& taint,
                   const DeviceTaint* old,
                   const Path& path,
                   Report& report);
void ValidateToleration(const DeviceToleration& toleration, const Path& path, Report& report);
/// bindingConditions and bindingFailureConditions of a device or result at `path`.
void ValidateBindingConditions(const schema::List<schema::Str>& conditions,
                               const schema::List<schema::Str>& failures,
                               const Path& path,
                               Report& report);
void ValidateSkipNodeOperations(const schema::List<schema::Str>& operations,
                                const Path& path,
                                Report& report);

/// The names requests and subrequests of a claim go by.
class RequestNames {
 public:
  explicit RequestNames(const DeviceClaim& claim);
  /// `request` or `request/subrequest`.
  [[nodiscard]] bool Has(schema::Str reference) const;

 private:
  std::unordered_set<std::string> names_;  // "r" and "r/s"
};
/// A reference to a request or subrequest.
void ValidateRequestReference(schema::Str reference,
                              const RequestNames& names,
                              const Path& path,
                              FieldErrors& errors);
/// The `requests` of constraints and configurations.
void ValidateRequestReferences(const schema::List<schema::Str>& references,
                               const RequestNames& names,
                               const Path& path,
                               Report& report);

/// A complete claim spec, as it is created.
void ValidateClaimSpec(const StrategyContext& context,
                       const ResourceClaimSpec& spec,
                       const Path& path,
                       Report& report);
/// Defaults of a claim spec.
void DefaultClaimSpec(ResourceClaimSpec& spec, schema::Editor editor);
/// Admin access needs a label of the namespace; looked up only when something asks for it.
void ValidateAdminAccess(const StrategyContext& context,
                         const ResourceClaimSpec& spec,
                         schema::Str ns,
                         FieldErrors& errors);
/// Sets the time of taints that have none. `editor` writes the list.
void DefaultTaints(const quantity::Time& now,
                   schema::List<DeviceTaint>& taints,
                   schema::Editor editor);

}  // namespace allot::api::resource
