#include "cel/device_columns.h"

#include <algorithm>

#include "cel/bind.h"

namespace allot::cel {
namespace {

constexpr std::size_t kMemoryBlock = std::size_t{16} << 20;

template <typename T>
void AppendRaw(const T& value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// A key that is equal for equal attribute values.
void AppendKey(const AttributeValue& value, std::string& key) {
  key += static_cast<char>(value.kind);
  switch (value.kind) {
    case AttributeKind::kInt: AppendRaw(value.integer, key); break;
    case AttributeKind::kBool: key += value.boolean ? '1' : '0'; break;
    case AttributeKind::kString:
    case AttributeKind::kVersion: key += value.text; break;
    case AttributeKind::kInts:
      for (const std::int64_t item : value.integers) {
        AppendRaw(item, key);
      }
      break;
    case AttributeKind::kBools:
      for (const bool item : value.booleans) {
        key += item ? '1' : '0';
      }
      break;
    default:
      for (const std::string_view text : value.texts) {
        AppendRaw(text.size(), key);
        key += text;
      }
  }
}

bool Same(const AttributeValue& a, const AttributeValue& b) {
  if (a.kind != b.kind) {
    return false;
  }
  switch (a.kind) {
    case AttributeKind::kMissing: return true;
    case AttributeKind::kInt: return a.integer == b.integer;
    case AttributeKind::kBool: return a.boolean == b.boolean;
    case AttributeKind::kString:
    case AttributeKind::kVersion: return a.text == b.text;
    case AttributeKind::kInts: return std::ranges::equal(a.integers, b.integers);
    case AttributeKind::kBools: return std::ranges::equal(a.booleans, b.booleans);
    default: return std::ranges::equal(a.texts, b.texts);
  }
}

void AppendKey(const Capacity& capacity, std::string& key) {
  key += capacity.text;
  if (key.empty()) {
    key = capacity.value.ToString();
    AppendRaw(capacity.value.nanos, key);
  }
}

bool Same(const Capacity& a, const Capacity& b) {
  return a.text.empty()
             ? b.text.empty() && a.value.nanos == b.value.nanos && a.value.format == b.value.format
             : a.text == b.text;
}

void AppendKey(const SlotKey& key, std::string& out) {
  out += static_cast<char>('a' + static_cast<int>(key.kind));
  out += key.domain;
  out += '/';
  out += key.name;
}

template <typename T>
std::span<const T> CopyItems(Context& context, std::span<const T> items) {
  T* const to = context.arena().NewArray<T>(items.size());
  std::copy(items.begin(), items.end(), to);
  return {to, items.size()};
}

AttributeValue Own(Context& context, const AttributeValue& from) {
  AttributeValue out = from;
  out.text = context.arena().Copy(from.text);
  out.integers = CopyItems(context, from.integers);
  out.booleans = CopyItems(context, from.booleans);
  std::vector<std::string_view> texts;
  for (const std::string_view text : from.texts) {
    texts.push_back(context.arena().Copy(text));
  }
  out.texts = CopyItems(context, std::span<const std::string_view>(texts));
  return out;
}

}  // namespace

void Column::AddValue(const Value& value) {
  values.push_back(value);
  fits.push_back(SlotPlan::Fits(value));
  bindable.push_back(!value.IsError());
}

bool Column::HasName(std::string_view name, std::string_view driver) const {
  const std::string_view full = full_name;
  return name.contains('/') ? name == full
                            : driver == domain && name == full.substr(domain.size() + 1);
}

DeviceTable::Impl::Impl() {
  memory_.emplace_back();
  ColumnFor({SlotKey::Kind::kDriver, {}, {}});
  Column& multiple = ColumnFor({SlotKey::Kind::kMultiple, {}, {}});
  multiple.AddValue(Value::Bool(false));
  multiple.AddValue(Value::Bool(true));
}

Context& DeviceTable::Impl::Memory() {
  if (memory_.back().arena().bytes_reserved() > kMemoryBlock) {
    memory_.emplace_back();
  }
  return memory_.back();
}

bool DeviceTable::Impl::HasDomain(const Row& row, const Column& column) const {
  const SlotKey::Kind kind = column.kind == SlotKey::Kind::kAttributeDomain
                                 ? SlotKey::Kind::kAttribute
                                 : SlotKey::Kind::kCapacity;
  return std::ranges::any_of(row.cells, [&](const Cell& cell) {
    return columns[cell.column]->kind == kind && columns[cell.column]->domain == column.domain;
  });
}

Column& DeviceTable::Impl::ColumnFor(const SlotKey& key) {
  scratch_text_.clear();
  AppendKey(key, scratch_text_);
  if (const auto found = by_key_.find(std::string_view(scratch_text_)); found != by_key_.end()) {
    return *columns[found->second];
  }
  columns.push_back(std::make_unique<Column>());
  Column& column = *columns.back();
  column.number = static_cast<std::uint32_t>(columns.size() - 1);
  by_key_.emplace(scratch_text_, column.number);
  column.kind = key.kind;
  column.domain = key.domain;
  column.full_name = std::string(key.domain) + "/" + std::string(key.name);
  column.attributes.emplace_back();
  column.capacities.emplace_back();
  if (key.kind == SlotKey::Kind::kAttributeDomain || key.kind == SlotKey::Kind::kCapacityDomain) {
    domain_columns_.push_back(column.number);
    column.AddValue(Value::Bool(false));
    column.AddValue(Value::Bool(true));
    for (const Row& row : rows) {
      column.codes.push_back(HasDomain(row, column) ? 1 : 0);
    }
  } else {
    column.AddValue(SlotPlan::Absent());
  }
  return column;
}

DeviceTable::Impl::Cell DeviceTable::Impl::DriverCell(std::string_view driver, const Cell* hint) {
  Column& column = *columns[0];
  if (hint != nullptr && column.values[hint->code].text() == driver) {
    return *hint;
  }
  if (const auto found = column.dictionary.find(driver); found != column.dictionary.end()) {
    return {0, found->second};
  }
  const auto code = static_cast<std::uint32_t>(column.values.size());
  column.dictionary.emplace(driver, code);
  column.AddValue(Value::String(Memory().arena().Copy(driver)));
  return {0, code};
}

// `hint` is the cell at the same place of a device that is probably alike.
DeviceTable::Impl::Cell DeviceTable::Impl::AttributeCell(const Attribute& attribute,
                                                         std::string_view driver,
                                                         const Cell* hint) {
  Column* column = nullptr;
  if (hint != nullptr && columns[hint->column]->kind == SlotKey::Kind::kAttribute &&
      columns[hint->column]->HasName(attribute.name, driver)) {
    column = columns[hint->column].get();
    if (Same(column->attributes[hint->code], attribute.value)) {
      return *hint;
    }
  } else {
    const QualifiedName name = SplitName(attribute.name, driver);
    column = &ColumnFor({SlotKey::Kind::kAttribute, name.domain, name.id});
  }
  scratch_text_.clear();
  AppendKey(attribute.value, scratch_text_);
  if (const auto found = column->dictionary.find(std::string_view(scratch_text_));
      found != column->dictionary.end()) {
    return {column->number, found->second};
  }
  const auto code = static_cast<std::uint32_t>(column->values.size());
  column->dictionary.emplace(scratch_text_, code);
  Context& memory = Memory();
  column->attributes.push_back(Own(memory, attribute.value));
  column->AddValue(AttributeToValue(memory, column->attributes.back()));
  return {column->number, code};
}

DeviceTable::Impl::Cell DeviceTable::Impl::CapacityCell(const Capacity& capacity,
                                                        std::string_view driver,
                                                        const Cell* hint) {
  Column* column = nullptr;
  if (hint != nullptr && columns[hint->column]->kind == SlotKey::Kind::kCapacity &&
      columns[hint->column]->HasName(capacity.name, driver)) {
    column = columns[hint->column].get();
    if (Same(column->capacities[hint->code], capacity)) {
      return *hint;
    }
  } else {
    const QualifiedName name = SplitName(capacity.name, driver);
    column = &ColumnFor({SlotKey::Kind::kCapacity, name.domain, name.id});
  }
  scratch_text_.clear();
  AppendKey(capacity, scratch_text_);
  if (const auto found = column->dictionary.find(std::string_view(scratch_text_));
      found != column->dictionary.end()) {
    return {column->number, found->second};
  }
  const auto code = static_cast<std::uint32_t>(column->values.size());
  column->dictionary.emplace(scratch_text_, code);
  Context& memory = Memory();
  column->capacities.push_back(
      {column->full_name, capacity.value, memory.arena().Copy(capacity.text)});
  column->AddValue(CapacityToValue(memory, column->capacities.back()));
  return {column->number, code};
}

bool DeviceTable::Impl::Set(std::uint32_t index, const DeviceView& device) {
  Row& row = rows[index];
  // A device is mostly what it was, or what the one before it is.
  const std::vector<Cell>& alike =
      row.cells.empty() && index > 0 ? rows[index - 1].cells : row.cells;
  const auto hint = [&] {
    return next_cells_.size() < alike.size() ? &alike[next_cells_.size()] : nullptr;
  };
  next_cells_.clear();
  next_cells_.push_back(DriverCell(device.driver, hint()));
  next_cells_.push_back({1, device.allow_multiple_allocations ? 2U : 1U});
  bool bindable = true;
  for (const Attribute& attribute : device.attributes) {
    const Cell cell = AttributeCell(attribute, device.driver, hint());
    bindable = bindable && columns[cell.column]->bindable[cell.code];
    next_cells_.push_back(cell);
  }
  for (const Capacity& capacity : device.capacities) {
    next_cells_.push_back(CapacityCell(capacity, device.driver, hint()));
  }
  if (next_cells_ == row.cells) {
    return false;
  }
  unbindable += bindable ? 0U : 1U;
  unbindable -= row.bindable ? 0U : 1U;
  row.bindable = bindable;
  Replace(index, row);
  return true;
}

void DeviceTable::Impl::Touch(const Column& column) {
  for (Grouping* const grouping : column.groupings) {
    grouping->stale = true;
  }
}

// Puts the next cells in place of the row's and renews what depends on those that differ.
void DeviceTable::Impl::Replace(std::uint32_t index, Row& row) {
  for (const Cell& cell : row.cells) {
    columns[cell.column]->codes[index] = 0;
  }
  for (const Cell& cell : next_cells_) {
    Column& column = *columns[cell.column];
    if (column.codes.size() <= index) {
      column.codes.resize(std::max<std::size_t>(rows.size(), index + 1), 0);
    }
    column.codes[index] = cell.code;
  }
  for (std::size_t i = 0; i < std::max(row.cells.size(), next_cells_.size()); ++i) {
    if (i < row.cells.size() && i < next_cells_.size() && row.cells[i] == next_cells_[i]) {
      continue;
    }
    if (i < row.cells.size()) {
      Touch(*columns[row.cells[i].column]);
    }
    if (i < next_cells_.size()) {
      Touch(*columns[next_cells_[i].column]);
    }
  }
  row.cells = next_cells_;
  SetDomains(index, row);
  for (const std::unique_ptr<Grouping>& grouping : groupings) {
    if ((grouping->stale || grouping->whole) && index < grouping->codes.size()) {
      grouping->codes[index] = GroupCode(*grouping, index);
    }
    grouping->stale = false;
  }
}

void DeviceTable::Impl::SetDomains(std::uint32_t index, const Row& row) {
  for (const std::uint32_t number : domain_columns_) {
    Column& column = *columns[number];
    if (column.codes.size() <= index) {
      column.codes.resize(rows.size(), 0);
    }
    const std::uint32_t code = HasDomain(row, column) ? 1 : 0;
    if (column.codes[index] != code) {
      column.codes[index] = code;
      Touch(column);
    }
  }
}

void DeviceTable::Impl::NoteChange(std::uint32_t index) {
  constexpr std::size_t kSlack = 4096;
  if (changes.size() > rows.size() + kSlack) {
    // Whoever has not looked for so long does better to begin anew.
    first_change += changes.size();
    changes.clear();
  }
  changes.push_back(index);
}

DeviceView DeviceTable::Impl::View(std::uint32_t index) {
  view_attributes_.clear();
  view_capacities_.clear();
  DeviceView out;
  for (const Cell& cell : rows[index].cells) {
    const Column& column = *columns[cell.column];
    switch (column.kind) {
      case SlotKey::Kind::kDriver: out.driver = column.values[cell.code].text(); break;
      case SlotKey::Kind::kMultiple: out.allow_multiple_allocations = cell.code == 2; break;
      case SlotKey::Kind::kAttribute:
        view_attributes_.push_back({column.full_name, column.attributes[cell.code]});
        break;
      case SlotKey::Kind::kCapacity:
        view_capacities_.push_back(column.capacities[cell.code]);
        break;
      default: break;
    }
  }
  out.attributes = view_attributes_;
  out.capacities = view_capacities_;
  return out;
}

}  // namespace allot::cel
