// Constraints of a claim: matchAttribute and distinctAttribute over the devices taken so far.
//
// Add and Undo are a stack: every successful Add is undone in reverse order. Add a kind by a class
// here and a case in Constraint::Make. Thread safety: one thread. See: KEP-4381, KEP-5491.
#pragma once

#include <memory>

#include "allocator/prepared.h"
#include "api/resource/v1.gen.h"

namespace allot::allocator {

/// Set semantics need the list-attribute gate; without it only scalars compare.
enum class AttributeSemantics : std::uint8_t { kScalar, kSet };

class Constraint {
 public:
  explicit Constraint(ConstraintKind kind) : kind_(kind) {}
  virtual ~Constraint() = default;
  Constraint(const Constraint&) = delete;
  Constraint& operator=(const Constraint&) = delete;

  [[nodiscard]] ConstraintKind kind() const { return kind_; }

  /// Takes a device with this attribute (null: it has none). False: the device does not fit, and
  /// nothing has changed.
  [[nodiscard]] virtual bool Add(const api::resource::DeviceAttribute* attribute) = 0;
  /// Takes back the last successful Add.
  virtual void Undo() = 0;
  /// Back to no devices.
  virtual void Reset() = 0;

  [[nodiscard]] static std::unique_ptr<Constraint> Make(ConstraintKind kind,
                                                        AttributeSemantics semantics);

 private:
  ConstraintKind kind_;
};

/// The device's published attribute for a constraint: under the full name, or under the bare id
/// when the domain is the device's driver. Null when it has none.
[[nodiscard]] const api::resource::DeviceAttribute* PublishedAttribute(
    const inventory::Device& device, const PreparedConstraint& constraint);

/// The values an attribute counts as, as texts that compare equal exactly when the values do
/// (type included). Empty: no value.
void AttributeValues(const api::resource::DeviceAttribute& attribute,
                     AttributeSemantics semantics,
                     std::vector<std::string>& out);

}  // namespace allot::allocator
