// Exchange: one request on its way through the server, and the one place where answers leave.
// Thread safety: loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/authn.h"
#include "apiserver/negotiate.h"
#include "apiserver/request_path.h"
#include "apiserver/resources.h"
#include "apiserver/verbs.h"
#include "apiserver/wire.h"
#include "base/clock.h"
#include "base/status.h"
#include "net/http.h"

namespace allot::apiserver {

class Exchange {
 public:
  Exchange(std::unique_ptr<net::Request> http, std::shared_ptr<net::ResponseWriter> out)
      : request(std::move(http)), writer(std::move(out)) {}
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Answers with bytes of a content type; large ones are compressed when the client takes that.
  void Send(int code, std::string_view content_type, std::string body);
  /// Answers with text in the negotiated form's content type.
  void SendEncoded(int code, std::string body);
  /// Answers with a Status; Retry-After and WWW-Authenticate come with their reasons.
  void SendError(const base::Status& status);
  /// The headers every answer has.
  [[nodiscard]] net::HeaderList Headers(std::string_view content_type) const;
  /// Adds a text for a Warning header.
  void Warn(std::string text);
  /// The first word of the user agent, or "unknown": who wrote, when no field manager is given.
  [[nodiscard]] std::string_view Agent() const;

  std::unique_ptr<net::Request> request;
  std::shared_ptr<net::ResponseWriter> writer;
  RequestPath path;
  User user;
  MediaChoice choice;
  IncludeObject include = IncludeObject::kMetadata;
  const Resource* resource = nullptr;
  Verb verb = Verb::kGet;
  std::string_view verb_text;
  std::vector<std::string> warnings;
  int code = 0;  ///< answered with
  base::MonoTime started;
  /// Told at the end, for metrics and the door of requests in flight.
  std::function<void(const Exchange&)> finished;
};

using ExchangeRef = std::shared_ptr<Exchange>;

}  // namespace allot::apiserver
