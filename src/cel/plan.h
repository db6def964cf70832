// The plan of a checked expression: the steps the exact interpreter runs, folded and numbered as
// cel-go's planner does, because what an evaluation costs is counted over these very steps. Thread
// safety: immutable once planned.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cel/checker.h"
#include "cel/context.h"
#include "cel/functions.h"
#include "cel/regex.h"
#include "cel/value.h"

namespace allot::cel {

struct Step;
struct Path;

/// One selection or index on a path.
struct Qualifier {
  enum class Kind : std::uint8_t {
    kConstant,  ///< a constant key
    kPath,      ///< the value of another path, which is not observed itself
    kStep,      ///< the value of any other step
  } kind = Kind::kConstant;
  bool optional = false;
  /// has(): only asks whether the key is there.
  bool test_only = false;
  std::uint32_t id = 0;
  Value key;
  Path* path = nullptr;
  const Step* step = nullptr;
};

/// A variable, a choice between two paths or the result of a step, with its qualifiers.
struct Path {
  enum class Kind : std::uint8_t { kVariable, kConditional, kRelative } kind = Kind::kVariable;
  /// kVariable: the global one even where a local of the same name is in scope.
  bool global = false;
  std::uint32_t id = 0;
  std::string_view name;
  const Step* operand = nullptr;  ///< kRelative; kConditional: the condition
  Path* truthy = nullptr;
  Path* falsy = nullptr;
  std::vector<Qualifier> qualifiers;

  /// The id observers see: that of the last qualifier.
  [[nodiscard]] std::uint32_t ObservedId() const;
};

enum class StepKind : std::uint8_t {
  kConstant,
  kPath,
  kAnd,
  kOr,
  kEqual,
  kNotEqual,
  kCall,
  kSetMembership,
  kOptionalOr,
  kOptionalOrValue,
  kList,
  kMap,
  kMessage,
  kLoop,
};

struct LoopPlan {
  const Step* range = nullptr;
  std::string_view variable;
  std::string_view variable2;
  std::string_view accumulator;
  const Step* init = nullptr;
  const Step* condition = nullptr;
  const Step* step = nullptr;
  const Step* result = nullptr;
};

struct Step {
  StepKind kind = StepKind::kConstant;
  /// kPath: a presence test, which costs nothing itself.
  bool test_only = false;
  std::uint32_t id = 0;
  Value constant;
  Path* path = nullptr;
  std::vector<const Step*> args;
  std::vector<bool> optionals;           ///< kList: by element; kMap, kMessage: by entry
  std::string_view message;              ///< kMessage: its name
  std::vector<std::string_view> fields;  ///< kMessage: by value
  const Function* function = nullptr;
  const Overload* overload = nullptr;  ///< set where the checker left exactly one
  /// kCall: how upstream binds it. kVariadic stops at the first argument that errs.
  Arity arity = Arity::kNone;
  std::shared_ptr<const Regex> regex;  ///< a constant pattern
  std::unique_ptr<LoopPlan> loop;
  MapRep* set = nullptr;  ///< kSetMembership
};

/// A planned expression and the memory of its constants.
class Plan {
 public:
  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const Step* root = nullptr;
  std::uint32_t libraries = 0;

  Step* NewStep(StepKind kind, std::uint32_t id);
  Path* NewPath(Path::Kind kind, std::uint32_t id);
  [[nodiscard]] Context& context() { return context_; }

 private:
  std::deque<Step> steps_;
  std::deque<Path> paths_;
  Context context_;  // owns the constants
};

/// Plans a checked tree. False: `error` has upstream's text ("type conversion error from ...").
[[nodiscard]] bool MakePlan(const Env& env,
                            const CheckedTree& tree,
                            Plan& plan,
                            std::string& error);

/// Calls the function of a step. `libraries`: those of its plan.
[[nodiscard]] Value Call(Context& context,
                         std::uint32_t libraries,
                         const Step& step,
                         std::span<const Value> args);

/// A literal as a value. Lifetime: the literal's text.
[[nodiscard]] Value LiteralValue(const Literal& literal);

}  // namespace allot::cel
