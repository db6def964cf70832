// ClientConnection: one connection of an HttpClient: connect, handshake, reading, the write at the
// turn's end. The protocol on it (H1Client, H2Client) is a ClientProtocol. For net/*.cc only.
// Thread safety: loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_client.h"
#include "net/socket.h"
#include "net/stream.h"

namespace allot::net {

class ClientConnection;

/// One request on its way.
struct Call {
  HttpClient::CallId id = 0;
  ClientRequest request;
  ClientCallbacks callbacks;
  Loop::TimerId timer = 0;
  ClientConnection* connection = nullptr;
  std::int32_t stream_id = 0;  // HTTP/2
  std::size_t body_sent = 0;
  int status = 0;
  HeaderList headers;
  bool headers_delivered = false;
  bool complete = false;  // the answer has been received as a whole
  bool retried = false;
  bool done = false;  // on_end was called or the caller has lost interest

  /// Calls on_headers unless the caller has lost interest.
  void DeliverHeaders();
  void DeliverData(std::string_view data);
};
using CallPtr = std::shared_ptr<Call>;

/// What connections need of their client.
class ClientHost {
 public:
  [[nodiscard]] virtual Loop& loop() = 0;
  [[nodiscard]] virtual const HttpClientOptions& options() const = 0;
  /// "host:port" of the URL, for Host and :authority.
  [[nodiscard]] virtual const std::string& authority() const = 0;
  [[nodiscard]] virtual bool https() const = 0;
  /// The path in front of every target.
  [[nodiscard]] virtual const std::string& prefix() const = 0;
  [[nodiscard]] virtual std::string& read_buffer() = 0;
  [[nodiscard]] virtual std::string& write_buffer() = 0;
  [[nodiscard]] virtual std::string BearerToken() const = 0;
  /// The connection is open (or has room again): gives it waiting calls.
  virtual void Ready(ClientConnection& connection) = 0;
  virtual void Finish(const CallPtr& call, base::Result<void> outcome) = 0;
  /// The server cannot have acted on the call: waits for another connection, once.
  virtual void Retry(const CallPtr& call, const std::string& cause) = 0;
  virtual void Closed(ClientConnection& connection, const std::string& cause, bool was_open) = 0;

 protected:
  ~ClientHost() = default;
};

class ClientProtocol {
 public:
  virtual ~ClientProtocol() = default;
  [[nodiscard]] virtual bool CanTake() const = 0;
  virtual void Start(const CallPtr& call) = 0;
  /// Forgets the call, telling the server where the protocol can.
  virtual void Cancel(const CallPtr& call) = 0;
  /// False when the connection is of no more use; `cause` says why.
  [[nodiscard]] virtual bool OnData(std::string_view data, std::string& cause) = 0;
  virtual void OnEof() = 0;
  virtual void Produce(std::string& out, std::size_t budget) = 0;
  /// Every answer is complete and no further call is wanted here.
  [[nodiscard]] virtual bool Finished() const = 0;
  [[nodiscard]] virtual std::size_t open_calls() const = 0;
  /// Sends a ping; false when the protocol has none.
  virtual bool Ping() = 0;
  /// Fails or retries all open calls.
  virtual void Detach(const std::string& cause) = 0;
};

class ClientConnection final : public FdHandler, public TurnEndHandler {
 public:
  ClientConnection(ClientHost& host,
                   std::vector<SocketAddress> addresses,
                   std::shared_ptr<const TlsContext> tls,
                   std::string server_name);
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;
  ~ClientConnection();

  void Start();
  void OnReady(std::uint32_t events) override;
  void OnTurnEnd() override;
  void MarkDirty();
  void Close(const std::string& cause);
  /// Pings or gives up a silent connection; closes one idle for long.
  void CheckTime(base::MonoTime now);

  [[nodiscard]] bool open() const { return phase_ == Phase::kOpen; }
  [[nodiscard]] bool connecting() const { return phase_ < Phase::kOpen; }
  [[nodiscard]] bool CanTake() const { return open() && protocol_->CanTake(); }
  [[nodiscard]] bool http2() const { return http2_; }
  [[nodiscard]] ClientProtocol& protocol() { return *protocol_; }
  [[nodiscard]] ClientHost& host() { return host_; }
  /// Whether an earlier call was answered here, so that a break may only mean that it idled too
  /// long.
  [[nodiscard]] bool reused() const { return reused_; }
  void MarkReused() { reused_ = true; }

 private:
  enum class Phase : std::uint8_t { kConnect, kHandshake, kOpen, kClosed };

  void TryNextAddress();
  void ContinueHandshake();
  void ReadSome();
  void Flush();
  bool WritePending();
  void UpdateInterest();

  ClientHost& host_;
  std::vector<SocketAddress> addresses_;
  std::size_t next_address_ = 0;
  std::shared_ptr<const TlsContext> tls_;
  std::string server_name_;
  std::string last_error_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<ClientProtocol> protocol_;
  Phase phase_ = Phase::kConnect;
  bool http2_ = false;
  bool dirty_ = false;
  bool blocked_ = false;
  bool reused_ = false;
  bool ping_sent_ = false;
  std::string pending_;
  base::MonoTime since_;  // of the phase
  base::MonoTime last_read_;
  base::MonoTime ping_time_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

[[nodiscard]] std::unique_ptr<ClientProtocol> MakeH1Client(ClientConnection& connection);
[[nodiscard]] std::unique_ptr<ClientProtocol> MakeH2Client(ClientConnection& connection);

}  // namespace allot::net
