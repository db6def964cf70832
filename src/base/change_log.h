// ChangeLog<T>: what has changed, for readers that come now and then and want only what is new.
//
// A reader keeps a cursor, which starts at 0 (or at end(), when it knows everything so far), and
// asks what came since. The log is bounded: when it is full, or when a change concerns everything,
// it forgets its entries, and a reader that had not seen them all is told to look at everything.
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace allot::base {

template <typename T>
class ChangeLog {
 public:
  /// How many changes a log keeps unless told otherwise.
  static constexpr std::size_t kLimit = std::size_t{1} << 16U;

  explicit ChangeLog(std::size_t limit = kLimit) : limit_(limit) {}

  void Add(T change) {
    if (changes_.size() >= limit_) {
      start_ = end();
      changes_.clear();
    }
    changes_.push_back(std::move(change));
  }
  /// Anything may have changed.
  void AddEverything() {
    start_ = end() + 1;
    changes_.clear();
  }

  /// The changes after `cursor`, in order; nothing when some were forgotten, so that anything may
  /// have changed. Lifetime: until the next change.
  [[nodiscard]] std::optional<std::span<const T>> After(std::uint64_t cursor) const {
    if (cursor < start_ || cursor > end()) {
      return std::nullopt;
    }
    return std::span(changes_).subspan(static_cast<std::size_t>(cursor - start_));
  }
  /// As After; moves the cursor to the end.
  [[nodiscard]] std::optional<std::span<const T>> Since(std::uint64_t& cursor) const {
    const auto changes = After(cursor);
    cursor = end();
    return changes;
  }
  /// The cursor of a reader that has seen everything.
  [[nodiscard]] std::uint64_t end() const { return start_ + changes_.size(); }
  /// How many changes are kept.
  [[nodiscard]] std::size_t size() const { return changes_.size(); }

 private:
  std::size_t limit_;
  std::uint64_t start_ = 0;  // cursor of changes_[0]
  std::vector<T> changes_;
};

}  // namespace allot::base
