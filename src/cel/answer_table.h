// For the tests of this module: tables of expressions with what they answer on one device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "cel/cel.h"

namespace allot::cel {

struct AnswerRow {
  std::string_view expression;
  /// The value in tagged JSON; "? " with the error of the evaluation; "! " with the errors of the
  /// compilation, each as line:column: text.
  std::string_view outcome;
  std::uint64_t max_cost = 0;  ///< not looked at when compiling fails
  std::uint64_t cost = 0;
};

/// A device with an attribute of most kinds.
class AnswerDevice {
 public:
  AnswerDevice() {
    view_.driver = "d.example.com";
    view_.attributes = attributes_;
    view_.capacities = capacities_;
    view_.allow_multiple_allocations = true;
    attributes_[0].value.integer = 5;
    attributes_[1].value.boolean = true;
    attributes_[2].value.text = "H100";
    attributes_[3].value.text = "1.2.3";
    attributes_[4].value.integers = ids_;
    attributes_[5].value.texts = names_;
    attributes_[6].value.integer = 7;
    for (Capacity& capacity : capacities_) {
      if (auto parsed = quantity::ParseQuantity(capacity.text)) {
        capacity.value = *parsed;
      }
    }
  }
  [[nodiscard]] const DeviceView& view() const { return view_; }

 private:
  static Attribute Make(std::string_view name, AttributeKind kind) {
    Attribute out;
    out.name = name;
    out.value.kind = kind;
    return out;
  }
  static Capacity Make(std::string_view name, std::string_view text) {
    Capacity out;
    out.name = name;
    out.text = text;
    return out;
  }
  std::int64_t ids_[3] = {3, 1, 2};
  std::string_view names_[3] = {"ib0", "ib1", "eth0"};
  Attribute attributes_[7] = {Make("n", AttributeKind::kInt),
                              Make("ready", AttributeKind::kBool),
                              Make("model", AttributeKind::kString),
                              Make("v", AttributeKind::kVersion),
                              Make("ids", AttributeKind::kInts),
                              Make("names", AttributeKind::kStrings),
                              Make("other.example.com/n", AttributeKind::kInt)};
  Capacity capacities_[4] = {Make("memory", "40Gi"),
                             Make("cores", "132"),
                             Make("huge", "9999999999999999999999"),
                             Make("frac", "1500m")};
  DeviceView view_;
};

/// The errors of a compilation without the source lines: "1:3: text".
inline std::string ErrorLines(std::string_view error) {
  constexpr std::string_view kPrefix = "compilation failed: ";
  if (!error.starts_with(kPrefix)) {
    return std::string(error);
  }
  std::string out;
  constexpr std::string_view kLine = "ERROR: <input>:";
  for (std::size_t at = error.find(kLine); at != std::string_view::npos;) {
    const std::size_t end = std::min(error.find('\n', at), error.size());
    out += out.empty() ? "" : "\n";
    out += error.substr(at + kLine.size(), end - at - kLine.size());
    at = error.find(kLine, end);
  }
  return out;
}

inline void ExpectAnswers(std::span<const AnswerRow> rows) {
  const AnswerDevice device;
  Evaluator evaluator;
  CompileOptions options;
  options.purpose = Purpose::kAnyValue;
  for (const AnswerRow& row : rows) {
    const Compilation compiled = CompileVerbose(row.expression, options);
    if (compiled.program == nullptr) {
      EXPECT_EQ("! " + ErrorLines(compiled.error), row.outcome) << row.expression;
      continue;
    }
    const auto answer = evaluator.EvaluateToJson(*compiled.program, device.view());
    EXPECT_EQ(answer.error.empty() ? answer.json : "? " + answer.error, row.outcome)
        << row.expression;
    EXPECT_EQ(compiled.max_cost, row.max_cost) << row.expression;
    EXPECT_EQ(answer.cost, row.cost) << row.expression;
  }
}

}  // namespace allot::cel
