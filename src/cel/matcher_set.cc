// MatcherSet: the verdicts of many selectors on one device.
//
// The truths of all terms that read one column lie side by side, a row for each value of the
// column. To match a device is to copy the rows of its values, those that differ from the last
// device's, and to combine bytes.
#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "cel/columns.h"
#include "cel/device_columns.h"
#include "cel/terms.h"

namespace allot::cel {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};
/// Unit: bytes. A source whose rows outgrow it begins anew.
constexpr std::size_t kMaxRows = std::size_t{16} << 20;

// One column or combination with the terms that read it.
struct Source {
  const Column* column = nullptr;
  Grouping* grouping = nullptr;
  std::vector<Term*> terms;
  std::size_t offset = 0;  // of its truths in the state
  std::vector<std::uint8_t> rows;
  std::vector<std::uint32_t> row_of;  // by code; kNone: not tested yet
  std::vector<bool> asks;             // by row: some truth is kAsk
  std::uint32_t current = kNone;      // the code whose truths are loaded
  bool current_asks = false;
};

// Selectors that are one term, two terms or a list of terms under && or ||.
struct One {
  std::uint32_t term;
  std::uint32_t selector;
};
struct Two {
  std::uint32_t left;
  std::uint32_t right;
  std::uint32_t selector;
};
struct Many {
  std::uint32_t first;
  std::uint32_t count;
  std::uint32_t selector;
};

Verdict VerdictAt(std::uint8_t truth) {
  return static_cast<Verdict>((static_cast<unsigned>(truth << 1U) | (truth >> 1U)) & 3U);
}

}  // namespace

struct MatcherSet::Impl {
  explicit Impl(DeviceTable::Impl& to) : table(to) {}

  void Prepare();
  void PlaceSelector(std::uint32_t ordinal);
  std::uint32_t PlaceTerm(Term& term);
  std::uint32_t FillRow(Source& source, std::uint32_t code, std::uint32_t device);
  bool Load(std::uint32_t device);
  void Combine(std::span<Verdict> out, std::uint32_t device);

  DeviceTable::Impl& table;
  std::vector<std::unique_ptr<BoundSelector>> selectors;
  std::vector<Source> sources;
  std::unordered_map<const Term*, std::pair<std::uint32_t, std::uint32_t>> places;  // source, index
  std::vector<std::uint8_t> state;
  std::vector<One> ones;
  std::vector<Two> both;
  std::vector<Two> either;
  std::vector<Many> all;
  std::vector<Many> any;
  std::vector<std::uint32_t> listed;  // terms of `all` and `any`
  std::vector<std::uint32_t> others;  // selectors of any other shape
  std::uint64_t evaluations = 0;
  bool prepared = true;
};

MatcherSet::MatcherSet(DeviceTable& table) : impl_(std::make_unique<Impl>(table.impl())) {}
MatcherSet::~MatcherSet() = default;
MatcherSet::MatcherSet(MatcherSet&&) noexcept = default;
MatcherSet& MatcherSet::operator=(MatcherSet&&) noexcept = default;

std::uint32_t MatcherSet::Add(std::shared_ptr<const Program> program) {
  impl_->selectors.push_back(std::make_unique<BoundSelector>(impl_->table, std::move(program)));
  impl_->prepared = false;
  return size() - 1;
}

std::uint32_t MatcherSet::size() const {
  return static_cast<std::uint32_t>(impl_->selectors.size());
}

std::uint64_t MatcherSet::evaluations() const {
  std::uint64_t out = impl_->evaluations;
  for (const auto& selector : impl_->selectors) {
    out += selector->evaluations();
  }
  return out;
}

void MatcherSet::Match(std::uint32_t device, std::span<Verdict> out) {
  ALLOT_CHECK(device < impl_->table.rows.size() && out.size() == size());
  if (!impl_->table.rows[device].bindable) {
    std::ranges::fill(out, Verdict::kError);
    return;
  }
  if (!impl_->prepared) {
    impl_->Prepare();
  }
  if (impl_->Load(device)) {
    impl_->Combine(out, device);
    return;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = impl_->selectors[i]->Match(device);
  }
}

// Gives every term its place and sorts the selectors by shape.
void MatcherSet::Impl::Prepare() {
  sources.clear();
  places.clear();
  ones.clear();
  both.clear();
  either.clear();
  all.clear();
  any.clear();
  listed.clear();
  others.clear();
  for (const auto& selector : selectors) {
    if (selector->plan() != nullptr) {
      selector->ForEachTerm([this](Term& term) { static_cast<void>(PlaceTerm(term)); });
    }
  }
  std::size_t offset = 0;
  for (Source& source : sources) {
    source.offset = offset;
    offset += source.terms.size();
  }
  state.assign(offset, 0);
  for (std::uint32_t i = 0; i < selectors.size(); ++i) {
    PlaceSelector(i);
  }
  prepared = true;
}

// The index of the source of a term.
std::uint32_t MatcherSet::Impl::PlaceTerm(Term& term) {
  if (const auto found = places.find(&term); found != places.end()) {
    return found->second.first;
  }
  auto at = std::ranges::find_if(sources, [&](const Source& source) {
    return source.column == term.column && source.grouping == term.grouping;
  });
  if (at == sources.end()) {
    sources.emplace_back();
    at = sources.end() - 1;
    at->column = term.column;
    at->grouping = term.grouping;
  }
  const auto source = static_cast<std::uint32_t>(at - sources.begin());
  places.emplace(&term, std::pair(source, static_cast<std::uint32_t>(at->terms.size())));
  at->terms.push_back(&term);
  return source;
}

void MatcherSet::Impl::PlaceSelector(std::uint32_t ordinal) {
  BoundSelector& selector = *selectors[ordinal];
  if (selector.plan() == nullptr) {
    others.push_back(ordinal);
    return;
  }
  const SlotPlan& plan = *selector.plan();
  const SlotPlan::Node& root = plan.root();
  const auto place = [&](const SlotPlan::Node& node) {
    const auto [source, index] = places.at(&selector.TermAt(node));
    return static_cast<std::uint32_t>(sources[source].offset + index);
  };
  if (!IsLogic(plan, root)) {
    ones.push_back({place(root), ordinal});
    return;
  }
  bool flat = root.op != SlotOp::kNot;
  for (std::size_t i = 0; flat && i < root.count; ++i) {
    flat = !IsLogic(plan, plan.Operand(root, i));
  }
  if (!flat) {
    others.push_back(ordinal);
    return;
  }
  const bool is_and = root.op == SlotOp::kAnd;
  if (root.count == 2) {
    (is_and ? both : either)
        .push_back({place(plan.Operand(root, 0)), place(plan.Operand(root, 1)), ordinal});
    return;
  }
  (is_and ? all : any).push_back({static_cast<std::uint32_t>(listed.size()), root.count, ordinal});
  for (std::size_t i = 0; i < root.count; ++i) {
    listed.push_back(place(plan.Operand(root, i)));
  }
}

// Tests all terms of a source for the values of a device. Returns the row.
std::uint32_t MatcherSet::Impl::FillRow(Source& source, std::uint32_t code, std::uint32_t device) {
  if (source.rows.size() > kMaxRows) {
    source.rows.clear();
    source.row_of.clear();
    source.asks.clear();
  }
  if (code >= source.row_of.size()) {
    source.row_of.resize(code + 1, kNone);
  }
  const auto row = static_cast<std::uint32_t>(source.asks.size());
  bool asks = false;
  for (const Term* const term : source.terms) {
    const Truth truth = EvaluateTerm(table, *term, device);
    asks = asks || truth == Truth::kAsk;
    source.rows.push_back(static_cast<std::uint8_t>(truth));
  }
  evaluations += source.terms.size();
  source.asks.push_back(asks);
  source.row_of[code] = row;
  return row;
}

// Brings the truths of all terms up to a device. False: some need the exact interpreter.
bool MatcherSet::Impl::Load(std::uint32_t device) {
  bool complete = true;
  for (Source& source : sources) {
    const std::uint32_t code = source.column != nullptr     ? source.column->CodeOf(device)
                               : source.grouping != nullptr ? table.CodeIn(*source.grouping, device)
                                                            : 0;
    if (code != source.current) {
      const bool known = code < source.row_of.size() && source.row_of[code] != kNone;
      const std::size_t row = known ? source.row_of[code] : FillRow(source, code, device);
      const std::size_t width = source.terms.size();
      std::memcpy(state.data() + source.offset, source.rows.data() + row * width, width);
      source.current = code;
      source.current_asks = source.asks[row];
    }
    complete = complete && !source.current_asks;
  }
  return complete;
}

void MatcherSet::Impl::Combine(std::span<Verdict> out, std::uint32_t device) {
  const std::uint8_t* const truths = state.data();
  for (const One& one : ones) {
    out[one.selector] = VerdictAt(truths[one.term]);
  }
  for (const Two& two : both) {
    out[two.selector] = VerdictAt(std::min(truths[two.left], truths[two.right]));
  }
  for (const Two& two : either) {
    out[two.selector] = VerdictAt(std::max(truths[two.left], truths[two.right]));
  }
  for (const Many& many : all) {
    std::uint8_t truth = truths[listed[many.first]];
    for (std::uint32_t i = 1; i < many.count; ++i) {
      truth = std::min(truth, truths[listed[many.first + i]]);
    }
    out[many.selector] = VerdictAt(truth);
  }
  for (const Many& many : any) {
    std::uint8_t truth = truths[listed[many.first]];
    for (std::uint32_t i = 1; i < many.count; ++i) {
      truth = std::max(truth, truths[listed[many.first + i]]);
    }
    out[many.selector] = VerdictAt(truth);
  }
  for (const std::uint32_t selector : others) {
    out[selector] = selectors[selector]->Match(device);
  }
}

}  // namespace allot::cel
