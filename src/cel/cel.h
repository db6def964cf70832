// The CEL engine for device expressions: compile once, evaluate on many devices.
//
// Exact against cel-go v0.29.2 in the environments of Kubernetes 1.37: results, error texts, costs.
//   auto program = cel::Compile("device.driver == 'gpu.example.com'", {});
//   cel::Evaluator evaluator;
//   cel::Outcome outcome = evaluator.Match(**program, device);
// For many devices see columns.h. Thread safety: a Program is immutable and shared freely; an
// Evaluator is scratch memory of one thread. See: docs/reference/cel.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cel/device.h"

namespace allot::cel {

/// The limit of the static estimate and of the actual cost (CELSelectorExpressionMaxCost).
inline constexpr std::uint64_t kMaxCost = 1'000'000;
/// Unit: bytes of an expression (CELSelectorExpressionMaxLength); checked by API validation, not
/// here.
inline constexpr std::size_t kMaxExpressionLength = std::size_t{10} * 1024;

/// New or changed expressions obey gates and the compatibility version; stored ones see everything.
enum class Environment : std::uint8_t { kStored, kNew };

/// The feature gates that change the environment of new expressions.
struct Gates {
  bool consumable_capacity = true;   ///< DRAConsumableCapacity
  bool list_type_attributes = true;  ///< DRAListTypeAttributes

  friend bool operator==(const Gates&, const Gates&) = default;
};

/// What the result is used for, which decides the types an expression may have.
enum class Purpose : std::uint8_t {
  kSelector,          ///< bool or the attribute type
  kDerivedAttribute,  ///< string, int, bool, Semver or a list of one of them
  kAnyValue,          ///< anything; for tools
};

struct CompileOptions {
  Environment environment = Environment::kStored;
  Gates gates = {};
  Purpose purpose = Purpose::kSelector;
  /// The run-time limit of the program.
  std::uint64_t cost_limit = kMaxCost;
  /// The scheduler does not need the estimate; max_cost() is then 2^64-1.
  bool estimate_cost = true;
};

class Program;

/// What compiling gave, also where it failed half-way.
struct Compilation {
  /// Null after an error.
  std::shared_ptr<const Program> program;
  /// Upstream's text ("compilation failed: ERROR: <input>:1:1: ..."); empty when there is a
  /// program.
  std::string error;
  /// The result type as upstream prints it; empty when checking failed.
  std::string type;
  /// The static maximum; nothing when checking failed.
  std::optional<std::uint64_t> max_cost;
};

/// Compiles and reports everything known, for tools.
[[nodiscard]] Compilation CompileVerbose(std::string_view expression,
                                         const CompileOptions& options);

/// Compiles an expression.
/// Errors: kInvalid, or kInternalError where upstream calls it internal; the message is upstream's
/// text. Cost: 5 to 30 us.
[[nodiscard]] base::Result<std::shared_ptr<const Program>> Compile(std::string_view expression,
                                                                   const CompileOptions& options);

/// A compiled expression.
class Program {
 public:
  struct Impl;

  explicit Program(std::unique_ptr<const Impl> impl);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] const std::string& expression() const;
  /// The result type as upstream prints it ("bool", "dyn").
  [[nodiscard]] const std::string& type() const;
  /// The static maximum upstream reports; compare with kMaxCost for new expressions.
  [[nodiscard]] std::uint64_t max_cost() const;
  [[nodiscard]] Purpose purpose() const;
  /// The names, without domain, of the attributes and capacities that it reads, each read by a
  /// constant domain and name. Nothing: it may read any. Lifetime: the program's.
  [[nodiscard]] std::optional<std::vector<std::string_view>> NamesRead() const;
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<const Impl> impl_;
};

enum class Verdict : std::uint8_t { kFalse, kTrue, kError };

/// The outcome of a selector on a device.
struct Outcome {
  Verdict verdict = Verdict::kError;
  /// Upstream's text when the verdict is kError.
  std::string error;
  /// What the evaluation cost; nothing when the device could not be bound.
  std::optional<std::uint64_t> cost;
};

/// The outcome of a derived attribute on a device.
struct DerivedOutcome {
  DerivedValue value;
  /// Empty: there is a value.
  std::string error;
  std::optional<std::uint64_t> cost;
};

/// Lets another thread stop an evaluation; polled at every 100th loop iteration, as upstream does.
struct Interrupt {
  const std::atomic<bool>* stop = nullptr;
  /// The cause in the error text. Lifetime: outlives the evaluation.
  std::string_view cause;
};

/// Scratch memory for evaluations. REQUIRES: used by one thread at a time.
class Evaluator {
 public:
  Evaluator();
  ~Evaluator();
  Evaluator(Evaluator&&) noexcept;
  Evaluator& operator=(Evaluator&&) noexcept;

  /// Evaluates a selector exactly as DeviceMatches does, with its cost. Cost: 0.3 to 2 us for
  /// ordinary selectors.
  [[nodiscard]] Outcome Match(const Program& program,
                              const DeviceView& device,
                              Interrupt interrupt = {});

  /// The verdict alone, which costs a fraction of Match for selectors that read single attributes.
  /// Always the verdict Match gives. Cost: 30 to 300 ns.
  [[nodiscard]] Verdict Test(const Program& program, const DeviceView& device);

  /// Evaluates a derived attribute exactly as EvaluateDerivedAttribute does.
  [[nodiscard]] DerivedOutcome Derive(const Program& program,
                                      const DeviceView& device,
                                      Interrupt interrupt = {});

  /// Evaluates any expression and gives the value in the tagged JSON form of the conformance data.
  struct ValueOutcome {
    std::string json;
    std::string error;
    std::optional<std::uint64_t> cost;
  };
  [[nodiscard]] ValueOutcome EvaluateToJson(const Program& program,
                                            const DeviceView& device,
                                            Interrupt interrupt = {});

  /// What all evaluations so far have cost in time, in units of CEL cost: the exact ones what they
  /// count, the fast ones a part of their bound, and each something for itself and for the work
  /// that its cost does not show. The same on every machine.
  [[nodiscard]] std::uint64_t spent() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The hint Kubernetes appends to a run-time error in scheduler messages when the text holds "no
/// such key:"; empty otherwise.
[[nodiscard]] std::string_view RuntimeErrorHint(std::string_view error);

}  // namespace allot::cel
