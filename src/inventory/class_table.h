// ClassTable: the device classes, and which of them serves an extended resource.
// Thread safety: one writer. Internal to the module.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/resource/v1.gen.h"
#include "base/arena.h"
#include "inventory/node_table.h"
#include "quantity/quantity.h"

namespace allot::inventory {

struct Class;
using ClassPtr = std::shared_ptr<const Class>;

class ClassTable {
 public:
  void Upsert(const api::resource::DeviceClass& from);
  /// False when there is no such class.
  bool Delete(std::string_view name);
  /// Null when there is no such class.
  [[nodiscard]] ClassPtr Find(std::string_view name) const;
  [[nodiscard]] bool Has(std::string_view name) const { return classes_.contains(name); }
  [[nodiscard]] ClassPtr FindByResource(std::string_view resource) const;
  [[nodiscard]] bool AnyResource() const { return !by_resource_.empty(); }
  [[nodiscard]] std::vector<ClassPtr> All() const;

 private:
  void FindWinners();

  std::map<std::string, ClassPtr, std::less<>> classes_;
  TextMap<ClassPtr> by_resource_;
};

}  // namespace allot::inventory
