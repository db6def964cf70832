// DeviceTable, Matcher and MatcherSet: selectors over many devices, per distinct signature instead
// of per device.
//
// The table keeps every attribute and capacity as a column of dictionary codes. A selector is taken
// apart into terms (what stands between && and ||); a term is tested once per distinct combination
// of the values it reads, for all selectors that have it, and the rest is table look-up. A changed
// device costs a few look-ups. Results equal Evaluator::Match on every device.
// Thread safety: a table and its matchers belong to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "cel/cel.h"
#include "cel/device.h"

namespace allot::cel {

class DeviceTable {
 public:
  DeviceTable();
  ~DeviceTable();
  DeviceTable(const DeviceTable&) = delete;
  DeviceTable& operator=(const DeviceTable&) = delete;

  /// Appends a device, copying what is new in it. Returns its index.
  std::uint32_t Add(const DeviceView& device);
  /// Replaces the device at `index`. REQUIRES: index < size().
  void Update(std::uint32_t index, const DeviceView& device);
  [[nodiscard]] std::uint32_t size() const;

  struct Impl;
  [[nodiscard]] Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// A selector bound to a table. Lifetime: the table outlives it.
class Matcher {
 public:
  Matcher(DeviceTable& table, std::shared_ptr<const Program> program);
  ~Matcher();
  Matcher(Matcher&&) noexcept;
  Matcher& operator=(Matcher&&) noexcept;

  /// The verdict for one device. Cost: some ns once its signature has been seen.
  [[nodiscard]] Verdict Match(std::uint32_t index);
  /// The verdicts for all devices. REQUIRES: out.size() == table.size(). Cost: below 1 ns a device
  /// once warm.
  void MatchAll(std::span<Verdict> out);
  /// The error text for a device whose verdict is kError.
  [[nodiscard]] std::string ErrorText(std::uint32_t index);
  /// Evaluates the expression for one device whatever is known about it; for measurements.
  [[nodiscard]] Verdict EvaluateOnce(std::uint32_t index);
  /// How often a term or the whole expression was evaluated so far for this matcher. What another
  /// matcher of the table has tested already does not count.
  [[nodiscard]] std::uint64_t evaluations() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Many selectors bound to a table, to be matched against one device at a time: what a change of a
/// device means for all of them. Lifetime: the table outlives it.
class MatcherSet {
 public:
  explicit MatcherSet(DeviceTable& table);
  ~MatcherSet();
  MatcherSet(MatcherSet&&) noexcept;
  MatcherSet& operator=(MatcherSet&&) noexcept;

  /// Adds a selector. Returns its ordinal.
  std::uint32_t Add(std::shared_ptr<const Program> program);
  [[nodiscard]] std::uint32_t size() const;
  /// The verdicts of all selectors on one device, by ordinal. REQUIRES: out.size() == size().
  /// Cost: 1 to 3 ns a selector once the values of the device have been seen.
  void Match(std::uint32_t device, std::span<Verdict> out);
  /// How often a term or a whole expression was evaluated so far.
  [[nodiscard]] std::uint64_t evaluations() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot::cel
