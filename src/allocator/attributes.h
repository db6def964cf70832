// AttributeColumns: the values that constraints compare, as numbers.
//
// A column holds, for one attribute name, what every published device has under it: nothing, or a
// sorted list of value numbers (at most one without the list-attribute gate). Two numbers are equal
// exactly when type and value are. Columns are filled when a search first asks and kept across
// nodes, pods and cycles, like verdicts of selectors. Thread safety: one thread.
// See: KEP-4381, KEP-5491; docs/architecture.md, search.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/resource/v1.gen.h"
#include "inventory/inventory.h"

namespace allot::allocator {

/// Set semantics need the list-attribute gate; without it only scalars compare.
enum class AttributeSemantics : std::uint8_t { kScalar, kSet };

/// What one device has under a name. Lifetime of `ids`: until the next look-up.
struct ValueIds {
  bool present = false;                ///< the attribute is there, perhaps without a usable value
  std::span<const std::uint32_t> ids;  ///< sorted, each once
};

class AttributeColumn {
 public:
  /// `name` is fully qualified: `domain/id`.
  explicit AttributeColumn(std::string_view name);

  [[nodiscard]] std::string_view name() const { return name_; }

 private:
  friend class AttributeColumns;
  static constexpr std::uint32_t kUnknown = 0xffffffff;
  static constexpr std::uint32_t kMissing = 0xfffffffe;
  struct Entry {
    std::uint32_t first = 0;  // the only value, or the place in more_
    std::uint32_t count = kUnknown;
  };
  std::string name_;
  std::string_view domain_, id_;
  std::vector<Entry> entries_;  // by DeviceIndex
  std::vector<std::uint32_t> more_;
  std::uint64_t recycled_seen_ = 0;
};

using AttributeColumnPtr = std::shared_ptr<AttributeColumn>;

[[nodiscard]] inline AttributeSemantics SemanticsOf(const inventory::Features& features) {
  return features.list_type_attributes ? AttributeSemantics::kSet : AttributeSemantics::kScalar;
}

class AttributeColumns {
 public:
  AttributeColumns(const inventory::Inventory& inventory, AttributeSemantics semantics)
      : inventory_(inventory), semantics_(semantics) {}

  /// The column of that name, made when new.
  [[nodiscard]] AttributeColumnPtr Intern(std::string_view name);
  /// Forgets values of devices that are gone. To be called before a column is used in a search, for
  /// all columns of the search, before the first look-up.
  void Sync(AttributeColumn& column);
  /// Cost: a load when known.
  [[nodiscard]] ValueIds Of(AttributeColumn& column, const inventory::Device& device) {
    const AttributeColumn::Entry& entry = column.entries_[Value(device.index)];
    return entry.count == 1 ? ValueIds{true, {&entry.first, 1}} : OfOther(column, device);
  }
  /// The numbers of a value that is not published (a derived one).
  [[nodiscard]] ValueIds OfValue(const api::resource::DeviceAttribute& attribute);

 private:
  [[nodiscard]] ValueIds OfOther(AttributeColumn& column, const inventory::Device& device);
  void Number(const api::resource::DeviceAttribute& attribute);
  void Number(std::string text);

  const inventory::Inventory& inventory_;
  AttributeSemantics semantics_;
  std::unordered_map<std::string, AttributeColumnPtr> columns_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::uint32_t> scratch_;
};

/// The device's published attribute of that name: under the full name, or under the bare id when
/// the domain is the device's driver. Null when it has none.
[[nodiscard]] const api::resource::DeviceAttribute* PublishedAttribute(
    const inventory::Device& device,
    std::string_view name,
    std::string_view domain,
    std::string_view id);

}  // namespace allot::allocator
