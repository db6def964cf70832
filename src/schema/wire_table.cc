#include "schema/wire_table.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/check.h"
#include "schema/layout.h"

namespace allot::schema {
namespace {

constexpr std::uint8_t kVarint = 0;
constexpr std::uint8_t kFixed64 = 1;
constexpr std::uint8_t kBytes = 2;

std::uint8_t WireTypeOf(ValueKind kind) {
  switch (kind) {
    case ValueKind::kBool:
    case ValueKind::kInt32:
    case ValueKind::kInt64: return kVarint;
    case ValueKind::kDouble: return kFixed64;
    default: return kBytes;
  }
}

/// Whether a plain member of the kind holds everything in itself.
bool IsFlat(ValueKind kind) {
  switch (kind) {
    case ValueKind::kBool:
    case ValueKind::kInt32:
    case ValueKind::kInt64:
    case ValueKind::kDouble:
    case ValueKind::kQuantity:
    case ValueKind::kTime:
    case ValueKind::kMicroTime:
    case ValueKind::kDuration: return true;
    default: return false;
  }
}

void SetTag(WireField& field) {
  std::uint32_t tag = static_cast<std::uint32_t>(field.number) << 3 | field.wire;
  while (tag >= 0x80) {
    field.tag[field.tag_size++] = static_cast<char>(tag | 0x80);
    tag >>= 7;
  }
  field.tag[field.tag_size++] = static_cast<char>(tag);
}

/// All tables of the process. A table is found by its type's address in a slot, and in the map when
/// the slot is another type's.
class Tables {
 public:
  const WireTable& Of(const TypeDesc& type) {
    std::atomic<const WireTable*>& slot = slots_[SlotOf(type)];
    if (const WireTable* const found = slot.load(std::memory_order_acquire);
        found != nullptr && found->type == &type) {
      return *found;
    }
    const std::lock_guard lock(mutex_);
    const WireTable& made = Make(type);
    slot.store(&made, std::memory_order_release);
    return made;
  }

 private:
  static constexpr std::size_t kSlots = 1024;

  static std::size_t SlotOf(const TypeDesc& type) {
    constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15ULL;
    return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(&type) * kMultiplier >> 54U);
  }

  const WireTable& Make(const TypeDesc& type) {
    std::unique_ptr<WireTable>& place = all_[&type];
    if (place != nullptr) {
      return *place;  // perhaps still being made: types may hold themselves
    }
    place = std::make_unique<WireTable>();
    WireTable& table = *place;
    table.type = &type;
    table.size = type.size;
    table.alignment = type.alignment;
    table.fields.reserve(type.fields.size());
    for (std::size_t number = type.by_number.size(); number-- > 1;) {
      if (const FieldDesc* const field = type.FindNumber(static_cast<std::uint32_t>(number))) {
        table.fields.push_back(MakeField(*field));
      }
    }
    table.by_number.resize(type.by_number.size());
    for (const WireField& field : table.fields) {
      table.by_number[field.number] = &field;
      const bool message = field.kind == ValueKind::kMessage && field.shape == Shape::kValue;
      if (message && field.desc->name == "metadata") {
        table.metadata = &field;
      } else if (field.desc->name == "resourceVersion") {
        table.revision = &field;
      }
    }
    for (const FieldDesc& field : type.fields) {
      if (field.shape != Shape::kValue || !IsFlat(field.kind)) {
        table.pointing.push_back(MakeField(field));
      }
    }
    table.json.reserve(type.json_fields.size());
    for (const JsonField& field : type.json_fields) {
      table.json.push_back(MakeRow(field));
    }
    return table;
  }

  JsonRow MakeRow(const JsonField& from) {
    const FieldDesc& desc = *from.field;
    JsonRow row;
    row.name = desc.name;
    row.offset = from.offset;
    row.kind = desc.kind;
    row.shape = desc.shape;
    row.always = desc.always || desc.omit == Omit::kNever;
    if (desc.kind == ValueKind::kMessage) {
      row.message = &Make(*desc.message);
    }
    if (desc.shape == Shape::kMap) {
      const EntryLayout layout = EntryLayoutOf(desc);
      row.size = layout.size;
      row.value = static_cast<std::uint8_t>(layout.value);
    } else {
      row.size = LayoutOf(desc).size;
    }
    return row;
  }

  WireField MakeField(const FieldDesc& from) {
    WireField field;
    field.offset = from.offset;
    field.number = from.protobuf;
    field.kind = from.kind;
    field.shape = from.shape;
    field.value_wire = WireTypeOf(from.kind);
    field.wire = from.shape == Shape::kMap ? kBytes : field.value_wire;
    field.desc = &from;
    if (from.kind == ValueKind::kMessage) {
      field.message = &Make(*from.message);
    }
    if (from.shape == Shape::kMap) {
      const EntryLayout layout = EntryLayoutOf(from);
      field.size = layout.size;
      field.alignment = static_cast<std::uint8_t>(layout.alignment);
      field.value = static_cast<std::uint8_t>(layout.value);
    } else {
      const Layout layout = LayoutOf(from);
      field.size = layout.size;
      field.alignment = static_cast<std::uint8_t>(layout.alignment);
    }
    ALLOT_CHECK(from.protobuf < 1U << 13U);
    SetTag(field);
    return field;
  }

  std::mutex mutex_;
  std::unordered_map<const TypeDesc*, std::unique_ptr<WireTable>> all_;  // mutex_
  std::array<std::atomic<const WireTable*>, kSlots> slots_{};
};

}  // namespace

const WireTable& WireTableOf(const TypeDesc& type) {
  static Tables* const kTables = new Tables;  // never destroyed: threads may outlive main
  return kTables->Of(type);
}

}  // namespace allot::schema
