#include "cel/terms.h"

#include <algorithm>
#include <array>

#include "cel/operations.h"
#include "cel/program.h"

namespace allot::cel {
namespace {

constexpr auto kUnknownVerdict = static_cast<Verdict>(0xFF);
constexpr std::size_t kBlock = 1024;

void CollectSlots(const SlotPlan& plan,
                  const SlotPlan::Node& node,
                  std::vector<std::uint16_t>& out) {
  const bool reads =
      node.op == SlotOp::kSlot || node.op == SlotOp::kHas || node.op == SlotOp::kOptionalSlot;
  if (reads && std::ranges::find(out, node.slot) == out.end()) {
    out.push_back(node.slot);
  }
  for (std::size_t i = 0; i < node.count; ++i) {
    CollectSlots(plan, plan.Operand(node, i), out);
  }
}

// Forgets terms that no selector uses any more, now and then.
void DropDeadTerms(DeviceTable::Impl& table) {
  constexpr std::size_t kOften = 1024;
  if (table.terms.size() % kOften == 0) {
    std::erase_if(table.terms, [](const auto& entry) { return entry.second.expired(); });
  }
}

std::shared_ptr<Term> TermFor(DeviceTable::Impl& table,
                              const std::shared_ptr<const Program>& program,
                              const SlotPlan& plan,
                              const SlotPlan::Node& node,
                              bool is_root) {
  const std::string key = TermKey(plan, node, is_root);
  if (const auto found = table.terms.find(key); !key.empty() && found != table.terms.end()) {
    if (auto term = found->second.lock()) {
      return term;
    }
  }
  DropDeadTerms(table);
  auto term = std::make_shared<Term>();
  term->program = program;
  term->plan = &plan;
  term->node = &node;
  term->is_root = is_root;
  std::vector<std::uint16_t> slots;
  CollectSlots(plan, node, slots);
  std::vector<SlotKey> keys;
  for (const std::uint16_t slot : slots) {
    keys.push_back(plan.slots()[slot]);
    term->reads.push_back({slot, &table.ColumnFor(keys.back())});
  }
  if (slots.size() == 1) {
    term->column = term->reads[0].column;
  } else if (slots.size() > 1) {
    term->grouping = &table.GroupingFor(keys);
  }
  if (!key.empty()) {
    table.terms.insert_or_assign(key, term);
  }
  return term;
}

// Tests a term on the values its slots hold.
Truth TestValues(DeviceTable::Impl& table, const Term& term) {
  return term.is_root ? term.plan->Run(table.scratch, table.slot_values.data())
                      : term.plan->Test(*term.node, table.scratch, table.slot_values.data());
}

// out = out && other, or out || other. The loops are plain enough for the compiler to take sixteen
// devices at a time.
void Join(SlotOp op, Truth* out, const Truth* other, std::size_t size) {
  if (op == SlotOp::kAnd) {
    for (std::size_t i = 0; i < size; ++i) {
      out[i] = other[i] < out[i] ? other[i] : out[i];
    }
  } else {
    for (std::size_t i = 0; i < size; ++i) {
      out[i] = other[i] > out[i] ? other[i] : out[i];
    }
  }
}

}  // namespace

bool IsLogic(const SlotPlan& plan, const SlotPlan::Node& node) {
  const auto is_condition = [&](std::size_t i) {
    const SlotPlan::Node& operand = plan.Operand(node, i);
    return operand.op > SlotOp::kCall || IsLogic(plan, operand) ||
           (operand.op == SlotOp::kConstant && operand.constant.Is(ValueKind::kBool));
  };
  return node.op == SlotOp::kAnd || node.op == SlotOp::kOr ||
         (node.op == SlotOp::kNot && IsLogic(plan, plan.Operand(node, 0))) ||
         (node.op == SlotOp::kConditional && is_condition(1) && is_condition(2));
}

Truth EvaluateTerm(DeviceTable::Impl& table, const Term& term, std::uint32_t device) {
  for (const Term::Read& read : term.reads) {
    const std::uint32_t code = read.column->CodeOf(device);
    if (!read.column->fits[code]) {
      return Truth::kAsk;
    }
    table.slot_values[read.slot] = read.column->values[code];
  }
  return TestValues(table, term);
}

BoundSelector::BoundSelector(DeviceTable::Impl& table, std::shared_ptr<const Program> program)
    : table_(table), program_(std::move(program)), plan_(program_->impl().slots.get()) {
  if (plan_ == nullptr) {
    return;
  }
  terms_.resize(plan_->node_count());
  BindTerms(plan_->root());
  for (std::size_t i = 0; i < plan_->slots().size(); ++i) {
    reads_.push_back({static_cast<std::uint16_t>(i), &table.ColumnFor(plan_->slots()[i])});
  }
}

void BoundSelector::BindTerms(const SlotPlan::Node& node) {
  if (!IsLogic(*plan_, node)) {
    terms_[plan_->IndexOf(node)] = TermFor(table_, program_, *plan_, node, &node == &plan_->root());
    return;
  }
  for (std::size_t i = 0; i < node.count; ++i) {
    BindTerms(plan_->Operand(node, i));
  }
}

Truth BoundSelector::TestTerm(Term& term, std::uint32_t device) {
  const std::uint32_t code = term.column != nullptr     ? term.column->CodeOf(device)
                             : term.grouping != nullptr ? table_.CodeIn(*term.grouping, device)
                                                        : 0;
  if (code < term.truths.size() && term.truths[code] != Term::kUnknown) {
    return term.truths[code];
  }
  if (code >= term.truths.size()) {
    const std::size_t known = term.column != nullptr     ? term.column->values.size()
                              : term.grouping != nullptr ? term.grouping->size()
                                                         : 1;
    term.truths.resize(known, Term::kUnknown);
  }
  ++evaluations_;
  const Truth truth = EvaluateTerm(table_, term, device);
  term.asks = term.asks || truth == Truth::kAsk;
  term.truths[code] = truth;
  return truth;
}

Truth BoundSelector::Test(const SlotPlan::Node& node, std::uint32_t device) {
  if (Term* const term = terms_[plan_->IndexOf(node)].get(); term != nullptr) {
    return TestTerm(*term, device);
  }
  if (node.op == SlotOp::kNot) {
    const Truth truth = Test(plan_->Operand(node, 0), device);
    return truth == Truth::kFalse ? Truth::kTrue : truth == Truth::kTrue ? Truth::kFalse : truth;
  }
  if (node.op == SlotOp::kConditional) {
    const Truth condition = Test(plan_->Operand(node, 0), device);
    return condition == Truth::kTrue    ? Test(plan_->Operand(node, 1), device)
           : condition == Truth::kFalse ? Test(plan_->Operand(node, 2), device)
                                        : condition;
  }
  const bool all = node.op == SlotOp::kAnd;
  Truth out = all ? Truth::kTrue : Truth::kFalse;
  for (std::size_t i = 0; i < node.count; ++i) {
    const Truth truth = Test(plan_->Operand(node, i), device);
    if (truth == Truth::kAsk || truth == (all ? Truth::kFalse : Truth::kTrue)) {
      return truth;
    }
    out = all ? std::min(out, truth) : std::max(out, truth);
  }
  return out;
}

Verdict BoundSelector::Match(std::uint32_t device) {
  if (table_.unbindable > 0 && !table_.rows[device].bindable) {
    return Verdict::kError;
  }
  if (signature_ == nullptr) {
    FindSignature();
  }
  const std::uint32_t code = table_.CodeIn(*signature_, device);
  if (code >= known_.size()) {
    known_.resize(signature_->size(), kUnknownVerdict);
  }
  if (known_[code] == kUnknownVerdict) {
    known_[code] = MatchNew(device);
  }
  return known_[code];
}

void BoundSelector::FindSignature() {
  std::vector<SlotKey> read;
  if (plan_ != nullptr) {
    signature_ = &table_.GroupingFor(plan_->slots());
  } else if (SlotsRead(program_->impl().plan, read)) {
    signature_ = &table_.GroupingFor(read);
  } else {
    signature_ = &table_.WholeGrouping();
  }
}

// The verdict for a signature that has not been met.
Verdict BoundSelector::MatchNew(std::uint32_t device) {
  if (plan_ != nullptr) {
    if (const Truth truth = Test(plan_->root(), device); truth != Truth::kAsk) {
      return VerdictOf(truth);
    }
  }
  ++evaluations_;
  return table_.evaluator.Match(*program_, table_.View(device)).verdict;
}

Verdict BoundSelector::Evaluate(std::uint32_t device) {
  ++evaluations_;
  if (plan_ != nullptr && table_.rows[device].bindable) {
    bool fits = true;
    for (const Term::Read& read : reads_) {
      const std::uint32_t code = read.column->CodeOf(device);
      fits = fits && read.column->fits[code];
      table_.slot_values[read.slot] = read.column->values[code];
    }
    if (fits) {
      if (const Truth truth = plan_->Run(table_.scratch, table_.slot_values.data());
          truth != Truth::kAsk) {
        return VerdictOf(truth);
      }
    }
  }
  return table_.evaluator.Match(*program_, table_.View(device)).verdict;
}

// Tests a term for every value or combination there is.
void BoundSelector::Fill(Term& term) {
  if (term.column == nullptr) {
    const auto size = static_cast<std::uint32_t>(table_.rows.size());
    for (std::uint32_t device = 0; device < size; ++device) {
      const std::uint32_t code =
          term.grouping != nullptr ? table_.CodeIn(*term.grouping, device) : 0;
      if (code >= term.truths.size() || term.truths[code] == Term::kUnknown) {
        static_cast<void>(TestTerm(term, device));
      }
      if (term.grouping == nullptr) {
        return;
      }
    }
    return;
  }
  const Column& column = *term.column;
  term.truths.resize(column.values.size(), Term::kUnknown);
  for (std::size_t code = 0; code < column.values.size(); ++code) {
    if (term.truths[code] != Term::kUnknown) {
      continue;
    }
    table_.slot_values[term.reads[0].slot] = column.values[code];
    ++evaluations_;
    const Truth truth = column.fits[code] ? TestValues(table_, term) : Truth::kAsk;
    term.asks = term.asks || truth == Truth::kAsk;
    term.truths[code] = truth;
  }
}

// False: some device needs the exact interpreter.
bool BoundSelector::FillAll(const SlotPlan::Node& node) {
  if (Term* const term = terms_[plan_->IndexOf(node)].get(); term != nullptr) {
    Fill(*term);
    return !term->asks;
  }
  bool complete = true;
  for (std::size_t i = 0; i < node.count; ++i) {
    complete = FillAll(plan_->Operand(node, i)) && complete;
  }
  return complete;
}

void BoundSelector::TestTermBlock(const Term& term, std::uint32_t begin, std::span<Truth> out) {
  const Truth* const truths = term.truths.data();
  if (term.column == nullptr && term.grouping == nullptr) {
    std::ranges::fill(out, truths[0]);
    return;
  }
  const std::vector<std::uint32_t>& codes =
      term.column != nullptr ? term.column->codes : term.grouping->codes;
  const std::size_t known =
      std::min(out.size(), codes.size() - std::min<std::size_t>(begin, codes.size()));
  const std::uint32_t* const from = codes.data() + begin;
  for (std::size_t i = 0; i < known; ++i) {
    out[i] = truths[from[i]];
  }
  for (std::size_t i = known; i < out.size(); ++i) {
    out[i] = truths[0];
  }
}

void BoundSelector::TestBlock(const SlotPlan::Node& node,
                              std::uint32_t begin,
                              std::span<Truth> out) {
  if (const Term* const term = terms_[plan_->IndexOf(node)].get(); term != nullptr) {
    TestTermBlock(*term, begin, out);
    return;
  }
  TestBlock(plan_->Operand(node, 0), begin, out);
  if (node.op == SlotOp::kNot) {
    for (Truth& truth : out) {
      truth = static_cast<Truth>(static_cast<std::uint8_t>(Truth::kTrue) -
                                 static_cast<std::uint8_t>(truth));
    }
    return;
  }
  std::array<Truth, kBlock> room;
  const std::span<Truth> other = std::span(room).first(out.size());
  if (node.op == SlotOp::kConditional) {
    std::array<Truth, kBlock> truthy;
    TestBlock(plan_->Operand(node, 1), begin, std::span(truthy).first(out.size()));
    TestBlock(plan_->Operand(node, 2), begin, other);
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = out[i] == Truth::kTrue ? truthy[i] : out[i] == Truth::kFalse ? other[i] : out[i];
    }
    return;
  }
  for (std::size_t operand = 1; operand < node.count; ++operand) {
    TestBlock(plan_->Operand(node, operand), begin, other);
    Join(node.op, out.data(), other.data(), out.size());
  }
}

void BoundSelector::MatchFrom(std::uint32_t begin, std::span<Verdict> out) {
  if (plan_ == nullptr || !FillAll(plan_->root())) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = Match(begin + static_cast<std::uint32_t>(i));
    }
    return;
  }
  std::array<Truth, kBlock> truths;
  for (std::size_t done = 0; done < out.size(); done += kBlock) {
    const std::size_t size = std::min(kBlock, out.size() - done);
    TestBlock(
        plan_->root(), begin + static_cast<std::uint32_t>(done), std::span(truths).first(size));
    for (std::size_t i = 0; i < size; ++i) {
      // false, error, true become false, true, error.
      const auto truth = static_cast<std::uint32_t>(truths[i]);
      out[done + i] = static_cast<Verdict>(((truth << 1U) | (truth >> 1U)) & 3U);
    }
  }
  for (std::size_t i = 0; table_.unbindable > 0 && i < out.size(); ++i) {
    if (!table_.rows[begin + i].bindable) {
      out[i] = Verdict::kError;
    }
  }
}

}  // namespace allot::cel
