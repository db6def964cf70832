// The conformance suite of the language, as far as it needs no messages, bindings or containers.
// The data is not part of the project: ALLOT_CEL_CONFORMANCE names it, or it is found beside the
// checkout; without it the test is skipped.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "cel/cel.h"
#include "cel/environment.h"
#include "cel/program.h"
#include "text/json.h"
#include "text/value.h"

namespace allot {
namespace {

using text::Value;

double DoubleOf(std::string_view text) {
  return std::strtod(std::string(text).c_str(), nullptr);
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
    const double x = DoubleOf(a->AsString());
    const double y = DoubleOf(b->AsString());
    return x == y || (std::isnan(x) && std::isnan(y));
  }
  if (tag == "optional") {
    return Same(*a, *b);
  }
  if (tag != "list" && tag != "map") {
    return *a == *b;
  }
  if (a->items().size() != b->items().size()) {
    return false;
  }
  // Entries of maps come in any order; their number must do here.
  for (std::size_t i = 0; tag == "list" && i < a->items().size(); ++i) {
    if (!Same(a->items()[i], b->items()[i])) {
      return false;
    }
  }
  return true;
}

bool Applies(const Value& record) {
  for (const std::string_view key :
       {"bindings", "container", "type_env", "disable_check", "check_only", "cel_go"}) {
    if (record.Find(key) != nullptr) {
      return false;
    }
  }
  if (!record.Find("k8s")->AsBool()) {
    return false;
  }
  for (const Value& need : record.Find("requires")->items()) {
    if (need.AsString() == "wkt") {
      return false;
    }
  }
  return true;
}

// Kubernetes refuses this key when it builds the program, which the suite does not foresee; and it
// reads on through an optional where the suite wants an error.
bool IsDecidedOtherwise(std::string_view name) {
  return name == "map_bad_key_type_or_true" || name == "map_bad_key_type_and_false" ||
         name == "map_null_entry_no_such_key" || name == "map_present_key_invalid_field";
}

TEST(CelConformance, ApplicableCases) {
  const char* const named = std::getenv("ALLOT_SHARED");
  const std::string shared = named != nullptr ? named : ALLOT_GOLDEN_DATA "/../../../../shared";
  std::ifstream file(shared + "/data/cel/cel_conformance.jsonl");
  if (!file.is_open()) {
    GTEST_SKIP()
        << "no conformance data: neither $ALLOT_SHARED nor ../shared beside the checkout has "
           "data/cel/cel_conformance.jsonl";
  }
  cel::Env env = cel::DeviceEnv(cel::Environment::kStored, {});
  env.validators = false;
  cel::CompileOptions options;
  options.purpose = cel::Purpose::kAnyValue;
  cel::Evaluator evaluator;
  int cases = 0;
  for (std::string line; std::getline(file, line);) {
    const auto record = text::ParseJson(line);
    ASSERT_TRUE(record.has_value());
    if (!Applies(*record) || IsDecidedOtherwise(record->StringAt({"name"}))) {
      continue;
    }
    ++cases;
    base::Reason reason = base::Reason::kInvalid;
    const std::string_view expression = record->StringAt({"expr"});
    const cel::Compilation compiled = cel::CompileIn(env, expression, options, reason);
    std::string error = compiled.error;
    std::string json;
    if (compiled.program != nullptr) {
      auto outcome = evaluator.EvaluateToJson(*compiled.program, {});
      error = outcome.error;
      json = outcome.json;
    }
    const Value& expect = *record->Find("expect");
    const std::string_view kind = expect.StringAt({"kind"});
    if (kind == "value") {
      const auto got = text::ParseJson(json.empty() ? "{}" : json);
      EXPECT_TRUE(got && Same(*expect.Find("value"), *got))
          << expression << "\n  " << line << "\n  " << json << error;
    } else if (kind == "error") {
      EXPECT_FALSE(error.empty()) << expression << " gives " << json;
    }
  }
  EXPECT_GE(cases, 1000);
}

}  // namespace
}  // namespace allot
