#include "net/server_stream.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "net/server_connection.h"

namespace allot::net {

ServerStream::ServerStream(ServerConnection& connection)
    : loop_(connection.host().loop()),
      handle_(loop_.handle()),
      connection_(&connection),
      last_progress_(loop_.now()) {}

ServerStream::~ServerStream() = default;

void ServerStream::Push(Bytes piece) {
  if (piece.empty()) {
    return;
  }
  if (queued_ == 0) {
    last_progress_ = loop_.now();
  }
  queued_ += piece.size();
  queue_.push_back(std::move(piece));
}

void ServerStream::Send(int status, const HeaderList& headers, Bytes body) {
  if (!alive() || started_) {
    return;
  }
  started_ = true;
  bodyless_ = head_request || status == 204 || status == 304;
  ended_ = true;
  const auto length = static_cast<std::int64_t>(body.size());
  if (!bodyless_) {
    Push(std::move(body));
  }
  Begin(status, headers, length);
  OutputReady();
}

void ServerStream::SendHeaders(int status, const HeaderList& headers) {
  if (!alive() || started_) {
    return;
  }
  started_ = true;
  streaming_ = true;
  bodyless_ = head_request || status == 204 || status == 304;
  Begin(status, headers, kStreamed);
}

void ServerStream::Write(Bytes piece) {
  if (!alive() || !started_ || bodyless_ || piece.empty()) {
    return;
  }
  Push(std::move(piece));
  OutputReady();
}

void ServerStream::End() {
  if (!alive() || !started_) {
    return;
  }
  ended_ = true;
  OutputReady();
}

void ServerStream::Abort() {
  if (connection_ == nullptr) {
    return;
  }
  on_close_ = nullptr;
  Reset();
}

void ServerStream::OnWritable(std::size_t low_water, Task task) {
  if (connection_ == nullptr) {
    return;
  }
  if (queued_ <= low_water) {
    connection_->RunLater([self = shared_from_this(), call = std::move(task)]() mutable {
      if (self->connection_ != nullptr) {
        call();
      }
    });
    return;
  }
  low_water_ = low_water;
  on_writable_ = std::move(task);
}

void ServerStream::TakeOutput(std::size_t size, std::string& out) {
  queued_ -= size;
  last_progress_ = loop_.now();
  while (size > 0) {
    const std::string_view rest = queue_[head_].view().substr(offset_);
    const std::size_t take = std::min(size, rest.size());
    out.append(rest.substr(0, take));
    size -= take;
    offset_ += take;
    if (take == rest.size()) {
      queue_[head_] = Bytes();
      ++head_;
      offset_ = 0;
    }
  }
  if (head_ == queue_.size()) {
    queue_.clear();
    head_ = 0;
  } else if (head_ > 64 && head_ * 2 > queue_.size()) {
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
  if (on_writable_ && queued_ <= low_water_) {
    connection_->RunLater([self = shared_from_this(), call = std::move(on_writable_)]() mutable {
      if (self->connection_ != nullptr) {
        call();
      }
    });
    on_writable_ = nullptr;
  }
}

Task ServerStream::TakeCloseTask() {
  if (connection_ == nullptr) {
    return nullptr;
  }
  connection_ = nullptr;
  const bool incomplete = !ended_ || queued_ > 0;
  queue_.clear();
  head_ = 0;
  offset_ = 0;
  queued_ = 0;
  on_writable_ = nullptr;
  Task task = std::move(on_close_);
  on_close_ = nullptr;
  return incomplete ? std::move(task) : nullptr;
}

void ServerStream::Detach() {
  if (Task task = TakeCloseTask(); task) {
    task();
  }
}

std::shared_ptr<ResponseWriter> ServerStream::Handout() {
  ResponseWriter* const self = this;
  return {self, [held = shared_from_this()](ResponseWriter*) mutable {
            if (held->handle_.OnLoopThread()) {
              held->Dropped();
              return;
            }
            const Loop::Handle handle = held->handle_;
            handle.Post([stream = std::move(held)] { stream->Dropped(); });
          }};
}

void ServerStream::Dropped() {
  on_close_ = nullptr;
  on_writable_ = nullptr;
  if (!alive()) {
    return;
  }
  if (started_) {
    Abort();
    return;
  }
  connection_->host().SendError(*this, 500, "the request was not answered");
}

std::string SafeHeaderValue(std::string_view value) {
  std::string out(value);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '\r' || c == '\n' || c == '\0'; }, ' ');
  return out;
}

std::string BodyTooLarge(std::size_t limit) {
  return fmt::format("Request entity too large: limit is {}", limit);
}

bool IsConnectionHeader(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kNames = {"connection",
                                                             "keep-alive",
                                                             "proxy-connection",
                                                             "transfer-encoding",
                                                             "upgrade",
                                                             "content-length"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

}  // namespace allot::net
