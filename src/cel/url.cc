#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "cel/net.h"
#include "quantity/go_text.h"

namespace allot::cel {
namespace {

using quantity::GoQuote;

enum class Mode : std::uint8_t { kPath, kHost, kZone, kUser, kQuery, kFragment };

bool IsUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '~';
}

bool ShouldEscape(char c, Mode mode) {
  if (IsUnreserved(c)) {
    return false;
  }
  const auto in = [c](std::string_view set) {
    return c != '\0' && set.contains(c);
  };
  switch (mode) {
    case Mode::kHost:
    case Mode::kZone: return !in("!$&'()*+,;=:[]<>\"");
    case Mode::kPath: return !in("$&+,/:;=@");
    case Mode::kUser: return !in("$&+,;=");
    case Mode::kQuery: return true;
    case Mode::kFragment: return !in("$&+,/:;=?@!()*");
  }
  return true;
}

int HexValue(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

std::optional<std::string> CheckEscape(std::string_view s, std::size_t i, Mode mode) {
  if (i + 2 >= s.size() || HexValue(s[i + 1]) < 0 || HexValue(s[i + 2]) < 0) {
    return fmt::format("invalid URL escape {}", GoQuote(s.substr(i, 3)));
  }
  const bool percent = s.substr(i, 3) == "%25";
  const bool bad_host = mode == Mode::kHost && HexValue(s[i + 1]) < 8 && !percent;
  const char value = static_cast<char>(HexValue(s[i + 1]) << 4 | HexValue(s[i + 2]));
  const bool bad_zone =
      mode == Mode::kZone && !percent && value != ' ' && ShouldEscape(value, Mode::kHost);
  if (bad_host || bad_zone) {
    return fmt::format("invalid URL escape {}", GoQuote(s.substr(i, 3)));
  }
  return std::nullopt;
}

// Decodes; the error text is in `error` when false.
bool Unescape(std::string_view s, Mode mode, std::string& out, std::string& error) {
  std::string decoded;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '%') {
      if (auto bad = CheckEscape(s, i, mode)) {
        error = *std::move(bad);
        return false;
      }
      decoded += static_cast<char>(HexValue(s[i + 1]) << 4 | HexValue(s[i + 2]));
      i += 2;
    } else if (s[i] == '+' && mode == Mode::kQuery) {
      decoded += ' ';
    } else if ((mode == Mode::kHost || mode == Mode::kZone) &&
               static_cast<unsigned char>(s[i]) < 0x80 && ShouldEscape(s[i], mode)) {
      error = fmt::format("invalid character {} in host name", GoQuote(s.substr(i, 1)));
      return false;
    } else {
      decoded += s[i];
    }
  }
  out = std::move(decoded);
  return true;
}

std::string Escape(std::string_view s, Mode mode) {
  std::string out;
  for (const char c : s) {
    if (ShouldEscape(c, mode)) {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

bool ValidEncoded(std::string_view s, Mode mode) {
  return std::ranges::all_of(s, [mode](char c) {
    return std::string_view("!$&'()*+,;=:@[]%").contains(c) ? c != '\0' : !ShouldEscape(c, mode);
  });
}

bool ValidOptionalPort(std::string_view port) {
  return port.empty() || (port[0] == ':' && std::ranges::all_of(port.substr(1), [](char c) {
                            return c >= '0' && c <= '9';
                          }));
}

// Go's split into scheme and rest. False: the scheme is missing before a colon.
bool SplitScheme(std::string_view raw, std::string& scheme, std::string_view& rest) {
  rest = raw;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const char c = raw[i];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      continue;
    }
    if ((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.') {
      if (i == 0) {
        return true;
      }
      continue;
    }
    if (c != ':') {
      return true;
    }
    if (i == 0) {
      return false;
    }
    scheme = raw.substr(0, i);
    for (char& letter : scheme) {
      letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    }
    rest = raw.substr(i + 1);
    return true;
  }
  return true;
}

class Parser {
 public:
  Parser(std::string_view raw, bool via_request) : raw_(raw), via_request_(via_request) {}

  // Empty: parsed into url().
  std::string Run() {
    if (std::ranges::any_of(
            raw_, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; })) {
      return "net/url: invalid control character in URL";
    }
    if (raw_.empty() && via_request_) {
      return "empty url";
    }
    if (raw_ == "*") {
      url_.path = "*";
      return "";
    }
    std::string_view rest;
    if (!SplitScheme(raw_, url_.scheme, rest)) {
      return "missing protocol scheme";
    }
    if (rest.ends_with('?') && std::ranges::count(rest, '?') == 1) {
      url_.force_query = true;
      rest.remove_suffix(1);
    } else if (const std::size_t mark = rest.find('?'); mark != std::string_view::npos) {
      url_.raw_query = rest.substr(mark + 1);
      rest = rest.substr(0, mark);
    }
    if (!rest.starts_with('/')) {
      if (!url_.scheme.empty()) {
        url_.opaque = rest;
        return "";
      }
      if (via_request_) {
        return "invalid URI for request";
      }
      if (rest.substr(0, rest.find('/')).contains(':')) {
        return "first path segment in URL cannot contain colon";
      }
    }
    return Hierarchy(rest);
  }
  [[nodiscard]] Url& url() { return url_; }

 private:
  std::string Hierarchy(std::string_view rest) {
    const bool may_have_host = !url_.scheme.empty() || (!via_request_ && !rest.starts_with("///"));
    if (may_have_host && rest.starts_with("//")) {
      std::string_view authority = rest.substr(2);
      const std::size_t slash = authority.find('/');
      rest = slash == std::string_view::npos ? std::string_view() : authority.substr(slash);
      authority = authority.substr(0, slash);
      if (std::string error = Authority(authority); !error.empty()) {
        return error;
      }
    } else if (!url_.scheme.empty() && rest.starts_with('/')) {
      url_.omit_host = true;
    }
    std::string error;
    if (!Unescape(rest, Mode::kPath, url_.path, error)) {
      return error;
    }
    if (Escape(url_.path, Mode::kPath) != rest) {
      url_.raw_path = rest;
    }
    return "";
  }

  std::string Authority(std::string_view authority) {
    const std::size_t at = authority.rfind('@');
    const std::string_view host =
        at == std::string_view::npos ? authority : authority.substr(at + 1);
    if (std::string error = Host(host); !error.empty()) {
      return error;
    }
    if (at == std::string_view::npos) {
      return "";
    }
    const std::string_view user = authority.substr(0, at);
    if (!std::ranges::all_of(user, [](char c) {
          return IsUnreserved(c) || (c != '\0' && std::string_view(":!$&'()*+,;=%@").contains(c));
        })) {
      return "net/url: invalid userinfo";
    }
    url_.has_user = true;
    const std::size_t colon = user.find(':');
    std::string name;
    std::string error;
    if (!Unescape(user.substr(0, colon), Mode::kUser, name, error)) {
      return error;
    }
    url_.user = Escape(name, Mode::kUser);
    if (colon != std::string_view::npos) {
      std::string password;
      if (!Unescape(user.substr(colon + 1), Mode::kUser, password, error)) {
        return error;
      }
      url_.user += ":" + Escape(password, Mode::kUser);
    }
    return "";
  }

  std::string BadPort(std::string_view port) {
    return fmt::format("invalid port {} after host", GoQuote(port));
  }

  std::string Host(std::string_view host) {
    const std::size_t open = host.rfind('[');
    if (open != std::string_view::npos && open > 0) {
      return "invalid IP-literal";
    }
    if (open == 0) {
      return Literal(host);
    }
    if (std::size_t colon = host.find(':'); colon != std::string_view::npos) {
      const bool strict = url_.scheme == "http" || url_.scheme == "https";
      if (!strict) {
        colon = host.rfind(':');
      }
      if (!ValidOptionalPort(host.substr(colon))) {
        return BadPort(host.substr(colon));
      }
    }
    std::string error;
    Unescape(host, Mode::kHost, url_.host, error);
    return error;
  }

  std::string Literal(std::string_view host) {
    const std::size_t close = host.rfind(']');
    if (close == std::string_view::npos) {
      return "missing ']' in host";
    }
    const std::string_view port = host.substr(close + 1);
    if (!ValidOptionalPort(port)) {
      return BadPort(port);
    }
    const std::string_view inner = host.substr(1, close - 1);
    const std::size_t zone = inner.find("%25");
    std::string name;
    std::string error;
    if (!Unescape(inner.substr(0, zone), Mode::kHost, name, error)) {
      return error;
    }
    if (zone != std::string_view::npos) {
      std::string zone_name;
      if (!Unescape(inner.substr(zone), Mode::kZone, zone_name, error)) {
        return error;
      }
      name += zone_name;
    }
    // Only an IPv6 address may stand in brackets; the address parser gives the text.
    const std::string wanted =
        fmt::format("IP Address {} parse error during conversion from string: ", GoQuote(name));
    if (const auto ip = ParseIp(name); !ip) {
      const std::string& message = ip.error().message();
      if (message.starts_with(wanted)) {
        return "invalid host: " + message.substr(wanted.size());
      }
    } else if (!ip->v6) {
      return "invalid IP-literal";
    }
    url_.host = "[" + name + "]" + std::string(port);
    return "";
  }

  std::string_view raw_;
  bool via_request_;
  Url url_;
};

std::unexpected<base::Status> ParseError(std::string_view raw, std::string_view why) {
  return base::Error(base::Reason::kInvalid, fmt::format("parse {}: {}", GoQuote(raw), why));
}

std::pair<std::string_view, std::string_view> SplitHostPort(std::string_view host) {
  std::string_view port;
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && ValidOptionalPort(host.substr(colon))) {
    port = host.substr(colon + 1);
    host = host.substr(0, colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  return {host, port};
}

// The original spelling of a part when it is a valid one of what it means.
std::string Spelling(std::string_view raw, std::string_view decoded, Mode mode) {
  if (!raw.empty() && ValidEncoded(raw, mode)) {
    std::string again;
    std::string error;
    if (Unescape(raw, mode, again, error) && again == decoded) {
      return std::string(raw);
    }
  }
  return Escape(decoded, mode);
}

}  // namespace

std::string Url::Hostname() const {
  return std::string(SplitHostPort(host).first);
}
std::string Url::Port() const {
  return std::string(SplitHostPort(host).second);
}

std::string Url::EscapedPath() const {
  return raw_path.empty() && path == "*" ? "*" : Spelling(raw_path, path, Mode::kPath);
}

std::string Url::ToString() const {
  std::string out;
  if (!scheme.empty()) {
    out += scheme + ":";
  }
  if (!opaque.empty()) {
    out += opaque;
  } else {
    const bool named = !scheme.empty() || !host.empty() || has_user;
    if (named && !(omit_host && host.empty() && !has_user)) {
      if (!host.empty() || !path.empty() || has_user) {
        out += "//";
      }
      if (has_user) {
        out += user + "@";
      }
      out += Escape(host, Mode::kHost);
    }
    const std::string escaped = EscapedPath();
    if (!escaped.empty() && escaped[0] != '/' && !host.empty()) {
      out += '/';
    }
    if (out.empty() && escaped.substr(0, escaped.find('/')).find(':') != std::string::npos) {
      out += "./";
    }
    out += escaped;
  }
  if (force_query || !raw_query.empty()) {
    out += "?" + raw_query;
  }
  if (!fragment.empty()) {
    out += "#" + Spelling(raw_fragment, fragment, Mode::kFragment);
  }
  return out;
}

std::vector<std::pair<std::string, std::vector<std::string>>> Url::Query() const {
  std::vector<std::pair<std::string, std::vector<std::string>>> out;
  std::string_view rest = raw_query;
  while (!rest.empty()) {
    const std::size_t amp = rest.find('&');
    const std::string_view pair = rest.substr(0, amp);
    rest.remove_prefix(amp == std::string_view::npos ? rest.size() : amp + 1);
    if (pair.empty() || pair.contains(';')) {
      continue;
    }
    const std::size_t equals = pair.find('=');
    std::string key;
    std::string value;
    std::string error;
    if (!Unescape(pair.substr(0, equals), Mode::kQuery, key, error) ||
        !Unescape(equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1),
                  Mode::kQuery,
                  value,
                  error)) {
      continue;
    }
    const auto found = std::ranges::find(out, key, &decltype(out)::value_type::first);
    if (found == out.end()) {
      out.push_back({std::move(key), {std::move(value)}});
    } else {
      found->second.push_back(std::move(value));
    }
  }
  return out;
}

base::Result<Url> ParseRequestUri(std::string_view text) {
  Parser parser(text, /*via_request=*/true);
  if (const std::string error = parser.Run(); !error.empty()) {
    return ParseError(text, error);
  }
  return std::move(parser.url());
}

base::Result<Url> ParseUrl(std::string_view text) {
  ALLOT_RETURN_IF_ERROR(ParseRequestUri(text));
  const std::size_t hash = text.find('#');
  const std::string_view before = text.substr(0, hash);
  Parser parser(before, /*via_request=*/false);
  if (const std::string error = parser.Run(); !error.empty()) {
    return ParseError(before, error);
  }
  Url url = std::move(parser.url());
  const std::string_view fragment =
      hash == std::string_view::npos ? std::string_view() : text.substr(hash + 1);
  std::string error;
  if (!Unescape(fragment, Mode::kFragment, url.fragment, error)) {
    return ParseError(text, error);
  }
  if (Escape(url.fragment, Mode::kFragment) != fragment) {
    url.raw_fragment = fragment;
  }
  return url;
}

}  // namespace allot::cel
