#include "differential/answers.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <utility>

#include <unistd.h>
#include <zlib.h>

#include <fmt/format.h>

#include "analysis/answer_case.h"
#include "api/desc.h"
#include "base/random.h"
#include "schema/codec.h"
#include "text/json.h"
#include "text/value.h"

namespace allot::testing {
namespace {

template <typename T>
void Reorder(std::vector<T>& list, std::uint64_t shuffle) {
  if (shuffle == 1) {
    std::reverse(list.begin(), list.end());
  } else if (shuffle != 0) {
    base::Random random(shuffle);
    for (std::size_t i = list.size(); i > 1; --i) {
      std::swap(list[i - 1], list[random.Below(i)]);
    }
  }
}

}  // namespace

base::Result<OwnedAnswer> ParseAnswer(std::string_view line, bool expected) {
  ALLOT_ASSIGN_OR_RETURN(const text::Value root, text::ParseJson(line));
  const text::Value* const from = expected ? root.Find("expected") : &root;
  if (from == nullptr) {
    return base::Error(base::Reason::kBadRequest, "no expected answer");
  }
  OwnedAnswer out;
  out.answer.id = root.StringAt({"id"});
  out.answer.outcome = from->StringAt({"outcome"});
  out.answer.error = from->StringAt({"error"});
  out.answer.implementation = from->StringAt({"implementation"});
  if (const text::Value* const steps = from->Find("steps")) {
    out.answer.steps = static_cast<std::uint64_t>(steps->AsInt());
  }
  if (const text::Value* const results = from->Find("results")) {
    for (const text::Value& item : results->items()) {
      auto& result = out.answer.results.emplace_back();
      const std::string_view json = out.arena->Copy(text::ToJson(item));
      ALLOT_RETURN_IF_ERROR(schema::DecodeJson(
          api::Desc<api::resource::AllocationResult>(), json, *out.arena, &result));
    }
  }
  return out;
}

base::Result<OwnedAnswer> Solve(std::string_view line,
                                const allocator::Limits& limits,
                                std::uint64_t shuffle) {
  ALLOT_ASSIGN_OR_RETURN(auto problem, snapshot::ParseAllocationCase(line));
  Reorder(problem.slices, shuffle);
  Reorder(problem.classes, shuffle);
  Reorder(problem.allocated, shuffle);
  OwnedAnswer out;
  out.answer = analysis::AnswerCase(problem, limits, *out.arena);
  // Results may point into the case: make them independent of it.
  for (auto& result : out.answer.results) {
    api::resource::AllocationResult copy;
    schema::DeepCopy(api::Desc<api::resource::AllocationResult>(), &result, &copy, *out.arena);
    result = copy;
  }
  return out;
}

std::string Difference(const snapshot::AllocationAnswer& got,
                       const snapshot::AllocationAnswer& expected) {
  if (got.outcome != expected.outcome) {
    return fmt::format("outcome {} ({}), expected {} ({})",
                       got.outcome,
                       got.error,
                       expected.outcome,
                       expected.error);
  }
  // Not part of the promise: the parser's list of what it had expected, and which of several broken
  // node selectors is met first (upstream's text also holds addresses).
  const auto known_part = [](const std::string& error) {
    constexpr std::string_view kSelection = "failed to perform node selection for ";
    if (const std::size_t at = error.find(kSelection); at != std::string::npos) {
      return error.substr(0, at);
    }
    const std::size_t at = error.find(": Syntax error");
    return at == std::string::npos ? error : error.substr(0, error.rfind("CEL compile error", at));
  };
  if (known_part(got.error) != known_part(expected.error)) {
    return fmt::format("error\n  got      {}\n  expected {}", got.error, expected.error);
  }
  const auto json = [](const snapshot::AllocationAnswer& answer) {
    snapshot::AllocationAnswer copy = answer;
    copy.steps = 0;
    copy.implementation.clear();
    return snapshot::FormatAllocationAnswer(copy);
  };
  if (got.results.size() != expected.results.size()) {
    return fmt::format("results\n  got      {}\n  expected {}", json(got), json(expected));
  }
  for (std::size_t i = 0; i < got.results.size(); ++i) {
    if (!schema::SemanticEqual(
            api::Desc<api::resource::AllocationResult>(), &got.results[i], &expected.results[i])) {
      return fmt::format("results\n  got      {}\n  expected {}", json(got), json(expected));
    }
  }
  return {};
}

base::Result<std::vector<std::string>> ReadLines(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    return base::Error(base::Reason::kNotFound, path + " cannot be read");
  }
  std::string all;
  char buffer[65536];
  for (int got = 0; (got = gzread(file, buffer, sizeof buffer)) > 0;) {
    all.append(buffer, static_cast<std::size_t>(got));
  }
  gzclose(file);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\n', at), all.size());
    if (end > at) {
      lines.push_back(all.substr(at, end - at));
    }
    at = end + 1;
  }
  return lines;
}

base::Result<std::vector<std::string>> Oracle::Ask(const std::vector<std::string>& problems) {
  char directory[] = "/tmp/allot-oracle-XXXXXX";
  if (mkdtemp(directory) == nullptr) {
    return base::Error(base::Reason::kInternalError, "no temporary directory");
  }
  const std::string in = std::string(directory) + "/in";
  const std::string out = std::string(directory) + "/out";
  {
    std::ofstream file(in);
    for (const std::string& problem : problems) {
      file << problem << '\n';
    }
  }
  const std::string command =
      fmt::format("'{}' -number-shares -timeout 3s < '{}' > '{}'", path_, in, out);
  const int code = std::system(command.c_str());  // NOLINT(cert-env33-c): a test tool
  std::vector<std::string> answers;
  {
    std::ifstream file(out);
    for (std::string line; std::getline(file, line);) {
      answers.push_back(line);
    }
  }
  unlink(in.c_str());
  unlink(out.c_str());
  rmdir(directory);
  if (code != 0 || answers.size() != problems.size()) {
    return base::Error(base::Reason::kInternalError, "the oracle did not answer all problems");
  }
  return answers;
}

}  // namespace allot::testing
