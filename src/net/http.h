// What HTTP server and client share: header lists, the request a handler gets, the response it
// writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/bytes.h"
#include "net/loop.h"

namespace allot::net {

/// Header fields in order; names are kept in lower case. Thread safety: a value.
class HeaderList {
 public:
  struct Field {
    std::string_view name;
    std::string_view value;
  };

  HeaderList() = default;
  HeaderList(std::initializer_list<Field> fields);

  /// Appends a field; the name is lower-cased.
  void Add(std::string_view name, std::string_view value);
  /// Replaces all fields of that name by one.
  void Set(std::string_view name, std::string_view value);
  /// The first field of that name (given in lower case). Lifetime: until the next Add or Set.
  [[nodiscard]] std::optional<std::string_view> Find(std::string_view name) const;
  /// The first field of that name, or "".
  [[nodiscard]] std::string_view Get(std::string_view name) const {
    return Find(name).value_or(std::string_view());
  }
  [[nodiscard]] std::size_t size() const { return spans_.size(); }
  [[nodiscard]] bool empty() const { return spans_.empty(); }
  [[nodiscard]] Field operator[](std::size_t index) const;
  /// Bytes of all names and values.
  [[nodiscard]] std::size_t bytes() const { return text_.size(); }
  void Clear();

 private:
  struct Span {
    std::uint32_t offset;
    std::uint32_t name_size;
    std::uint32_t value_size;
  };
  std::string text_;
  std::vector<Span> spans_;
};

/// The decoded query of a request target, in order. Thread safety: a value.
class QueryParameters {
 public:
  /// Splits and decodes `text` ("a=1&b=x%20y", '+' is a space). Pairs with broken escapes are left
  /// out, as Go does.
  [[nodiscard]] static QueryParameters Parse(std::string_view text);

  /// The first value of that name.
  [[nodiscard]] std::optional<std::string_view> Find(std::string_view name) const;
  [[nodiscard]] std::string_view Get(std::string_view name) const {
    return Find(name).value_or(std::string_view());
  }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& all() const {
    return pairs_;
  }
  [[nodiscard]] bool empty() const { return pairs_.empty(); }

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

/// Who the certificate of the peer names. The handshake succeeds with any certificate (as
/// upstream); only `verified` ones were signed by the configured CA, are in their time and may be
/// used by clients.
struct PeerCertificate {
  std::string common_name;
  std::vector<std::string> organizations;
  bool verified = false;
  std::string error;  // why not verified
  std::string uid;    // the UID attribute 1.3.6.1.4.1.57683.2 of KEP-4827, "" when absent
};

enum class Protocol : std::uint8_t { kHttp10, kHttp11, kHttp2 };

/// What all requests of one connection share.
struct ConnectionInfo {
  std::string remote_address;  // "127.0.0.1:40312", "[::1]:40312"
  std::string local_address;
  bool tls = false;
  Protocol protocol = Protocol::kHttp11;
  std::optional<PeerCertificate> peer;  // none: no certificate was sent
};

/// A complete request. Thread safety: owned by whoever holds it.
struct Request {
  std::string method;     // "GET"
  std::string target;     // as sent: "/api/v1/pods?limit=5"
  std::string path;       // decoded, without the query: "/api/v1/pods"
  std::string raw_query;  // as sent, without '?'
  QueryParameters query;
  HeaderList headers;  // names in lower case; h2's :authority is "host"
  std::string body;
  std::shared_ptr<const ConnectionInfo> connection;
};

/// The way to answer one request. A handler keeps the shared_ptr as long as it wants to write;
/// calls after the end or after the peer has gone do nothing. Dropping it unanswered answers 500.
/// Thread safety: loop thread only; other threads use loop().Post and answer there.
class ResponseWriter {
 public:
  virtual ~ResponseWriter() = default;

  /// Answers at once; content-length is added. For HEAD, net leaves the body away.
  virtual void Send(int status, const HeaderList& headers, Bytes body) = 0;

  /// Begins a streamed answer (chunked in HTTP/1.1). REQUIRES: nothing sent yet.
  virtual void SendHeaders(int status, const HeaderList& headers) = 0;
  /// Queues a piece; written at the end of the turn together with all others of the connection.
  virtual void Write(Bytes piece) = 0;
  /// Ends a streamed answer.
  virtual void End() = 0;
  /// Breaks the answer off: the client sees a reset stream (HTTP/2) or a closed connection.
  virtual void Abort() = 0;

  /// Bytes queued by Write or Send and not yet given to TLS. The caller limits it: a watch whose
  /// reader stalls is to be aborted (see kMaxQueuedBytes), a list waits for OnWritable.
  [[nodiscard]] virtual std::size_t queued_bytes() const = 0;
  /// Calls `task` once, when queued_bytes() has fallen to `low_water` or below (later this turn if
  /// it already is). Never called after the peer has gone. A second call replaces the first.
  virtual void OnWritable(std::size_t low_water, Task task) = 0;
  /// Calls `task` once when the peer goes, resets the stream or the server ends the connection
  /// before the answer is complete. A second call replaces the first; null forgets it.
  virtual void OnClose(Task task) = 0;
  /// False once the answer is complete or the peer has gone.
  [[nodiscard]] virtual bool alive() const = 0;
  /// True when the headers have been sent.
  [[nodiscard]] virtual bool started() const = 0;
  [[nodiscard]] virtual Loop& loop() const = 0;

  /// What one stalled reader may hold before its stream is to be aborted.
  static constexpr std::size_t kMaxQueuedBytes = 1U << 20U;
};

/// "Not Found" for 404; "" for unknown codes.
[[nodiscard]] std::string_view StatusText(int status);
/// Decodes %XX; nothing when an escape is broken. '+' stays.
[[nodiscard]] std::optional<std::string> PercentDecode(std::string_view text);
/// Encodes everything but unreserved characters; for one query value or one path segment.
[[nodiscard]] std::string PercentEncode(std::string_view text);
/// Fills target's parts: path, raw_query, query. False when the target is not an absolute path (or
/// an absolute http URL, or "*"), or a path escape is broken.
[[nodiscard]] bool SplitTarget(std::string_view target, Request& request);
/// Whether a comma-separated header value has the token (any case), e.g. gzip in accept-encoding;
/// a token with q=0 does not count.
[[nodiscard]] bool HasToken(std::string_view value, std::string_view token);

}  // namespace allot::net
