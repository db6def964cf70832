#include "text/documents.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "text/json.h"

namespace allot::text {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::size_t SkipBlanks(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(kBlanks, at), text.size());
}

// The end of the object or array at `at`: the bracket that closes it, outside of strings. What is
// inside is ParseJson's to judge.
std::size_t EndOfJson(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  for (bool quoted = false; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      at += c == '\\' ? 1 : 0;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return at + 1;
    }
  }
  return text.size();
}

// Lines are counted from where the counting stopped last, so that many documents cost one pass.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}
  YamlPosition At(std::size_t offset) {
    for (; at_ < offset; ++at_) {
      if (text_[at_] == '\n') {
        ++line_;
        begin_ = at_ + 1;
      }
    }
    return {line_, offset - begin_ + 1};
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t begin_ = 0;
};

std::unexpected<base::Status> Bad(std::size_t line, std::string_view what) {
  return base::Error(base::Reason::kBadRequest,
                     "json: line " + std::to_string(line) + ": " + std::string(what));
}

base::Result<std::vector<YamlDocument>> ParseJsonStream(std::string_view text) {
  std::vector<YamlDocument> out;
  Lines lines(text);
  for (std::size_t at = SkipBlanks(text, 0); at < text.size(); at = SkipBlanks(text, at)) {
    const YamlPosition start = lines.At(at);
    if (!out.empty() && text.substr(at).starts_with("---")) {
      at += 3;
      continue;
    }
    if (text[at] != '{' && text[at] != '[') {
      return Bad(start.line, "expected another object");
    }
    const std::string_view one = text.substr(at, EndOfJson(text, at) - at);
    auto value = ParseJson(one);
    if (!value) {
      const std::optional<JsonError> error = FindJsonError(one);
      const std::size_t offset = error ? std::min(error->offset, one.size()) : 0;
      return Bad(lines.At(at + offset).line, value.error().message());
    }
    out.push_back({*std::move(value), start});
    at += one.size();
  }
  return out;
}

}  // namespace

base::Result<std::vector<YamlDocument>> ParseDocuments(std::string_view text,
                                                       const YamlOptions& options) {
  const std::size_t first = SkipBlanks(text, 0);
  if (first == text.size() || (text[first] != '{' && text[first] != '[')) {
    return ParseYamlStream(text, options);
  }
  auto json = ParseJsonStream(text);
  if (json) {
    return json;
  }
  auto yaml = ParseYamlStream(text, options);  // flow style, or YAML documents after a JSON one
  const std::size_t next = SkipBlanks(text, first + 1);
  const bool looks_like_json =
      next < text.size() && std::string_view("\"{[}]").contains(text[next]);
  return yaml || !looks_like_json ? std::move(yaml) : std::move(json);
}

}  // namespace allot::text
