#include "cel/interpreter.h"

#include <array>

#include <fmt/format.h>

#include "cel/messages.h"
#include "cel/operations.h"

namespace allot::cel {

// One loop in progress; its variables shadow those outside.
struct Interpreter::Frame {
  const LoopPlan* loop;
  Frame* parent;
  Value accumulator;
  Value first;
  Value second;
  bool initialized = false;
  bool growing = false;
  bool computing_result = false;
  bool interrupted = false;
};

namespace {

constexpr std::string_view kInterrupted = "operation interrupted";

bool IsKey(const Value& value) {
  switch (value.kind) {
    case ValueKind::kBool:
    case ValueKind::kInt:
    case ValueKind::kUint:
    case ValueKind::kDouble:
    case ValueKind::kString: return true;
    default: return false;
  }
}

}  // namespace

Interpreter::Result Interpreter::Run(const Plan& plan,
                                     std::span<const Binding> bindings,
                                     std::uint64_t cost_limit,
                                     const Interrupt& interrupt) {
  plan_ = &plan;
  bindings_ = bindings;
  limit_ = cost_limit;
  interrupt_ = interrupt;
  cost_ = 0;
  interrupt_checks_ = 0;
  interrupted_ = false;
  aborted_ = false;
  stack_.Clear();
  Result result;
  result.value = Exec(*plan.root, nullptr);
  if (aborted_) {
    result.value = abort_value_;
  }
  result.cost = cost_;
  result.interrupted = result.value.IsError() && result.value.text() == kInterrupted;
  return result;
}

Value Interpreter::Abort(std::string_view text) {
  if (!aborted_) {
    aborted_ = true;
    abort_value_ = context_.Text(ValueKind::kError, text);
    if (context_.exhausted()) {
      abort_value_ = context_.EndError();
    }
  }
  return abort_value_;
}

std::uint32_t Interpreter::IdOf(const Step& step) {
  return step.kind == StepKind::kPath ? step.path->ObservedId() : step.id;
}

void Interpreter::Charge(std::uint64_t cost, const Value& value, std::uint32_t id) {
  cost_ += cost;
  stack_.Push(value, id);
  if (cost_ > limit_) {
    static_cast<void>(Abort("operation cancelled: actual cost limit exceeded"));
  }
}

void Interpreter::ObserveQualifier(const Qualifier& qualifier, const Value& value) {
  if (qualifier.kind == Qualifier::Kind::kStep) {
    stack_.Drop(qualifier.id);
  }
  Charge(1, value, qualifier.id);
}

void Interpreter::ObserveCall(const Step& step, const Value& value) {
  std::array<Value, 4> small;
  std::vector<Value> large;
  std::span<Value> args = small;
  if (step.args.size() > small.size()) {
    large.resize(step.args.size());
    args = large;
  }
  args = args.first(step.args.size());
  std::uint64_t cost = 0;
  bool complete = true;
  for (std::size_t i = step.args.size(); complete && i-- > 0;) {
    complete = stack_.Take(IdOf(*step.args[i]), args[i]);
  }
  if (complete) {
    std::string panic;
    cost = CallCost(step, args, value, panic);
    if (!panic.empty()) {
      static_cast<void>(Abort("internal error: " + panic));
      return;
    }
  }
  Charge(cost, value, step.id);
}

void Interpreter::Observe(const Step& step, const Value& value) {
  switch (step.kind) {
    case StepKind::kPath: {
      const Path& path = *step.path;
      std::uint64_t cost = 0;
      if (path.kind == Path::Kind::kConditional) {
        stack_.Drop(path.falsy->ObservedId());
        stack_.Drop(path.truthy->ObservedId());
        stack_.Drop(IdOf(*path.operand));
      } else {
        stack_.Drop(path.ObservedId());
        cost = 1;
      }
      // A presence test takes back what it costs: in all, has(a.b) costs what a does.
      Charge(step.test_only ? cost - 1 : cost, value, path.ObservedId());
      return;
    }
    case StepKind::kAnd:
    case StepKind::kOr:
      for (const Step* term : step.args) {
        stack_.Drop(IdOf(*term));
      }
      break;
    case StepKind::kLoop: stack_.Drop(IdOf(*step.loop->range)); break;
    case StepKind::kEqual:
    case StepKind::kNotEqual:
    case StepKind::kCall: ObserveCall(step, value); return;
    case StepKind::kList:
    case StepKind::kMap:
    case StepKind::kMessage:
      for (std::size_t i = step.args.size(); i-- > 0;) {
        Value ignored;
        if (!stack_.Take(IdOf(*step.args[i]), ignored)) {
          break;
        }
      }
      Charge(step.kind == StepKind::kList  ? 10
             : step.kind == StepKind::kMap ? 30
                                           : 40,
             value,
             step.id);
      return;
    default: break;
  }
  Charge(0, value, step.id);
}

Value Interpreter::Exec(const Step& step, Frame* frame) {
  const Value value = ExecBody(step, frame);
  if (aborted_) {
    return abort_value_;
  }
  if (context_.exhausted() || (value.IsError() && value.panic)) {
    return Abort(fmt::format("internal error: {}", value.text()));
  }
  Observe(step, value);
  return aborted_ ? abort_value_ : value;
}

Value Interpreter::ExecBody(const Step& step, Frame* frame) {
  switch (step.kind) {
    case StepKind::kConstant: return step.constant;
    case StepKind::kPath: {
      const Value value = Resolve(*step.path, frame);
      // A presence test over an optional chain asks whether the optional holds something.
      return step.test_only && value.Is(ValueKind::kOptional)
                 ? Value::Bool(value.optional != nullptr)
                 : value;
    }
    case StepKind::kAnd: return ExecLogic(step, frame, /*decides=*/false);
    case StepKind::kOr: return ExecLogic(step, frame, /*decides=*/true);
    case StepKind::kEqual:
    case StepKind::kNotEqual: return ExecEqual(step, frame);
    case StepKind::kCall: return ExecCall(step, frame);
    case StepKind::kSetMembership: return ExecMembership(step, frame);
    case StepKind::kOptionalOr: return ExecOptional(step, frame, /*unwrap=*/false);
    case StepKind::kOptionalOrValue: return ExecOptional(step, frame, /*unwrap=*/true);
    case StepKind::kList: return ExecList(step, frame);
    case StepKind::kMap: return ExecMap(step, frame);
    case StepKind::kMessage: return ExecMessage(step, frame);
    case StepKind::kLoop: return ExecLoop(step, frame);
  }
  return Value::Null();
}

Value Interpreter::ExecLogic(const Step& step, Frame* frame, bool decides) {
  Value error;
  for (const Step* term : step.args) {
    const Value value = Exec(*term, frame);
    if (aborted_) {
      return value;
    }
    if (value.Is(ValueKind::kBool)) {
      if (value.boolean == decides) {
        return value;
      }
    } else if (!error.IsError()) {
      error = MaybeNoSuchOverload(value);
    }
  }
  return error.IsError() ? error : Value::Bool(!decides);
}

Value Interpreter::ExecEqual(const Step& step, Frame* frame) {
  const Value left = Exec(*step.args[0], frame);
  if (aborted_) {
    return left;
  }
  const Value right = Exec(*step.args[1], frame);
  if (aborted_ || (right.IsError() && !left.IsError())) {
    return right;
  }
  if (left.IsError()) {
    return left;
  }
  const Value equal = Equal(context_, left, right);
  return step.kind == StepKind::kEqual ? equal : Value::Bool(!equal.IsTrue());
}

Value Interpreter::ExecCall(const Step& step, Frame* frame) {
  std::array<Value, 4> args;
  const std::size_t count = step.args.size();
  const bool non_strict = step.overload != nullptr && step.overload->non_strict;
  for (std::size_t i = 0; i < count; ++i) {
    args[i] = Exec(*step.args[i], frame);
    if (aborted_ || (step.arity == Arity::kVariadic && args[i].IsError() && !non_strict)) {
      return args[i];
    }
  }
  for (std::size_t i = 0; i < count && !non_strict; ++i) {
    if (args[i].IsError()) {
      return args[i];
    }
  }
  if (CostsMuch(step) && EndsAtCall(step)) {
    return Value::Null();  // nobody sees it: what is charged for the call is all that counts
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (args[i].Is(ValueKind::kString) || args[i].Is(ValueKind::kBytes)) {
      static_cast<void>(context_.ReadText(args[i].text().size()));
    }
  }
  if (context_.exhausted()) {
    return context_.EndError();
  }
  return Call(context_, plan_->libraries, step, std::span(args).first(count));
}

bool Interpreter::EndsAtCall(const Step& step) const {
  std::array<Value, 4> args;
  std::array<std::uint32_t, 4> ids{};
  const std::size_t count = step.args.size();
  for (std::size_t i = 0; i < count; ++i) {
    ids[i] = IdOf(*step.args[i]);
  }
  if (!stack_.Peek(std::span(ids).first(count), std::span(args).first(count))) {
    return false;
  }
  std::string panic;
  return cost_ + CallCost(step, std::span(args).first(count), Value::Null(), panic) > limit_ &&
         panic.empty();
}

Value Interpreter::ExecMembership(const Step& step, Frame* frame) {
  const Value value = Exec(*step.args[0], frame);
  if (value.IsError()) {
    return value;
  }
  if (!Hashable(value)) {
    return context_.Panic(
        fmt::format("runtime error: hash of unhashable type {}", GoTypeName(value)));
  }
  static_cast<void>(context_.ReadText(value.Is(ValueKind::kString) ? value.text().size() : 0));
  return Value::Bool(SetHolds(*step.set, value));
}

Value Interpreter::ExecOptional(const Step& step, Frame* frame, bool unwrap) {
  const Value left = Exec(*step.args[0], frame);
  if (left.IsError()) {
    return left;
  }
  if (!left.Is(ValueKind::kOptional)) {
    return NoSuchOverload();
  }
  if (left.optional == nullptr) {
    return Exec(*step.args[1], frame);
  }
  return unwrap ? *left.optional : left;
}

Value Interpreter::ExecList(const Step& step, Frame* frame) {
  ListRep* const list = context_.NewList(step.args.size());
  for (std::size_t i = 0; i < step.args.size(); ++i) {
    Value value = Exec(*step.args[i], frame);
    if (value.IsError()) {
      return value;
    }
    if (step.optionals[i]) {
      if (!value.Is(ValueKind::kOptional)) {
        return context_.Error(fmt::format(
            "cannot initialize optional list element from non-optional value {}", GoText(value)));
      }
      if (value.optional == nullptr) {
        continue;
      }
      value = *value.optional;
    }
    context_.Append(*list, value);
  }
  return context_.ListValue(list);
}

Value Interpreter::ExecMap(const Step& step, Frame* frame) {
  MapRep* const map = context_.NewMap(step.optionals.size());
  for (std::size_t i = 0; i < step.optionals.size(); ++i) {
    const Value key = Exec(*step.args[2 * i], frame);
    if (key.IsError()) {
      return key;
    }
    Value value = Exec(*step.args[2 * i + 1], frame);
    if (value.IsError()) {
      return value;
    }
    if (step.optionals[i]) {
      if (!value.Is(ValueKind::kOptional)) {
        return context_.Error(
            fmt::format("cannot initialize optional entry '{}' from non-optional value {}",
                        GoText(key),
                        GoText(value)));
      }
      if (value.optional == nullptr) {
        context_.Erase(*map, key);
        continue;
      }
      value = *value.optional;
    }
    if (!Hashable(key)) {
      return context_.Panic(
          fmt::format("runtime error: hash of unhashable type {}", GoTypeName(key)));
    }
    context_.Put(*map, key, value);
  }
  return context_.Map(map);
}

Value Interpreter::ExecMessage(const Step& step, Frame* frame) {
  std::vector<FieldValue> fields;
  for (std::size_t i = 0; i < step.args.size(); ++i) {
    Value value = Exec(*step.args[i], frame);
    if (value.IsError()) {
      return value;
    }
    // A field given twice is what it was given last.
    std::erase_if(fields, [&](const FieldValue& field) { return field.name == step.fields[i]; });
    if (step.optionals[i]) {
      if (!value.Is(ValueKind::kOptional)) {
        return context_.Error(
            fmt::format("cannot initialize optional entry '{}' from non-optional value {}",
                        step.fields[i],
                        GoText(value)));
      }
      if (value.optional == nullptr) {
        continue;
      }
      value = *value.optional;
    }
    fields.push_back({step.fields[i], value});
  }
  return NewMessage(context_, step.message, fields);
}

Value Interpreter::ExecLoop(const Step& step, Frame* parent) {
  Frame frame{step.loop.get(), parent, {}, {}, {}};
  const LoopPlan& loop = *step.loop;
  const Value range = Exec(*loop.range, parent);
  if (range.IsError()) {
    return range;
  }
  const bool two = !loop.variable2.empty();
  if (range.Is(ValueKind::kList)) {
    for (std::size_t i = 0; i < range.list->size; ++i) {
      frame.first = two ? Value::Int(static_cast<std::int64_t>(i)) : range.list->items[i];
      frame.second = range.list->items[i];
      if (!Iterate(frame)) {
        break;
      }
    }
  } else if (range.Is(ValueKind::kMap)) {
    for (std::size_t i = 0; i < range.map->size; ++i) {
      frame.first = range.map->entries[i].key;
      frame.second = range.map->entries[i].value;
      if (!Iterate(frame)) {
        break;
      }
    }
  } else {
    return context_.Error(
        two ? fmt::format("unsupported comprehension range type: {}", GoTypeName(range))
            : fmt::format("got '{}', expected iterable type", GoTypeName(range)));
  }
  return aborted_ ? abort_value_ : Finish(frame);
}

// Runs the body once. False: the loop is over.
bool Interpreter::Iterate(Frame& frame) {
  const Value condition = Exec(*frame.loop->condition, &frame);
  if (aborted_ || frame.interrupted || condition.IsFalse()) {
    return false;
  }
  frame.accumulator = Exec(*frame.loop->step, &frame);
  frame.initialized = true;
  if (aborted_) {
    return false;
  }
  constexpr std::uint64_t kCheckEvery = 100;
  if (!interrupted_ && interrupt_.stop != nullptr && ++interrupt_checks_ % kCheckEvery == 0) {
    interrupted_ = interrupt_.stop->load(std::memory_order_relaxed);
  }
  frame.interrupted = interrupted_;
  return !interrupted_;
}

Value Interpreter::Finish(Frame& frame) {
  frame.computing_result = true;
  if (frame.interrupted) {
    return Value::Error(kInterrupted);
  }
  const Value value = Exec(*frame.loop->result, &frame);
  if (frame.growing && value.Is(ValueKind::kList) && value.list->growing) {
    value.list->growing = false;
  }
  if (frame.growing && value.Is(ValueKind::kMap) && value.map->growing) {
    value.map->growing = false;
    context_.Sort(*value.map);
  }
  return value;
}

Value Interpreter::Accumulator(Frame& frame) {
  if (!frame.initialized) {
    frame.initialized = true;
    frame.accumulator = Exec(*frame.loop->init, frame.parent);
    // An empty list or map is replaced by one that grows in place.
    if (frame.accumulator.Is(ValueKind::kList) && frame.accumulator.list->size == 0) {
      ListRep* const list = context_.NewList(0);
      list->growing = true;
      frame.accumulator.list = list;
      frame.growing = true;
    } else if (frame.accumulator.Is(ValueKind::kMap) && frame.accumulator.map->size == 0) {
      MapRep* const map = context_.NewMap(0);
      map->growing = true;
      frame.accumulator.map = map;
      frame.growing = true;
    }
  }
  return frame.accumulator;
}

Value Interpreter::ResolveVariable(const Path& path, Frame* frame) {
  for (; !path.global && frame != nullptr; frame = frame->parent) {
    if (path.name == frame->loop->accumulator) {
      return Accumulator(*frame);
    }
    if (!frame->computing_result) {
      if (path.name == frame->loop->variable) {
        return frame->first;
      }
      if (path.name == frame->loop->variable2) {
        return frame->second;
      }
    }
  }
  for (const Binding& binding : bindings_) {
    if (binding.name == path.name) {
      return binding.value;
    }
  }
  return context_.Error(fmt::format("no such attribute(s): {}", path.name));
}

Value Interpreter::Resolve(const Path& path, Frame* frame) {
  Value start;
  switch (path.kind) {
    case Path::Kind::kConditional: {
      const Value condition = Exec(*path.operand, frame);
      if (aborted_) {
        return condition;
      }
      if (!condition.Is(ValueKind::kBool)) {
        return MaybeNoSuchOverload(condition);
      }
      return Resolve(condition.boolean ? *path.truthy : *path.falsy, frame);
    }
    case Path::Kind::kRelative: start = Exec(*path.operand, frame); break;
    case Path::Kind::kVariable: start = ResolveVariable(path, frame); break;
  }
  return start.IsError() || aborted_ ? start : Qualify(start, path, frame);
}

Value Interpreter::Qualify(const Value& start, const Path& path, Frame* frame) {
  Value object = start;
  bool optional = false;
  if (object.Is(ValueKind::kOptional)) {
    if (object.optional == nullptr) {
      return object;
    }
    object = *object.optional;
    optional = true;
  }
  for (const Qualifier& qualifier : path.qualifiers) {
    optional = optional || qualifier.optional;
    bool present = true;
    const bool presence_test = optional || qualifier.test_only;
    Value value = QualifyOne(object, qualifier, frame, presence_test, present);
    if (aborted_) {
      return abort_value_;
    }
    if (qualifier.test_only && !optional) {
      if (!value.IsError()) {
        value = Value::Bool(present);
      }
      present = true;
    }
    if (optional ? present && !value.IsError() : true) {
      ObserveQualifier(qualifier, value);
    }
    if (aborted_) {
      return abort_value_;
    }
    if (value.IsError()) {
      return value;
    }
    if (!present) {
      return context_.None();
    }
    object = value;
  }
  return optional ? context_.Optional(object) : object;
}

Value Interpreter::QualifyOne(const Value& object,
                              const Qualifier& qualifier,
                              Frame* frame,
                              bool presence_test,
                              bool& present) {
  Value key = qualifier.key;
  if (qualifier.kind != Qualifier::Kind::kConstant) {
    key = qualifier.kind == Qualifier::Kind::kPath ? Resolve(*qualifier.path, frame)
                                                   : Exec(*qualifier.step, frame);
    if (key.IsError() || aborted_) {
      return key;
    }
    if (!IsKey(key)) {
      return context_.Error(fmt::format("invalid qualifier type: {}", GoTypeName(key)));
    }
  }
  switch (object.kind) {
    case ValueKind::kError: return object;
    case ValueKind::kMessage:
      return key.Is(ValueKind::kString)
                 ? context_.Error(fmt::format("no such field '{}'", GoText(key)))
                 : NoSuchOverload();
    case ValueKind::kMap:
      static_cast<void>(context_.ReadText(key.Is(ValueKind::kString) ? key.text().size() : 0));
      if (const Value* const found = Find(*object.map, key); found != nullptr) {
        return *found;
      }
      break;
    case ValueKind::kList: {
      const auto index = ListIndex(key);
      if (!index) {
        return context_.Error(BadListIndex(key));
      }
      if (*index >= 0 && static_cast<std::uint64_t>(*index) < object.list->size) {
        return object.list->items[*index];
      }
      if (!presence_test) {
        return context_.Error(fmt::format("index out of bounds: {}", GoText(key)));
      }
      break;
    }
    default: break;
  }
  present = false;
  if (presence_test) {
    return Value::Null();
  }
  return context_.Error(fmt::format("no such key: {}", GoText(key)));
}

}  // namespace allot::cel
