#include "net/h2_session.h"

#include "base/check.h"

namespace allot::net {

namespace {

constexpr std::uint64_t kResetBurst = 2000;  // cancelled watches are normal; floods are not
constexpr std::uint64_t kResetRate = 200;
constexpr std::size_t kFrameHeader = 9;

H2Session* Self(void* user) {
  return static_cast<H2Session*>(user);
}

std::string_view View(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

nghttp2_option* MakeOption() {
  nghttp2_option* option = nullptr;
  ALLOT_CHECK(nghttp2_option_new(&option) == 0);
  nghttp2_option_set_stream_reset_rate_limit(option, kResetBurst, kResetRate);
  nghttp2_option_set_no_closed_streams(option, 1);
  return option;
}

}  // namespace

nghttp2_nv H2Field(std::string_view name, std::string_view value) {
  // nghttp2's interface lacks the const.
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));  // NOLINT
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

void H2Session::SetCallbacks(nghttp2_session_callbacks* callbacks) {
  nghttp2_session_callbacks_set_on_begin_headers_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        return Self(user)->OnBeginHeaders(*frame);
      });
  nghttp2_session_callbacks_set_on_header_callback(
      callbacks,
      [](nghttp2_session*,
         const nghttp2_frame* frame,
         const std::uint8_t* name,
         std::size_t name_size,
         const std::uint8_t* value,
         std::size_t value_size,
         std::uint8_t,
         void* user) {
        return Self(user)->OnHeader(*frame, View(name, name_size), View(value, value_size));
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        return Self(user)->OnFrame(*frame);
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      callbacks,
      [](nghttp2_session*,
         std::uint8_t,
         std::int32_t id,
         const std::uint8_t* data,
         std::size_t size,
         void* user) { return Self(user)->OnBody(id, View(data, size)); });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      callbacks, [](nghttp2_session*, std::int32_t id, std::uint32_t error, void* user) {
        return Self(user)->OnStreamClose(id, error);
      });
  nghttp2_session_callbacks_set_send_callback(
      callbacks, [](nghttp2_session*, const std::uint8_t* data, std::size_t size, int, void* user) {
        return Self(user)->Append(View(data, size));
      });
  nghttp2_session_callbacks_set_send_data_callback(
      callbacks,
      [](nghttp2_session*,
         nghttp2_frame*,
         const std::uint8_t* header,
         std::size_t size,
         nghttp2_data_source* source,
         void* user) { return Self(user)->AppendBody(source->ptr, header, size); });
}

H2Session::H2Session(Side side,
                     std::span<const nghttp2_settings_entry> settings,
                     std::int32_t window) {
  // nghttp2 copies what it needs of both, so that all sessions of the process share them.
  static const nghttp2_option* const kOption = MakeOption();
  static const nghttp2_session_callbacks* const kCallbacks = [] {
    nghttp2_session_callbacks* callbacks = nullptr;
    ALLOT_CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
    SetCallbacks(callbacks);
    return callbacks;
  }();
  ALLOT_CHECK((side == Side::kServer
                   ? nghttp2_session_server_new2(&session_, kCallbacks, this, kOption)
                   : nghttp2_session_client_new2(&session_, kCallbacks, this, kOption)) == 0);
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, window);
}

H2Session::~H2Session() {
  nghttp2_session_del(session_);
}

int H2Session::Receive(std::string_view data) {
  const ssize_t used = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const std::uint8_t*>(data.data()), data.size());
  return used < 0 ? static_cast<int>(used) : 0;
}

bool H2Session::SendInto(std::string& out, std::size_t budget) {
  out_ = &out;
  budget_ = budget;
  const bool sent = nghttp2_session_send(session_) == 0;
  out_ = nullptr;
  return sent;
}

int H2Session::OnBeginHeaders(const nghttp2_frame& /*frame*/) {
  return 0;
}

ssize_t H2Session::Append(std::string_view bytes) {
  if (out_->size() >= budget_) {
    return NGHTTP2_ERR_WOULDBLOCK;
  }
  out_->append(bytes);
  return static_cast<ssize_t>(bytes.size());
}

int H2Session::AppendBody(void* source, const std::uint8_t* header, std::size_t size) {
  if (out_->size() >= budget_) {
    return NGHTTP2_ERR_WOULDBLOCK;
  }
  const std::size_t before = out_->size();
  out_->append(View(header, kFrameHeader));
  if (!TakeBody(source, size, *out_)) {
    out_->resize(before);
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }
  return 0;
}

}  // namespace allot::net
