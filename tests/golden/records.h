// Records of the language's test suites: where they are found, and the environments they need.
// Thread safety: one thread.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "cel/context.h"
#include "cel/environment.h"
#include "cel/interpreter.h"
#include "text/value.h"

namespace allot::golden {

/// The lines of a file of reference data that is not part of the project: $ALLOT_SHARED or
/// ../shared beside the checkout has it. Nothing: it is not there.
[[nodiscard]] std::optional<std::vector<std::string>> SharedLines(std::string_view name);

/// The declarations of a record.
class Declarations {
 public:
  Declarations() : types_(arena_) {}

  /// Adds the variables and the container of a record. False: it declares what an environment
  /// cannot (functions).
  [[nodiscard]] bool Apply(const text::Value& record, cel::Env& env);
  /// The type a text names; null: none.
  [[nodiscard]] const cel::Type* Parse(std::string_view text);

 private:
  [[nodiscard]] std::optional<std::vector<const cel::Type*>> ParseList(std::string_view text);

  base::Arena arena_{1024};
  cel::TypeFactory types_;
};

/// A value in the tagged form of the suites. Errors and unknowns are not values.
[[nodiscard]] std::optional<cel::Value> Untag(cel::Context& context, const text::Value& tagged);

/// The bindings of a record. Nothing: it binds what is no value.
[[nodiscard]] std::optional<std::vector<cel::Binding>> Bindings(cel::Context& context,
                                                                const text::Value& record);

}  // namespace allot::golden
