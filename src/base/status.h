// Status and Result: how every fallible function of the house answers.
//
// A Status maps one to one onto metav1.Status: a reason (with its HTTP code), a message, and
// details (group, kind, name, uid, causes with field paths, seconds to wait). "Does not fit" is not
// an error but an answer; see allocator/diagnosis.h. Thread safety: values; const access from any
// thread.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"

namespace allot::base {

/// The reasons of metav1.Status that Kubernetes 1.37 answers with; Code() gives the HTTP code.
enum class Reason : std::uint8_t {
  kUnknown,                // 500, reason ""
  kUnauthorized,           // 401
  kForbidden,              // 403
  kNotFound,               // 404
  kAlreadyExists,          // 409
  kConflict,               // 409
  kGone,                   // 410
  kInvalid,                // 422
  kServerTimeout,          // 500
  kStoreReadError,         // 500
  kTimeout,                // 504
  kTooManyRequests,        // 429
  kBadRequest,             // 400
  kMethodNotAllowed,       // 405
  kNotAcceptable,          // 406
  kRequestEntityTooLarge,  // 413
  kUnsupportedMediaType,   // 415
  kInternalError,          // 500
  kExpired,                // 410
  kServiceUnavailable,     // 503
};

/// The text of the reason as the API spells it ("" for kUnknown).
[[nodiscard]] std::string_view ReasonText(Reason reason);
/// The reason spelt `text`; kUnknown when there is none.
[[nodiscard]] Reason ReasonFromText(std::string_view text);
/// The HTTP code that goes with the reason.
[[nodiscard]] int ReasonCode(Reason reason);

/// metav1.StatusCause. `reason` is the API's cause type ("FieldValueInvalid", ...).
struct StatusCause {
  std::string reason;
  std::string message;
  std::string field;

  friend bool operator==(const StatusCause&, const StatusCause&) = default;
};

/// metav1.StatusDetails.
struct StatusDetails {
  std::string name;
  std::string group;
  std::string kind;
  std::string uid;
  std::vector<StatusCause> causes;
  std::int32_t retry_after_seconds = 0;

  friend bool operator==(const StatusDetails&, const StatusDetails&) = default;
};

/// An error. One pointer wide.
class Status {
 public:
  Status(Reason reason, std::string message);
  Status(Reason reason, std::string message, StatusDetails details);
  Status(const Status& other);
  Status& operator=(const Status& other);
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  ~Status() = default;

  [[nodiscard]] Reason reason() const { return body_->reason; }
  [[nodiscard]] int code() const { return body_->code; }
  [[nodiscard]] const std::string& message() const { return body_->message; }
  /// Null when the status has no details.
  [[nodiscard]] const StatusDetails* details() const { return body_->details.get(); }
  [[nodiscard]] StatusDetails& mutable_details();
  /// Overrides the code that goes with the reason (foreign servers).
  void set_code(int code) { body_->code = code; }
  /// Puts `prefix` in front of the message; returns itself for chaining.
  Status& Prepend(std::string_view prefix) &;
  Status Prepend(std::string_view prefix) &&;
  /// "NotFound: pods \"a\" not found", for logs.
  [[nodiscard]] std::string ToString() const;

  friend bool operator==(const Status& a, const Status& b);

 private:
  struct Body {
    Reason reason = Reason::kUnknown;
    int code = 500;
    std::string message;
    std::unique_ptr<StatusDetails> details;
  };
  std::unique_ptr<Body> body_;
};

/// The value or the reason why there is none.
template <typename T>
using Result = std::expected<T, Status>;

/// Shorthand for `return std::unexpected(Status(...))`.
[[nodiscard]] inline std::unexpected<Status> Error(Reason reason, std::string message) {
  return std::unexpected<Status>(Status(reason, std::move(message)));
}
[[nodiscard]] inline std::unexpected<Status> Error(Status status) {
  return std::unexpected<Status>(std::move(status));
}

}  // namespace allot::base

#define ALLOT_CONCAT_INNER(a, b) a##b
#define ALLOT_CONCAT(a, b) ALLOT_CONCAT_INNER(a, b)

/// Returns the error of a Result<...> expression to the caller.
#define ALLOT_RETURN_IF_ERROR(expression)                                             \
  do {                                                                                \
    if (auto allot_status = (expression); !allot_status) {                            \
      return std::unexpected<::allot::base::Status>(std::move(allot_status).error()); \
    }                                                                                 \
  } while (false)

/// ALLOT_ASSIGN_OR_RETURN(auto x, F()): declares or assigns x, or returns F's error.
#define ALLOT_ASSIGN_OR_RETURN(target, expression) \
  ALLOT_ASSIGN_OR_RETURN_INNER(ALLOT_CONCAT(allot_result_, __LINE__), target, expression)
#define ALLOT_ASSIGN_OR_RETURN_INNER(result, target, expression)              \
  auto result = (expression);                                                 \
  if (!result) {                                                              \
    return std::unexpected<::allot::base::Status>(std::move(result).error()); \
  }                                                                           \
  target = *std::move(result)
