// Parse trees, checked types and error texts that cel-go printed for its own suites. The data is
// not part of the project; without it the test is skipped.
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cel/checker.h"
#include "cel/environment.h"
#include "cel/errors.h"
#include "cel/parser.h"
#include "golden/records.h"
#include "golden/tree_printer.h"
#include "text/json.h"
#include "text/value.h"

namespace allot {
namespace {

using text::Value;

struct Printed {
  std::string ast;
  std::string checked;
  std::string type;
  std::string error;
};

// The environments the suites may have been recorded in: cel-go with and without its options. Every
// record agrees with one of them to the letter.
std::vector<cel::Env> Environments() {
  std::vector<cel::Env> out;
  constexpr unsigned kOptions = 8;
  for (unsigned bits = 0; bits < 1U << kOptions; ++bits) {
    const auto on = [&](unsigned option) {
      return (bits >> option & 1U) != 0;
    };
    cel::Env env;
    env.libraries = cel::kLibStandard;
    env.libraries |= on(0) ? cel::kLibStrings : 0U;
    env.syntax.macros.bind = on(1);
    env.libraries |= on(2) ? cel::kLibOptionals | cel::kLibNetwork : 0U;
    env.syntax.macros.optionals = on(2);
    env.syntax.optional_syntax = on(2);
    env.libraries |= on(3) ? cel::kLibTwoVariables : 0U;
    env.syntax.macros.two_variables = on(3);
    env.syntax.macros.exists_one_camel = !on(4);
    env.syntax.escaped_identifiers = on(5);
    env.syntax.macros.sort_by = false;
    // Stands for comparisons across kinds of numbers, which the engine always has.
    env.attribute = on(7) ? &cel::types::kDyn : nullptr;
    if (!on(6)) {
      env.syntax.max_recursion = 32;
      env.syntax.max_recovery_attempts = 4;
      env.syntax.max_recovery_tokens = 4;
    }
    out.push_back(env);
  }
  return out;
}

Printed PrintAll(const cel::Env& env, std::string_view expression) {
  Printed out;
  base::Arena arena(4096);
  cel::ExprFactory factory(arena);
  cel::Errors errors(expression);
  cel::TreeBuilder builder(expression, factory, errors, env.syntax);
  cel::Expr* const root = cel::Parse(builder);
  if (root != nullptr && errors.empty()) {
    out.ast = golden::PrintTree(root);
    const cel::CheckedTree tree = cel::Check(env, root, factory, errors);
    if (errors.empty()) {
      out.checked = golden::PrintChecked(tree, env.attribute != nullptr);
      out.type = cel::FormatType(tree.TypeOf(root));
    }
  }
  out.error = errors.empty() ? "" : errors.Display();
  return out;
}

// The name of the source in errors is that of the test.
std::string WithInputName(std::string_view error) {
  std::string out;
  constexpr std::string_view kStart = "ERROR: ";
  for (std::size_t start = 0; start <= error.size();) {
    const std::size_t end = std::min(error.find('\n', start), error.size());
    const std::string_view line = error.substr(start, end - start);
    out += start > 0 ? "\n" : "";
    if (line.starts_with(kStart)) {
      out += fmt::format("{}<input>{}", kStart, line.substr(line.find(':', kStart.size())));
    } else {
      out += line;
    }
    start = end + 1;
  }
  return out;
}

// What a record says under a name, and what was printed in its place.
struct Field {
  std::string_view name;
  std::string Printed::* printed;
};
constexpr Field kFields[] = {{"error", &Printed::error},
                             {"ast", &Printed::ast},
                             {"checked", &Printed::checked},
                             {"type", &Printed::type}};

// The suite of the checker has its own variables.
void DeclareCheckingVariables(cel::Env& env) {
  for (const auto& [name, type] : {std::pair("is", &cel::types::kString),
                                   std::pair("ii", &cel::types::kInt),
                                   std::pair("iu", &cel::types::kUint),
                                   std::pair("iz", &cel::types::kBool),
                                   std::pair("ib", &cel::types::kBytes),
                                   std::pair("id", &cel::types::kDouble),
                                   std::pair("ix", &cel::types::kNull)}) {
    env.variables.push_back({name, type});
  }
}

// Why a record says something else; empty: no reason.
std::string_view Explained(const Value& record) {
  const std::string_view path = record.StringAt({"path"});
  const std::string_view error = record.StringAt({"error"});
  const std::string_view expression = record.StringAt({"expr"});
  for (const std::string_view library :
       {"block_ext/", "encoders_ext/", "math_ext/", "proto2_ext/"}) {
    if (path.starts_with(library)) {
      return "of libraries Kubernetes lacks";
    }
  }
  if (expression.contains("k.reverse()")) {  // of strings
    return "of libraries Kubernetes lacks";
  }
  const Value* const declared = record.Find("type_env");
  const bool functions =
      declared != nullptr && std::ranges::any_of(declared->items(), [](const Value& item) {
        return item.Find("fn") != nullptr;
      });
  if (functions || expression.contains("fg_s(") || expression.contains("fi_s_s(")) {
    return "with functions of their own";
  }
  if (path.starts_with("string_ext/format_errors") ||
      error.contains("only ints, uints, bytes, and strings")) {
    return "of a newer formatter";
  }
  if (record.StringAt({"checked"}).contains("type(optional_type)^")) {
    return "of another version, with a type that prints otherwise";
  }
  if (error.contains("is not a type")) {
    return "with variables of their own";
  }
  if (record.StringAt({"suite"}) == "checking" && error.contains("'(int, double)'")) {
    return "without comparisons across kinds of numbers";
  }
  return {};
}

// Where a record agrees with no environment, field by field: trees were printed by a parser with
// all macros, errors by environments. Empty: nowhere.
std::string Differences(const std::vector<cel::Env>& environments, const Value& record) {
  std::vector<Printed> printed;
  for (cel::Env env : environments) {
    golden::Declarations declarations;
    static_cast<void>(declarations.Apply(record, env));
    if (record.StringAt({"suite"}) == "checking") {
      DeclareCheckingVariables(env);
    }
    printed.push_back(PrintAll(env, record.StringAt({"expr"})));
  }
  std::string out;
  for (const auto& [name, member] : kFields) {
    const Value* const field = record.Find(name);
    if (field == nullptr && name != "error") {
      continue;
    }
    const std::string want = field == nullptr ? "" : WithInputName(field->AsString());
    const bool found =
        std::ranges::any_of(printed, [&](const Printed& got) { return got.*member == want; });
    if (!found) {
      out += fmt::format("{}: want {}\n  got  {}\n", name, want, printed.back().*member);
    }
  }
  return out;
}

TEST(CelTrees, AgreeWithThoseOfCelGo) {
  const auto lines = golden::SharedLines("data/cel/cel_golden.jsonl");
  if (!lines) {
    GTEST_SKIP() << "no trees: neither $ALLOT_SHARED nor ../shared beside the checkout has "
                    "data/cel/cel_golden.jsonl";
  }
  const std::vector<cel::Env> environments = Environments();
  std::map<std::string_view, int> explained;
  int same = 0;
  for (const std::string& line : *lines) {
    const auto record = text::ParseJson(line);
    ASSERT_TRUE(record.has_value());
    if (const std::string_view reason = Explained(*record); !reason.empty()) {
      ++explained[reason];
      continue;
    }
    const std::string difference = Differences(environments, *record);
    EXPECT_EQ(difference, "") << record->StringAt({"suite"}) << "  " << record->StringAt({"path"})
                              << "  " << record->StringAt({"expr"});
    same += difference.empty() ? 1 : 0;
  }
  for (const auto& [why, count] : explained) {
    std::cout << fmt::format("left out: {} records {}\n", count, why);
  }
  EXPECT_GE(same, 1700);
}

}  // namespace
}  // namespace allot
