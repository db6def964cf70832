// ServerStream: one request's answer: the queue and the callbacks both protocols share. For
// net/*.cc only. Thread safety: loop thread only, except that the handed-out writer may be dropped
// anywhere.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "net/http.h"
#include "net/loop.h"

namespace allot::net {

class ServerConnection;

class ServerStream : public ResponseWriter, public std::enable_shared_from_this<ServerStream> {
 public:
  explicit ServerStream(ServerConnection& connection);
  ~ServerStream() override;

  void Send(int status, const HeaderList& headers, Bytes body) final;
  void SendHeaders(int status, const HeaderList& headers) final;
  void Write(Bytes piece) final;
  void End() final;
  void Abort() final;
  [[nodiscard]] std::size_t queued_bytes() const final { return queued_; }
  void OnWritable(std::size_t low_water, Task task) final;
  void OnClose(Task task) final { on_close_ = std::move(task); }
  [[nodiscard]] bool alive() const final { return connection_ != nullptr && !ended_; }
  [[nodiscard]] bool started() const final { return started_; }
  [[nodiscard]] Loop& loop() const final { return loop_; }

  /// What handlers get: answers 500 when the last copy goes before an answer was begun.
  [[nodiscard]] std::shared_ptr<ResponseWriter> Handout();
  /// The connection or the peer's interest is gone: forgets the queue, calls the close task.
  void Detach();
  /// As Detach, but hands the close task over (null when there is nothing to call) instead of
  /// calling it.
  [[nodiscard]] Task TakeCloseTask();

  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool streaming() const { return streaming_; }
  /// Since when the peer has taken nothing of a waiting queue; meaningless when the queue is empty.
  [[nodiscard]] base::MonoTime last_progress() const { return last_progress_; }

  bool head_request = false;  // the answer has no body

 protected:
  static constexpr std::int64_t kStreamed = -1;

  /// Puts status and headers on their way; content_length is kStreamed or the size of the body to
  /// come.
  virtual void Begin(int status, const HeaderList& headers, std::int64_t content_length) = 0;
  /// The queue has grown or has ended.
  virtual void OutputReady() = 0;
  /// Breaks the stream off towards the peer.
  virtual void Reset() = 0;

  /// Appends up to `size` queued bytes to `out` and takes them off the queue.
  void TakeOutput(std::size_t size, std::string& out);
  [[nodiscard]] ServerConnection* connection() const { return connection_; }

 private:
  void Dropped();
  void Push(Bytes piece);

  Loop& loop_;
  Loop::Handle handle_;
  ServerConnection* connection_;
  bool started_ = false;
  bool ended_ = false;
  bool streaming_ = false;
  bool bodyless_ = false;
  std::vector<Bytes> queue_;
  std::size_t head_ = 0;    // first piece still queued
  std::size_t offset_ = 0;  // bytes of it already taken
  std::size_t queued_ = 0;
  std::size_t low_water_ = 0;
  base::MonoTime last_progress_;
  Task on_writable_;
  Task on_close_;
};

/// A header value as it may go on the wire: line ends and NUL become spaces.
[[nodiscard]] std::string SafeHeaderValue(std::string_view value);
/// What upstream says to a body above its limit.
[[nodiscard]] std::string BodyTooLarge(std::size_t limit);
/// Whether the header belongs to one HTTP/1 connection (connection, transfer-encoding, ...), so
/// that net decides about it and not a handler.
[[nodiscard]] bool IsConnectionHeader(std::string_view name);

}  // namespace allot::net
