#include "cel/regex.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <re2/re2.h>

#include "quantity/go_text.h"

namespace allot::cel {

struct Regex::Impl {
  Impl(const std::string& pattern, const RE2::Options& options) : re(pattern, options) {}
  RE2 re;
  /// Whether RE2 may find an empty match inside a character, which Go never does.
  bool inside = false;

  bool Search(std::string_view text, std::size_t pos, re2::StringPiece* match) const {
    const re2::StringPiece all(text.data(), text.size());
    while (re.Match(all, pos, text.size(), RE2::UNANCHORED, match, match == nullptr ? 0 : 1)) {
      if (!inside || match == nullptr) {
        return true;
      }
      pos = static_cast<std::size_t>(match->data() - text.data());
      const auto is_inside = [&] {
        return pos < text.size() && (static_cast<unsigned char>(text[pos]) & 0xC0) == 0x80;
      };
      if (!match->empty() || !is_inside()) {
        return true;
      }
      while (is_inside()) {
        ++pos;
      }
    }
    return false;
  }
};

namespace {

// RE2 spells classes of characters out in bytes, which makes \\pL four hundred instructions.
// Unit: bytes; two thirds of it are for the instructions, of sixteen bytes.
constexpr std::int64_t kMaxMemory = std::int64_t{4} << 20;
constexpr std::int64_t kMaxInstructions = kMaxMemory * 2 / 3 / 16;

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

// Whether the counts of a repetition are wrong by themselves, and not together with those inside.
bool IsBadRepeat(std::string_view text) {
  constexpr int kMaxCount = 1000;
  const std::size_t comma = text.find(',');
  const auto number = [](std::string_view digits) {
    int out = 0;
    for (const char c : digits) {
      out = c >= '0' && c <= '9' ? std::min(out * 10 + (c - '0'), kMaxCount + 1) : out;
    }
    return out;
  };
  const int low = number(text.substr(0, comma));
  const int high = comma == std::string_view::npos ? low : number(text.substr(comma));
  return text.starts_with('{') && (low > kMaxCount || high > kMaxCount ||
                                   (low > high && text.find_first_of("}?") != comma + 1));
}

// A pattern in RE2's syntax of 2022, with the place in Go's pattern each byte comes from.
class Translation {
 public:
  explicit Translation(std::string_view pattern) : pattern_(pattern) {
    while (at_ < pattern.size()) {
      Step();
    }
    origin_.push_back(pattern.size());
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  /// The part of Go's pattern that a part of the translated one stands for.
  [[nodiscard]] std::string_view Original(std::string_view part) const {
    const std::size_t at = text_.find(part);
    // Only what complains about the name of a group can have begun with a rewritten one.
    if (at == std::string::npos || (part.starts_with("(?P") && !part.starts_with("(?P<"))) {
      return part;
    }
    const std::size_t start = origin_[at];
    return pattern_.substr(start, origin_[at + part.size()] - start);
  }

 private:
  enum class Place : std::uint8_t { kPlain, kClass, kQuote };

  void Copy(std::size_t count) {
    for (; count > 0 && at_ < pattern_.size(); --count, ++at_) {
      text_ += pattern_[at_];
      origin_.push_back(at_);
    }
  }
  // Writes something else for `count` bytes.
  void Replace(std::size_t count, std::string_view by) {
    for (std::size_t i = 0; i < by.size(); ++i) {
      text_ += by[i];
      origin_.push_back(at_ + std::min(i, count - 1));
    }
    at_ += count;
  }

  void Step() {
    const std::string_view rest = pattern_.substr(at_);
    if (place_ == Place::kQuote) {
      place_ = rest.starts_with("\\E") ? Place::kPlain : Place::kQuote;
      Copy(1);
    } else if (rest.starts_with("\\C")) {
      Replace(2, "\\y");  // Go has no \C, and nobody has \y
    } else if (rest.starts_with('\\')) {
      place_ = rest.starts_with("\\Q") && place_ == Place::kPlain ? Place::kQuote : place_;
      Copy(2);
    } else if (place_ == Place::kClass) {
      place_ = rest.starts_with(']') ? Place::kPlain : Place::kClass;
      Copy(1);
    } else if (rest.starts_with('[')) {
      place_ = Place::kClass;
      Copy(rest.starts_with("[^") ? 2 : 1);
      // A bracket right after the opening one is an ordinary member.
      Copy(pattern_.substr(at_).starts_with(']') ? 1 : 0);
    } else if (rest.starts_with("(?<") && rest.size() > 3) {
      Replace(3, "(?P<");
      CopyName();
    } else if (rest.starts_with("(?P<")) {
      Copy(4);
      CopyName();
    } else if (const std::size_t digits = LongNumber(rest); digits > 0) {
      Copy(1);
      Replace(digits, "9999");  // too many either way, but RE2 would take the brace for itself
    } else {
      Copy(1);
    }
  }

  // The name of a group. Go's have ASCII letters only, RE2's any; a hyphen is in neither.
  void CopyName() {
    const std::size_t end = std::min(pattern_.find('>', at_), pattern_.size());
    while (at_ < end) {
      if (static_cast<unsigned char>(pattern_[at_]) >= 0x80) {
        Replace(1, "-");
      } else {
        Copy(1);
      }
    }
  }

  // The length of a repeat count that RE2 does not read: nine digits and more.
  static std::size_t LongNumber(std::string_view rest) {
    constexpr std::size_t kReadable = 8;
    if (!rest.starts_with('{') && !rest.starts_with(',')) {
      return 0;
    }
    const std::size_t end = rest.find_first_not_of("0123456789", 1);
    const bool closed = end != std::string_view::npos && (rest[end] == '}' || rest[end] == ',');
    return closed && end - 1 > kReadable && rest[1] != '0' ? end - 1 : 0;
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  Place place_ = Place::kPlain;
  std::string text_;
  std::vector<std::size_t> origin_;
};

}  // namespace

Regex::Regex(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Regex::~Regex() = default;

base::Result<std::shared_ptr<const Regex>> Regex::CompileNew(std::string_view pattern,
                                                             RegexBudget& budget) {
  if (!quantity::IsValidUtf8(pattern)) {
    return Bad("invalid UTF-8", pattern);
  }
  if (budget.left <= 0) {
    return Bad(ErrorName(RE2::ErrorPatternTooLarge), pattern);
  }
  const Translation translation(pattern);
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxMemory);
  auto impl = std::make_unique<Impl>(translation.text(), options);
  budget.left -= impl->re.ok()                                        ? impl->re.ProgramSize()
                 : impl->re.error_code() == RE2::ErrorPatternTooLarge ? kMaxInstructions
                                                                      : 1;
  if (!impl->re.ok()) {
    const std::string& arg = impl->re.error_arg();
    if (impl->re.error_code() == RE2::ErrorBadUTF8) {
      return Bad(ErrorName(RE2::ErrorBadEscape), "\\x{");  // at the end of the pattern
    }
    std::string_view original = translation.Original(arg);
    if (impl->re.error_code() == RE2::ErrorRepeatSize && IsBadRepeat(original)) {
      original.remove_suffix(original.ends_with('?') ? 1 : 0);
    }
    return Bad(ErrorName(impl->re.error_code()),
               impl->re.error_code() == RE2::ErrorPatternTooLarge ? pattern : original);
  }
  impl->inside = pattern.contains("\\B");
  return std::shared_ptr<const Regex>(new Regex(std::move(impl)));
}

base::Result<std::shared_ptr<const Regex>> Regex::Compile(std::string_view pattern,
                                                          RegexBudget& budget) {
  struct Known {
    std::string pattern;
    std::shared_ptr<const Regex> regex;
  };
  constexpr std::size_t kKept = 8;
  thread_local std::array<Known, kKept> kept;
  thread_local std::size_t next = 0;
  for (const Known& known : kept) {
    if (known.regex != nullptr && known.pattern == pattern) {
      return known.regex;
    }
  }
  auto compiled = CompileNew(pattern, budget);
  if (compiled) {
    kept[next] = {std::string(pattern), *compiled};
    next = (next + 1) % kKept;
  }
  return compiled;
}

bool Regex::Matches(std::string_view text) const {
  re2::StringPiece match;
  return impl_->Search(text, 0, impl_->inside ? &match : nullptr);
}

std::string_view Regex::Find(std::string_view text) const {
  re2::StringPiece match;
  return impl_->Search(text, 0, &match) ? std::string_view(match.data(), match.size())
                                        : std::string_view();
}

std::vector<std::string_view> Regex::FindAll(std::string_view text, std::int64_t limit) const {
  std::vector<std::string_view> out;
  const std::size_t most =
      limit < 0 ? text.size() + 1
                : std::min<std::size_t>(static_cast<std::size_t>(limit), text.size() + 1);
  std::size_t previous_end = std::string_view::npos;
  for (std::size_t pos = 0; out.size() < most && pos <= text.size();) {
    re2::StringPiece match;
    if (!impl_->Search(text, pos, &match)) {
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
