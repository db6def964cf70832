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
  /// Whether the evaluation outgrew what one may hold or do; it then ends like one over its cost
  /// limit.
  [[nodiscard]] bool exhausted() const { return exhausted_ || work_ > kMaxWork; }
  /// A new evaluation that keeps the memory of the last one: its work is its own.
  void BeginWork() {
    past_work_ += work_;
    work_ = 0;
  }
  /// The work of all evaluations so far.
  [[nodiscard]] std::uint64_t all_work() const { return past_work_ + work_; }
  /// Counts work that no cost shows, as comparing the values in values is. False: that is enough,
  /// the evaluation ends like one over its cost limit.
  [[nodiscard]] bool Work(std::size_t steps) {
    work_ += steps;
    return work_ <= kMaxWork;
  }
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

  /// What one evaluation may hold. Unit: bytes. Upstream has no such limit and dies of doubling a
  /// string of unknown type.
  static constexpr std::size_t kMaxMemory = std::size_t{64} << 20;
  /// Comparisons of one evaluation. Upstream has no such limit and compares nested values that
  /// share their parts for ages.
  static constexpr std::size_t kMaxWork = 20'000'000;
  /// Counts a text that is read. False as Work.
  bool ReadText(std::size_t bytes) {
    constexpr std::size_t kBytesAStep = 8;
    return Work(bytes / kBytesAStep);
  }
  /// The error of an evaluation that wants more memory, and the one that ended this evaluation.
  [[nodiscard]] static Value Exhausted() {
    return Value::Error("operation cancelled: evaluation needs too much memory");
  }
  /// Ends the evaluation for want of memory.
  [[nodiscard]] Value Exhaust() {
    exhausted_ = true;
    return Exhausted();
  }
  [[nodiscard]] Value EndError() const {
    return exhausted_ ? Exhausted()
                      : Value::Error("operation cancelled: actual cost limit exceeded");
  }

 private:
  bool Room(std::size_t bytes) {
    exhausted_ =
        exhausted_ || bytes > kMaxMemory || arena_.bytes_reserved() + digits_ + bytes > kMaxMemory;
    return !exhausted_;
  }
  void Rehash(MapRep& map);

  bool exhausted_ = false;
  std::size_t work_ = 0;
  std::uint64_t past_work_ = 0;
  std::size_t digits_ = 0;  // bytes of the digits of long quantities
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
