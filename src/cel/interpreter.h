// The exact interpreter: evaluates a plan step by step as cel-go does, counting the cost of every
// step. Thread safety: one thread per interpreter.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "cel/actual_cost.h"
#include "cel/cel.h"
#include "cel/context.h"
#include "cel/plan.h"

namespace allot::cel {

/// A named value given to an evaluation.
struct Binding {
  std::string_view name;
  Value value;
};

class Interpreter {
 public:
  explicit Interpreter(Context& context) : context_(context) {}

  struct Result {
    Value value;  ///< an error value when evaluation failed
    std::uint64_t cost = 0;
    bool interrupted = false;
  };
  /// Evaluates a plan. Past `cost_limit` everything stops.
  [[nodiscard]] Result Run(const Plan& plan,
                           std::span<const Binding> bindings,
                           std::uint64_t cost_limit,
                           const Interrupt& interrupt);

 private:
  struct Frame;

  Value Exec(const Step& step, Frame* frame);
  Value ExecBody(const Step& step, Frame* frame);
  Value ExecLogic(const Step& step, Frame* frame, bool decides);
  Value ExecCall(const Step& step, Frame* frame);
  /// Whether the charge for a call that is about to be made ends the evaluation.
  [[nodiscard]] bool EndsAtCall(const Step& step) const;
  Value ExecEqual(const Step& step, Frame* frame);
  Value ExecMembership(const Step& step, Frame* frame);
  Value ExecOptional(const Step& step, Frame* frame, bool unwrap);
  Value ExecList(const Step& step, Frame* frame);
  Value ExecMap(const Step& step, Frame* frame);
  Value ExecMessage(const Step& step, Frame* frame);
  Value ExecLoop(const Step& step, Frame* frame);
  bool Iterate(Frame& frame);
  Value Finish(Frame& frame);

  Value Resolve(const Path& path, Frame* frame);
  Value ResolveVariable(const Path& path, Frame* frame);
  Value Accumulator(Frame& frame);
  Value Qualify(const Value& start, const Path& path, Frame* frame);
  /// Applies one qualifier. An error value is an error; `present` is false when a presence test
  /// found nothing.
  Value QualifyOne(const Value& object,
                   const Qualifier& qualifier,
                   Frame* frame,
                   bool presence_test,
                   bool& present);

  void Observe(const Step& step, const Value& value);
  void ObserveQualifier(const Qualifier& qualifier, const Value& value);
  void ObserveCall(const Step& step, const Value& value);
  void Charge(std::uint64_t cost, const Value& value, std::uint32_t id);
  Value Abort(std::string_view text);
  [[nodiscard]] static std::uint32_t IdOf(const Step& step);

  Context& context_;
  ValueStack stack_;
  const Plan* plan_ = nullptr;
  std::span<const Binding> bindings_;
  std::uint64_t cost_ = 0;
  std::uint64_t limit_ = 0;
  Interrupt interrupt_;
  std::uint64_t interrupt_checks_ = 0;
  bool interrupted_ = false;
  bool aborted_ = false;
  Value abort_value_;
};

}  // namespace allot::cel
