#include "cel/named_format.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cel/net.h"
#include "quantity/time.h"

namespace allot::cel {
namespace {

using Messages = std::vector<std::string>;

constexpr std::string_view kLabelRegex = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view kSubdomainRegex =
    "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
constexpr std::string_view kKeyRegex = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsLower(char c) {
  return c >= 'a' && c <= 'z';
}
bool IsAlnum(char c) {
  return IsDigit(c) || IsLower(c) || (c >= 'A' && c <= 'Z');
}

std::string RegexError(std::string_view message,
                       std::string_view regex,
                       std::initializer_list<std::string_view> examples) {
  std::string out(message);
  out += " (e.g. ";
  bool first = true;
  for (const std::string_view example : examples) {
    out += first ? "" : " or ";
    first = false;
    out += fmt::format("'{}', ", example);
  }
  return out + fmt::format("regex used for validation is '{}')", regex);
}

bool MatchesLabel(std::string_view text, bool letter_first = false) {
  if (text.empty() || text.front() == '-' || text.back() == '-' ||
      (letter_first && !IsLower(text.front()))) {
    return false;
  }
  return std::ranges::all_of(text, [](char c) { return IsDigit(c) || IsLower(c) || c == '-'; });
}

bool MatchesSubdomain(std::string_view text) {
  for (;;) {
    const std::size_t dot = text.find('.');
    if (!MatchesLabel(text.substr(0, dot))) {
      return false;
    }
    if (dot == std::string_view::npos) {
      return true;
    }
    text.remove_prefix(dot + 1);
  }
}

bool MatchesKey(std::string_view text) {
  return !text.empty() && IsAlnum(text.front()) && IsAlnum(text.back()) &&
         std::ranges::all_of(text,
                             [](char c) { return IsAlnum(c) || c == '-' || c == '_' || c == '.'; });
}

Messages Label(std::string_view text) {
  Messages out;
  if (text.size() > 63) {
    out.emplace_back("must be no more than 63 characters");
  }
  if (!MatchesLabel(text)) {
    out.push_back(
        MatchesSubdomain(text)
            ? "must not contain dots"
            : RegexError("a lowercase RFC 1123 label must consist of lower case alphanumeric "
                         "characters or '-', and must start and end with an alphanumeric character",
                         kLabelRegex,
                         {"my-name", "123-abc"}));
  }
  return out;
}

Messages SubdomainIn(std::string_view text, std::string_view unit) {
  Messages out;
  if (text.size() > 253) {
    out.push_back(fmt::format("must be no more than 253 {}", unit));
  }
  if (!MatchesSubdomain(text)) {
    out.push_back(RegexError(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
        "'.', and must start and end with an alphanumeric character",
        kSubdomainRegex,
        {"example.com"}));
  }
  return out;
}

Messages Subdomain(std::string_view text) {
  return SubdomainIn(text, "characters");
}

Messages Label1035(std::string_view text) {
  Messages out;
  if (text.size() > 63) {
    out.emplace_back("must be no more than 63 characters");
  }
  if (!MatchesLabel(text, /*letter_first=*/true)) {
    out.push_back(RegexError(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
        "alphabetic character, and end with an alphanumeric character",
        "[a-z]([-a-z0-9]*[a-z0-9])?",
        {"my-name", "abc-123"}));
  }
  return out;
}

// A prefix may end in dashes: the last one is taken for a letter.
std::string MaskDash(std::string_view text) {
  std::string out(text);
  if (out.size() > 1 && out.ends_with('-')) {
    out.resize(out.size() - 2);
    out += 'a';
  }
  return out;
}

Messages LabelPrefix(std::string_view text) {
  return Label(MaskDash(text));
}
Messages SubdomainPrefix(std::string_view text) {
  return Subdomain(MaskDash(text));
}
Messages Label1035Prefix(std::string_view text) {
  return Label1035(MaskDash(text));
}

Messages QualifiedName(std::string_view text) {
  Messages out;
  const std::string key_error = RegexError(
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
      "with an alphanumeric character",
      kKeyRegex,
      {"MyName", "my.name", "123-abc"});
  const auto slashes = std::ranges::count(text, '/');
  if (slashes > 1) {
    out.push_back("a valid label key " + key_error +
                  " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
    return out;
  }
  std::string_view name = text;
  if (slashes == 1) {
    const std::size_t slash = text.find('/');
    const std::string_view prefix = text.substr(0, slash);
    name = text.substr(slash + 1);
    if (prefix.empty()) {
      out.emplace_back("prefix part must be non-empty");
    }
    for (const std::string& message : prefix.empty() ? Messages() : SubdomainIn(prefix, "bytes")) {
      out.push_back("prefix part " + message);
    }
  }
  if (name.empty()) {
    out.emplace_back("name part must be non-empty");
  } else if (name.size() > 63) {
    out.emplace_back("name part must be no more than 63 bytes");
  }
  if (!MatchesKey(name)) {
    out.push_back("name part " + key_error);
  }
  return out;
}

Messages LabelValue(std::string_view text) {
  Messages out;
  if (text.size() > 63) {
    out.emplace_back("must be no more than 63 bytes");
  }
  if (!text.empty() && !MatchesKey(text)) {
    out.push_back(RegexError(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
        "'.', and must start and end with an alphanumeric character",
        fmt::format("({})?", kKeyRegex),
        {"MyValue", "my_value", "12345"}));
  }
  return out;
}

Messages Uri(std::string_view text) {
  const auto parsed = ParseRequestUri(text);
  return parsed ? Messages() : Messages{parsed.error().message()};
}

Messages When(bool valid, std::string_view message) {
  return valid ? Messages() : Messages{std::string(message)};
}

Messages Uuid(std::string_view text) {
  constexpr std::array<int, 5> kGroups = {8, 4, 4, 4, 12};
  for (std::size_t group = 0; group < kGroups.size(); ++group) {
    if (group > 0 && text.starts_with('-')) {
      text.remove_prefix(1);
    }
    for (int i = 0; i < kGroups[group]; ++i) {
      const char c = text.empty() ? '\0' : text[0];
      if (!IsDigit(c) && (c < 'a' || c > 'f') && (c < 'A' || c > 'F')) {
        return When(false, "does not match the UUID format");
      }
      text.remove_prefix(1);
    }
  }
  return When(text.empty(), "does not match the UUID format");
}

Messages Byte(std::string_view text) {
  bool valid = !text.empty() && text.size() % 4 == 0;
  std::string_view body = text;
  for (int i = 0; i < 2 && body.ends_with('='); ++i) {
    body.remove_suffix(1);
  }
  valid =
      valid && std::ranges::all_of(body, [](char c) { return IsAlnum(c) || c == '+' || c == '/'; });
  return When(valid, "invalid base64");
}

bool IsDate(std::string_view text) {
  return text.size() == 10 && quantity::ParseTime(std::string(text) + "T00:00:00Z").has_value();
}

Messages Date(std::string_view text) {
  return When(IsDate(text), "invalid date");
}

// hh:mm:ss, an optional fraction after any one character, then z or an offset.
bool IsClock(std::string_view text) {
  const auto digits = [&text](std::size_t at) {
    return at + 1 < text.size() && IsDigit(text[at]) && IsDigit(text[at + 1]);
  };
  if (text.size() < 9 || !digits(0) || text[2] != ':' || !digits(3) || text[5] != ':' ||
      !digits(6) || text.substr(0, 2) > "23" || text.substr(3, 2) > "59" ||
      text.substr(6, 2) > "59") {
    return false;
  }
  const auto is_zone = [](std::string_view zone) {
    return zone == "z" ||
           (zone.size() == 6 && (zone[0] == '+' || zone[0] == '-') && IsDigit(zone[1]) &&
            IsDigit(zone[2]) && zone[3] == ':' && IsDigit(zone[4]) && IsDigit(zone[5]));
  };
  const std::string_view rest = text.substr(8);
  std::size_t end = 1;
  while (end < rest.size() && IsDigit(rest[end])) {
    ++end;
  }
  return is_zone(rest) || (end > 1 && rest[0] != '\n' && is_zone(rest.substr(end)));
}

Messages DateTime(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  const std::size_t t = lower.find('t');
  bool valid = lower.size() >= 4 && t != std::string::npos && IsDate(lower.substr(0, t));
  if (valid) {
    const std::string_view rest = std::string_view(lower).substr(t + 1);
    valid = IsClock(rest.substr(0, rest.find('t')));
  }
  return When(valid, "invalid datetime");
}

constexpr std::array kFormats = {
    FormatRep{"dns1123Label", "DNS1123Label", Label, 30},
    FormatRep{"dns1123Subdomain", "DNS1123Subdomain", Subdomain, 60},
    FormatRep{"dns1035Label", "DNS1035Label", Label1035, 30},
    FormatRep{"qualifiedName", "QualifiedName", QualifiedName, 60},
    FormatRep{"dns1123LabelPrefix", "DNS1123LabelPrefix", LabelPrefix, 30},
    FormatRep{"dns1123SubdomainPrefix", "DNS1123SubdomainPrefix", SubdomainPrefix, 60},
    FormatRep{"dns1035LabelPrefix", "DNS1035LabelPrefix", Label1035Prefix, 30},
    FormatRep{"labelValue", "LabelValue", LabelValue, 40},
    FormatRep{"uri", "URI", Uri, 1103},
    FormatRep{"uuid", "uuid", Uuid, 70},
    FormatRep{"byte", "byte", Byte, 84},
    FormatRep{"date", "date", Date, 71},
    FormatRep{"datetime", "datetime", DateTime, 71},
};

}  // namespace

std::span<const FormatRep> NamedFormats() {
  return kFormats;
}

}  // namespace allot::cel
