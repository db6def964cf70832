// Small helpers that append JSON text: for documents that have no descriptor table (Table rows,
// discovery, OpenAPI, watch frames). Thread safety: free functions.
#pragma once

#include <string>
#include <string_view>

#include "text/json.h"

namespace allot::apiserver {

/// Appends `text` as a JSON string with its quotes.
inline void AppendJsonString(std::string& out, std::string_view text) {
  text::AppendJsonString(text, out);
}

/// Appends `"key":` with a comma in front unless the object or list has just been opened.
void AppendJsonKey(std::string& out, std::string_view key);

/// Appends a comma unless the object or list has just been opened.
void AppendJsonComma(std::string& out);

/// Indents compact JSON by two spaces a level, as `?pretty=true` asks for, with a final newline.
[[nodiscard]] std::string PrettyJson(std::string_view compact);

/// Upper-case hex SHA-512: the entity tags of discovery and OpenAPI documents.
[[nodiscard]] std::string UpperSha512(std::string_view text);

}  // namespace allot::apiserver
