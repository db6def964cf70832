// Hasher: 128 bits over what two things must share to count as equal. Two different ones meeting is
// as good as impossible. Thread safety: values. Internal to the module.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "api/core/v1.gen.h"
#include "placement/resources.h"
#include "placement/shape.h"
#include "quantity/quantity.h"

namespace allot::placement {

class Hasher {
 public:
  void Add(std::uint64_t value) {
    a_ = (a_ ^ value) * 0x9E3779B97F4A7C15ULL;
    a_ ^= a_ >> 29U;
    b_ = (b_ ^ (value + 0x7F4A7C159E3779B9ULL)) * 0xBF58476D1CE4E5B9ULL;
    b_ ^= b_ >> 32U;
  }
  void Add(std::int64_t value) { Add(static_cast<std::uint64_t>(value)); }
  void Add(quantity::Int128 value) {
    Add(static_cast<std::uint64_t>(value));
    Add(static_cast<std::uint64_t>(value >> 64));
  }
  void Add(bool value) { Add(std::uint64_t{value}); }
  void Add(std::string_view text) {
    Add(std::uint64_t{text.size()});
    while (!text.empty()) {
      std::uint64_t word = 0;
      const std::size_t take = std::min<std::size_t>(text.size(), 8);
      std::memcpy(&word, text.data(), take);
      Add(word);
      text.remove_prefix(take);
    }
  }
  void Add(const quantity::Quantity& q) {
    Add(q.nanos);
    Add(static_cast<std::uint64_t>(q.format));
  }
  void Add(const schema::Map<quantity::Quantity>& amounts) {
    Add(std::uint64_t{amounts.size()});
    for (const auto& amount : amounts) {
      Add(amount.key);
      Add(amount.value);
    }
  }
  void Add(const schema::List<schema::Str>& texts) {
    Add(std::uint64_t{texts.size()});
    for (const schema::Str text : texts) {
      Add(text);
    }
  }
  void Add(const Resources& r) {
    Add(r.milli_cpu);
    Add(r.memory);
    Add(r.ephemeral_storage);
    Add(std::uint64_t{r.scalars.size()});
    for (const auto& [name, amount] : r.scalars) {
      Add(std::string_view(name));
      Add(amount);
    }
  }
  void Add(const schema::List<api::core::NodeSelectorRequirement>& list) {
    Add(std::uint64_t{list.size()});
    for (const auto& requirement : list) {
      Add(requirement.key);
      Add(requirement.operator_);
      Add(requirement.values);
    }
  }
  [[nodiscard]] ShapeKey key() const { return {a_, b_}; }

 private:
  std::uint64_t a_ = 0x243F6A8885A308D3ULL;
  std::uint64_t b_ = 0x13198A2E03707344ULL;
};

}  // namespace allot::placement
