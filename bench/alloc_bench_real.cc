#include "alloc_bench_real.h"

#include <cstdlib>
#include <fstream>
#include <string_view>

#include <unistd.h>

#include <fmt/format.h>

#include "text/json.h"
#include "text/value.h"

namespace allot::bench {
namespace {

// The program's answer to one case; null when there is none.
text::Value Answer(const std::string& program,
                   const std::string& options,
                   const std::string& line) {
  char directory[] = "/tmp/allot-bench-XXXXXX";
  if (mkdtemp(directory) == nullptr) {
    return {};
  }
  const std::string in = std::string(directory) + "/in";
  const std::string out = std::string(directory) + "/out";
  std::ofstream(in) << line << '\n';
  const std::string command = fmt::format("'{}' {} < '{}' > '{}'", program, options, in, out);
  const int code = std::system(command.c_str());  // NOLINT(cert-env33-c): a benchmark
  std::string text;
  std::getline(std::ifstream(out), text);
  unlink(in.c_str());
  unlink(out.c_str());
  rmdir(directory);
  auto value = text::ParseJson(text);
  return code == 0 && value ? *std::move(value) : text::Value();
}

}  // namespace

RealTimes MeasureReal(const std::string& program, const std::string& line) {
  // -bench knows no time limit: ask first whether there is an answer at all.
  if (Answer(program, "-timeout 2s", line).StringAt({"outcome"}) == "timeout") {
    return {};
  }
  const text::Value answer = Answer(program, "-bench 60 -bench-budget 3s -cel-cache 10", line);
  const text::Value* const measured = answer.Find("bench");
  const text::Value* const times = measured != nullptr ? measured->Find("allocate") : nullptr;
  if (times == nullptr) {
    return {};
  }
  const auto number = [](const text::Value& from, std::string_view key) {
    const text::Value* const value = from.Find(key);
    return value != nullptr ? value->AsInt() : 0;
  };
  return {static_cast<double>(number(*times, "min_cpu_ns")),
          static_cast<double>(number(*times, "median_cpu_ns")),
          number(*measured, "allocs_per_op")};
}

}  // namespace allot::bench
