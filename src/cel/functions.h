// The functions an expression may call: names, overloads, implementations.
//
// One registry holds all libraries; an environment chooses by a mask. Thread safety: the registry
// is immutable.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cel/context.h"
#include "cel/types.h"
#include "cel/value.h"

namespace allot::cel {

using Args = std::span<const Value>;
using Fn = Value (*)(Context& context, Args args);

/// A library, as a bit.
enum Library : std::uint32_t {
  kLibStandard = 1U << 0,
  kLibOptionals = 1U << 1,
  kLibStrings = 1U << 2,
  kLibSets = 1U << 3,
  kLibLists = 1U << 4,
  kLibTwoVariables = 1U << 5,
  kLibKubernetes =
      1U << 6,  ///< url, regex, quantity, semver, format, lists, authorizer declarations
  kLibNetwork = 1U << 7,
  kLibIncludes = 1U << 8,
};

/// How upstream binds an implementation, which decides the order of evaluation when arguments err.
enum class Arity : std::uint8_t { kNone, kUnary, kBinary, kVariadic };

/// What counts the actual cost of an overload when the checker chose it alone.
enum class CostRule : std::uint8_t {
  kOne,
  kSecondString,  // startsWith, endsWith
  kFirstString,   // string <-> bytes, quote, format
  kInList,
  kCompareSizes,  // equality and ordering of strings and bytes
  kAddStrings,
  kMatches,
  kContains,
  kListOutput,  // slice, range, reverse
  kListFlatten,
  kListSelfCompare,  // distinct, sort
  kListSortBy,
  kSets,
  kSetsTwice,
};

struct Overload {
  std::string_view id;
  std::uint32_t library = 0;
  bool member = false;
  bool non_strict = false;
  Arity arity = Arity::kNone;
  CostRule cost = CostRule::kOne;
  std::uint8_t param_count = 0;
  std::array<const Type*, 4> params = {};
  const Type* result = nullptr;
  /// The highest number of a type parameter used, plus one.
  std::uint8_t type_params = 0;
  Fn fn = nullptr;

  [[nodiscard]] std::span<const Type* const> parameters() const {
    return std::span(params).first(param_count);
  }
};

/// Cost by function name: the Kubernetes estimator, whatever the overload.
enum class NamedCost : std::uint8_t {
  kNone,
  kTraverseFirst,   // isSorted sum max min indexOf lastIndexOf includes
  kScanFirst,       // url lowerAscii ... quantity, cidr, isIP
  kScanFirstTwice,  // replace split ip.isCanonical
  kJoin,
  kFind,
  kIp,
  kOne,
  kContainsIp,
  kContainsCidr,
  kValidate,
  kEquals,
  kCheck,
  kSelector,
};

struct Function {
  std::string_view name;
  std::vector<Overload> overloads;
  Fn singleton = nullptr;
  Arity singleton_arity = Arity::kNone;
  /// The trait the first argument of the singleton must have; 0: any.
  std::uint32_t trait = 0;
  bool type_guards = true;
  NamedCost named_cost = NamedCost::kNone;
};

class Registry {
 public:
  /// The one registry.
  static const Registry& Get();

  /// Null: no function of that name in the libraries of the mask.
  [[nodiscard]] const Function* Find(std::string_view name, std::uint32_t libraries) const;

  Registry();

 private:
  friend class Declare;
  Function& Mutable(std::string_view name);
  base::Arena arena_{1 << 16};
  std::vector<Function> functions_;
  std::vector<std::uint16_t> index_;  // open addressing over functions_
};

/// Adds functions to a registry under construction.
class Declare {
 public:
  Declare(Registry& registry, std::uint32_t library)
      : types_(registry.arena_), registry_(registry), library_(library) {}

  struct Options {
    Arity arity = Arity::kNone;  ///< kNone: by the number of parameters
    CostRule cost = CostRule::kOne;
    bool non_strict = false;
  };
  void Global(std::string_view function,
              std::string_view id,
              std::initializer_list<const Type*> params,
              const Type* result,
              Fn fn,
              Options options);
  void Global(std::string_view function,
              std::string_view id,
              std::initializer_list<const Type*> params,
              const Type* result,
              Fn fn) {
    Global(function, id, params, result, fn, Options{});
  }
  void Member(std::string_view function,
              std::string_view id,
              std::initializer_list<const Type*> params,
              const Type* result,
              Fn fn,
              Options options);
  void Member(std::string_view function,
              std::string_view id,
              std::initializer_list<const Type*> params,
              const Type* result,
              Fn fn) {
    Member(function, id, params, result, fn, Options{});
  }
  /// One implementation for all overloads of a function.
  void Singleton(std::string_view function, Arity arity, std::uint32_t trait, Fn fn);
  void NoTypeGuards(std::string_view function);
  void Cost(std::string_view function, NamedCost cost);

  [[nodiscard]] TypeFactory& types() { return types_; }
  const Type* A() { return types_.Param("A", 0); }
  const Type* B() { return types_.Param("B", 1); }
  const Type* List(const Type* element) { return types_.List(element); }
  const Type* Map(const Type* key, const Type* value) { return types_.Map(key, value); }
  /// A copy of a name that lives as long as the registry.
  std::string_view Keep(std::string_view text);

 private:
  void Add(std::string_view function,
           std::string_view id,
           bool member,
           std::initializer_list<const Type*> params,
           const Type* result,
           Fn fn,
           Options options);
  TypeFactory types_;
  Registry& registry_;
  std::uint32_t library_;
};

/// Whether a value may be passed where the declared type is wanted.
[[nodiscard]] bool MatchesRuntimeType(const Type* type, const Value& value);
/// "no such overload: f(int, string)", or the error among the arguments.
[[nodiscard]] Value NoSuchOverloadFor(Context& context, std::string_view function, Args args);
/// Calls the first overload of the mask that fits, as dynamic dispatch does.
[[nodiscard]] Value Dispatch(Context& context,
                             const Function& function,
                             std::uint32_t libraries,
                             Args args);

}  // namespace allot::cel
