#include "cel/environment.h"

#include <array>

#include "cel/functions.h"
#include "cel/messages.h"

namespace allot::cel {
namespace {

// The types of the device variable are the same objects in all environments.
struct DeviceTypes {
  DeviceTypes() : types(arena) {
    device = types.Struct("kubernetes.DRADevice");
    capacity = types.Map(&types::kString, types.Map(&types::kString, &types::kQuantity));
    attributes_dyn = types.Map(&types::kString, types.Map(&types::kString, &types::kDyn));
    attributes_any = types.Map(&types::kString, types.Map(&types::kString, &types::kAny));
  }
  base::Arena arena;
  TypeFactory types;
  const Type* device;
  const Type* capacity;
  const Type* attributes_dyn;
  const Type* attributes_any;
};

Env MakeEnv(const DeviceTypes& types, bool with_lists, bool with_multiple, bool with_includes) {
  Env env;
  env.libraries = kLibStandard | kLibOptionals | kLibStrings | kLibSets | kLibLists |
                  kLibTwoVariables | kLibKubernetes | kLibNetwork |
                  (with_includes ? kLibIncludes : 0U);
  env.device = types.device;
  env.variables = {{"device", types.device}};
  env.device_fields = {{"driver", &types::kString},
                       {"attributes", with_lists ? types.attributes_dyn : types.attributes_any},
                       {"capacity", types.capacity}};
  if (with_multiple) {
    env.device_fields.push_back({"allowMultipleAllocations", &types::kBool});
  }
  env.attribute = with_lists ? &types::kDyn : &types::kAny;
  env.declared_types = {{"kubernetes.DRADevice", types.device},
                        {"kubernetes.DRADevice.attributes", env.device_fields[1].type},
                        {"kubernetes.DRADevice.capacity", types.capacity},
                        {"duration", &types::kDuration},
                        {"timestamp", &types::kTimestamp}};
  return env;
}

struct Environments {
  Environments()
      : stored(MakeEnv(types, true, true, true)),
        fresh{MakeEnv(types, false, false, false),
              MakeEnv(types, false, true, false),
              MakeEnv(types, true, false, true),
              MakeEnv(types, true, true, true)} {}
  DeviceTypes types;
  Env stored;
  std::array<Env, 4> fresh;
};

constexpr std::array kTypeNames = {Variable{"bool", &types::kBool},
                                   Variable{"bytes", &types::kBytes},
                                   Variable{"double", &types::kDouble},
                                   Variable{"google.protobuf.Duration", &types::kDuration},
                                   Variable{"google.protobuf.Empty", &types::kEmptyMessage},
                                   Variable{"int", &types::kInt},
                                   Variable{"list", &types::kListDyn},
                                   Variable{"map", &types::kMapDyn},
                                   Variable{"null_type", &types::kNull},
                                   Variable{"string", &types::kString},
                                   Variable{"google.protobuf.Timestamp", &types::kTimestamp},
                                   Variable{"type", &types::kType},
                                   Variable{"uint", &types::kUint}};

}  // namespace

const Env& DeviceEnv(Environment environment, const Gates& gates) {
  static const Environments environments;
  if (environment == Environment::kStored) {
    return environments.stored;
  }
  return environments
      .fresh[(gates.list_type_attributes ? 2U : 0U) + (gates.consumable_capacity ? 1U : 0U)];
}

const Type* FindTypeName(const Env& env, std::string_view name) {
  for (const Variable& type : kTypeNames) {
    if (type.name == name) {
      return type.type;
    }
  }
  if ((env.libraries & kLibOptionals) != 0 && name == "optional_type") {
    return &types::kOptionalDyn;
  }
  if ((env.libraries & kLibNetwork) != 0) {
    if (name == "net.IP") {
      return &types::kIp;
    }
    if (name == "net.CIDR") {
      return &types::kCidr;
    }
  }
  return nullptr;
}

const Type* FindDeclaredType(const Env& env, std::string_view name) {
  for (const Variable& type : env.declared_types) {
    if (type.name == name) {
      return type.type;
    }
  }
  const MessageType* const message = FindMessage(name);
  return message != nullptr ? message->type : nullptr;
}

}  // namespace allot::cel
