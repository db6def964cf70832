// Context: the memory of one evaluation, and what functions need to make values.
// Thread safety: one thread. Lifetime: values die with Reset.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "cel/net.h"
#include "cel/regex.h"
#include "cel/value.h"
#include "cel/zone.h"

namespace allot::cel {

class Context {
 public:
  Context() : arena_(4096) {}

  /// Forgets all values and keeps the memory for the next evaluation where that is cheap.
  void Reset();

  [[nodiscard]] base::Arena& arena() { return arena_; }
  /// Whether the values outgrew what one evaluation may hold; it then ends like one over its cost
  /// limit.
  [[nodiscard]] bool exhausted() const { return exhausted_; }
  [[nodiscard]] ZoneCache& zones() { return zones_; }
  [[nodiscard]] RegexBudget& regexes() { return regexes_; }

  [[nodiscard]] Value Text(ValueKind kind, std::string_view text) {
    return Room(text.size()) ? Value::Text(kind, arena_.Copy(text)) : Exhausted();
  }
  [[nodiscard]] Value String(std::string_view text) { return Text(ValueKind::kString, text); }
  [[nodiscard]] Value Error(std::string_view text) { return Text(ValueKind::kError, text); }
  /// What upstream answers when its Go code panics.
  [[nodiscard]] Value Panic(std::string_view text);
  [[nodiscard]] Value List(std::span<const Value> items);
  [[nodiscard]] Value ListOfStrings(std::span<const std::string> items);
  [[nodiscard]] ListRep* NewList(std::size_t capacity);
  void Append(ListRep& list, Value value);
  [[nodiscard]] MapRep* NewMap(std::size_t capacity);
  /// Sets a key; the later value wins. REQUIRES: the key's kind may be one of a map key.
  void Put(MapRep& map, Value key, Value value);
  void Erase(MapRep& map, Value key);
  /// Adds a key. False: it is there already.
  [[nodiscard]] bool Insert(MapRep& map, Value key, Value value);
  /// Brings the entries into key order. Call once all are in.
  void Sort(MapRep& map);
  [[nodiscard]] Value Map(MapRep* map);
  [[nodiscard]] Value ListValue(ListRep* list);
  [[nodiscard]] Value Timestamp(const quantity::OffsetTime& time);
  [[nodiscard]] Value Optional(Value value);
  [[nodiscard]] Value None();
  [[nodiscard]] Value Quantity(quantity::ExactQuantity quantity,
                               bool computed,
                               std::string_view text = {});
  [[nodiscard]] Value Semver(const quantity::Semver& semver);
  /// Keeps a parsed URL for the evaluation.
  [[nodiscard]] const Url* Keep(Url url);

 private:
  /// Unit: bytes. Upstream has no such limit and dies of doubling a string of unknown type.
  static constexpr std::size_t kMaxMemory = std::size_t{64} << 20;
  bool Room(std::size_t bytes) {
    exhausted_ = exhausted_ || bytes > kMaxMemory || arena_.bytes_reserved() + bytes > kMaxMemory;
    return !exhausted_;
  }
  [[nodiscard]] static Value Exhausted() {
    return Value::Error("operation cancelled: evaluation needs too much memory");
  }
  void Rehash(MapRep& map);

  bool exhausted_ = false;
  base::Arena arena_;
  std::deque<QuantityRep> quantities_;
  std::deque<Url> urls_;
  ZoneCache zones_;
  RegexBudget regexes_;
};

/// "no such overload", the most common error.
inline constexpr std::string_view kNoSuchOverload = "no such overload";
[[nodiscard]] inline Value NoSuchOverload() {
  return Value::Error(kNoSuchOverload);
}
/// The error among the values, or "no such overload".
[[nodiscard]] inline Value MaybeNoSuchOverload(const Value& value) {
  return value.IsError() ? value : NoSuchOverload();
}

}  // namespace allot::cel
