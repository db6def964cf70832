#include "cel/device_columns.h"

#include <algorithm>

#include "cel/bind.h"
#include "cel/slot_reader.h"

namespace allot::cel {
namespace {

constexpr std::size_t kMemoryBlock = std::size_t{16} << 20;

template <typename T>
void AppendRaw(const T& value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// A key that is equal for equal attribute values.
std::string KeyOf(const AttributeValue& value) {
  std::string key(1, static_cast<char>(value.kind));
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
  return key;
}

std::string ColumnKey(const SlotKey& key) {
  std::string out(1, static_cast<char>('a' + static_cast<int>(key.kind)));
  out += key.domain;
  out += '/';
  out += key.name;
  return out;
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

DeviceTable::Impl::Impl() {
  memory_.emplace_back();
  ColumnFor({SlotKey::Kind::kDriver, {}, {}});
  ColumnFor({SlotKey::Kind::kMultiple, {}, {}});
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
  const auto [at, added] =
      by_key_.try_emplace(ColumnKey(key), static_cast<std::uint32_t>(columns.size()));
  if (!added) {
    return *columns[at->second];
  }
  columns.push_back(std::make_unique<Column>());
  Column& column = *columns.back();
  column.number = at->second;
  column.kind = key.kind;
  column.domain = key.domain;
  column.full_name = std::string(key.domain) + "/" + std::string(key.name);
  column.values.push_back(SlotPlan::Absent());
  column.attributes.emplace_back();
  column.capacities.emplace_back();
  if (key.kind == SlotKey::Kind::kAttributeDomain || key.kind == SlotKey::Kind::kCapacityDomain) {
    column.values = {Value::Bool(false), Value::Bool(true)};
    for (const Row& row : rows) {
      column.codes.push_back(HasDomain(row, column) ? 1 : 0);
    }
  }
  return column;
}

void DeviceTable::Impl::SetCell(std::uint32_t index, Row& row, Column& column, std::uint32_t code) {
  if (column.codes.size() <= index) {
    column.codes.resize(std::max<std::size_t>(rows.size(), index + 1), 0);
  }
  column.codes[index] = code;
  row.cells.push_back({column.number, code});
}

void DeviceTable::Impl::SetAttribute(std::uint32_t index,
                                     Row& row,
                                     const Attribute& attribute,
                                     std::string_view driver) {
  const QualifiedName name = SplitName(attribute.name, driver);
  Column& column = ColumnFor({SlotKey::Kind::kAttribute, name.domain, name.id});
  const auto [at, added] = column.dictionary.try_emplace(
      KeyOf(attribute.value), static_cast<std::uint32_t>(column.values.size()));
  if (added) {
    Context& memory = Memory();
    column.attributes.push_back(Own(memory, attribute.value));
    column.values.push_back(AttributeToValue(memory, column.attributes.back()));
  }
  SetCell(index, row, column, at->second);
}

void DeviceTable::Impl::SetCapacity(std::uint32_t index,
                                    Row& row,
                                    const Capacity& capacity,
                                    std::string_view driver) {
  const QualifiedName name = SplitName(capacity.name, driver);
  Column& column = ColumnFor({SlotKey::Kind::kCapacity, name.domain, name.id});
  std::string key(capacity.text);
  if (key.empty()) {
    key = capacity.value.ToString();
    AppendRaw(capacity.value.nanos, key);
  }
  const auto [at, added] = column.dictionary.try_emplace(
      std::move(key), static_cast<std::uint32_t>(column.values.size()));
  if (added) {
    Context& memory = Memory();
    column.capacities.push_back(
        {column.full_name, capacity.value, memory.arena().Copy(capacity.text)});
    column.values.push_back(CapacityToValue(memory, column.capacities.back()));
  }
  SetCell(index, row, column, at->second);
}

void DeviceTable::Impl::Set(std::uint32_t index, const DeviceView& device) {
  Row& row = rows[index];
  for (const Cell& cell : row.cells) {
    columns[cell.column]->codes[index] = 0;
  }
  row.cells.clear();
  unbindable -= row.bindable ? 0U : 1U;
  row.bindable = std::ranges::all_of(
      device.attributes, [](const Attribute& attribute) { return IsBindable(attribute.value); });
  unbindable += row.bindable ? 0U : 1U;

  Column& driver = *columns[0];
  const auto [at, added] = driver.dictionary.try_emplace(
      std::string(device.driver), static_cast<std::uint32_t>(driver.values.size()));
  if (added) {
    driver.values.push_back(Value::String(Memory().arena().Copy(device.driver)));
  }
  SetCell(index, row, driver, at->second);
  Column& multiple = *columns[1];
  if (multiple.values.size() == 1) {
    multiple.values = {SlotPlan::Absent(), Value::Bool(false), Value::Bool(true)};
  }
  SetCell(index, row, multiple, device.allow_multiple_allocations ? 2 : 1);
  for (const Attribute& attribute : device.attributes) {
    SetAttribute(index, row, attribute, device.driver);
  }
  for (const Capacity& capacity : device.capacities) {
    SetCapacity(index, row, capacity, device.driver);
  }
  for (const std::unique_ptr<Column>& column : columns) {
    if (column->kind == SlotKey::Kind::kAttributeDomain ||
        column->kind == SlotKey::Kind::kCapacityDomain) {
      column->codes.resize(rows.size(), 0);
      column->codes[index] = HasDomain(row, *column) ? 1 : 0;
    }
  }
  for (const std::unique_ptr<Grouping>& grouping : groupings) {
    if (index < grouping->codes.size()) {
      grouping->codes[index] = GroupCode(*grouping, index);
    }
  }
}

std::uint32_t DeviceTable::Impl::GroupCode(Grouping& grouping, std::uint32_t index) {
  scratch_.clear();
  if (grouping.whole) {
    scratch_ += rows[index].bindable ? 'b' : 'u';
    for (const Cell& cell : rows[index].cells) {
      AppendRaw(cell, scratch_);
    }
  } else {
    for (const Column* column : grouping.columns) {
      AppendRaw(column->CodeOf(index), scratch_);
    }
  }
  return grouping.dictionary
      .try_emplace(scratch_, static_cast<std::uint32_t>(grouping.dictionary.size()))
      .first->second;
}

Grouping& DeviceTable::Impl::GroupingFor(const SlotPlan* plan) {
  std::vector<const Column*> wanted;
  if (plan != nullptr) {
    for (const SlotKey& slot : plan->slots()) {
      wanted.push_back(&ColumnFor(slot));
    }
  }
  for (const std::unique_ptr<Grouping>& grouping : groupings) {
    if (grouping->whole == (plan == nullptr) && grouping->columns == wanted) {
      return *grouping;
    }
  }
  groupings.push_back(std::make_unique<Grouping>());
  groupings.back()->columns = std::move(wanted);
  groupings.back()->whole = plan == nullptr;
  return *groupings.back();
}

void DeviceTable::Impl::Extend(Grouping& grouping) {
  const auto begin = static_cast<std::uint32_t>(grouping.codes.size());
  const auto end = static_cast<std::uint32_t>(rows.size());
  if (begin == end) {
    return;
  }
  grouping.codes.resize(end);
  // Combinations of few values go through a dense table.
  std::size_t size = 1;
  constexpr std::size_t kDense = 1 << 20;
  for (const Column* column : grouping.columns) {
    size = std::min(kDense + 1, size * column->values.size());
  }
  if (grouping.whole || size > kDense || end - begin < 64) {
    for (std::uint32_t i = begin; i < end; ++i) {
      grouping.codes[i] = GroupCode(grouping, i);
    }
    return;
  }
  constexpr std::uint32_t kUnknown = ~std::uint32_t{0};
  std::vector<std::uint32_t> dense(size, kUnknown);
  std::vector<std::uint32_t> mixed(end - begin, 0);
  for (const Column* column : grouping.columns) {
    const auto radix = static_cast<std::uint32_t>(column->values.size());
    const auto known = static_cast<std::uint32_t>(std::min<std::size_t>(end, column->codes.size()));
    for (std::uint32_t i = begin; i < known; ++i) {
      mixed[i - begin] = mixed[i - begin] * radix + column->codes[i];
    }
    for (std::uint32_t i = std::max(begin, known); i < end; ++i) {
      mixed[i - begin] *= radix;
    }
  }
  for (std::uint32_t i = begin; i < end; ++i) {
    std::uint32_t& code = dense[mixed[i - begin]];
    if (code == kUnknown) {
      code = GroupCode(grouping, i);
    }
    grouping.codes[i] = code;
  }
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
