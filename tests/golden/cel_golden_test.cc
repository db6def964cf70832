// The CEL engine against what the Kubernetes 1.37.2 package answered: outcome, value, type, error
// text, costs.
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <zlib.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cel/cel.h"
#include "cel/columns.h"
#include "cli/cel_records.h"
#include "text/json.h"
#include "text/value.h"

namespace allot {
namespace {

using text::Value;

std::vector<std::string> ReadGzipLines(const std::string& path) {
  std::vector<std::string> lines;
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    return lines;
  }
  std::string line;
  char buffer[1 << 15];
  for (int n = gzread(file, buffer, sizeof buffer); n > 0;
       n = gzread(file, buffer, sizeof buffer)) {
    for (int i = 0; i < n; ++i) {
      if (buffer[i] == '\n') {
        lines.push_back(line);
        line.clear();
      } else {
        line += buffer[i];
      }
    }
  }
  gzclose(file);
  return lines;
}

// Go prints a named format with the address of a function, which is not part of any contract.
std::string WithoutAddress(std::string_view text) {
  std::string out(text);
  const std::size_t at = out.find(" 0x");
  if (at != std::string::npos && out.starts_with("{")) {
    out.erase(at, out.find(' ', at + 1) - at);
  }
  return out;
}

void DropAddresses(Value& value) {
  if (value.is_string()) {
    value = Value(WithoutAddress(value.AsString()));
  } else if (value.is_array()) {
    for (Value& item : value.MutableItems()) {
      DropAddresses(item);
    }
  } else if (value.is_object()) {
    for (text::Member& member : value.MutableMembers()) {
      DropAddresses(member.value);
    }
  }
}

// Panics of upstream's Go code differ in text from ours only behind this prefix.
bool SameText(const Value* a, const Value* b) {
  if (a == nullptr || b == nullptr) {
    return a == b;
  }
  constexpr std::string_view kPanic = "internal error:";
  if (a->AsString().starts_with(kPanic) && b->AsString().starts_with(kPanic)) {
    return true;
  }
  return *a == *b;
}

bool SameValue(const Value* a, const Value* b) {
  return a == nullptr || b == nullptr ? a == b : *a == *b;
}

std::string Differences(const Value& want, const Value& got) {
  std::string out;
  const auto show = [](const Value* value) {
    return value == nullptr ? "(none)" : text::ToJson(*value);
  };
  const auto compare = [&](std::string_view what, const Value* a, const Value* b, bool same) {
    if (!same) {
      out += fmt::format(
          "  {}: want {}\n  {} got {}\n", what, show(a), std::string(what.size(), ' '), show(b));
    }
  };
  for (const std::string_view key : {"compile_error", "type", "max_cost"}) {
    const Value* const a = want.Find(key);
    const Value* const b = got.Find(key);
    compare(key, a, b, key == "compile_error" ? SameText(a, b) : SameValue(a, b));
  }
  const Value* const wanted = want.Find("results");
  const Value* const given = got.Find("results");
  if (wanted == nullptr || given == nullptr) {
    compare("results", wanted, given, (wanted == nullptr) == (given == nullptr));
    return out;
  }
  if (wanted->items().size() != given->items().size()) {
    return out + "  another number of results\n";
  }
  for (std::size_t i = 0; i < wanted->items().size(); ++i) {
    const Value& a = wanted->items()[i];
    const Value& b = given->items()[i];
    compare(fmt::format("value {}", i),
            a.Find("value"),
            b.Find("value"),
            SameValue(a.Find("value"), b.Find("value")));
    compare(fmt::format("error {}", i),
            a.Find("error"),
            b.Find("error"),
            SameText(a.Find("error"), b.Find("error")));
    compare(fmt::format("cost {}", i),
            a.Find("cost"),
            b.Find("cost"),
            SameValue(a.Find("cost"), b.Find("cost")));
  }
  return out;
}

// Cases whose outcome depends on the order of Go's maps, or in which upstream's compiler itself
// panics.
bool IsUnstable(const Value& record) {
  const Value* const unstable = record.Find("unstable");
  return (unstable != nullptr && unstable->AsBool()) ||
         record.StringAt({"compile_error"}).starts_with("panic:");
}

TEST(CelGolden, AgreesWithKubernetesInAllCases) {
  const std::vector<std::string> lines = ReadGzipLines(ALLOT_GOLDEN_DATA "/celgold.jsonl.gz");
  ASSERT_FALSE(lines.empty());
  cli::CelRecords records;
  int cases = 0;
  int unstable = 0;
  int wrong = 0;
  std::string out;
  for (const std::string& line : lines) {
    out.clear();
    const auto run = records.Run(line, out);
    ASSERT_TRUE(run.has_value()) << line;
    if (out.empty()) {
      continue;
    }
    ++cases;
    auto want = text::ParseJson(line);
    auto got = text::ParseJson(out);
    ASSERT_TRUE(want && got) << out;
    if (IsUnstable(*want)) {
      ++unstable;
      continue;
    }
    DropAddresses(*want);
    DropAddresses(*got);
    const std::string differences = Differences(*want, *got);
    constexpr int kShown = 20;
    if (!differences.empty() && ++wrong <= kShown) {
      ADD_FAILURE() << want->StringAt({"id"}) << "  " << want->StringAt({"expr"}) << "\n"
                    << differences;
    }
  }
  EXPECT_EQ(wrong, 0) << "of " << cases << " cases, " << unstable << " of them unstable upstream";
  EXPECT_GE(cases, 7000);
}

// The fast tiers (slots, columns) against the exact interpreter, on every selector and device of
// the golden data.
TEST(CelGolden, TiersAgree) {
  std::vector<std::unique_ptr<cli::CelDevice>> others;
  cel::DeviceTable table;
  std::vector<const cel::DeviceView*> devices;
  std::vector<std::string> expressions;
  for (const std::string& line : ReadGzipLines(ALLOT_GOLDEN_DATA "/celgold.jsonl.gz")) {
    const auto record = text::ParseJson(line);
    ASSERT_TRUE(record.has_value());
    const bool is_device = !record->StringAt({"device_name"}).empty();
    if (is_device) {
      auto device = cli::CelDevice::Parse(*record);
      ASSERT_TRUE(device.has_value()) << line;
      devices.push_back(&(*device)->view());
      table.Add((*device)->view());
      others.push_back(*std::move(device));
    } else if (record->Find("raw") == nullptr && record->Find("derived") == nullptr &&
               record->Find("cost_limit") == nullptr) {
      expressions.emplace_back(record->StringAt({"expr"}));
    }
  }
  cel::Evaluator evaluator;
  cel::MatcherSet set(table);
  std::vector<std::vector<cel::Verdict>> expected(devices.size());
  for (const std::string& expression : expressions) {
    const cel::Compilation compiled = cel::CompileVerbose(expression, {});
    if (compiled.program == nullptr || compiled.max_cost.value_or(0) > cel::kMaxCost) {
      continue;
    }
    constexpr std::uint64_t kCheap = 10'000;
    const bool cheap = compiled.max_cost.value_or(0) <= kCheap;
    cel::Matcher matcher(table, compiled.program);
    if (cheap) {
      set.Add(compiled.program);
    }
    std::vector<cel::Verdict> all(devices.size());
    matcher.MatchAll(all);
    for (std::uint32_t i = 0; i < devices.size(); ++i) {
      const cel::Verdict exact = evaluator.Match(*compiled.program, *devices[i]).verdict;
      EXPECT_EQ(all[i], exact) << expression << " on " << i;
      if (!cheap) {
        continue;
      }
      expected[i].push_back(exact);
      EXPECT_EQ(evaluator.Test(*compiled.program, *devices[i]), exact) << expression << " on " << i;
      EXPECT_EQ(matcher.Match(i), exact) << expression << " on " << i;
      EXPECT_EQ(matcher.EvaluateOnce(i), exact) << expression << " on " << i;
    }
  }
  EXPECT_GE(set.size(), 2000U);
  for (std::uint32_t i = 0; i < devices.size(); ++i) {
    std::vector<cel::Verdict> together(set.size());
    set.Match(i, together);
    EXPECT_EQ(together, expected[i]) << "all selectors on device " << i;
  }
}

std::string FactProblem(const Value& fact, const Value& got) {
  const Value& expect = *fact.Find("expect");
  const std::string_view kind = expect.StringAt({"kind"});
  const auto fits = [&](std::string_view text) {
    const std::string_view exact = expect.StringAt({"text"});
    return text.contains(expect.StringAt({"contains"})) && (exact.empty() || text == exact);
  };
  if (kind == "compile_error") {
    const std::string_view text = got.StringAt({"compile_error"});
    return text.empty() || !fits(text) ? fmt::format("compile error is \"{}\"", text) : "";
  }
  if (got.Find("results") == nullptr) {
    return fmt::format("does not compile: {}", got.StringAt({"compile_error"}));
  }
  const Value& result = got.Find("results")->items().front();
  const std::string_view error = result.StringAt({"error"});
  if (kind == "error") {
    if (error.empty() || !fits(error)) {
      return fmt::format("error is \"{}\"", error);
    }
  } else if (!error.empty() ||
             result.Find("value")->AsBool() != expect.FindPath({"value", "v"})->AsBool()) {
    return fmt::format("value is {}", text::ToJson(result));
  }
  const std::pair<std::string_view, const Value*> numbers[] = {
      {"type", got.Find("type")},
      {"max_cost", got.Find("max_cost")},
      {"actual_cost", result.Find("cost")}};
  for (const auto& [name, value] : numbers) {
    if (const Value* const stated = fact.Find(name);
        stated != nullptr && !SameValue(stated, value)) {
      return fmt::format("{} is {}", name, value == nullptr ? "missing" : text::ToJson(*value));
    }
  }
  return "";
}

TEST(CelGolden, AgreesWithTheFacts) {
  std::ifstream file(ALLOT_GOLDEN_DATA "/cel_k8s_facts.jsonl");
  ASSERT_TRUE(file.is_open());
  cli::CelRecords records;
  int facts = 0;
  for (std::string line; std::getline(file, line);) {
    ++facts;
    std::string out;
    ASSERT_TRUE(records.Run(line, out).has_value()) << line;
    const auto fact = text::ParseJson(line);
    const auto got = text::ParseJson(out);
    ASSERT_TRUE(fact && got);
    EXPECT_EQ(FactProblem(*fact, *got), "")
        << fact->StringAt({"id"}) << "  " << fact->StringAt({"expr"});
  }
  EXPECT_GE(facts, 200);
}

}  // namespace
}  // namespace allot
