// ParseDocuments: the documents of a text that may be JSON or YAML, as kubectl reads files and
// standard input. Thread safety: stateless.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/yaml.h"

namespace allot::text {

/// A text that begins with { or [ is read as JSON values one after the other (with blanks or `---`
/// between them); any other, and one that is YAML after all, as a YAML stream with `options`.
/// Errors: kBadRequest, "yaml: line 3, column 7: ..." or "json: line 3: ...".
[[nodiscard]] base::Result<std::vector<YamlDocument>> ParseDocuments(
    std::string_view text, const YamlOptions& options = {});

}  // namespace allot::text
