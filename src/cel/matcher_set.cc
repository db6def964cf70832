// MatcherSet: the verdicts of many selectors on one device.
//
// The truths of all terms lie in one array of bytes, the state, those that read one column side by
// side. Behind them stand the gates (&&, ||, !, ? : over terms and other gates), shared by all
// selectors that have them. Matching a device loads the rows of truths of its values, those that
// differ from the last device's, and passes on only the truths that changed.
#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

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
  // Terms that ask whether the column equals a text need no test of their own: ordinals in `terms`.
  std::unordered_map<std::string_view, std::uint32_t> equals;
  std::vector<std::uint32_t> others;  // terms to be tested one by one
  std::size_t offset = 0;             // of its truths in the state
  std::vector<std::uint8_t> rows;
  std::vector<std::uint32_t> row_of;  // by code; kNone: not tested yet
  std::vector<bool> asks;             // by row: some truth is kAsk
  std::uint32_t current = kNone;      // the code whose truths are loaded
  bool current_asks = false;

  [[nodiscard]] std::uint32_t CodeOf(DeviceTable::Impl& table, std::uint32_t device) const {
    return column != nullptr     ? column->CodeOf(device)
           : grouping != nullptr ? table.CodeIn(*grouping, device)
                                 : 0;
  }
};

struct Gate {
  SlotOp op;  // kAnd, kOr, kNot, kConditional
  std::uint32_t first;
  std::uint32_t count;
};

// Lists of numbers, one after the other.
struct Lists {
  std::vector<std::uint32_t> begins;
  std::vector<std::uint32_t> items;
  [[nodiscard]] std::span<const std::uint32_t> At(std::size_t i) const {
    return std::span(items).subspan(begins[i], begins[i + 1] - begins[i]);
  }
  void Assign(const std::vector<std::vector<std::uint32_t>>& from) {
    begins.assign(1, 0);
    items.clear();
    for (const auto& list : from) {
      items.insert(items.end(), list.begin(), list.end());
      begins.push_back(static_cast<std::uint32_t>(items.size()));
    }
  }
};

Verdict VerdictAt(std::uint8_t truth) {
  // false, error, true become false, true, error.
  return static_cast<Verdict>((static_cast<unsigned>(truth << 1U) | (truth >> 1U)) & 3U);
}

// The text a term compares its only slot with; nothing when it does something else.
std::optional<std::string_view> ComparedText(const Term& term) {
  if (term.node->op != SlotOp::kEqual || term.column == nullptr) {
    return std::nullopt;
  }
  const SlotPlan::Node& left = term.plan->Operand(*term.node, 0);
  const SlotPlan::Node& right = term.plan->Operand(*term.node, 1);
  const SlotPlan::Node& constant = left.op == SlotOp::kConstant ? left : right;
  const SlotPlan::Node& slot = left.op == SlotOp::kConstant ? right : left;
  if (slot.op != SlotOp::kSlot || constant.op != SlotOp::kConstant ||
      !constant.constant.Is(ValueKind::kString)) {
    return std::nullopt;
  }
  return constant.constant.text();
}

}  // namespace

struct MatcherSet::Impl {
  explicit Impl(DeviceTable::Impl& to) : table(to) {}

  void Prepare();
  void PlaceTerm(Term& term);
  std::uint32_t PlaceNode(BoundSelector& selector, const SlotPlan::Node& node);
  void LinkDependents();
  std::uint32_t FillRow(Source& source, std::uint32_t code, std::uint32_t device);
  bool Load(std::uint32_t device);
  void LoadRow(Source& source, std::size_t row);
  void NoteTerm(std::size_t position, std::uint8_t truth);
  void Note(std::size_t position, std::uint8_t truth);
  [[nodiscard]] std::uint8_t TruthOfGate(const Gate& gate) const;
  [[nodiscard]] bool IsMuch(std::size_t gates_touched) const;
  void Propagate();
  void CombineAll();

  DeviceTable::Impl& table;
  std::vector<std::unique_ptr<BoundSelector>> selectors;
  std::vector<Source> sources;
  std::unordered_map<const Term*, std::uint32_t> places;  // positions in the state, then of gates
  std::map<std::vector<std::uint32_t>, std::uint32_t> gate_places;
  std::vector<std::uint8_t> state;  // of the terms, then of the gates
  std::size_t term_count = 0;
  std::vector<Gate> gates;
  std::vector<std::uint32_t> operands;
  Lists gates_of;                    // by position: the gates that read it
  Lists selectors_of;                // by position: the selectors it decides
  std::vector<std::uint32_t> roots;  // by selector: its position
  std::vector<std::uint64_t> dirty;  // gates, a bit each
  std::size_t touched = 0;           // gates that read a term that has changed
  std::vector<Verdict> verdicts;
  std::vector<std::uint32_t> exact;  // selectors without a plan
  std::uint64_t evaluations = 0;
  bool prepared = true;
  bool stale = true;  // the state does not stand for one device
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
  if (!impl_->Load(device)) {
    impl_->stale = true;
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = impl_->selectors[i]->Match(device);
    }
    return;
  }
  for (const std::uint32_t selector : impl_->exact) {
    impl_->verdicts[selector] = impl_->selectors[selector]->Match(device);
  }
  std::ranges::copy(impl_->verdicts, out.begin());
}

// Gives every term and every gate its place.
void MatcherSet::Impl::Prepare() {
  sources.clear();
  places.clear();
  gate_places.clear();
  gates.clear();
  operands.clear();
  exact.clear();
  for (const auto& selector : selectors) {
    selector->ForEachTerm([this](Term& term) { PlaceTerm(term); });
  }
  term_count = 0;
  for (Source& source : sources) {
    source.offset = term_count;
    for (Term* const term : source.terms) {
      places[term] = static_cast<std::uint32_t>(term_count++);
    }
  }
  LinkDependents();
  state.assign(term_count + gates.size(), 0);
  dirty.assign(gates.size() / 64 + 1, 0);
  verdicts.assign(selectors.size(), Verdict::kError);
  prepared = true;
  stale = true;
}

void MatcherSet::Impl::PlaceTerm(Term& term) {
  if (!places.try_emplace(&term, kNone).second) {
    return;
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
  const auto ordinal = static_cast<std::uint32_t>(at->terms.size());
  const std::optional<std::string_view> text = ComparedText(term);
  if (!text || !at->equals.try_emplace(*text, ordinal).second) {
    at->others.push_back(ordinal);
  }
  at->terms.push_back(&term);
}

// The position of a node: of its term, or of its gate, which comes after those of its operands.
std::uint32_t MatcherSet::Impl::PlaceNode(BoundSelector& selector, const SlotPlan::Node& node) {
  const SlotPlan& plan = *selector.plan();
  if (!IsLogic(plan, node)) {
    return places.at(&selector.TermAt(node));
  }
  std::vector<std::uint32_t> key = {static_cast<std::uint32_t>(node.op)};
  for (std::size_t i = 0; i < node.count; ++i) {
    key.push_back(PlaceNode(selector, plan.Operand(node, i)));
  }
  const auto [at, added] =
      gate_places.try_emplace(key, static_cast<std::uint32_t>(term_count + gates.size()));
  if (added) {
    gates.push_back({node.op, static_cast<std::uint32_t>(operands.size()), node.count});
    operands.insert(operands.end(), key.begin() + 1, key.end());
  }
  return at->second;
}

void MatcherSet::Impl::LinkDependents() {
  roots.clear();
  for (std::uint32_t i = 0; i < selectors.size(); ++i) {
    if (selectors[i]->plan() == nullptr) {
      exact.push_back(i);
      roots.push_back(kNone);
    } else {
      roots.push_back(PlaceNode(*selectors[i], selectors[i]->plan()->root()));
    }
  }
  std::vector<std::vector<std::uint32_t>> readers(term_count + gates.size());
  std::vector<std::vector<std::uint32_t>> decided(term_count + gates.size());
  for (std::uint32_t gate = 0; gate < gates.size(); ++gate) {
    for (std::uint32_t i = 0; i < gates[gate].count; ++i) {
      readers[operands[gates[gate].first + i]].push_back(gate);
    }
  }
  for (std::uint32_t i = 0; i < roots.size(); ++i) {
    if (roots[i] != kNone) {
      decided[roots[i]].push_back(i);
    }
  }
  gates_of.Assign(readers);
  selectors_of.Assign(decided);
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
  const std::size_t begin = source.rows.size();
  source.rows.resize(begin + source.terms.size(), static_cast<std::uint8_t>(Truth::kFalse));
  const std::span<std::uint8_t> truths = std::span(source.rows).subspan(begin);
  bool asks = false;
  const auto test = [&](std::uint32_t ordinal) {
    const Truth truth = EvaluateTerm(table, *source.terms[ordinal], device);
    asks = asks || truth == Truth::kAsk;
    truths[ordinal] = static_cast<std::uint8_t>(truth);
    ++evaluations;
  };
  for (const std::uint32_t ordinal : source.others) {
    test(ordinal);
  }
  const bool is_text = source.column != nullptr && source.column->fits[code] &&
                       source.column->values[code].Is(ValueKind::kString);
  if (is_text) {
    if (const auto same = source.equals.find(source.column->values[code].text());
        same != source.equals.end()) {
      truths[same->second] = static_cast<std::uint8_t>(Truth::kTrue);
    }
  } else {
    for (const auto& [text, ordinal] : source.equals) {
      test(ordinal);
    }
  }
  source.asks.push_back(asks);
  source.row_of[code] = row;
  return row;
}

// Brings state and verdicts up to a device. False: some need the exact interpreter.
bool MatcherSet::Impl::Load(std::uint32_t device) {
  bool complete = true;
  touched = 0;
  for (Source& source : sources) {
    const std::uint32_t code = source.CodeOf(table, device);
    if (code != source.current) {
      const bool known = code < source.row_of.size() && source.row_of[code] != kNone;
      const std::size_t row = known ? source.row_of[code] : FillRow(source, code, device);
      LoadRow(source, row);
      source.current = code;
      source.current_asks = source.asks[row];
    }
    complete = complete && !source.current_asks;
  }
  if (!complete) {
    return false;
  }
  if (stale || IsMuch(touched)) {
    CombineAll();
    stale = false;
  } else {
    Propagate();
  }
  return true;
}

// Puts a row into the state, noting what differs.
void MatcherSet::Impl::LoadRow(Source& source, std::size_t row) {
  const std::size_t width = source.terms.size();
  const std::uint8_t* const from = source.rows.data() + row * width;
  std::uint8_t* const to = state.data() + source.offset;
  if (stale) {
    std::memcpy(to, from, width);
    return;
  }
  std::size_t i = 0;
  for (; i + 8 <= width; i += 8) {
    std::uint64_t before;
    std::uint64_t after;
    std::memcpy(&before, to + i, 8);
    std::memcpy(&after, from + i, 8);
    for (std::uint64_t differs = before ^ after; differs != 0;) {
      const auto byte = static_cast<std::size_t>(std::countr_zero(differs)) / 8;
      NoteTerm(source.offset + i + byte, from[i + byte]);
      differs &= ~(std::uint64_t{0xFF} << (byte * 8));
    }
  }
  for (; i < width; ++i) {
    if (to[i] != from[i]) {
      NoteTerm(source.offset + i, from[i]);
    }
  }
}

// Whether so many gates are touched that looking at all of them in turn is cheaper.
bool MatcherSet::Impl::IsMuch(std::size_t gates_touched) const {
  return gates_touched * 4 > gates.size();
}

void MatcherSet::Impl::NoteTerm(std::size_t position, std::uint8_t truth) {
  touched += gates_of.At(position).size();
  if (IsMuch(touched)) {
    state[position] = truth;
  } else {
    Note(position, truth);
  }
}

// A position has another truth: what reads it is to be looked at again.
void MatcherSet::Impl::Note(std::size_t position, std::uint8_t truth) {
  state[position] = truth;
  for (const std::uint32_t gate : gates_of.At(position)) {
    dirty[gate / 64] |= std::uint64_t{1} << (gate % 64);
  }
  for (const std::uint32_t selector : selectors_of.At(position)) {
    verdicts[selector] = VerdictAt(truth);
  }
}

std::uint8_t MatcherSet::Impl::TruthOfGate(const Gate& gate) const {
  const std::uint32_t* const from = operands.data() + gate.first;
  std::uint8_t truth = state[from[0]];
  if (gate.op == SlotOp::kNot) {
    return static_cast<std::uint8_t>(static_cast<std::uint8_t>(Truth::kTrue) - truth);
  }
  if (gate.op == SlotOp::kConditional) {
    return truth == static_cast<std::uint8_t>(Truth::kTrue)    ? state[from[1]]
           : truth == static_cast<std::uint8_t>(Truth::kFalse) ? state[from[2]]
                                                               : truth;
  }
  for (std::uint32_t i = 1; i < gate.count; ++i) {
    truth =
        gate.op == SlotOp::kAnd ? std::min(truth, state[from[i]]) : std::max(truth, state[from[i]]);
  }
  return truth;
}

// Works off the gates noted. Gates only read what stands before them, so one pass is enough.
void MatcherSet::Impl::Propagate() {
  for (std::size_t word = 0; word < dirty.size(); ++word) {
    while (dirty[word] != 0) {
      const std::size_t gate = word * 64 + static_cast<std::size_t>(std::countr_zero(dirty[word]));
      dirty[word] &= dirty[word] - 1;
      const std::uint8_t truth = TruthOfGate(gates[gate]);
      if (truth != state[term_count + gate]) {
        Note(term_count + gate, truth);
      }
    }
  }
}

void MatcherSet::Impl::CombineAll() {
  std::ranges::fill(dirty, 0);
  std::uint8_t* const truths = state.data();
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const Gate& gate = gates[i];
    const std::uint32_t* const from = operands.data() + gate.first;
    if (gate.count == 2) {
      const std::uint8_t left = truths[from[0]];
      const std::uint8_t right = truths[from[1]];
      truths[term_count + i] = (left < right) == (gate.op == SlotOp::kAnd) ? left : right;
    } else {
      truths[term_count + i] = TruthOfGate(gate);
    }
  }
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (roots[i] != kNone) {
      verdicts[i] = VerdictAt(truths[roots[i]]);
    }
  }
}

}  // namespace allot::cel
