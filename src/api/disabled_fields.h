// DisabledFields: takes fields whose feature gate is off out of incoming objects.
//
// What a field's gates are stands in the schema. A field whose gate is off is cleared, without an
// error, unless the stored object already uses that gate; then everything is kept as sent.
// Thread safety: immutable after construction. Lifetime: one per server.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "api/gates.h"
#include "base/arena.h"
#include "schema/type_desc.h"

namespace allot::api {

class DisabledFields {
 public:
  explicit DisabledFields(const GateSet& gates);

  /// Clears disabled fields of `root`; what lies behind pointers is copied into `arena` first.
  /// `old` is the stored object, null on create. Cost: a visit of the parts that have disabled
  /// fields.
  void Drop(const schema::TypeDesc& type, void* root, const void* old, base::Arena& arena) const;

 private:
  using Mask = std::uint64_t;  // one bit a gate that is off and named by a field
  struct Step {
    const schema::FieldDesc* field = nullptr;
    Mask gates = 0;  // off gates of this very field; 0 = look inside
    const std::vector<Step>* inside = nullptr;
  };
  using Steps = std::vector<Step>;

  const Steps* Plan(const GateSet& gates, const schema::TypeDesc& type);
  Mask BitOf(const GateSet& gates, const schema::FieldDesc& field);
  static Mask InUse(const Steps& steps, const char* root);
  static bool Clear(const Steps& steps, char* root, Mask off, base::Arena& arena);
  static bool ClearInside(const Step& step, char* member, Mask off, base::Arena& arena);
  static bool ClearElements(const Step& step, char* member, Mask off, base::Arena& arena);

  std::unordered_map<const schema::TypeDesc*, Steps>
      plans_;  // only types with something disabled inside
  std::unordered_map<std::string_view, Mask> bits_;
};

}  // namespace allot::api
