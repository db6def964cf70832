#include "api/names.h"

#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>

namespace allot::api {
namespace {

constexpr std::string_view kLabelRegex = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view kSubdomainRegex =
    R"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)";
constexpr std::string_view kNameRegex = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

constexpr std::size_t kLabelMax = 63;
constexpr std::size_t kSubdomainMax = 253;

constexpr bool IsLower(char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool IsAlpha(char c) {
  return IsLower(c) || (c >= 'A' && c <= 'Z');
}
constexpr bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool IsAlnum(char c) {
  return IsAlpha(c) || IsDigit(c);
}
constexpr char ToLower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// `edge(inner*edge)?`.
template <typename Edge, typename Inner>
bool Matches(std::string_view text, Edge edge, Inner inner) {
  return !text.empty() && edge(text.front()) && edge(text.back()) &&
         std::ranges::all_of(text, [&](char c) { return edge(c) || inner(c); });
}

bool MatchesLabel(std::string_view text) {
  return Matches(
      text, [](char c) { return IsLower(c) || IsDigit(c); }, [](char c) { return c == '-'; });
}

/// Dot-separated labels.
bool MatchesSubdomain(std::string_view text) {
  for (std::size_t at = 0;;) {
    const auto dot = text.find('.', at);
    if (!MatchesLabel(text.substr(at, dot == std::string_view::npos ? dot : dot - at))) {
      return false;
    }
    if (dot == std::string_view::npos) {
      return true;
    }
    at = dot + 1;
  }
}

bool MatchesName(std::string_view text) {
  return Matches(text, IsAlnum, [](char c) { return c == '-' || c == '_' || c == '.'; });
}

std::string MaxLength(std::size_t max, LengthUnit unit) {
  return fmt::format(
      "must be no more than {} {}", max, unit == LengthUnit::kBytes ? "bytes" : "characters");
}

/// "<what> (e.g. 'a',  or 'b', regex used for validation is '<regex>')", the way Kubernetes puts
/// it.
std::string RegexProblem(std::string_view what,
                         std::string_view regex,
                         std::initializer_list<std::string_view> examples) {
  std::string out(what);
  out += " (e.g. ";
  bool first = true;
  for (const std::string_view example : examples) {
    out += fmt::format("{}'{}', ", first ? "" : " or ", example);
    first = false;
  }
  out += fmt::format("regex used for validation is '{}')", regex);
  return out;
}

std::string NameRegexProblem(std::string_view what) {
  return RegexProblem(what, kNameRegex, {"MyName", "my.name", "123-abc"});
}

void AppendDotProblems(std::string_view text, Problems& out) {
  if (text == ".") {
    out.emplace_back("must not be '.'");
  } else if (text == "..") {
    out.emplace_back("must not be '..'");
  } else if (text.starts_with("..")) {
    out.emplace_back("must not start with '..'");
  }
}

std::string Lowered(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), ToLower);
  return out;
}

}  // namespace

Problems DnsLabelProblems(std::string_view text, LengthUnit unit) {
  Problems out;
  if (text.size() > kLabelMax) {
    out.push_back(MaxLength(kLabelMax, unit));
  }
  if (!MatchesLabel(text)) {
    if (MatchesSubdomain(text)) {
      out.emplace_back("must not contain dots");
    } else {
      out.push_back(
          RegexProblem("a lowercase RFC 1123 label must consist of lower case alphanumeric "
                       "characters or '-', and must "
                       "start and end with an alphanumeric character",
                       kLabelRegex,
                       {"my-name", "123-abc"}));
    }
  }
  return out;
}

Problems DnsSubdomainProblems(std::string_view text, LengthUnit unit) {
  Problems out;
  if (text.size() > kSubdomainMax) {
    out.push_back(MaxLength(kSubdomainMax, unit));
  }
  if (!MatchesSubdomain(text)) {
    out.push_back(
        RegexProblem("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                     "characters, '-' or '.', and "
                     "must start and end with an alphanumeric character",
                     kSubdomainRegex,
                     {"example.com"}));
  }
  return out;
}

Problems DnsSubdomainWithUnderscoreProblems(std::string_view text) {
  Problems out;
  if (text.size() > kSubdomainMax) {
    out.push_back(MaxLength(kSubdomainMax, LengthUnit::kCharacters));
  }
  std::string plain(text);  // an underscore stands where a letter may
  std::ranges::replace(plain, '_', 'a');
  if (!MatchesSubdomain(plain) || text.ends_with('_') ||
      text.find("_.") != std::string_view::npos) {
    out.push_back(
        RegexProblem("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                     "characters, '_', '-' or '.', and "
                     "must start and end with an alphanumeric character",
                     R"(_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*)",
                     {"example.com"}));
  }
  return out;
}

Problems DnsSubdomainCaselessProblems(std::string_view text) {
  Problems out;
  if (text.size() > kSubdomainMax) {
    out.push_back(MaxLength(kSubdomainMax, LengthUnit::kBytes));
  }
  if (!MatchesSubdomain(Lowered(text))) {
    out.push_back(
        RegexProblem("an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', "
                     "and must start and end "
                     "with an alphanumeric character",
                     kSubdomainRegex,
                     {"Example.com"}));
  }
  return out;
}

Problems QualifiedNameProblems(std::string_view text) {
  constexpr std::string_view kWhat =
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
      "alphanumeric "
      "character";
  Problems out;
  std::string_view name = text;
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    if (text.find('/', slash + 1) != std::string_view::npos) {
      out.push_back(
          fmt::format("a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. "
                      "'example.com/MyName')",
                      NameRegexProblem(kWhat)));
      return out;
    }
    const std::string_view prefix = text.substr(0, slash);
    name = text.substr(slash + 1);
    if (prefix.empty()) {
      out.emplace_back("prefix part must be non-empty");
    } else {
      for (const std::string& problem : DnsSubdomainProblems(prefix, LengthUnit::kBytes)) {
        out.push_back("prefix part " + problem);
      }
    }
  }
  if (name.empty()) {
    out.emplace_back("name part must be non-empty");
  } else if (name.size() > kLabelMax) {
    out.push_back("name part " + MaxLength(kLabelMax, LengthUnit::kBytes));
  }
  if (!MatchesName(name)) {
    out.push_back("name part " + NameRegexProblem(kWhat));
  }
  return out;
}

Problems LabelValueProblems(std::string_view text) {
  Problems out;
  if (text.size() > kLabelMax) {
    out.push_back(MaxLength(kLabelMax, LengthUnit::kBytes));
  }
  if (!text.empty() && !MatchesName(text)) {
    out.push_back(
        RegexProblem("a valid label must be an empty string or consist of alphanumeric characters, "
                     "'-', '_' or '.', and "
                     "must start and end with an alphanumeric character",
                     "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?",
                     {"MyValue", "my_value", "12345"}));
  }
  return out;
}

Problems CIdentifierProblems(std::string_view text) {
  const bool good = !text.empty() && !IsDigit(text.front()) &&
                    std::ranges::all_of(text, [](char c) { return IsAlnum(c) || c == '_'; });
  if (good) {
    return {};
  }
  return {
      RegexProblem("a valid C identifier must start with alphabetic character or '_', followed by "
                   "a string of alphanumeric "
                   "characters or '_'",
                   "[A-Za-z_][A-Za-z0-9_]*",
                   {"my_name", "MY_NAME", "MyName"})};
}

Problems EnvVarNameProblems(std::string_view text) {
  if (text.empty()) {
    return {"environment variable name must be non-empty"};
  }
  if (std::ranges::any_of(text, [](char c) { return c < 0x20 || c == 0x7F || c == '='; })) {
    return {
        "a valid environment variable name must consist only of printable ASCII characters other "
        "than '='"};
  }
  return {};
}

Problems ConfigMapKeyProblems(std::string_view text) {
  Problems out;
  if (text.size() > kSubdomainMax) {
    out.push_back(MaxLength(kSubdomainMax, LengthUnit::kCharacters));
  }
  const bool good = !text.empty() && std::ranges::all_of(text, [](char c) {
    return IsAlnum(c) || c == '-' || c == '.' || c == '_';
  });
  if (!good) {
    out.push_back(
        RegexProblem("a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
                     "[-._a-zA-Z0-9]+",
                     {"key.name", "KEY_NAME", "key-name"}));
  }
  AppendDotProblems(text, out);
  return out;
}

Problems PortNameProblems(std::string_view text) {
  Problems out;
  if (text.size() > 15) {
    out.push_back(MaxLength(15, LengthUnit::kCharacters));
  }
  const auto allowed = [](char c) {
    return IsLower(c) || IsDigit(c) || c == '-';
  };
  if (text.empty() || !std::ranges::all_of(text, allowed)) {
    out.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (!std::ranges::any_of(text, IsLower)) {
    out.emplace_back("must contain at least one letter (a-z)");
  }
  if (text.find("--") != std::string_view::npos) {
    out.emplace_back("must not contain consecutive hyphens");
  }
  if (text.starts_with('-') || text.ends_with('-')) {
    out.emplace_back("must not begin or end with a hyphen");
  }
  return out;
}

Problems RangeProblems(std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) {
    return {};
  }
  return {fmt::format("must be between {} and {}, inclusive", low, high)};
}

Problems PortNumberProblems(std::int64_t port) {
  return RangeProblems(port, 1, 65535);
}

Problems HttpHeaderNameProblems(std::string_view text) {
  if (!text.empty() && std::ranges::all_of(text, [](char c) { return IsAlnum(c) || c == '-'; })) {
    return {};
  }
  return {RegexProblem("a valid HTTP header must consist of alphanumeric characters or '-'",
                       "[-A-Za-z0-9]+",
                       {"X-Header-Name"})};
}

Problems PathSegmentProblems(std::string_view text) {
  if (text == "." || text == "..") {
    return {fmt::format("may not be '{}'", text)};
  }
  Problems out;
  for (const char c : {'/', '%'}) {
    if (text.find(c) != std::string_view::npos) {
      out.push_back(fmt::format("may not contain '{}'", c));
    }
  }
  return out;
}

Problems ObjectNameProblems(NameRule rule, std::string_view text, bool prefix) {
  if (rule == NameRule::kPathSegment) {
    return PathSegmentProblems(text);
  }
  std::string masked;
  if (prefix && text.size() > 1 && text.ends_with('-')) {
    masked = fmt::format("{}a", text.substr(0, text.size() - 2));
    text = masked;
  }
  return rule == NameRule::kDnsLabel ? DnsLabelProblems(text) : DnsSubdomainProblems(text);
}

namespace {

/// Dot-separated identifiers of letters, digits and dashes; `numbers` forbids leading zeros of
/// numeric ones.
bool MatchesVersionTail(std::string_view text, bool numbers) {
  for (std::size_t at = 0;;) {
    const auto dot = text.find('.', at);
    const auto part = text.substr(at, dot == std::string_view::npos ? dot : dot - at);
    if (part.empty() || !std::ranges::all_of(part, [](char c) { return IsAlnum(c) || c == '-'; })) {
      return false;
    }
    if (numbers && part.size() > 1 && part.front() == '0' && std::ranges::all_of(part, IsDigit)) {
      return false;
    }
    if (dot == std::string_view::npos) {
      return true;
    }
    at = dot + 1;
  }
}

}  // namespace

bool IsSemver(std::string_view text) {
  const auto plus = text.find('+');
  if (plus != std::string_view::npos &&
      !MatchesVersionTail(text.substr(plus + 1), /*numbers=*/false)) {
    return false;
  }
  text = text.substr(0, plus);
  const auto dash = text.find('-');
  if (dash != std::string_view::npos &&
      !MatchesVersionTail(text.substr(dash + 1), /*numbers=*/true)) {
    return false;
  }
  text = text.substr(0, dash);
  return std::ranges::count(text, '.') == 2 &&
         std::ranges::all_of(text, [](char c) { return IsDigit(c) || c == '.'; }) &&
         MatchesVersionTail(text, /*numbers=*/true);
}

bool IsLowercaseUuid(std::string_view text) {
  if (text.size() != 36) {
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? c != '-' : !IsDigit(c) && !(c >= 'a' && c <= 'f')) {
      return false;
    }
  }
  return true;
}

}  // namespace allot::api
