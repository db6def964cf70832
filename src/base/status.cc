#include "base/status.h"

#include <array>

namespace allot::base {
namespace {

struct ReasonRow {
  std::string_view text;
  int code;
};

// Indexed by Reason.
constexpr std::array<ReasonRow, 20> kReasons = {{
    {"", 500},
    {"Unauthorized", 401},
    {"Forbidden", 403},
    {"NotFound", 404},
    {"AlreadyExists", 409},
    {"Conflict", 409},
    {"Gone", 410},
    {"Invalid", 422},
    {"ServerTimeout", 500},
    {"StorageReadError", 500},
    {"Timeout", 504},
    {"TooManyRequests", 429},
    {"BadRequest", 400},
    {"MethodNotAllowed", 405},
    {"NotAcceptable", 406},
    {"RequestEntityTooLarge", 413},
    {"UnsupportedMediaType", 415},
    {"InternalError", 500},
    {"Expired", 410},
    {"ServiceUnavailable", 503},
}};

}  // namespace

std::string_view ReasonText(Reason reason) {
  return kReasons.at(static_cast<std::size_t>(reason)).text;
}

Reason ReasonFromText(std::string_view text) {
  for (std::size_t i = 0; i < kReasons.size(); ++i) {
    if (kReasons.at(i).text == text) {
      return static_cast<Reason>(i);
    }
  }
  return Reason::kUnknown;
}

int ReasonCode(Reason reason) {
  return kReasons.at(static_cast<std::size_t>(reason)).code;
}

Status::Status(Reason reason, std::string message) : body_(std::make_unique<Body>()) {
  body_->reason = reason;
  body_->code = ReasonCode(reason);
  body_->message = std::move(message);
}

Status::Status(Reason reason, std::string message, StatusDetails details)
    : Status(reason, std::move(message)) {
  body_->details = std::make_unique<StatusDetails>(std::move(details));
}

Status::Status(const Status& other) : Status(other.reason(), other.message()) {
  body_->code = other.code();
  if (other.details() != nullptr) {
    body_->details = std::make_unique<StatusDetails>(*other.details());
  }
}

Status& Status::operator=(const Status& other) {
  if (this != &other) {
    *this = Status(other);
  }
  return *this;
}

StatusDetails& Status::mutable_details() {
  if (body_->details == nullptr) {
    body_->details = std::make_unique<StatusDetails>();
  }
  return *body_->details;
}

Status& Status::Prepend(std::string_view prefix) & {
  body_->message.insert(0, prefix);
  return *this;
}

Status Status::Prepend(std::string_view prefix) && {
  Prepend(prefix);
  return std::move(*this);
}

std::string Status::ToString() const {
  const std::string_view text = ReasonText(reason());
  return std::string(text.empty() ? "Unknown" : text) + ": " + message();
}

bool operator==(const Status& a, const Status& b) {
  const bool details_equal = (a.details() == nullptr) == (b.details() == nullptr) &&
                             (a.details() == nullptr || *a.details() == *b.details());
  return a.reason() == b.reason() && a.code() == b.code() && a.message() == b.message() &&
         details_equal;
}

}  // namespace allot::base
