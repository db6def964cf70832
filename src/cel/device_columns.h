// The columns behind a DeviceTable: dictionary codes per device for every attribute and capacity,
// and for the combinations of them that selectors read. Thread safety: one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cel/columns.h"
#include "cel/context.h"
#include "cel/slots.h"

namespace allot::cel {

/// One attribute, one capacity, or a property of all devices. Code 0: the device lacks it.
struct Column {
  std::uint32_t number = 0;
  SlotKey::Kind kind = SlotKey::Kind::kAttribute;
  std::string domain;
  std::string full_name;
  std::vector<std::uint32_t> codes;  ///< may be shorter than the table: then 0
  std::unordered_map<std::string, std::uint32_t> dictionary;
  std::vector<Value> values;
  std::vector<AttributeValue> attributes;  ///< by code, for attributes
  std::vector<Capacity> capacities;        ///< by code, for capacities

  [[nodiscard]] std::uint32_t CodeOf(std::uint32_t device) const {
    return device < codes.size() ? codes[device] : 0;
  }
};

/// A combination of columns: one code per distinct combination. Shared by all selectors that read
/// the same columns.
struct Grouping {
  std::vector<const Column*> columns;  ///< empty with `whole`: everything a device has
  bool whole = false;
  std::vector<std::uint32_t> codes;
  std::unordered_map<std::string, std::uint32_t> dictionary;
};

struct DeviceTable::Impl {
  struct Cell {
    std::uint32_t column;
    std::uint32_t code;
  };
  struct Row {
    std::vector<Cell> cells;
    bool bindable = true;
  };

  Impl();
  void Set(std::uint32_t index, const DeviceView& device);
  Column& ColumnFor(const SlotKey& key);
  Grouping& GroupingFor(const SlotPlan* plan);
  /// Brings a grouping up to the size of the table.
  void Extend(Grouping& grouping);
  /// A view of a device. Lifetime: until the next call.
  DeviceView View(std::uint32_t index);

  std::vector<Row> rows;
  std::vector<std::unique_ptr<Column>> columns;
  std::vector<std::unique_ptr<Grouping>> groupings;
  std::vector<std::uint32_t> changes;  ///< devices replaced, oldest first
  std::uint32_t unbindable = 0;

 private:
  Context& Memory();
  void SetCell(std::uint32_t index, Row& row, Column& column, std::uint32_t code);
  void SetAttribute(std::uint32_t index,
                    Row& row,
                    const Attribute& attribute,
                    std::string_view driver);
  void SetCapacity(std::uint32_t index,
                   Row& row,
                   const Capacity& capacity,
                   std::string_view driver);
  std::uint32_t GroupCode(Grouping& grouping, std::uint32_t index);
  bool HasDomain(const Row& row, const Column& column) const;

  std::unordered_map<std::string, std::uint32_t> by_key_;
  std::deque<Context> memory_;
  std::string scratch_;
  std::vector<Attribute> view_attributes_;
  std::vector<Capacity> view_capacities_;
};

}  // namespace allot::cel
