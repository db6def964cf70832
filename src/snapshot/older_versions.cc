#include "snapshot/older_versions.h"

#include <array>
#include <utility>

namespace allot::snapshot {
namespace {

using text::Value;

// v1beta1 kept the members of a device one level down, under `basic`.
void LiftDevices(Value& object) {
  Value* const spec = object.Find("spec");
  Value* const devices = spec != nullptr ? spec->Find("devices") : nullptr;
  if (devices == nullptr || !devices->is_array()) {
    return;
  }
  for (Value& device : devices->MutableItems()) {
    Value* const basic = device.Find("basic");
    if (basic == nullptr) {
      continue;
    }
    const Value members = std::move(*basic);
    device.Erase("basic");
    for (const text::Member& member : members.members()) {
      device.Set(member.key, member.value);
    }
  }
}

// v1beta1 had the members of `exactly` in the request itself.
void LowerRequests(Value& spec) {
  static constexpr std::array<std::string_view, 7> kMembers = {"deviceClassName",
                                                               "selectors",
                                                               "allocationMode",
                                                               "count",
                                                               "adminAccess",
                                                               "tolerations",
                                                               "capacity"};
  Value* const devices = spec.Find("devices");
  Value* const requests = devices != nullptr ? devices->Find("requests") : nullptr;
  if (requests == nullptr || !requests->is_array()) {
    return;
  }
  for (Value& request : requests->MutableItems()) {
    if (request.Find("firstAvailable") != nullptr || request.Find("exactly") != nullptr) {
      continue;
    }
    Value exactly = Value::Object();
    for (const std::string_view name : kMembers) {
      if (const Value* const member = request.Find(name)) {
        exactly.Set(name, *member);
        request.Erase(name);
      }
    }
    request.Set("exactly", std::move(exactly));
  }
}

}  // namespace

bool ToV1(std::string_view version, Value& object) {
  if (version == "v1" || version == "v1beta2") {
    return true;
  }
  if (version != "v1beta1") {
    return false;
  }
  const std::string_view kind = object.StringAt({"kind"});
  if (kind == "ResourceSlice") {
    LiftDevices(object);
  }
  Value* spec = object.Find("spec");
  if (kind == "ResourceClaim" && spec != nullptr) {
    LowerRequests(*spec);
  }
  if (kind == "ResourceClaimTemplate" && spec != nullptr) {
    if (Value* const inner = spec->Find("spec")) {
      LowerRequests(*inner);
    }
  }
  return true;
}

}  // namespace allot::snapshot
