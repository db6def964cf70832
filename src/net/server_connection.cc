#include "net/server_connection.h"

#include <algorithm>
#include <utility>

namespace allot::net {

namespace {

constexpr std::string_view kH2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr std::size_t kProduceBudget = 64 * 1024;
constexpr int kFlushRounds =
    4;  // 256 KiB a turn and connection, so that a long list holds nobody up
constexpr int kReadRounds = 16;
constexpr std::chrono::seconds kLingerTime{2};

}  // namespace

ServerConnection::ServerConnection(ServerHost& host,
                                   Fd fd,
                                   std::string remote_address,
                                   const std::shared_ptr<const TlsContext>& tls)
    : host_(host),
      stream_(tls == nullptr ? std::make_unique<Stream>(std::move(fd))
                             : std::make_unique<Stream>(std::move(fd), tls, "")),
      own_info_(std::make_shared<ConnectionInfo>()),
      info_(own_info_),
      phase_since_(host.loop().now()),
      last_write_(phase_since_),
      idle_since_(phase_since_) {
  own_info_->remote_address = std::move(remote_address);
  own_info_->local_address = AddressText(LocalAddress(stream_->fd()));
  own_info_->tls = tls != nullptr;
}

ServerConnection::~ServerConnection() {
  Close();
  *alive_ = false;
}

bool ServerConnection::Start() {
  if (!stream_->tls()) {
    phase_ = Phase::kSniff;
  }
  return host_.loop().Watch(stream_->fd(), Loop::kReadable, this);
}

void ServerConnection::OnReady(std::uint32_t events) {
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
    if (eof_) {
      Close();  // hung up: nobody is left to read the answer
      return;
    }
    ReadSome();
  }
}

void ServerConnection::ContinueHandshake() {
  switch (stream_->Handshake()) {
    case Stream::State::kOk: break;
    case Stream::State::kWantRead: host_.loop().Rewatch(stream_->fd(), Loop::kReadable); return;
    case Stream::State::kWantWrite:
      host_.loop().Rewatch(stream_->fd(), Loop::kReadable | Loop::kWritable);
      return;
    case Stream::State::kClosed:
    case Stream::State::kError:
      host_.work().handshake_errors.fetch_add(1, std::memory_order_relaxed);
      if (stream_->saw_plain_http()) {
        AnswerPlainHttp();
      }
      Close();
      return;
  }
  own_info_->peer = stream_->Peer();
  Begin(stream_->alpn() == "h2" ? Protocol::kHttp2 : Protocol::kHttp11);
  UpdateInterest();
  ReadSome();
}

void ServerConnection::AnswerPlainHttp() {
  static constexpr std::string_view kAnswer =
      "HTTP/1.0 400 Bad Request\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n"
      "This port speaks HTTPS; the request was plain HTTP.\n";
  [[maybe_unused]] const auto sent =
      ::send(stream_->fd(), kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void ServerConnection::Begin(Protocol protocol) {
  phase_ = Phase::kOpen;
  phase_since_ = idle_since_ = host_.loop().now();
  own_info_->protocol = protocol;
  protocol_ = protocol == Protocol::kHttp2 ? MakeH2Server(*this) : MakeH1Server(*this);
  if (host_.draining()) {
    protocol_->GoAway();
  }
  MarkDirty();
}

void ServerConnection::ReadSome() {
  for (int round = 0; round < kReadRounds; ++round) {
    if (phase_ == Phase::kClosed || (phase_ == Phase::kOpen && !protocol_->WantsRead())) {
      UpdateInterest();
      return;
    }
    std::string& buffer = host_.read_buffer();
    const Stream::Io io = stream_->Read(buffer.data(), buffer.size());
    switch (io.state) {
      case Stream::State::kOk:
        host_.work().bytes_in.fetch_add(io.bytes, std::memory_order_relaxed);
        Deliver(std::string_view(buffer).substr(0, io.bytes));
        break;
      case Stream::State::kWantRead: return;
      case Stream::State::kWantWrite: return;  // the flush will ask for it
      case Stream::State::kClosed:
        if (phase_ == Phase::kOpen && protocol_->OnEof()) {
          eof_ = true;
          MarkDirty();
          UpdateInterest();
        } else {
          Close();
        }
        return;
      case Stream::State::kError: Close(); return;
    }
    if (phase_ == Phase::kClosed || !stream_->HasBuffered()) {
      return;
    }
  }
  ResumeReading();  // others first
}

void ServerConnection::ResumeReading() {
  UpdateInterest();
  host_.loop().Post([this, alive = alive_] {
    if (*alive && phase_ != Phase::kClosed && phase_ != Phase::kHandshake) {
      ReadSome();
    }
  });
}

void ServerConnection::Deliver(std::string_view data) {
  switch (phase_) {
    case Phase::kSniff: Sniff(data); break;
    case Phase::kOpen:
      protocol_->OnData(data);
      MarkDirty();
      break;
    default: break;  // lingering: what still comes is thrown away
  }
}

void ServerConnection::Sniff(std::string_view data) {
  sniffed_.append(data);
  const std::size_t common = std::min(sniffed_.size(), kH2Preface.size());
  const bool maybe_h2 = sniffed_.compare(0, common, kH2Preface, 0, common) == 0;
  if (maybe_h2 && common < kH2Preface.size()) {
    return;
  }
  Begin(maybe_h2 ? Protocol::kHttp2 : Protocol::kHttp11);
  const std::string first = std::exchange(sniffed_, {});
  protocol_->OnData(first);
}

void ServerConnection::MarkDirty() {
  if (!dirty_ && phase_ != Phase::kClosed) {
    dirty_ = true;
    host_.loop().AtTurnEnd(this);
  }
}

void ServerConnection::OnTurnEnd() {
  dirty_ = false;
  if (phase_ == Phase::kOpen && !blocked_) {
    Flush();
  }
}

/// Writes pending_; false when the socket took not all of it or failed.
bool ServerConnection::WritePending() {
  if (pending_.empty()) {
    return true;
  }
  const Stream::Io io = stream_->Write(pending_);
  host_.work().flushes.fetch_add(1, std::memory_order_relaxed);
  host_.work().bytes_out.fetch_add(io.bytes, std::memory_order_relaxed);
  if (io.bytes > 0) {
    last_write_ = host_.loop().now();
  }
  if (io.state == Stream::State::kOk) {
    pending_.clear();
    return true;
  }
  if (io.state == Stream::State::kClosed || io.state == Stream::State::kError) {
    Close();
    return false;
  }
  pending_.erase(0, io.bytes);
  blocked_ = true;
  UpdateInterest();
  return false;
}

void ServerConnection::Flush() {
  for (int round = 0; round < kFlushRounds; ++round) {
    if (!WritePending()) {
      return;
    }
    std::string& out = host_.write_buffer();
    out.clear();
    protocol_->Produce(out, kProduceBudget);
    if (out.empty()) {
      FinishWriting();
      return;
    }
    // The shared buffer becomes pending_ only for as long as the socket is full.
    pending_.swap(out);
    last_write_ = host_.loop().now();  // all before it was taken: progress
    const bool written = WritePending();
    if (written) {
      pending_.swap(out);
    } else {
      return;
    }
    if (out.capacity() > 4 * kProduceBudget) {
      out = std::string();
    }
  }
  MarkDirty();
}

void ServerConnection::FinishWriting() {
  if (phase_ == Phase::kOpen && protocol_->Finished()) {
    protocol_->Detach();
    stream_->ShutdownWrite();
    phase_ = Phase::kLinger;  // until the peer has read it all and closes
    phase_since_ = host_.loop().now();
    if (eof_) {
      Close();
    }
  }
  UpdateInterest();
}

void ServerConnection::UpdateInterest() {
  if (phase_ == Phase::kClosed || phase_ == Phase::kHandshake) {
    return;
  }
  std::uint32_t events = 0;
  if (!eof_ && (phase_ != Phase::kOpen || protocol_->WantsRead())) {
    events |= Loop::kReadable;
  }
  if (blocked_) {
    events |= Loop::kWritable;
  }
  host_.loop().Rewatch(stream_->fd(), events);
}

void ServerConnection::Close() {
  if (phase_ == Phase::kClosed) {
    return;
  }
  phase_ = Phase::kClosed;
  host_.loop().Unwatch(stream_->fd());
  host_.loop().ForgetTurnEnd(this);
  stream_->Close();
  if (protocol_ != nullptr) {
    protocol_->Detach();
  }
  host_.Remove(this);
}

void ServerConnection::GoAway() {
  if (phase_ == Phase::kOpen) {
    protocol_->GoAway();
    MarkDirty();
  } else if (phase_ != Phase::kClosed) {
    Close();
  }
}

bool ServerConnection::idle() const {
  return phase_ != Phase::kClosed && (phase_ != Phase::kOpen || protocol_->Idle());
}

void ServerConnection::CheckTime(base::MonoTime now) {
  const ServerLimits& limits = host_.options().limits;
  bool over = false;
  switch (phase_) {
    case Phase::kHandshake: over = now - phase_since_ > limits.handshake_timeout; break;
    case Phase::kSniff: over = now - phase_since_ > limits.header_timeout; break;
    case Phase::kLinger: over = now - phase_since_ > kLingerTime; break;
    case Phase::kClosed: return;
    case Phase::kOpen:
      over = (blocked_ && now - last_write_ > limits.stall_timeout) || !protocol_->CheckTime(now);
      break;
  }
  if (over) {
    if (phase_ != Phase::kLinger) {
      host_.work().timeouts.fetch_add(1, std::memory_order_relaxed);
    }
    Close();
  }
}

}  // namespace allot::net
