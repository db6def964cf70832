// JSON text to Value and back, with the errors and spellings of Go's encoding/json (what clients
// see).
//
// Invalid UTF-8 in strings becomes U+FFFD, integers beyond int64 become doubles, the last of two
// equal members wins, as upstream's decoder does. Thread safety: stateless.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/value.h"

namespace allot::text {

struct JsonOptions {
  /// Unit: levels of arrays and objects. Deeper text is an error.
  int max_depth = 10000;
  /// When set, receives the dotted path of every repeated member ("spec.a[0].b"), in order of
  /// appearance.
  std::vector<std::string>* duplicates = nullptr;
};

/// Parses one JSON text. Errors: kBadRequest with Go's text ("invalid character 'x' looking for
/// ...").
[[nodiscard]] base::Result<Value> ParseJson(std::string_view text, const JsonOptions& options = {});

/// What is wrong with a JSON text, in Go's words.
struct JsonError {
  std::string message;
  std::size_t offset = 0;  // Unit: bytes read when the error was noticed
};
/// The first syntax error; nothing when the text is one valid JSON value. Cost: one slow pass.
[[nodiscard]] std::optional<JsonError> FindJsonError(std::string_view text, int max_depth = 10000);

enum class JsonStyle {
  kCompact,  // {"a":1}
  kIndented  // four spaces a level, as kubectl -o json
};
/// Appends the JSON text of `value`; <, >, & are escaped as Go's encoder does.
void WriteJson(const Value& value, std::string& out, JsonStyle style = JsonStyle::kCompact);
[[nodiscard]] std::string ToJson(const Value& value, JsonStyle style = JsonStyle::kCompact);
/// Appends `text` as a JSON string with its quotes, escaped as Go's encoder does.
void AppendJsonString(std::string_view text, std::string& out);
/// Appends a double as Go's encoder does. REQUIRES: finite.
void AppendJsonDouble(double value, std::string& out);
/// Appends the JSON `text` with insignificant blanks left out. REQUIRES: valid JSON.
void AppendCompactJson(std::string_view text, std::string& out);

}  // namespace allot::text
