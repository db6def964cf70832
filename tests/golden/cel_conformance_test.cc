// The conformance suite of the language, as far as Kubernetes has its functions. The data is not
// part of the project; without it the test is skipped.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cel/cel.h"
#include "cel/environment.h"
#include "cel/interpreter.h"
#include "cel/program.h"
#include "cel/value_json.h"
#include "golden/records.h"
#include "text/json.h"
#include "text/value.h"

namespace allot {
namespace {

using text::Value;

double DoubleOf(std::string_view text) {
  return std::strtod(std::string(text).c_str(), nullptr);
}

bool Same(const Value& want, const Value& got);

// Maps come in any order: every wanted entry must be there, and no other.
bool SameMaps(const std::vector<Value>& want, const std::vector<Value>& got) {
  return want.size() == got.size() && std::ranges::all_of(want, [&](const Value& entry) {
           return std::ranges::any_of(got, [&](const Value& other) {
             return Same(entry.items()[0], other.items()[0]) &&
                    Same(entry.items()[1], other.items()[1]);
           });
         });
}

bool Same(const Value& want, const Value& got) {
  const std::string_view tag = want.StringAt({"t"});
  if (tag != got.StringAt({"t"})) {
    return false;
  }
  const Value* const a = want.Find("v");
  const Value* const b = got.Find("v");
  if (a == nullptr || b == nullptr) {
    return a == b;
  }
  if (tag == "double") {
    const auto number = [](const Value& v) {
      return DoubleOf(v.is_object() ? v.StringAt({"v"}) : v.AsString());
    };
    const double x = number(*a);
    const double y = number(*b);
    return x == y || (std::isnan(x) && std::isnan(y));
  }
  if (tag == "optional") {
    return Same(*a, *b);
  }
  if (tag == "map") {
    return SameMaps(a->items(), b->items());
  }
  if (tag != "list") {
    return *a == *b;
  }
  return std::ranges::equal(a->items(), b->items(), Same);
}

// Why a record does not apply; empty: it does.
std::string_view NotFor(const Value& record) {
  if (!record.Find("k8s")->AsBool()) {
    return "of libraries Kubernetes lacks";
  }
  if (record.Find("cel_go") != nullptr) {
    return "in which cel-go differs from the suite";
  }
  if (record.Find("disable_check") != nullptr) {
    return "without type check, which Kubernetes never leaves out";
  }
  // Kubernetes refuses a key of that kind when it builds the program, and reads on through an
  // optional where the suite wants an error.
  const std::string_view name = record.StringAt({"name"});
  if (name == "map_bad_key_type_or_true" || name == "map_bad_key_type_and_false" ||
      name == "map_null_entry_no_such_key" || name == "map_present_key_invalid_field") {
    return "in which Kubernetes differs from the suite";
  }
  return {};
}

struct Outcome {
  std::string error;
  std::string type;
  std::string json;
};

Outcome Evaluate(const Value& record, golden::Declarations& declarations) {
  cel::Env env = cel::DeviceEnv(cel::Environment::kStored, {});
  env.validators = false;
  env.variables.clear();
  if (!declarations.Apply(record, env)) {
    return {"cannot be declared", "", ""};
  }
  cel::CompileOptions options;
  options.purpose = cel::Purpose::kAnyValue;
  base::Reason reason = base::Reason::kInvalid;
  const cel::Compilation compiled = cel::CompileIn(env, record.StringAt({"expr"}), options, reason);
  Outcome out{compiled.error, compiled.type, ""};
  if (compiled.program == nullptr) {
    return out;
  }
  cel::Context context;
  const auto bindings = golden::Bindings(context, record);
  if (!bindings) {
    return {"cannot be bound", "", ""};
  }
  cel::Interpreter interpreter(context);
  const auto result =
      interpreter.Run(compiled.program->impl().plan, *bindings, cel::kMaxCost, cel::Interrupt{});
  if (result.value.IsError()) {
    out.error = result.value.text();
  } else {
    EXPECT_TRUE(cel::AppendValueJson(result.value, cel::Context::kMaxMemory, out.json));
  }
  return out;
}

std::string Problem(const Value& record) {
  golden::Declarations declarations;
  const Outcome got = Evaluate(record, declarations);
  const Value& expect = *record.Find("expect");
  const std::string_view kind = expect.StringAt({"kind"});
  if (kind == "error") {
    return got.error.empty() ? "gives " + got.json : "";
  }
  if (kind == "type" || record.Find("check_only") != nullptr) {
    const cel::Type* const type = declarations.Parse(expect.StringAt({"type"}));
    const std::string wanted = type == nullptr ? "?" : cel::TypeText(type);
    if (got.type != wanted) {
      return fmt::format("has type {} instead of {} {}", got.type, wanted, got.error);
    }
  }
  const Value* const value = expect.Find("value");
  if (value == nullptr) {
    return "";
  }
  const auto json = text::ParseJson(got.json.empty() ? "{}" : got.json);
  return json && Same(*value, *json)
             ? ""
             : fmt::format("gives {} {} instead of {}", got.json, got.error, text::ToJson(*value));
}

TEST(CelConformance, ApplicableCases) {
  const auto lines = golden::SharedLines("data/cel/cel_conformance.jsonl");
  if (!lines) {
    GTEST_SKIP() << "no conformance data: neither $ALLOT_SHARED nor ../shared beside the checkout "
                    "has data/cel/cel_conformance.jsonl";
  }
  std::map<std::string_view, int> left_out;
  int cases = 0;
  for (const std::string& line : *lines) {
    const auto record = text::ParseJson(line);
    ASSERT_TRUE(record.has_value());
    if (const std::string_view reason = NotFor(*record); !reason.empty()) {
      ++left_out[reason];
      continue;
    }
    ++cases;
    EXPECT_EQ(Problem(*record), "")
        << record->StringAt({"name"}) << "  " << record->StringAt({"expr"});
  }
  for (const auto& [reason, count] : left_out) {
    std::cout << fmt::format("left out: {} cases {}\n", count, reason);
  }
  EXPECT_GE(cases, 1400);
}

}  // namespace
}  // namespace allot
