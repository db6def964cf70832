#include "allocator/attributes.h"

#include <algorithm>

#include <fmt/format.h>

namespace allot::allocator {
namespace {

using api::resource::DeviceAttribute;

constexpr std::size_t kMaxColumns = 1024;
// Numbers given out before all columns are filled anew: values of devices that are gone are not
// tracked one by one.
constexpr std::size_t kMaxNumbers = std::size_t{1} << 22U;

}  // namespace

AttributeColumn::AttributeColumn(std::string_view name) : name_(name) {
  const std::string_view own = name_;
  if (const std::size_t slash = own.find('/'); slash != std::string_view::npos) {
    domain_ = own.substr(0, slash);
    id_ = own.substr(slash + 1);
  }
}

const DeviceAttribute* PublishedAttribute(const inventory::Device& device,
                                          std::string_view name,
                                          std::string_view domain,
                                          std::string_view id) {
  const auto& attributes = device.spec->attributes;
  if (const DeviceAttribute* const full = attributes.Find(name)) {
    return full;
  }
  if (id.data() == nullptr || domain != device.slice->spec->driver) {
    return nullptr;
  }
  return attributes.Find(id);
}

AttributeColumnPtr AttributeColumns::Intern(std::string_view name) {
  std::string key(name);
  if (const auto found = columns_.find(key); found != columns_.end()) {
    return found->second;
  }
  if (columns_.size() > kMaxColumns) {
    std::erase_if(columns_, [](const auto& entry) { return entry.second.use_count() == 1; });
  }
  auto column = std::make_shared<AttributeColumn>(name);
  column->recycled_seen_ = inventory_.recycled().end();
  columns_.emplace(std::move(key), column);
  return column;
}

void AttributeColumns::Sync(AttributeColumn& column) {
  if (numbers_.size() > kMaxNumbers) {
    numbers_.clear();
    for (const auto& [name, other] : columns_) {
      other->entries_.clear();
      other->more_.clear();
    }
  }
  if (column.entries_.size() < inventory_.index_bound()) {
    column.entries_.resize(inventory_.index_bound());
  }
  const auto recycled = inventory_.recycled().Since(column.recycled_seen_);
  if (!recycled) {
    for (AttributeColumn::Entry& entry : column.entries_) {
      entry.count = AttributeColumn::kUnknown;
    }
    return;
  }
  for (const auto [first, count] : *recycled) {
    for (std::uint32_t i = first; i < first + count && i < column.entries_.size(); ++i) {
      column.entries_[i].count = AttributeColumn::kUnknown;
    }
  }
}

ValueIds AttributeColumns::OfOther(AttributeColumn& column, const inventory::Device& device) {
  AttributeColumn::Entry& entry = column.entries_[Value(device.index)];
  if (entry.count == AttributeColumn::kUnknown) {
    const DeviceAttribute* const attribute =
        PublishedAttribute(device, column.name_, column.domain_, column.id_);
    entry.count = AttributeColumn::kMissing;
    if (attribute != nullptr) {
      Number(*attribute);
      entry.count = static_cast<std::uint32_t>(scratch_.size());
      if (scratch_.size() == 1) {
        entry.first = scratch_.front();
      } else {
        entry.first = static_cast<std::uint32_t>(column.more_.size());
        column.more_.insert(column.more_.end(), scratch_.begin(), scratch_.end());
      }
    }
  }
  if (entry.count == AttributeColumn::kMissing) {
    return {};
  }
  return {true, {entry.count == 1 ? &entry.first : column.more_.data() + entry.first, entry.count}};
}

ValueIds AttributeColumns::OfValue(const DeviceAttribute& attribute) {
  Number(attribute);
  return {true, scratch_};
}

void AttributeColumns::Number(std::string text) {
  const auto next = static_cast<std::uint32_t>(numbers_.size());
  scratch_.push_back(numbers_.try_emplace(std::move(text), next).first->second);
}

// Lists are looked at before scalars, and only with set semantics; the type is part of the value.
void AttributeColumns::Number(const DeviceAttribute& attribute) {
  scratch_.clear();
  const bool lists = semantics_ == AttributeSemantics::kSet;
  if (lists && !attribute.ints.empty()) {
    for (const std::int64_t value : attribute.ints) {
      Number(fmt::format("i{}", value));
    }
  } else if (lists && !attribute.bools.empty()) {
    for (const bool value : attribute.bools) {
      Number(fmt::format("b{}", value));
    }
  } else if (lists && !attribute.strings.empty()) {
    for (const schema::Str value : attribute.strings) {
      Number(fmt::format("s{}", value));
    }
  } else if (lists && !attribute.versions.empty()) {
    for (const schema::Str value : attribute.versions) {
      Number(fmt::format("v{}", value));
    }
  } else if (lists && attribute.int_ != nullptr) {
    Number(fmt::format("i{}", *attribute.int_));
  } else if (lists && attribute.bool_ != nullptr) {
    Number(fmt::format("b{}", *attribute.bool_));
  } else if (attribute.string != nullptr) {
    Number(fmt::format("s{}", *attribute.string));
  } else if (attribute.int_ != nullptr) {
    Number(fmt::format("i{}", *attribute.int_));
  } else if (attribute.bool_ != nullptr) {
    Number(fmt::format("b{}", *attribute.bool_));
  } else if (attribute.version != nullptr) {
    Number(fmt::format("v{}", *attribute.version));
  }
  std::sort(scratch_.begin(), scratch_.end());
  scratch_.erase(std::unique(scratch_.begin(), scratch_.end()), scratch_.end());
}

}  // namespace allot::allocator
