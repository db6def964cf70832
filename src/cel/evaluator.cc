// Evaluator: binds a device, runs the exact interpreter and turns the value into what the caller
// wants.
#include <utility>

#include <fmt/format.h>

#include "cel/bind.h"
#include "cel/cel.h"
#include "cel/interpreter.h"
#include "cel/operations.h"
#include "cel/program.h"
#include "cel/result.h"
#include "cel/slot_reader.h"
#include "cel/value_json.h"

namespace allot::cel {

struct Evaluator::State {
  Context context;
  Interpreter interpreter{context};
  SlotReader reader;
  std::uint64_t spent = 0;
};

namespace {

// Binding a device and reading the answer take about as long as so much cost of loops and calls.
constexpr std::uint64_t kExactShare = 8;
constexpr std::uint64_t kFastShare = 1;
// The fast tier takes a small part of the time in which the exact one would reach the bound.
constexpr std::uint64_t kFastTier = 16;
// Work that no cost shows (comparing the values in values) takes about so many steps for the time
// of one cost.
constexpr std::uint64_t kWorkSteps = 8;

struct Raw {
  Value value;
  std::string error;
  std::optional<std::uint64_t> cost;
};

Raw Run(Context& context,
        Interpreter& interpreter,
        const Program& program,
        const DeviceView& device,
        const Interrupt& interrupt) {
  Raw out;
  context.Reset();
  Value bound;
  if (!BindDevice(context, device, bound, out.error)) {
    return out;
  }
  const Binding binding{"device", bound};
  const Program::Impl& impl = program.impl();
  const Interpreter::Result result =
      interpreter.Run(impl.plan, std::span(&binding, 1), impl.options.cost_limit, interrupt);
  out.value = result.value;
  out.cost = result.cost;
  if (result.value.IsError()) {
    out.error = result.value.text();
    if (result.interrupted) {
      out.error = fmt::format("{}: {}: {}", out.error, interrupt.cause, interrupt.cause);
    }
  }
  return out;
}

}  // namespace

Evaluator::Evaluator() : state_(std::make_unique<State>()) {}
Evaluator::~Evaluator() = default;
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;

Outcome Evaluator::Match(const Program& program, const DeviceView& device, Interrupt interrupt) {
  Raw raw = Run(state_->context, state_->interpreter, program, device, interrupt);
  state_->spent += kExactShare + raw.cost.value_or(0);
  Outcome out;
  out.cost = raw.cost;
  if (!raw.error.empty()) {
    out.error = std::move(raw.error);
    return out;
  }
  bool matches = false;
  if (ToBool(raw.value, matches, out.error)) {
    out.verdict = matches ? Verdict::kTrue : Verdict::kFalse;
  }
  return out;
}

Verdict Evaluator::Test(const Program& program, const DeviceView& device) {
  if (const SlotPlan* const plan = program.impl().slots.get(); plan != nullptr) {
    switch (state_->reader.Read(device, plan->slots())) {
      case SlotReader::Answer::kUnbindable: return Verdict::kError;
      case SlotReader::Answer::kAsk: break;
      case SlotReader::Answer::kRead:
        state_->spent += kFastShare + plan->cost_bound() / kFastTier;
        if (const Truth truth = plan->Run(state_->context, state_->reader.values());
            truth != Truth::kAsk) {
          return VerdictOf(truth);
        }
    }
  }
  return Match(program, device).verdict;
}

DerivedOutcome Evaluator::Derive(const Program& program,
                                 const DeviceView& device,
                                 Interrupt interrupt) {
  Raw raw = Run(state_->context, state_->interpreter, program, device, interrupt);
  state_->spent += kExactShare + raw.cost.value_or(0);
  DerivedOutcome out;
  out.cost = raw.cost;
  if (!raw.error.empty()) {
    out.error = std::move(raw.error);
    return out;
  }
  static_cast<void>(ToAttribute(raw.value, out.value, out.error));
  return out;
}

Evaluator::ValueOutcome Evaluator::EvaluateToJson(const Program& program,
                                                  const DeviceView& device,
                                                  Interrupt interrupt) {
  Raw raw = Run(state_->context, state_->interpreter, program, device, interrupt);
  ValueOutcome out;
  out.cost = raw.cost;
  if (!raw.error.empty()) {
    out.error = std::move(raw.error);
    return out;
  }
  if (!AppendValueJson(raw.value, Context::kMaxMemory, out.json)) {
    out.json.clear();
    out.error = Context::Exhausted().text();
  }
  return out;
}

std::uint64_t Evaluator::spent() const {
  return state_->spent + state_->context.all_work() / kWorkSteps;
}

}  // namespace allot::cel
