#include "net/h1_parser.h"

#include <algorithm>
#include <array>

namespace allot::net {

namespace {

constexpr std::size_t kMaxChunkLine = 4096;
constexpr std::size_t kMaxMethod = 64;

bool IsTokenChar(char c) {
  static constexpr auto kTable = [] {
    std::array<bool, 256> table{};
    for (int i = '0'; i <= '9'; ++i) {
      table[static_cast<std::size_t>(i)] = true;
    }
    for (int i = 'a'; i <= 'z'; ++i) {
      table[static_cast<std::size_t>(i)] = true;
      table[static_cast<std::size_t>(i - 'a' + 'A')] = true;
    }
    for (const char mark : std::string_view("!#$%&'*+-.^_`|~")) {
      table[static_cast<unsigned char>(mark)] = true;
    }
    return table;
  }();
  return kTable[static_cast<unsigned char>(c)];
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenChar);
}

bool IsFieldValue(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= ' ' && byte != 0x7F);
  });
}

std::string_view TrimSpace(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string_view WithoutCr(std::string_view line) {
  if (!line.empty() && line.back() == '\r') {
    line.remove_suffix(1);
  }
  return line;
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

H1Parser::Event H1Parser::Fail(int status, std::string_view message) {
  state_ = State::kError;
  error_status_ = status;
  error_message_ = message;
  return Event::kError;
}

H1Parser::Event H1Parser::Next(std::string_view& input, std::string_view& piece) {
  switch (state_) {
    case State::kHead: return ParseHead(input);
    case State::kLength:
    case State::kChunkData: return NextBody(input, piece);
    case State::kUntilClose:
      if (input.empty()) {
        return Event::kNeedMore;
      }
      piece = input;
      input = {};
      return Event::kBody;
    case State::kChunkEnd:
      if (input.size() < 2 && (input.empty() || input[0] == '\r')) {
        return Event::kNeedMore;
      }
      if (input.substr(0, 2) != "\r\n") {
        return Fail(400, "chunk without its line end");
      }
      input.remove_prefix(2);
      state_ = State::kChunkSize;
      return NextChunkSize(input, piece);
    case State::kChunkSize: return NextChunkSize(input, piece);
    case State::kTrailer: return NextTrailer(input);
    case State::kEnd:
      state_ = State::kHead;
      begun_ = false;
      scanned_ = 0;
      return Event::kEnd;
    case State::kError: return Event::kError;
  }
  return Event::kError;
}

H1Parser::Event H1Parser::NextBody(std::string_view& input, std::string_view& piece) {
  if (input.empty()) {
    return Event::kNeedMore;
  }
  const auto take = static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, input.size()));
  piece = input.substr(0, take);
  input.remove_prefix(take);
  remaining_ -= take;
  if (remaining_ == 0) {
    state_ = state_ == State::kLength ? State::kEnd : State::kChunkEnd;
  }
  return Event::kBody;
}

H1Parser::Event H1Parser::AtEof() {
  if (state_ == State::kUntilClose) {
    state_ = State::kHead;
    begun_ = false;
    return Event::kEnd;
  }
  if (state_ == State::kHead && !begun_) {
    return Event::kNeedMore;
  }
  return Fail(400, "connection closed inside a message");
}

H1Parser::Event H1Parser::ParseHead(std::string_view& input) {
  // Empty lines before a message are skipped, as RFC 9112 2.2 asks.
  while (!begun_ && !input.empty() && (input.front() == '\r' || input.front() == '\n')) {
    if (input.front() == '\r' && input.size() == 1) {
      return Event::kNeedMore;
    }
    if (input.front() == '\r' && input[1] != '\n') {
      return Fail(400, "malformed start line");
    }
    input.remove_prefix(input.front() == '\r' ? 2 : 1);
  }
  if (input.empty()) {
    return Event::kNeedMore;
  }
  begun_ = true;
  // The head ends with an empty line; look for it only in what is new.
  std::size_t end = std::string_view::npos;
  std::size_t at = scanned_;
  while ((at = input.find('\n', at)) != std::string_view::npos) {
    const std::size_t next = at + 1;
    if (next < input.size() && input[next] == '\n') {
      end = next + 1;
      break;
    }
    if (next + 1 < input.size() && input[next] == '\r' && input[next + 1] == '\n') {
      end = next + 2;
      break;
    }
    if (next + 1 >= input.size()) {
      break;  // the next bytes decide
    }
    at = next;
  }
  if (end == std::string_view::npos) {
    scanned_ = at == std::string_view::npos ? input.size() : at;
    return input.size() > header_limit_ ? Fail(431, "the headers are too large") : Event::kNeedMore;
  }
  if (end > header_limit_) {
    return Fail(431, "the headers are too large");
  }
  std::string_view head = input.substr(0, end);
  input.remove_prefix(end);
  scanned_ = 0;
  headers_.Clear();
  keep_alive_ = true;
  bool first = true;
  while (true) {
    const std::size_t newline = head.find('\n');
    const std::string_view line = WithoutCr(head.substr(0, newline));
    head.remove_prefix(newline + 1);
    if (line.empty()) {
      break;
    }
    const bool fine = !first                    ? ParseHeader(line)
                      : kind_ == Kind::kRequest ? ParseRequestLine(line)
                                                : ParseStatusLine(line);
    if (!fine) {
      return Event::kError;
    }
    first = false;
  }
  return DecideBody() ? Event::kHead : Event::kError;
}

bool H1Parser::ParseVersion(std::string_view text) {
  if (text == "HTTP/1.1" || text == "HTTP/1.0") {
    minor_ = text.back() - '0';
    return true;
  }
  const bool looks_like_http = text.size() >= 6 && text.substr(0, 5) == "HTTP/";
  Fail(looks_like_http ? 505 : 400,
       looks_like_http ? "unsupported HTTP version" : "malformed start line");
  return false;
}

bool H1Parser::ParseRequestLine(std::string_view line) {
  const std::size_t space = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (space == std::string_view::npos || last == space) {
    Fail(400, "malformed start line");
    return false;
  }
  const std::string_view method = line.substr(0, space);
  const std::string_view target = line.substr(space + 1, last - space - 1);
  if (!IsToken(method) || method.size() > kMaxMethod || target.empty() ||
      std::any_of(target.begin(), target.end(), [](char c) {
        return static_cast<unsigned char>(c) <= ' ' || c == '\x7F';
      })) {
    Fail(400, "malformed start line");
    return false;
  }
  method_ = method;
  target_ = target;
  return ParseVersion(line.substr(last + 1));
}

bool H1Parser::ParseStatusLine(std::string_view line) {
  if (line.size() < 12 || line[8] != ' ' || (line.size() > 12 && line[12] != ' ')) {
    Fail(400, "malformed status line");
    return false;
  }
  status_ = 0;
  for (const char c : line.substr(9, 3)) {
    if (c < '0' || c > '9') {
      Fail(400, "malformed status line");
      return false;
    }
    status_ = status_ * 10 + (c - '0');
  }
  if (status_ < 100) {
    Fail(400, "malformed status line");
    return false;
  }
  return ParseVersion(line.substr(0, 8));
}

bool H1Parser::ParseHeader(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) {
    Fail(400, "malformed header line");
    return false;
  }
  const std::string_view value = TrimSpace(line.substr(colon + 1));
  if (!IsFieldValue(value)) {
    Fail(400, "malformed header value");
    return false;
  }
  headers_.Add(line.substr(0, colon), value);
  return true;
}

bool H1Parser::ReadContentLength() {
  bool seen = false;
  for (std::size_t i = 0; i < headers_.size(); ++i) {
    const HeaderList::Field field = headers_[i];
    if (field.name != "content-length") {
      continue;
    }
    std::uint64_t length = 0;
    const bool digits = !field.value.empty() && field.value.size() <= 18 &&
                        std::all_of(field.value.begin(), field.value.end(), [](char c) {
                          return c >= '0' && c <= '9';
                        });
    for (const char c : digits ? field.value : std::string_view()) {
      length = length * 10 + static_cast<std::uint64_t>(c - '0');
    }
    if (!digits || (seen && length != content_length_)) {
      Fail(400, "malformed content-length");
      return false;
    }
    content_length_ = length;
    seen = true;
  }
  if (seen) {
    body_ = content_length_ == 0 ? Body::kNone : Body::kLength;
  }
  return true;
}

bool H1Parser::DecideBody() {
  const std::string_view connection = headers_.Get("connection");
  keep_alive_ = minor_ == 1 ? !HasToken(connection, "close") : HasToken(connection, "keep-alive");
  content_length_ = kUnknownLength;
  std::size_t hosts = 0;
  std::string_view encoding;
  bool has_encoding = false;
  for (std::size_t i = 0; i < headers_.size(); ++i) {
    const HeaderList::Field field = headers_[i];
    hosts += field.name == "host" ? 1 : 0;
    if (field.name == "transfer-encoding") {
      if (has_encoding) {
        Fail(501, "unsupported transfer-encoding");
        return false;
      }
      encoding = field.value;
      has_encoding = true;
    }
  }
  const bool request = kind_ == Kind::kRequest;
  if (request && (hosts > 1 || (hosts == 0 && minor_ == 1))) {
    Fail(400, hosts == 0 ? "missing required Host header" : "more than one Host header");
    return false;
  }
  body_ = request ? Body::kNone : Body::kUntilClose;
  if (!ReadContentLength()) {
    return false;
  }
  if (has_encoding) {
    if (!HasToken(encoding, "chunked") || encoding.find(',') != std::string_view::npos) {
      Fail(501, "unsupported transfer-encoding");
      return false;
    }
    if (request && (content_length_ != kUnknownLength || minor_ == 0)) {
      Fail(400, "transfer-encoding beside content-length or in HTTP/1.0");
      return false;
    }
    content_length_ = kUnknownLength;
    body_ = Body::kChunked;
  }
  if (!request && (expect_no_body_ || status_ < 200 || status_ == 204 || status_ == 304)) {
    body_ = Body::kNone;
  }
  if (status_ >= 200) {
    expect_no_body_ = false;
  }
  trailer_bytes_ = 0;
  switch (body_) {
    case Body::kNone: state_ = State::kEnd; break;
    case Body::kLength:
      state_ = State::kLength;
      remaining_ = content_length_;
      break;
    case Body::kChunked: state_ = State::kChunkSize; break;
    case Body::kUntilClose:
      state_ = State::kUntilClose;
      keep_alive_ = false;
      break;
  }
  return true;
}

H1Parser::Event H1Parser::NextChunkSize(std::string_view& input, std::string_view& piece) {
  const std::size_t newline = input.find('\n', scanned_);
  if (newline == std::string_view::npos) {
    scanned_ = input.size();
    return input.size() > kMaxChunkLine ? Fail(400, "malformed chunk size") : Event::kNeedMore;
  }
  scanned_ = 0;
  std::string_view line = input.substr(0, newline);
  input.remove_prefix(newline + 1);
  if (line.empty() || line.back() != '\r' || line.size() > kMaxChunkLine) {
    return Fail(400, "malformed chunk size");
  }
  line.remove_suffix(1);
  line = line.substr(0, line.find(';'));
  line = TrimSpace(line);
  if (line.empty() || line.size() > 15) {
    return Fail(400, "malformed chunk size");
  }
  std::uint64_t size = 0;
  for (const char c : line) {
    const int digit = HexValue(c);
    if (digit < 0) {
      return Fail(400, "malformed chunk size");
    }
    size = size * 16 + static_cast<std::uint64_t>(digit);
  }
  if (size == 0) {
    state_ = State::kTrailer;
    return NextTrailer(input);
  }
  remaining_ = size;
  state_ = State::kChunkData;
  return NextBody(input, piece);
}

H1Parser::Event H1Parser::NextTrailer(std::string_view& input) {
  while (true) {
    const std::size_t newline = input.find('\n', scanned_);
    if (newline == std::string_view::npos) {
      scanned_ = input.size();
      return trailer_bytes_ + input.size() > header_limit_ ? Fail(431, "the trailers are too large")
                                                           : Event::kNeedMore;
    }
    scanned_ = 0;
    const std::string_view line = WithoutCr(input.substr(0, newline));
    input.remove_prefix(newline + 1);
    trailer_bytes_ += newline + 1;
    if (line.empty()) {
      state_ = State::kHead;
      begun_ = false;
      return Event::kEnd;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !IsToken(line.substr(0, colon)) ||
        trailer_bytes_ > header_limit_) {
      return Fail(400, "malformed trailer");
    }
  }
}

}  // namespace allot::net
