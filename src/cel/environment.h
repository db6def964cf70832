// Env: what an expression may name: variables, types, libraries, macros. Thread safety: immutable
// once built.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cel/builder.h"
#include "cel/cel.h"
#include "cel/types.h"

namespace allot::cel {

struct Variable {
  std::string_view name;
  const Type* type = nullptr;
};

struct Env {
  std::uint32_t libraries = 0;
  Syntax syntax = {};
  /// Kubernetes' checks after the type check.
  bool validators = true;
  std::string_view container;
  std::vector<Variable> variables;
  /// The type of `device`, and its fields.
  const Type* device = nullptr;
  std::vector<Variable> device_fields;
  /// Types known by a name that no value has: those of the device's maps.
  std::vector<Variable> declared_types;
  /// The type of an attribute value: dyn, or any where list attributes are switched off.
  const Type* attribute = nullptr;
};

/// The device environment of Kubernetes 1.37.
[[nodiscard]] const Env& DeviceEnv(Environment environment, const Gates& gates);

/// The type an identifier names ("int", "net.IP"); null: none.
[[nodiscard]] const Type* FindTypeName(const Env& env, std::string_view name);
/// The type only the checker knows by that name ("duration", "google.protobuf.Int32Value"); null:
/// none. Such names pass the check, but no program can be made of them; messages can be built of
/// some.
[[nodiscard]] const Type* FindDeclaredType(const Env& env, std::string_view name);

}  // namespace allot::cel
