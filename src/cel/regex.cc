#include "cel/regex.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include "quantity/go_text.h"

namespace allot::cel {

struct Regex::Impl {
  Impl(const std::string& pattern, const RE2::Options& options) : re(pattern, options) {}
  RE2 re;
};

namespace {

std::unexpected<base::Status> Bad(std::string_view what, std::string_view arg) {
  return base::Error(base::Reason::kInvalid,
                     fmt::format("error parsing regexp: {}: `{}`", what, arg));
}

// Go's names for what RE2 found wrong.
std::string_view ErrorName(RE2::ErrorCode code) {
  switch (code) {
    case RE2::ErrorBadEscape: return "invalid escape sequence";
    case RE2::ErrorBadCharClass: return "invalid character class";
    case RE2::ErrorBadCharRange: return "invalid character class range";
    case RE2::ErrorMissingBracket: return "missing closing ]";
    case RE2::ErrorMissingParen: return "missing closing )";
    case RE2::ErrorUnexpectedParen: return "unexpected )";
    case RE2::ErrorTrailingBackslash: return "trailing backslash at end of expression";
    case RE2::ErrorRepeatArgument: return "missing argument to repetition operator";
    case RE2::ErrorRepeatSize: return "invalid repeat count";
    case RE2::ErrorRepeatOp: return "invalid nested repetition operator";
    case RE2::ErrorBadPerlOp: return "invalid or unsupported Perl syntax";
    case RE2::ErrorBadUTF8: return "invalid UTF-8";
    case RE2::ErrorBadNamedCapture: return "invalid named capture";
    case RE2::ErrorPatternTooLarge: return "expression too large";
    default: return "internal error";
  }
}

// Rewrites (?<name> to (?P<name>, which RE2 of 2022 wants, and finds \C, which Go does not have.
bool Translate(std::string_view pattern, std::string& out) {
  bool in_class = false;
  bool in_quote = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view rest = pattern.substr(i);
    if (in_quote) {
      in_quote = !rest.starts_with("\\E");
    } else if (rest.starts_with("\\") && rest.size() > 1) {
      if (rest[1] == 'C') {
        return false;
      }
      in_quote = rest[1] == 'Q' && !in_class;
      out += rest[0];
      ++i;
      out += rest[1];
      continue;
    } else if (in_class) {
      in_class = rest[0] != ']';
    } else if (rest[0] == '[') {
      in_class = true;
      // A bracket right after the opening one is an ordinary member.
      const std::size_t first = rest.starts_with("[^") ? 2 : 1;
      if (rest.size() > first && rest[first] == ']') {
        out += rest.substr(0, first + 1);
        i += first;
        continue;
      }
    } else if (rest.starts_with("(?<") && rest.size() > 3 && rest[3] != '=' && rest[3] != '!') {
      out += "(?P<";
      i += 2;
      continue;
    }
    out += rest[0];
  }
  return true;
}

}  // namespace

Regex::Regex(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Regex::~Regex() = default;

base::Result<std::shared_ptr<const Regex>> Regex::Compile(std::string_view pattern) {
  std::string translated;
  if (!Translate(pattern, translated)) {
    return Bad("invalid escape sequence", "\\C");
  }
  if (!quantity::IsValidUtf8(pattern)) {
    return Bad("invalid UTF-8", pattern);
  }
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(64 << 20);
  auto impl = std::make_unique<Impl>(translated, options);
  if (!impl->re.ok()) {
    const std::string& arg = impl->re.error_arg();
    const bool whole = arg == translated;
    return Bad(ErrorName(impl->re.error_code()), whole ? pattern : std::string_view(arg));
  }
  return std::shared_ptr<const Regex>(new Regex(std::move(impl)));
}

bool Regex::Matches(std::string_view text) const {
  return impl_->re.Match(
      re2::StringPiece(text.data(), text.size()), 0, text.size(), RE2::UNANCHORED, nullptr, 0);
}

std::string_view Regex::Find(std::string_view text) const {
  re2::StringPiece match;
  const re2::StringPiece all(text.data(), text.size());
  return impl_->re.Match(all, 0, text.size(), RE2::UNANCHORED, &match, 1)
             ? std::string_view(match.data(), match.size())
             : std::string_view();
}

std::vector<std::string_view> Regex::FindAll(std::string_view text, std::int64_t limit) const {
  std::vector<std::string_view> out;
  const re2::StringPiece all(text.data(), text.size());
  const std::size_t most =
      limit < 0 ? text.size() + 1
                : std::min<std::size_t>(static_cast<std::size_t>(limit), text.size() + 1);
  std::size_t previous_end = std::string_view::npos;
  for (std::size_t pos = 0; out.size() < most && pos <= text.size();) {
    re2::StringPiece match;
    if (!impl_->re.Match(all, pos, text.size(), RE2::UNANCHORED, &match, 1)) {
      break;
    }
    const auto start = static_cast<std::size_t>(match.data() - text.data());
    const std::size_t end = start + match.size();
    bool accept = true;
    if (end == pos) {
      // An empty match right after another one does not count.
      accept = start != previous_end;
      pos += pos < text.size() ? quantity::DecodeRune(text.substr(pos)).width : 1;
    } else {
      pos = end;
    }
    previous_end = end;
    if (accept) {
      out.push_back(text.substr(start, match.size()));
    }
  }
  return out;
}

}  // namespace allot::cel
