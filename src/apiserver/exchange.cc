#include "apiserver/exchange.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "net/gzip.h"

namespace allot::apiserver {
namespace {

/// Go's quoting of a warning text: quotes and backslashes escaped, control characters left out.
std::string QuoteWarning(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) {
      out += c;
    }
  }
  return out + "\"";
}

/// All warnings of one answer together; the rest is left out, as upstream does.
constexpr std::size_t kWarningBytes = 4096;

}  // namespace

Exchange::~Exchange() {
  if (finished) {
    finished(*this);
  }
}

net::HeaderList Exchange::Headers(std::string_view content_type) const {
  net::HeaderList headers{{"content-type", content_type}, {"cache-control", "no-cache, private"}};
  std::size_t bytes = 0;
  for (const std::string& warning : warnings) {
    const std::string value = fmt::format("299 - {}", QuoteWarning(warning));
    bytes += value.size();
    if (bytes > kWarningBytes) {
      break;
    }
    headers.Add("warning", value);
  }
  return headers;
}

void Exchange::Warn(std::string text) {
  if (std::ranges::find(warnings, text) == warnings.end()) {
    warnings.push_back(std::move(text));
  }
}

std::string_view Exchange::Agent() const {
  const std::string_view agent = request->headers.Get("user-agent");
  const std::string_view word = agent.substr(0, agent.find('/'));
  return word.empty() ? std::string_view("unknown") : word;
}

void Exchange::Send(int status, std::string_view content_type, std::string body) {
  code = status;
  net::HeaderList headers = Headers(content_type);
  if (body.size() > net::kGzipThreshold &&
      net::HasToken(request->headers.Get("accept-encoding"), "gzip")) {
    body = net::GzipLevel1(body);
    headers.Add("content-encoding", "gzip");
    headers.Add("vary", "Accept-Encoding");
  }
  writer->Send(status, headers, net::Bytes(std::move(body)));
}

void Exchange::SendEncoded(int status, std::string body) {
  Send(status, MimeType(choice.format), std::move(body));
}

void Exchange::SendError(const base::Status& status) {
  code = status.code();
  MediaChoice plain = choice;
  plain.shape = Shape::kObject;
  net::HeaderList headers = Headers(MimeType(plain.format));
  if (status.details() != nullptr && status.details()->retry_after_seconds > 0) {
    headers.Add("retry-after", fmt::format("{}", status.details()->retry_after_seconds));
  } else if (status.reason() == base::Reason::kTooManyRequests) {
    headers.Add("retry-after", "1");
  }
  writer->Send(status.code(), headers, net::Bytes(EncodeStatus(status, plain)));
}

}  // namespace allot::apiserver
