// YAML to Value and back, as kubectl and the API server read and print it (YAML 1.1 through JSON).
//
// `no`, `on`, `0x1F` and the like resolve as in YAML 1.1, also as keys; anchors, aliases and `<<`
// are expanded within a budget; times stay strings. Thread safety: stateless.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/value.h"

namespace allot::text {

/// Where something stands in a YAML text. Unit: lines and columns counted from 1.
struct YamlPosition {
  std::size_t line = 0;
  std::size_t column = 0;
};

enum class DuplicateKeys {
  kLastWins,  // what kubectl does
  kError      // what strict decoding does: `line 3: key "a" already set in map`
};

struct YamlOptions {
  DuplicateKeys duplicate_keys = DuplicateKeys::kError;
  /// When set, receives the duplicate keys as texts (`line 3: key "a" already set in map`); the
  /// last wins and nothing fails.
  std::vector<std::string>* duplicates = nullptr;
  /// Unit: levels of sequences and mappings. Deeper text is an error.
  int max_depth = 1000;
};

struct YamlDocument {
  Value value;
  YamlPosition start;
};

/// Parses every document of a stream (`---` between them); documents without content are left out.
/// Errors: kBadRequest, "yaml: line 3, column 7: ...".
[[nodiscard]] base::Result<std::vector<YamlDocument>> ParseYamlStream(
    std::string_view text, const YamlOptions& options = {});
/// Parses the first document and looks no further, as the API server does with a body; null when
/// empty.
[[nodiscard]] base::Result<Value> ParseYaml(std::string_view text, const YamlOptions& options = {});

/// Appends the YAML text as `kubectl -o yaml` prints it: sorted keys, block style, quotes where a
/// plain text would be read as something else.
void WriteYaml(const Value& value, std::string& out);
[[nodiscard]] std::string ToYaml(const Value& value);

}  // namespace allot::text
