// The columns behind a DeviceTable: dictionary codes per device for every attribute and capacity,
// and for the combinations of them that selectors read. Thread safety: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cel/columns.h"
#include "cel/context.h"
#include "cel/slots.h"

namespace allot::cel {

struct Grouping;
struct Term;

/// Strings to codes, looked up without making a string.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};
using CodesByText = std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>>;

/// One attribute, one capacity, or a property of all devices. Code 0: the device lacks it.
struct Column {
  std::uint32_t number = 0;
  SlotKey::Kind kind = SlotKey::Kind::kAttribute;
  std::string domain;
  std::string full_name;
  std::vector<std::uint32_t> codes;  ///< may be shorter than the table: then 0
  CodesByText dictionary;
  std::vector<Value> values;
  std::vector<bool> fits;                  ///< by code: SlotPlan::Fits
  std::vector<bool> bindable;              ///< by code
  std::vector<AttributeValue> attributes;  ///< by code, for attributes
  std::vector<Capacity> capacities;        ///< by code, for capacities
  std::vector<Grouping*> groupings;        ///< those that read it

  [[nodiscard]] std::uint32_t CodeOf(std::uint32_t device) const {
    return device < codes.size() ? codes[device] : 0;
  }
  /// Adds a value under the next code.
  void AddValue(const Value& value);
  [[nodiscard]] bool HasName(std::string_view name, std::string_view driver) const;
};

/// Tuples of codes, numbered in the order in which they are met.
class TupleCodes {
 public:
  explicit TupleCodes(std::size_t arity) : arity_(arity) {}
  [[nodiscard]] std::uint32_t Intern(std::span<const std::uint32_t> tuple);
  [[nodiscard]] std::uint32_t size() const { return size_; }

 private:
  [[nodiscard]] std::size_t Hash(const std::uint32_t* tuple) const;
  void Grow();

  std::size_t arity_;
  std::uint32_t size_ = 0;
  std::vector<std::uint32_t> tuples_;  // one after the other
  std::vector<std::uint32_t> table_;   // open addressing; values are number + 1
};

/// A combination of columns: one code per distinct combination. Shared by all selectors that read
/// the same columns.
struct Grouping {
  explicit Grouping(std::vector<const Column*> over)
      : columns(std::move(over)), tuples(columns.size()) {}

  std::vector<const Column*> columns;  ///< empty with `whole`: everything a device has
  bool whole = false;
  bool stale = false;  ///< the device being changed needs a new code
  std::vector<std::uint32_t> codes;
  TupleCodes tuples;
  CodesByText wholes;

  [[nodiscard]] std::uint32_t size() const {
    return whole ? static_cast<std::uint32_t>(wholes.size()) : tuples.size();
  }
};

struct DeviceTable::Impl {
  struct Cell {
    std::uint32_t column;
    std::uint32_t code;
    friend bool operator==(const Cell&, const Cell&) = default;
  };
  struct Row {
    std::vector<Cell> cells;
    bool bindable = true;
  };

  Impl();
  /// Appends or replaces a device. False: it is what it was.
  bool Set(std::uint32_t index, const DeviceView& device);
  void NoteChange(std::uint32_t index);
  Column& ColumnFor(const SlotKey& key);
  /// The combination of the columns behind slots; of everything when there are none to name.
  Grouping& GroupingFor(std::span<const SlotKey> slots);
  Grouping& WholeGrouping();
  /// Brings a grouping up to the size of the table.
  void Extend(Grouping& grouping);
  [[nodiscard]] std::uint32_t CodeIn(Grouping& grouping, std::uint32_t device) {
    if (device >= grouping.codes.size()) {
      Extend(grouping);
    }
    return grouping.codes[device];
  }
  /// A view of a device. Lifetime: until the next call.
  DeviceView View(std::uint32_t index);

  std::vector<Row> rows;
  std::vector<std::unique_ptr<Column>> columns;
  std::vector<std::unique_ptr<Grouping>> groupings;
  /// Devices replaced, oldest first; `first_change` counts those already forgotten.
  std::vector<std::uint32_t> changes;
  std::uint64_t first_change = 0;
  std::uint32_t unbindable = 0;
  /// Tests shared by the selectors of the table, by what they test.
  std::unordered_map<std::string, std::weak_ptr<Term>> terms;
  Evaluator evaluator;
  Context scratch;
  std::array<Value, SlotPlan::kMaxSlots> slot_values;  ///< of the evaluation in progress

 private:
  Context& Memory();
  Cell DriverCell(std::string_view driver, const Cell* hint);
  Cell AttributeCell(const Attribute& attribute, std::string_view driver, const Cell* hint);
  Cell CapacityCell(const Capacity& capacity, std::string_view driver, const Cell* hint);
  void Replace(std::uint32_t index, Row& row);
  void SetDomains(std::uint32_t index, const Row& row);
  void Touch(const Column& column);
  std::uint32_t GroupCode(Grouping& grouping, std::uint32_t index);
  bool ExtendDense(Grouping& grouping, std::uint32_t begin, std::uint32_t end);
  bool HasDomain(const Row& row, const Column& column) const;

  CodesByText by_key_;
  std::deque<Context> memory_;
  std::string scratch_text_;
  std::vector<std::uint32_t> scratch_tuple_;
  std::vector<Cell> next_cells_;
  std::vector<std::uint32_t> domain_columns_;
  std::vector<Attribute> view_attributes_;
  std::vector<Capacity> view_capacities_;
};

}  // namespace allot::cel
