// ServerConnection: one accepted socket: handshake, reading, the write at the turn's end, time
// limits. The protocol on it (H1Server, H2Server) is a ServerProtocol. For net/*.cc only. Thread
// safety: loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/http_server.h"
#include "net/stream.h"

namespace allot::net {

class ServerConnection;

/// What connections need of their server.
class ServerHost {
 public:
  [[nodiscard]] virtual Loop& loop() = 0;
  [[nodiscard]] virtual const ServerOptions& options() const = 0;
  [[nodiscard]] virtual ServerCounters& work() = 0;
  /// Shared by all connections between calls.
  [[nodiscard]] virtual std::string& read_buffer() = 0;
  [[nodiscard]] virtual std::string& write_buffer() = 0;
  /// The value of the date header, made once a second.
  [[nodiscard]] virtual std::string_view date() = 0;
  [[nodiscard]] virtual bool draining() const = 0;
  virtual void Dispatch(std::unique_ptr<Request> request,
                        std::shared_ptr<ResponseWriter> writer) = 0;
  virtual void Remove(ServerConnection* connection) = 0;
  /// Headers and body of an answer that net itself gives.
  virtual void SendError(ResponseWriter& writer, int status, std::string_view message) = 0;

 protected:
  ~ServerHost() = default;
};

class ServerProtocol {
 public:
  virtual ~ServerProtocol() = default;
  virtual void OnData(std::string_view data) = 0;
  /// The peer will send no more; true when the connection may stay for what is still to be
  /// answered.
  virtual bool OnEof() = 0;
  /// Appends what is to be sent to `out`, stopping soon after `budget` bytes.
  virtual void Produce(std::string& out, std::size_t budget) = 0;
  [[nodiscard]] virtual bool WantsRead() const = 0;
  /// Nothing more will be sent or read: close once everything is flushed.
  [[nodiscard]] virtual bool Finished() const = 0;
  /// No request is open: the connection may be closed for room or when draining.
  [[nodiscard]] virtual bool Idle() const = 0;
  /// Ends what is over time; false when the whole connection is.
  [[nodiscard]] virtual bool CheckTime(base::MonoTime now) = 0;
  /// Takes no new requests and tells the peer so.
  virtual void GoAway() = 0;
  /// The connection is gone: detaches all streams.
  virtual void Detach() = 0;
};

class ServerConnection final : public FdHandler, public TurnEndHandler {
 public:
  ServerConnection(ServerHost& host,
                   Fd fd,
                   std::string remote_address,
                   const std::shared_ptr<const TlsContext>& tls);
  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;
  ~ServerConnection();

  /// Begins to listen to the socket; false when the loop cannot take it.
  [[nodiscard]] bool Start();
  void OnReady(std::uint32_t events) override;
  void OnTurnEnd() override;

  /// Asks for a flush at the end of this turn.
  void MarkDirty();
  /// Reads what TLS already holds (after WantsRead turned true again), later this turn.
  void ResumeReading();
  /// Calls the stream's task later, when no protocol code is on the stack.
  void RunLater(Task task) { host_.loop().Post(std::move(task)); }
  void Close();
  void GoAway();
  [[nodiscard]] bool idle() const;
  [[nodiscard]] base::MonoTime idle_since() const { return idle_since_; }
  void set_idle_since(base::MonoTime time) { idle_since_ = time; }
  /// Closes the connection when one of its time limits has passed.
  void CheckTime(base::MonoTime now);

  [[nodiscard]] ServerHost& host() { return host_; }
  [[nodiscard]] const std::shared_ptr<const ConnectionInfo>& info() const { return info_; }

  std::size_t index = 0;  // in the server's list

 private:
  enum class Phase : std::uint8_t { kHandshake, kSniff, kOpen, kLinger, kClosed };

  void ContinueHandshake();
  void Begin(Protocol protocol);
  void ReadSome();
  void Deliver(std::string_view data);
  void Sniff(std::string_view data);
  void Flush();
  bool WritePending();
  void FinishWriting();
  void UpdateInterest();
  void AnswerPlainHttp();

  ServerHost& host_;
  std::unique_ptr<Stream> stream_;
  Phase phase_ = Phase::kHandshake;
  bool dirty_ = false;
  bool blocked_ = false;  // the socket takes no more
  bool eof_ = false;
  std::string pending_;  // produced and not yet taken by the socket
  std::string sniffed_;
  std::unique_ptr<ServerProtocol> protocol_;
  std::shared_ptr<ConnectionInfo> own_info_;
  std::shared_ptr<const ConnectionInfo> info_;
  base::MonoTime phase_since_;
  base::MonoTime last_write_;
  base::MonoTime idle_since_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for posted tasks
};

[[nodiscard]] std::unique_ptr<ServerProtocol> MakeH1Server(ServerConnection& connection);
[[nodiscard]] std::unique_ptr<ServerProtocol> MakeH2Server(ServerConnection& connection);

}  // namespace allot::net
