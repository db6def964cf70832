// Constraints of a claim: matchAttribute and distinctAttribute over the devices taken so far.
//
// Add and Undo are a stack: every successful Add is undone in reverse order. Add a kind by a class
// here and a case in Constraint::Make. Thread safety: one thread. See: KEP-4381, KEP-5491.
#pragma once

#include <cstdint>
#include <memory>

#include "allocator/attributes.h"

namespace allot::allocator {

enum class ConstraintKind : std::uint8_t { kMatch, kDistinct };

class Constraint {
 public:
  explicit Constraint(ConstraintKind kind) : kind_(kind) {}
  virtual ~Constraint() = default;
  Constraint(const Constraint&) = delete;
  Constraint& operator=(const Constraint&) = delete;

  [[nodiscard]] ConstraintKind kind() const { return kind_; }

  static constexpr std::uint32_t kAnyValue = 0xfffffffe;
  /// The single value that Add may still accept; kAnyValue when there is no single one.
  [[nodiscard]] std::uint32_t only() const { return only_; }

  /// Takes a device with these values. False: the device does not fit, and nothing has changed.
  [[nodiscard]] virtual bool Add(const ValueIds& values) = 0;
  /// Takes back the last successful Add.
  virtual void Undo() = 0;
  /// Back to no devices.
  virtual void Reset() = 0;

  [[nodiscard]] static std::unique_ptr<Constraint> Make(ConstraintKind kind,
                                                        AttributeSemantics semantics);

 protected:
  std::uint32_t only_ = kAnyValue;

 private:
  ConstraintKind kind_;
};

}  // namespace allot::allocator
