// JsonPath: kubectl's JSONPath templates ("{.items[*].metadata.name}", "{range
// .items[*]}...{end}").
//
// Child, [n], [a:b], [*], [?(@.x=="y")], .., unions ['a','b'], quoted texts, range/end.
// Thread safety: immutable after parsing.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/value.h"

namespace allot::cli {

class JsonPath {
 public:
  /// Errors: kInvalid with the position and what was expected.
  [[nodiscard]] static base::Result<JsonPath> Parse(std::string_view text);
  /// Parses a single path without braces as well (".status.phase", "{.status.phase}"), for wait and
  /// sort-by.
  [[nodiscard]] static base::Result<JsonPath> ParseRelaxed(std::string_view text);

  /// The text of the template for `root`. Missing fields give nothing.
  [[nodiscard]] std::string Render(const text::Value& root) const;
  /// What the template's first path selects.
  [[nodiscard]] std::vector<const text::Value*> Select(const text::Value& root) const;

  struct Node;

 private:
  std::vector<std::shared_ptr<const Node>> nodes_;
};

/// A value as templates print it: texts without quotes, everything else as JSON.
[[nodiscard]] std::string PlainText(const text::Value& value);

}  // namespace allot::cli
