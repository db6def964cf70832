#include "net/http.h"

#include <algorithm>

namespace allot::net {

namespace {

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool EqualFold(std::string_view a, std::string_view b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return Lower(x) == Lower(y); });
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char lower = Lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::optional<std::string> Decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) {
        return std::nullopt;
      }
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high < 0 || low < 0) {
        return std::nullopt;
      }
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    } else {
      out.push_back(plus_is_space && c == '+' ? ' ' : c);
    }
  }
  return out;
}

}  // namespace

HeaderList::HeaderList(std::initializer_list<Field> fields) {
  spans_.reserve(fields.size());
  for (const Field& field : fields) {
    Add(field.name, field.value);
  }
}

void HeaderList::Add(std::string_view name, std::string_view value) {
  const std::size_t offset = text_.size();
  if (text_.capacity() == text_.size()) {
    text_.reserve(std::max<std::size_t>(256, text_.size() * 2));
  }
  for (const char c : name) {
    text_.push_back(Lower(c));
  }
  text_.append(value);
  spans_.push_back({static_cast<std::uint32_t>(offset),
                    static_cast<std::uint32_t>(name.size()),
                    static_cast<std::uint32_t>(value.size())});
}

void HeaderList::Set(std::string_view name, std::string_view value) {
  HeaderList kept;
  for (std::size_t i = 0; i < size(); ++i) {
    const Field field = (*this)[i];
    if (!EqualFold(field.name, name)) {
      kept.Add(field.name, field.value);
    }
  }
  kept.Add(name, value);
  *this = std::move(kept);
}

std::optional<std::string_view> HeaderList::Find(std::string_view name) const {
  for (const Span& span : spans_) {
    if (span.name_size == name.size() && text_.compare(span.offset, name.size(), name) == 0) {
      return std::string_view(text_).substr(span.offset + span.name_size, span.value_size);
    }
  }
  return std::nullopt;
}

HeaderList::Field HeaderList::operator[](std::size_t index) const {
  const Span& span = spans_[index];
  const std::string_view text = text_;
  return {text.substr(span.offset, span.name_size),
          text.substr(span.offset + span.name_size, span.value_size)};
}

void HeaderList::Clear() {
  text_.clear();
  spans_.clear();
}

QueryParameters QueryParameters::Parse(std::string_view text) {
  QueryParameters out;
  while (!text.empty()) {
    const std::size_t end = text.find('&');
    const std::string_view pair = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (pair.empty() || pair.find(';') != std::string_view::npos) {
      continue;
    }
    const std::size_t equals = pair.find('=');
    auto name = Decode(pair.substr(0, equals), /*plus_is_space=*/true);
    auto value = equals == std::string_view::npos
                     ? std::optional<std::string>("")
                     : Decode(pair.substr(equals + 1), /*plus_is_space=*/true);
    if (name && value) {
      out.pairs_.emplace_back(std::move(*name), std::move(*value));
    }
  }
  return out;
}

std::optional<std::string_view> QueryParameters::Find(std::string_view name) const {
  for (const auto& [key, value] : pairs_) {
    if (key == name) {
      return value;
    }
  }
  return std::nullopt;
}

std::string_view StatusText(int status) {
  switch (status) {
    case 100: return "Continue";
    case 101: return "Switching Protocols";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Request Entity Too Large";
    case 414: return "Request URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Entity";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    case 507: return "Insufficient Storage";
    default: return "";
  }
}

std::optional<std::string> PercentDecode(std::string_view text) {
  return Decode(text, /*plus_is_space=*/false);
}

std::string PercentEncode(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.push_back('%');
      out.push_back(kHex[byte >> 4U]);
      out.push_back(kHex[byte & 15U]);
    }
  }
  return out;
}

bool SplitTarget(std::string_view target, Request& request) {
  request.target = target;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (target.substr(0, scheme.size()) == scheme) {
      const std::size_t slash = target.find_first_of("/?", scheme.size());
      target = slash == std::string_view::npos ? std::string_view("/") : target.substr(slash);
      break;
    }
  }
  const std::size_t fragment = target.find('#');
  target = target.substr(0, fragment);
  const std::size_t question = target.find('?');
  std::string_view path = target.substr(0, question);
  if (path.empty() && question == 0) {
    path = "/";  // http://host?query
  }
  if (path.empty() || (path.front() != '/' && path != "*")) {
    return false;
  }
  for (const char c : target) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '\x7F') {
      return false;
    }
  }
  auto decoded = PercentDecode(path);
  if (!decoded || decoded->find('\0') != std::string::npos) {
    return false;
  }
  request.path = std::move(*decoded);
  if (question != std::string_view::npos) {
    request.raw_query = target.substr(question + 1);
    request.query = QueryParameters::Parse(request.raw_query);
  }
  return true;
}

bool HasToken(std::string_view value, std::string_view token) {
  while (!value.empty()) {
    const std::size_t comma = value.find(',');
    std::string_view item = value.substr(0, comma);
    value = comma == std::string_view::npos ? std::string_view() : value.substr(comma + 1);
    const std::size_t semicolon = item.find(';');
    const std::string_view parameters =
        semicolon == std::string_view::npos ? std::string_view() : Trim(item.substr(semicolon + 1));
    item = Trim(item.substr(0, semicolon));
    if (!EqualFold(item, token)) {
      continue;
    }
    const bool zero = parameters.substr(0, 2) == "q=" &&
                      parameters.substr(2).find_first_not_of("0.") == std::string_view::npos;
    return !zero;
  }
  return false;
}

}  // namespace allot::net
