// DeviceTable and Matcher: one selector over many devices, per distinct signature instead of per
// device.
//
// The table keeps every attribute and capacity as a column of dictionary codes. A Matcher evaluates
// its selector once per distinct combination of the values it reads and answers the rest by table
// look-up; a changed device costs a few look-ups. Results equal Evaluator::Match on every device.
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
  /// How often the expression itself was evaluated so far.
  [[nodiscard]] std::uint64_t evaluations() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot::cel
