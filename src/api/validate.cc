#include "api/validate.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "schema/codec.h"

namespace allot::api {
namespace {

struct TypeTexts {
  std::string_view cause;
  std::string_view prefix;
  bool shows_value;
};

constexpr std::array<TypeTexts, 9> kTypeTexts = {{
    {"FieldValueRequired", "Required value", false},
    {"FieldValueInvalid", "Invalid value", true},
    {"FieldValueNotSupported", "Unsupported value", true},
    {"FieldValueDuplicate", "Duplicate value", true},
    {"FieldValueForbidden", "Forbidden", false},
    {"FieldValueTooLong", "Too long", false},
    {"FieldValueTooMany", "Too many", true},
    {"FieldValueNotFound", "Not found", true},
    {"InternalError", "Internal error", false},
}};

const TypeTexts& TextsOf(ErrorType type) {
  return kTypeTexts[static_cast<std::size_t>(type)];
}

/// One UTF-8 sequence: its length and code point; length 0 = not valid here.
struct Rune {
  std::size_t length = 0;
  char32_t value = 0;
};

Rune DecodeRune(std::string_view text) {
  const auto byte = [text](std::size_t i) {
    return static_cast<unsigned char>(text[i]);
  };
  const unsigned char first = byte(0);
  if (first < 0x80) {
    return {1, first};
  }
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  if (length == 0 || length > text.size() || first > 0xF4) {
    return {};
  }
  char32_t value = first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0u) != 0x80u) {
      return {};
    }
    value = (value << 6u) | (byte(i) & 0x3Fu);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kSmallest[length] || surrogate || value > 0x10FFFF) {
    return {};
  }
  return {length, value};
}

/// Close to Go's unicode.IsPrint: no controls, no separators but the space, no format or private
/// characters.
bool IsPrintable(char32_t rune) {
  if (rune < 0x7F) {
    return rune >= 0x20;
  }
  const auto in = [rune](char32_t low, char32_t high) {
    return rune >= low && rune <= high;
  };
  return !in(0x7F, 0xA0) && rune != 0xAD && !in(0x2000, 0x200F) && !in(0x2028, 0x202F) &&
         !in(0x205F, 0x206F) && rune != 0x3000 && !in(0xE000, 0xF8FF) && rune != 0xFEFF &&
         !in(0xFFF0, 0xFFFB) && rune < 0xE0000;
}

void AppendRune(const Rune& rune, std::string_view bytes, std::string& out) {
  if (IsPrintable(rune.value)) {
    out += bytes;
  } else if (rune.value < 0x80) {
    out += fmt::format("\\x{:02x}", static_cast<unsigned>(rune.value));
  } else if (rune.value < 0x10000) {
    out += fmt::format("\\u{:04x}", static_cast<unsigned>(rune.value));
  } else {
    out += fmt::format("\\U{:08x}", static_cast<unsigned>(rune.value));
  }
}

}  // namespace

void Path::AppendTo(std::string& out) const {
  if (parent_ != nullptr) {
    parent_->AppendTo(out);
    if (!name_.empty() && !out.empty()) {
      out += '.';
    }
  }
  out += name_;
  if (tail_ == Tail::kIndex) {
    out += fmt::format("[{}]", index_);
  } else if (tail_ == Tail::kKey) {
    out += fmt::format("[{}]", key_);
  }
}

std::string Path::ToString() const {
  std::string out;
  AppendTo(out);
  return out.empty() ? "[]" : out;
}

std::string Quote(std::string_view text) {
  constexpr std::string_view kEscaped = "\a\b\f\n\r\t\v\\\"";
  constexpr std::string_view kLetters = "abfnrtv\\\"";
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    if (const auto escape = kEscaped.find(text[at]); escape != std::string_view::npos) {
      out += '\\';
      out += kLetters[escape];
      ++at;
      continue;
    }
    const Rune rune = DecodeRune(text.substr(at));
    if (rune.length == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
      ++at;
      continue;
    }
    AppendRune(rune, text.substr(at, rune.length), out);
    at += rune.length;
  }
  out += '"';
  return out;
}

BadValue::BadValue(std::string_view text) : text_(Quote(text)) {}
BadValue::BadValue(std::int64_t number) : text_(fmt::to_string(number)) {}
BadValue::BadValue(bool value) : text_(value ? "true" : "false") {}

BadValue BadValue::Raw(std::string text) {
  BadValue value;
  value.text_ = std::move(text);
  return value;
}

BadValue BadValue::Json(const schema::TypeDesc& type, const void* root) {
  BadValue value;
  schema::EncodeJson(type, root, value.text_);
  return value;
}

std::string FieldError::Body() const {
  const TypeTexts& texts = TextsOf(type);
  std::string out(texts.prefix);
  if (texts.shows_value) {
    out += ": ";
    out += value;
  }
  if (!detail.empty()) {
    out += ": ";
    out += detail;
  }
  return out;
}

std::string FieldError::ToString() const {
  return fmt::format("{}: {}", field, Body());
}

std::string_view FieldError::CauseType() const {
  return TextsOf(type).cause;
}

void FieldErrors::Required(const Path& path, std::string_view detail) {
  Add({ErrorType::kRequired, path.ToString(), {}, std::string(detail)});
}
void FieldErrors::Invalid(const Path& path, const BadValue& value, std::string_view detail) {
  Add({ErrorType::kInvalid, path.ToString(), value.text(), std::string(detail)});
}
void FieldErrors::NotSupported(const Path& path,
                               const BadValue& value,
                               std::span<const std::string_view> supported) {
  std::vector<std::string> quoted;
  quoted.reserve(supported.size());
  for (const std::string_view text : supported) {
    quoted.push_back(Quote(text));
  }
  Add({ErrorType::kNotSupported,
       path.ToString(),
       value.text(),
       quoted.empty() ? "" : fmt::format("supported values: {}", fmt::join(quoted, ", "))});
}
void FieldErrors::Duplicate(const Path& path, const BadValue& value) {
  Add({ErrorType::kDuplicate, path.ToString(), value.text(), {}});
}
void FieldErrors::Forbidden(const Path& path, std::string_view detail) {
  Add({ErrorType::kForbidden, path.ToString(), {}, std::string(detail)});
}
void FieldErrors::TooLong(const Path& path, std::size_t max, std::string_view unit) {
  Add({ErrorType::kTooLong,
       path.ToString(),
       {},
       fmt::format("may not be more than {} {}", max, unit)});
}
void FieldErrors::TooMany(const Path& path, std::size_t actual, std::size_t max) {
  Add({ErrorType::kTooMany,
       path.ToString(),
       fmt::to_string(actual),
       fmt::format("must have at most {} item{}", max, max == 1 ? "" : "s")});
}
void FieldErrors::NotFound(const Path& path, const BadValue& value, std::string_view detail) {
  Add({ErrorType::kNotFound, path.ToString(), value.text(), std::string(detail)});
}
void FieldErrors::Internal(const Path& path, std::string_view detail) {
  Add({ErrorType::kInternal, path.ToString(), {}, std::string(detail)});
}
void FieldErrors::Append(FieldErrors more) {
  errors_.insert(errors_.end(),
                 std::make_move_iterator(more.errors_.begin()),
                 std::make_move_iterator(more.errors_.end()));
}
void FieldErrors::InvalidAll(const Path& path,
                             std::string_view value,
                             const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) {
    Invalid(path, value, problem);
  }
}
void FieldErrors::InvalidAll(const Path& path,
                             std::int64_t value,
                             const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) {
    Invalid(path, value, problem);
  }
}

base::Status ToStatus(std::string_view group,
                      std::string_view kind,
                      std::string_view name,
                      const FieldErrors& errors) {
  ALLOT_CHECK(!errors.empty());
  base::StatusDetails details;
  details.name = name;
  details.group = group;
  details.kind = kind;
  std::vector<std::string> texts;
  std::unordered_set<std::string> seen;  // several rules may find one fault: it is told once
  for (const FieldError& error : errors.list()) {
    std::string text = error.ToString();
    if (seen.insert(text).second) {
      details.causes.push_back({std::string(error.CauseType()), error.Body(), error.field});
      texts.push_back(std::move(text));
    }
  }
  const std::string qualified =
      group.empty() ? std::string(kind) : fmt::format("{}.{}", kind, group);
  const std::string what =
      texts.size() == 1 ? texts.front() : fmt::format("[{}]", fmt::join(texts, ", "));
  return {base::Reason::kInvalid,
          fmt::format("{} {} is invalid: {}", qualified, Quote(name), what),
          std::move(details)};
}

}  // namespace allot::api
