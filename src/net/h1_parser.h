// H1Parser: HTTP/1.x messages out of a byte stream, in pieces of any size. For net/*.cc only.
//
// Strict where leniency lets two readers disagree about where a message ends: no folded lines, no
// white space before a colon, no content-length beside chunked, no differing content-lengths.
// Thread safety: loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "net/http.h"

namespace allot::net {

class H1Parser {
 public:
  enum class Kind : std::uint8_t { kRequest, kResponse };
  enum class Event : std::uint8_t {
    kNeedMore,  // nothing more without more bytes
    kHead,      // start line and headers are there
    kBody,      // `piece` is the next part of the body
    kEnd,       // the message is complete; the next Next begins a new one
    kError,     // see error_status and error_message; the stream is of no more use
  };

  H1Parser(Kind kind, std::size_t header_limit) : kind_(kind), header_limit_(header_limit) {}

  /// Goes on at the front of `input`, which must begin with the bytes not consumed before, and
  /// takes what it used off its front. Lifetime: `piece` views `input`. Cost: amortised O(bytes).
  [[nodiscard]] Event Next(std::string_view& input, std::string_view& piece);
  /// The stream has ended: kEnd when that completes a response, else kError (kNeedMore between
  /// messages).
  [[nodiscard]] Event AtEof();

  // The head of the current message; valid from kHead to kEnd.
  [[nodiscard]] const std::string& method() const { return method_; }
  [[nodiscard]] const std::string& target() const { return target_; }
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] int minor_version() const { return minor_; }
  [[nodiscard]] HeaderList& headers() { return headers_; }
  /// Whether a body follows, and its size (kUnknownLength when chunked or until the end).
  [[nodiscard]] bool has_body() const { return body_ != Body::kNone; }
  [[nodiscard]] std::uint64_t content_length() const { return content_length_; }
  /// Whether the connection may carry another message after this one.
  [[nodiscard]] bool keep_alive() const { return keep_alive_; }
  /// Whether a message has begun and not ended.
  [[nodiscard]] bool in_message() const { return state_ != State::kHead || begun_; }

  /// The next response has no body whatever its headers say (the request was HEAD).
  void ExpectNoBody() { expect_no_body_ = true; }

  [[nodiscard]] int error_status() const { return error_status_; }
  [[nodiscard]] const std::string& error_message() const { return error_message_; }

  static constexpr std::uint64_t kUnknownLength = ~std::uint64_t{0};

 private:
  enum class State : std::uint8_t {
    kHead,
    kLength,
    kUntilClose,
    kChunkSize,
    kChunkData,
    kChunkEnd,
    kTrailer,
    kEnd,
    kError
  };
  enum class Body : std::uint8_t { kNone, kLength, kChunked, kUntilClose };

  Event Fail(int status, std::string_view message);
  Event ParseHead(std::string_view& input);
  bool ParseRequestLine(std::string_view line);
  bool ParseStatusLine(std::string_view line);
  bool ParseVersion(std::string_view text);
  bool ParseHeader(std::string_view line);
  bool DecideBody();
  bool ReadContentLength();
  Event NextBody(std::string_view& input, std::string_view& piece);
  Event NextChunkSize(std::string_view& input, std::string_view& piece);
  Event NextTrailer(std::string_view& input);

  Kind kind_;
  std::size_t header_limit_;
  State state_ = State::kHead;
  Body body_ = Body::kNone;
  bool begun_ = false;
  bool keep_alive_ = true;
  bool expect_no_body_ = false;
  int minor_ = 1;
  int status_ = 0;
  std::size_t scanned_ = 0;  // bytes of the unfinished line or head already searched
  std::size_t trailer_bytes_ = 0;
  std::uint64_t remaining_ = 0;
  std::uint64_t content_length_ = 0;
  std::string method_;
  std::string target_;
  HeaderList headers_;
  int error_status_ = 0;
  std::string error_message_;
};

}  // namespace allot::net
