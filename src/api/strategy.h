// Strategies: what the server does to objects of one kind before it stores them, as one table of
// functions.
//
// The API server has one code path for all kinds: decode, Default, PrepareForCreate or Update,
// Validate, store. The functions get the root of a draft and its arena, so nothing depends on the
// C++ type. Thread safety: constant tables and stateless functions; a root belongs to one thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/gates.h"
#include "api/names.h"
#include "api/object_meta.h"
#include "api/validate.h"
#include "base/arena.h"
#include "base/status.h"
#include "quantity/time.h"
#include "schema/type_desc.h"

namespace allot::api {

class DisabledFields;

/// Answers what a rule must know of other objects.
class Lookup {
 public:
  virtual ~Lookup() = default;
  /// The label `resource.kubernetes.io/admin-access: "true"` of the namespace.
  [[nodiscard]] virtual base::Result<bool> AdminAccessAllowed(std::string_view ns) const = 0;
};

struct StrategyContext {
  const GateSet& gates;
  quantity::Time now;
  /// Made from the same gates. Null: no field is dropped (offline validation).
  const DisabledFields* disabled = nullptr;
  /// Null: checks that need it are skipped (offline validation).
  const Lookup* lookup = nullptr;
  /// The group of the request where it is not that of the stored kind: events of events.k8s.io are
  /// stored as those of core but held to stricter rules.
  std::string_view request_group = {};
};

/// How a request reaches the object: the object itself or one of its subresources.
struct UpdateRules {
  std::string_view subresource;  // "" = the object itself, "status", "resize", ...
  /// Takes back what this surface may not change and keeps the server's own bookkeeping.
  void (*prepare)(const StrategyContext&, void* next, const void* old, base::Arena&) = nullptr;
  void (*validate)(const StrategyContext&,
                   const void* next,
                   const void* old,
                   FieldErrors&) = nullptr;
};

struct Strategy {
  const schema::TypeDesc* type = nullptr;
  Scope scope = Scope::kNamespaced;
  NameRule name_rule = NameRule::kDnsSubdomain;
  /// PUT without resourceVersion is taken.
  bool allow_unconditional_update = true;
  /// PUT of a name that does not exist creates it.
  bool allow_create_on_update = false;
  /// DELETE answers with the object, not with a Status.
  bool answers_deleted_object = false;
  /// 1 on create and more with every change of the spec.
  bool has_generation = false;
  std::size_t metadata_offset = 0;

  /// Fills absent fields, after every decode and before anything else. Idempotent.
  void (*apply_defaults)(const StrategyContext&, void* root, base::Arena&) = nullptr;
  /// Drops what a new object may not bring (status, gated fields).
  void (*prepare_for_create)(const StrategyContext&, void* root, base::Arena&) = nullptr;
  void (*validate_create)(const StrategyContext&, const void* root, FieldErrors&) = nullptr;
  /// The object itself first.
  std::span<const UpdateRules> updates{};
  /// Texts of Warning headers (code 299); `old` is null on create.
  void (*warnings)(const void* root, const void* old, std::vector<std::string>& out) = nullptr;

  /// Null when objects of this kind have no such subresource.
  [[nodiscard]] const UpdateRules* Update(std::string_view subresource) const;
  [[nodiscard]] meta::ObjectMeta& Metadata(void* root) const;
  [[nodiscard]] const meta::ObjectMeta& Metadata(const void* root) const;
};

/// The strategy of the kind with this table; null for kinds that are never stored (reviews,
/// Binding).
[[nodiscard]] const Strategy* FindStrategy(const schema::TypeDesc& type);

/// Validates the body of `pods/NAME/binding`.
void ValidateBinding(const void* binding, FieldErrors& errors);

}  // namespace allot::api
