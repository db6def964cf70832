#include "schema/json_reader.h"

#include <algorithm>
#include <utility>

#include "quantity/go_text.h"

namespace allot::schema {
namespace {

constexpr std::size_t kMostFindings = 100;  // upstream stops collecting there

}  // namespace

void JsonReader::Report(std::string_view what, const Frame* parent, Str key) {
  if (strict_ == nullptr || strict_->errors.size() >= kMostFindings) {
    return;
  }
  std::string path = StrictPath(parent);
  path += path.empty() ? std::string(key) : "." + std::string(key);
  std::string finding = std::string(what) + " field " + quantity::GoQuote(path);
  if (std::ranges::find(strict_->errors, finding) == strict_->errors.end()) {
    strict_->errors.push_back(std::move(finding));
  }
}

void JsonReader::Save(std::string message) {
  if (error_.empty()) {
    error_ = std::move(message);
  }
}

void JsonReader::Cannot(const std::string& value, const Frame* frame, const std::string& type) {
  Save("json: cannot unmarshal " + value + " into Go " + GoPlace(frame) + " of type " + type);
}

bool JsonReader::Mismatch(const Frame* frame, const std::string& type) {
  switch (*at_) {
    case '{': Cannot("object", frame, type); break;
    case '[': Cannot("array", frame, type); break;
    case '"': Cannot("string", frame, type); break;
    case 't':
    case 'f': Cannot("bool", frame, type); break;
    default: Cannot("number", frame, type); break;
  }
  return Skip(max_depth_);
}

bool JsonReader::Abort(std::string message) {
  error_ = std::move(message);
  return false;
}

bool JsonReader::AbortMismatch(const Frame& frame, const std::string& type) {
  error_.clear();
  static_cast<void>(Mismatch(&frame, type));
  return false;
}

bool JsonReader::AbortNumber(Str token, const Frame& frame, const std::string& type) {
  error_.clear();
  Cannot("number " + std::string(token), &frame, type);
  return false;
}

}  // namespace allot::schema
