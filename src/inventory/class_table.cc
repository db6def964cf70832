#include "inventory/class_table.h"

#include "inventory/copy.h"
#include "inventory/inventory.h"

namespace allot::inventory {
namespace {

constexpr std::string_view kImplicitPrefix = "deviceclass.resource.kubernetes.io/";

// Of two classes for one resource the younger one serves it.
bool Wins(const Class& a, const Class& b) {
  return a.created != b.created ? a.created > b.created : a.name < b.name;
}

}  // namespace

void ClassTable::Upsert(const api::resource::DeviceClass& from) {
  auto device_class = std::make_shared<Class>();
  device_class->name = device_class->arena.Copy(from.metadata.name);
  device_class->spec = device_class->arena.New<api::resource::DeviceClassSpec>(
      CopyClassSpec(from.spec, device_class->arena));
  device_class->created = from.metadata.creation_timestamp;
  classes_.insert_or_assign(std::string(device_class->name), device_class);
  FindWinners();
}

bool ClassTable::Delete(std::string_view name) {
  const auto found = classes_.find(name);
  if (found == classes_.end()) {
    return false;
  }
  classes_.erase(found);
  FindWinners();
  return true;
}

void ClassTable::FindWinners() {
  by_resource_.clear();
  for (const auto& [name, device_class] : classes_) {
    by_resource_[std::string(kImplicitPrefix) + name] = device_class;
    const schema::Str* const resource = device_class->spec->extended_resource_name;
    if (resource == nullptr || resource->empty()) {
      continue;
    }
    ClassPtr& winner = by_resource_[std::string(*resource)];
    if (winner == nullptr || Wins(*device_class, *winner)) {
      winner = device_class;
    }
  }
}

ClassPtr ClassTable::Find(std::string_view name) const {
  const auto found = classes_.find(name);
  return found != classes_.end() ? found->second : nullptr;
}

ClassPtr ClassTable::FindByResource(std::string_view resource) const {
  const auto found = by_resource_.find(resource);
  return found != by_resource_.end() ? found->second : nullptr;
}

std::vector<ClassPtr> ClassTable::All() const {
  std::vector<ClassPtr> all;
  for (const auto& [name, device_class] : classes_) {
    all.push_back(device_class);
  }
  return all;
}

}  // namespace allot::inventory
