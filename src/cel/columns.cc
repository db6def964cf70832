#include "cel/columns.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "cel/device_columns.h"
#include "cel/program.h"
#include "cel/slots.h"

namespace allot::cel {
namespace {

constexpr auto kUnknown = static_cast<Verdict>(0xFF);

}  // namespace

DeviceTable::DeviceTable() : impl_(std::make_unique<Impl>()) {}
DeviceTable::~DeviceTable() = default;

std::uint32_t DeviceTable::Add(const DeviceView& device) {
  const auto index = static_cast<std::uint32_t>(impl_->rows.size());
  impl_->rows.emplace_back();
  impl_->Set(index, device);
  return index;
}

void DeviceTable::Update(std::uint32_t index, const DeviceView& device) {
  impl_->Set(index, device);
  impl_->changes.push_back(index);
}

std::uint32_t DeviceTable::size() const {
  return static_cast<std::uint32_t>(impl_->rows.size());
}

struct Matcher::Impl {
  Impl(DeviceTable::Impl& to, std::shared_ptr<const Program> what)
      : table(to),
        program(std::move(what)),
        plan(program->impl().slots.get()),
        grouping(table.GroupingFor(plan)),
        seen_changes(table.changes.size()) {}

  // The verdict of a combination of values, evaluated once.
  Verdict OfCode(std::uint32_t code, std::uint32_t device) {
    if (code >= memo.size()) {
      memo.resize(std::max<std::size_t>(code + 1, grouping.dictionary.size()), kUnknown);
    }
    Verdict& verdict = memo[code];
    if (verdict == kUnknown) {
      verdict = Evaluate(device);
    }
    return verdict;
  }

  Verdict Evaluate(std::uint32_t device) {
    ++evaluations;
    if (plan != nullptr) {
      std::array<Value, SlotPlan::kMaxSlots> slots;
      for (std::size_t i = 0; i < grouping.columns.size(); ++i) {
        slots[i] = grouping.columns[i]->values[grouping.columns[i]->CodeOf(device)];
      }
      scratch.Reset();
      if (const auto verdict =
              plan->Run(scratch, std::span(slots).first(grouping.columns.size()))) {
        return *verdict;
      }
    }
    return evaluator.Match(*program, table.View(device)).verdict;
  }

  DeviceTable::Impl& table;
  std::shared_ptr<const Program> program;
  const SlotPlan* plan;
  Grouping& grouping;
  std::vector<Verdict> memo;   // by code
  std::vector<Verdict> known;  // by device, as of seen_changes
  std::size_t seen_changes;
  std::uint64_t evaluations = 0;
  Evaluator evaluator;
  Context scratch;
};

Matcher::Matcher(DeviceTable& table, std::shared_ptr<const Program> program)
    : impl_(std::make_unique<Impl>(table.impl(), std::move(program))) {}
Matcher::~Matcher() = default;
Matcher::Matcher(Matcher&&) noexcept = default;
Matcher& Matcher::operator=(Matcher&&) noexcept = default;

Verdict Matcher::Match(std::uint32_t index) {
  DeviceTable::Impl& table = impl_->table;
  const std::vector<std::uint32_t>& codes = impl_->grouping.codes;
  if (index < codes.size() && table.unbindable == 0) {
    const std::uint32_t code = codes[index];
    if (code < impl_->memo.size() && impl_->memo[code] != kUnknown) {
      return impl_->memo[code];
    }
  }
  ALLOT_CHECK(index < table.rows.size());
  if (impl_->grouping.codes.size() <= index) {
    table.Extend(impl_->grouping);
  }
  if (table.unbindable > 0 && !table.rows[index].bindable) {
    return Verdict::kError;
  }
  return impl_->OfCode(impl_->grouping.codes[index], index);
}

void Matcher::MatchAll(std::span<Verdict> out) {
  DeviceTable::Impl& table = impl_->table;
  table.Extend(impl_->grouping);
  std::vector<Verdict>& known = impl_->known;
  const std::size_t changed = table.changes.size() - impl_->seen_changes;
  if (changed > known.size()) {
    known.clear();
  } else {
    for (; impl_->seen_changes < table.changes.size(); ++impl_->seen_changes) {
      const std::uint32_t index = table.changes[impl_->seen_changes];
      if (index < known.size()) {
        known[index] = Match(index);
      }
    }
  }
  impl_->seen_changes = table.changes.size();
  const std::size_t size = table.rows.size();
  const std::size_t begin = known.size();
  known.resize(size);
  impl_->memo.resize(std::max(impl_->memo.size(), impl_->grouping.dictionary.size()), kUnknown);
  const bool all_bindable = table.unbindable == 0;
  for (std::size_t i = begin; i < size; ++i) {
    if (!all_bindable && !table.rows[i].bindable) {
      known[i] = Verdict::kError;
      continue;
    }
    const std::uint32_t code = impl_->grouping.codes[i];
    const Verdict verdict = impl_->memo[code];
    known[i] = verdict != kUnknown ? verdict : impl_->OfCode(code, static_cast<std::uint32_t>(i));
  }
  std::ranges::copy(known, out.begin());
}

std::string Matcher::ErrorText(std::uint32_t index) {
  return impl_->evaluator.Match(*impl_->program, impl_->table.View(index)).error;
}

Verdict Matcher::EvaluateOnce(std::uint32_t index) {
  return impl_->Evaluate(index);
}

std::uint64_t Matcher::evaluations() const {
  return impl_->evaluations;
}

}  // namespace allot::cel
