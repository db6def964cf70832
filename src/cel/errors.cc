#include "cel/errors.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "quantity/go_text.h"

namespace allot::cel {
namespace {

constexpr std::size_t kMaxErrors = 100;
constexpr std::size_t kMaxSnippet = 16'384;
constexpr std::string_view kWideDot = "\xEF\xBC\x8E";
constexpr std::string_view kWideCaret = "\xEF\xBC\xBE";

std::int64_t CountRunes(std::string_view text) {
  std::int64_t count = 0;
  while (!text.empty()) {
    text.remove_prefix(quantity::DecodeRune(text).width);
    ++count;
  }
  return count;
}

}  // namespace

void Errors::Report(std::size_t offset, std::string message) {
  if (++count_ > kMaxErrors) {
    return;
  }
  if (offset == kNowhere) {
    errors_.push_back({1, -1, std::move(message)});
    return;
  }
  const std::string_view before = source_.substr(0, std::min(offset, source_.size()));
  const std::size_t newline = before.rfind('\n');
  const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  errors_.push_back({std::ranges::count(before, '\n') + 1,
                     source_.empty() ? -1 : CountRunes(before.substr(start)),
                     std::move(message)});
}

void Errors::ReportNowhere(std::string message) {
  if (++count_ > kMaxErrors) {
    return;
  }
  errors_.push_back({-1, -1, std::move(message)});
}

std::string Errors::DisplayOne(const Error& error) const {
  std::string out =
      fmt::format("ERROR: <input>:{}:{}: {}", error.line, error.column + 1, error.message);
  if (error.line < 1 || source_.empty()) {
    return out;
  }
  std::size_t start = 0;
  for (std::int64_t line = 1; line < error.line; ++line) {
    start = source_.find('\n', start) + 1;
  }
  const std::size_t end = source_.find('\n', start);
  std::string snippet(source_.substr(start, end == std::string_view::npos ? end : end - start));
  if (snippet.size() > kMaxSnippet) {
    return out;
  }
  std::ranges::replace(snippet, '\t', ' ');
  out += "\n | ";
  out += snippet;
  out += "\n | ";
  std::string_view rest = snippet;
  for (std::int64_t i = 0; i < error.column && !rest.empty(); ++i) {
    const std::uint32_t width = quantity::DecodeRune(rest).width;
    out += width > 1 ? kWideDot : ".";
    rest.remove_prefix(width);
  }
  out += !rest.empty() && quantity::DecodeRune(rest).width > 1 ? kWideCaret : "^";
  return out;
}

std::string Errors::Display() const {
  // By place; errors at one place stay in the order of their reports.
  std::vector<const Error*> sorted;
  for (const Error& error : errors_) {
    sorted.push_back(&error);
  }
  std::ranges::sort(sorted, [](const Error* a, const Error* b) {
    return std::tuple(a->line, a->column, a) < std::tuple(b->line, b->column, b);
  });
  std::string out;
  for (const Error* error : sorted) {
    out += out.empty() ? "" : "\n";
    out += DisplayOne(*error);
  }
  if (count_ > kMaxErrors) {
    out += fmt::format("\n{} more errors were truncated", count_ - kMaxErrors);
  }
  return out;
}

}  // namespace allot::cel
