// Printers of resource.k8s.io kinds.
#include <string>

#include "api/resource/v1.gen.h"
#include "apiserver/table.h"

namespace allot::apiserver {
namespace {

namespace resource = api::resource;

constexpr Column kName = {
    "Name", "string", "name", "Name of the object, unique within its namespace.", 0};
constexpr Column kAge = {"Age", "string", "", "Time since the object was created.", 0};

constexpr Column kNameAge[] = {kName, kAge};
constexpr Column kClaim[] = {
    kName, {"State", "string", "", "Whether devices are allocated and who uses them.", 0}, kAge};
constexpr Column kSlice[] = {
    kName,
    {"Node", "string", "", "The node whose devices these are, if it is one.", 0},
    {"Driver", "string", "", "The driver that published the slice.", 0},
    {"Pool", "string", "", "The pool the devices belong to.", 0},
    kAge};
constexpr Column kRule[] = {kName,
                            {"Key", "string", "", "Key of the taint.", 0},
                            {"Value", "string", "", "Value of the taint.", 0},
                            {"Effect", "string", "", "What the taint does.", 0},
                            {"TimeAdded", "string", "", "Time since the taint took effect.", 0},
                            kAge};

template <typename T>
void NameAgeCells(const void* root, CellWriter& out) {
  const T& object = *static_cast<const T*>(root);
  out.Text(object.metadata.name);
  out.Age(object.metadata.creation_timestamp);
}

void ClaimCells(const void* root, CellWriter& out) {
  const auto& claim = *static_cast<const resource::ResourceClaim*>(root);
  const bool deleting = claim.metadata.deletion_timestamp != nullptr;
  std::string state = deleting ? "deleted" : "";
  const auto add = [&](std::string_view word) {
    state += state.empty() ? "" : ",";
    state += word;
  };
  if (claim.status.allocation == nullptr) {
    if (!deleting) {
      add("pending");
    }
  } else {
    add("allocated");
    if (!claim.status.reserved_for.empty()) {
      add("reserved");
    }
  }
  out.Text(claim.metadata.name);
  out.Text(state);
  out.Age(claim.metadata.creation_timestamp);
}

void SliceCells(const void* root, CellWriter& out) {
  const auto& slice = *static_cast<const resource::ResourceSlice*>(root);
  out.Text(slice.metadata.name);
  out.Text(slice.spec.node_name != nullptr ? *slice.spec.node_name : std::string_view());
  out.Text(slice.spec.driver);
  out.Text(slice.spec.pool.name);
  out.Age(slice.metadata.creation_timestamp);
}

void RuleCells(const void* root, CellWriter& out) {
  const auto& rule = *static_cast<const resource::DeviceTaintRule*>(root);
  const resource::DeviceTaint& taint = rule.spec.taint;
  out.Text(rule.metadata.name);
  out.Text(taint.key);
  out.Text(taint.value);
  out.Text(taint.effect);
  out.Age(taint.time_added != nullptr ? *taint.time_added : quantity::Time(), "");
  out.Age(rule.metadata.creation_timestamp);
}

constexpr TablePrinter kClassPrinter = {kNameAge, NameAgeCells<resource::DeviceClass>};
constexpr TablePrinter kTemplatePrinter = {kNameAge, NameAgeCells<resource::ResourceClaimTemplate>};
constexpr TablePrinter kClaimPrinter = {kClaim, ClaimCells};
constexpr TablePrinter kSlicePrinter = {kSlice, SliceCells};
constexpr TablePrinter kRulePrinter = {kRule, RuleCells};

}  // namespace

const TablePrinter* FindResourcePrinter(const schema::TypeDesc& type) {
  if (&type == &api::Desc<resource::ResourceClaim>()) {
    return &kClaimPrinter;
  }
  if (&type == &api::Desc<resource::ResourceSlice>()) {
    return &kSlicePrinter;
  }
  if (&type == &api::Desc<resource::ResourceClaimTemplate>()) {
    return &kTemplatePrinter;
  }
  if (&type == &api::Desc<resource::DeviceClass>()) {
    return &kClassPrinter;
  }
  if (&type == &api::Desc<resource::DeviceTaintRule>()) {
    return &kRulePrinter;
  }
  return nullptr;
}

}  // namespace allot::apiserver
