#include "net/client_connection.h"

#include <algorithm>
#include <utility>

namespace allot::net {

namespace {

constexpr std::size_t kProduceBudget = 64 * 1024;
constexpr int kReadRounds = 16;
constexpr std::chrono::seconds kIdleTime{80};  // below the 90 s after which servers close

}  // namespace

void Call::DeliverHeaders() {
  headers_delivered = true;
  if (!done && callbacks.on_headers) {
    callbacks.on_headers(status, headers);
  }
}

void Call::DeliverData(std::string_view data) {
  if (!done && callbacks.on_data && !data.empty()) {
    callbacks.on_data(data);
  }
}

ClientConnection::ClientConnection(ClientHost& host,
                                   std::vector<SocketAddress> addresses,
                                   std::shared_ptr<const TlsContext> tls,
                                   std::string server_name)
    : host_(host),
      addresses_(std::move(addresses)),
      tls_(std::move(tls)),
      server_name_(std::move(server_name)),
      since_(host.loop().clock().Monotonic()),
      last_read_(since_) {}

ClientConnection::~ClientConnection() {
  *alive_ = false;
  if (phase_ != Phase::kClosed && stream_ != nullptr) {
    host_.loop().Unwatch(stream_->fd());
    host_.loop().ForgetTurnEnd(this);
  }
}

void ClientConnection::Start() {
  TryNextAddress();
}

void ClientConnection::TryNextAddress() {
  while (next_address_ < addresses_.size()) {
    const SocketAddress& address = addresses_[next_address_++];
    auto fd = ConnectTcp(address);
    if (!fd) {
      last_error_ = fd.error().message();
      continue;
    }
    phase_ = Phase::kConnect;
    stream_ = tls_ == nullptr ? std::make_unique<Stream>(std::move(*fd))
                              : std::make_unique<Stream>(std::move(*fd), tls_, server_name_);
    if (host_.loop().Watch(stream_->fd(), Loop::kWritable, this)) {
      return;
    }
    last_error_ = "cannot watch the socket";
  }
  Close(last_error_.empty() ? "no address" : last_error_);
}

void ClientConnection::OnReady(std::uint32_t events) {
  if (phase_ == Phase::kConnect) {
    if (const int error = ConnectError(stream_->fd()); error != 0) {
      last_error_ = "cannot connect: " + ErrnoText(error);
      host_.loop().Unwatch(stream_->fd());
      stream_.reset();
      TryNextAddress();
      return;
    }
    phase_ = Phase::kHandshake;
  }
  if (phase_ == Phase::kHandshake) {
    ContinueHandshake();
    return;
  }
  if ((events & Loop::kWritable) != 0 && blocked_) {
    blocked_ = false;
    MarkDirty();
    UpdateInterest();
  }
  if ((events & Loop::kReadable) != 0) {
    ReadSome();
  }
}

void ClientConnection::ContinueHandshake() {
  switch (stream_->Handshake()) {
    case Stream::State::kOk: break;
    case Stream::State::kWantRead: host_.loop().Rewatch(stream_->fd(), Loop::kReadable); return;
    case Stream::State::kWantWrite:
      host_.loop().Rewatch(stream_->fd(), Loop::kReadable | Loop::kWritable);
      return;
    case Stream::State::kClosed: Close("connection closed in the TLS handshake"); return;
    case Stream::State::kError: Close(stream_->error()); return;
  }
  phase_ = Phase::kOpen;
  since_ = last_read_ = host_.loop().now();
  http2_ = stream_->tls() ? stream_->alpn() == "h2" : host_.options().http2_prior_knowledge;
  protocol_ = http2_ ? MakeH2Client(*this) : MakeH1Client(*this);
  UpdateInterest();
  MarkDirty();
  host_.Ready(*this);
  if (phase_ == Phase::kOpen && stream_->HasBuffered()) {
    ReadSome();
  }
}

void ClientConnection::ReadSome() {
  for (int round = 0; round < kReadRounds && phase_ == Phase::kOpen; ++round) {
    std::string& buffer = host_.read_buffer();
    const Stream::Io io = stream_->Read(buffer.data(), buffer.size());
    if (io.state == Stream::State::kWantRead || io.state == Stream::State::kWantWrite) {
      return;
    }
    if (io.state == Stream::State::kClosed) {
      protocol_->OnEof();
      Close("connection closed by the server");
      return;
    }
    if (io.state == Stream::State::kError) {
      Close(stream_->error());
      return;
    }
    last_read_ = host_.loop().now();
    ping_sent_ = false;
    std::string cause;
    const bool fine = protocol_->OnData(std::string_view(buffer).substr(0, io.bytes), cause);
    if (phase_ != Phase::kOpen) {
      return;
    }
    if (!fine) {
      Close(cause);
      return;
    }
    MarkDirty();
    if (protocol_->CanTake()) {
      host_.Ready(*this);
    }
    if (phase_ != Phase::kOpen || !stream_->HasBuffered()) {
      return;
    }
  }
  host_.loop().Post([this, alive = alive_] {
    if (*alive && phase_ == Phase::kOpen) {
      ReadSome();
    }
  });
}

void ClientConnection::MarkDirty() {
  if (!dirty_ && phase_ == Phase::kOpen) {
    dirty_ = true;
    host_.loop().AtTurnEnd(this);
  }
}

void ClientConnection::OnTurnEnd() {
  dirty_ = false;
  if (phase_ == Phase::kOpen && !blocked_) {
    Flush();
  }
}

bool ClientConnection::WritePending() {
  if (pending_.empty()) {
    return true;
  }
  const Stream::Io io = stream_->Write(pending_);
  if (io.state == Stream::State::kOk) {
    pending_.clear();
    return true;
  }
  if (io.state == Stream::State::kClosed || io.state == Stream::State::kError) {
    // The server may have answered before it closed: read that first, its end closes us.
    pending_.clear();
    std::string cause = stream_->error();
    ReadSome();
    Close(cause);
    return false;
  }
  pending_.erase(0, io.bytes);
  blocked_ = true;
  UpdateInterest();
  return false;
}

void ClientConnection::Flush() {
  while (phase_ == Phase::kOpen) {
    if (!WritePending()) {
      return;
    }
    std::string& out = host_.write_buffer();
    out.clear();
    protocol_->Produce(out, kProduceBudget);
    if (out.empty()) {
      if (protocol_->Finished()) {
        Close("connection closed");
      }
      return;
    }
    pending_.swap(out);
    if (!WritePending()) {
      return;
    }
    pending_.swap(out);
  }
}

void ClientConnection::UpdateInterest() {
  if (phase_ == Phase::kOpen) {
    host_.loop().Rewatch(stream_->fd(), Loop::kReadable | (blocked_ ? Loop::kWritable : 0U));
  }
}

void ClientConnection::Close(const std::string& cause) {
  if (phase_ == Phase::kClosed) {
    return;
  }
  const bool was_open = phase_ == Phase::kOpen;
  phase_ = Phase::kClosed;
  if (stream_ != nullptr) {
    host_.loop().Unwatch(stream_->fd());
    if (was_open) {
      stream_->ShutdownWrite();
    }
    stream_->Close();
  }
  host_.loop().ForgetTurnEnd(this);
  if (protocol_ != nullptr) {
    protocol_->Detach(cause);
  }
  host_.Closed(*this, cause, was_open);
}

void ClientConnection::CheckTime(base::MonoTime now) {
  const HttpClientOptions& options = host_.options();
  if (connecting()) {
    if (now - since_ > options.connect_timeout) {
      Close(phase_ == Phase::kConnect ? "timed out while connecting"
                                      : "timed out in the TLS handshake");
    }
    return;
  }
  if (phase_ != Phase::kOpen) {
    return;
  }
  if (protocol_->open_calls() == 0) {
    if (now - last_read_ > kIdleTime) {
      Close("connection closed");
    }
    return;
  }
  if (ping_sent_ && now - ping_time_ > options.ping_timeout) {
    Close("the server does not answer any more");
    return;
  }
  if (!ping_sent_ && now - last_read_ > options.ping_after && protocol_->Ping()) {
    ping_sent_ = true;
    ping_time_ = now;
    MarkDirty();
  }
}

}  // namespace allot::net
