#include "cel/columns.h"

#include <algorithm>

#include "base/check.h"
#include "cel/device_columns.h"
#include "cel/terms.h"

namespace allot::cel {

DeviceTable::DeviceTable() : impl_(std::make_unique<Impl>()) {}
DeviceTable::~DeviceTable() = default;

std::uint32_t DeviceTable::Add(const DeviceView& device) {
  const auto index = static_cast<std::uint32_t>(impl_->rows.size());
  impl_->rows.emplace_back();
  static_cast<void>(impl_->Set(index, device));
  return index;
}

void DeviceTable::Update(std::uint32_t index, const DeviceView& device) {
  if (impl_->Set(index, device)) {
    impl_->NoteChange(index);
  }
}

std::uint32_t DeviceTable::size() const {
  return static_cast<std::uint32_t>(impl_->rows.size());
}

struct Matcher::Impl {
  Impl(DeviceTable::Impl& to, std::shared_ptr<const Program> what)
      : table(to),
        selector(to, std::move(what)),
        seen_changes(to.first_change + to.changes.size()) {}

  DeviceTable::Impl& table;
  BoundSelector selector;
  std::vector<Verdict> known;  // by device, as of seen_changes
  std::uint64_t seen_changes;
};

Matcher::Matcher(DeviceTable& table, std::shared_ptr<const Program> program)
    : impl_(std::make_unique<Impl>(table.impl(), std::move(program))) {}
Matcher::~Matcher() = default;
Matcher::Matcher(Matcher&&) noexcept = default;
Matcher& Matcher::operator=(Matcher&&) noexcept = default;

Verdict Matcher::Match(std::uint32_t index) {
  ALLOT_CHECK(index < impl_->table.rows.size());
  return impl_->selector.Match(index);
}

void Matcher::MatchAll(std::span<Verdict> out) {
  DeviceTable::Impl& table = impl_->table;
  std::vector<Verdict>& known = impl_->known;
  const std::uint64_t last_change = table.first_change + table.changes.size();
  if (impl_->seen_changes < table.first_change ||
      last_change - impl_->seen_changes > known.size()) {
    known.clear();
  } else {
    for (std::uint64_t at = impl_->seen_changes; at < last_change; ++at) {
      const std::uint32_t index = table.changes[at - table.first_change];
      if (index < known.size()) {
        known[index] = impl_->selector.Match(index);
      }
    }
  }
  impl_->seen_changes = last_change;
  if (const std::size_t begin = known.size(); begin < table.rows.size()) {
    known.resize(table.rows.size());
    impl_->selector.MatchFrom(static_cast<std::uint32_t>(begin), std::span(known).subspan(begin));
  }
  std::ranges::copy(known, out.begin());
}

std::string Matcher::ErrorText(std::uint32_t index) {
  DeviceTable::Impl& table = impl_->table;
  return table.evaluator.Match(impl_->selector.program(), table.View(index)).error;
}

Verdict Matcher::EvaluateOnce(std::uint32_t index) {
  return impl_->selector.Evaluate(index);
}

std::uint64_t Matcher::evaluations() const {
  return impl_->selector.evaluations();
}

}  // namespace allot::cel
