#include "cel/cel.h"

#include <utility>

#include <fmt/format.h>

#include "cel/estimate.h"
#include "cel/parser.h"
#include "cel/program.h"

namespace allot::cel {
namespace {

bool IsDerivedScalar(const Type* type) {
  for (const Type* const allowed : {&types::kBool,
                                    &types::kInt,
                                    &types::kString,
                                    &types::kAny,
                                    &types::kDyn,
                                    &types::kSemver}) {
    if (IsExactType(type, allowed)) {
      return true;
    }
  }
  return false;
}

// Why the result type will not do; empty: it will.
std::string ResultTypeError(const Env& env, const Type* type, const CompileOptions& options) {
  if (options.purpose == Purpose::kSelector) {
    if (IsExactType(type, &types::kBool) || IsExactType(type, env.attribute)) {
      return {};
    }
    return fmt::format("must evaluate to bool or the unknown type, not {}", TypeText(type));
  }
  if (options.purpose == Purpose::kDerivedAttribute) {
    const bool lists =
        options.gates.list_type_attributes || options.environment == Environment::kStored;
    if (IsDerivedScalar(type) ||
        (lists && type->kind == TypeKind::kList && IsDerivedScalar(type->params[0]))) {
      return {};
    }
    return fmt::format(
        "must evaluate to a primitive scalar (string, integer, boolean, semver){}, not {}",
        lists ? " or a list of these scalars" : "",
        TypeText(type));
  }
  return {};
}

Compilation Failed(std::string error) {
  Compilation out;
  out.error = std::move(error);
  return out;
}

}  // namespace

Compilation CompileIn(const Env& env,
                      std::string_view expression,
                      const CompileOptions& options,
                      base::Reason& error_reason) {
  error_reason = base::Reason::kInvalid;
  auto impl = std::make_unique<Program::Impl>();
  impl->expression = expression;
  impl->env = &env;
  impl->options = options;
  Errors errors(impl->expression);
  ExprFactory factory(impl->arena);
  TreeBuilder builder(impl->expression, factory, errors, env.syntax);
  Expr* const root = Parse(builder);
  if (!errors.empty() || root == nullptr) {
    return Failed("compilation failed: " + errors.Display());
  }
  impl->tree = Check(env, root, factory, errors);
  if (errors.empty() && env.validators) {
    Validate(env, impl->tree, errors);
  }
  if (!errors.empty()) {
    return Failed("compilation failed: " + errors.Display());
  }
  const Type* const type = impl->tree.TypeOf(impl->tree.root);
  if (std::string error = ResultTypeError(env, type, options); !error.empty()) {
    return Failed(std::move(error));
  }
  impl->type = TypeText(type);
  if (options.estimate_cost) {
    impl->max_cost = EstimateMaxCost(env, impl->tree, factory.id_count(), impl->arena);
  }
  Compilation out;
  std::string plan_error;
  if (!MakePlan(env, impl->tree, impl->plan, plan_error)) {
    error_reason = base::Reason::kInternalError;
    out.error = "program instantiation failed: " + plan_error;
    if (options.purpose == Purpose::kAnyValue) {
      out.type = impl->type;
      out.max_cost = impl->max_cost;
    }
    return out;
  }
  if (options.purpose == Purpose::kSelector) {
    impl->slots = SlotPlan::Make(impl->plan, options.cost_limit);
  }
  out.type = impl->type;
  out.max_cost = impl->max_cost;
  out.program = std::make_shared<const Program>(std::move(impl));
  return out;
}

Compilation CompileVerbose(std::string_view expression, const CompileOptions& options) {
  base::Reason reason = base::Reason::kInvalid;
  return CompileIn(DeviceEnv(options.environment, options.gates), expression, options, reason);
}

base::Result<std::shared_ptr<const Program>> Compile(std::string_view expression,
                                                     const CompileOptions& options) {
  base::Reason reason = base::Reason::kInvalid;
  Compilation compiled =
      CompileIn(DeviceEnv(options.environment, options.gates), expression, options, reason);
  if (compiled.program == nullptr) {
    return base::Error(reason, std::move(compiled.error));
  }
  return std::move(compiled.program);
}

Program::Program(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Program::~Program() = default;

const std::string& Program::expression() const {
  return impl_->expression;
}
const std::string& Program::type() const {
  return impl_->type;
}
std::uint64_t Program::max_cost() const {
  return impl_->max_cost;
}
Purpose Program::purpose() const {
  return impl_->options.purpose;
}

std::string_view RuntimeErrorHint(std::string_view error) {
  return error.contains("no such key:")
             ? ". consider using CEL optional chaining (.? followed by orValue()) or guarding the "
               "check with has() for optional fields"
             : "";
}

}  // namespace allot::cel
