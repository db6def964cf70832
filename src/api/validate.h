// What validation says: field paths, typed errors with upstream's texts, and the Status made of
// them.
//
// A Path is a chain of nodes on the stack and costs nothing until an error renders it.
// Thread safety: values of one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "schema/type_desc.h"

namespace allot::api {

/// A field path such as `spec.devices.requests[0].name`. Lifetime: a child points to its parent, so
/// name every parent that a child outlives.
class Path {
 public:
  /// An empty path renders as "[]".
  Path() = default;
  explicit Path(std::string_view name) : name_(name) {}

  [[nodiscard]] Path Child(std::string_view name) const& { return Path(this, name, Tail::kNone); }
  /// `name[index]`.
  [[nodiscard]] Path Item(std::string_view name, std::size_t index) const& {
    Path path(this, name, Tail::kIndex);
    path.index_ = index;
    return path;
  }
  /// `name[key]`.
  [[nodiscard]] Path Item(std::string_view name, std::string_view key) const& {
    Path path(this, name, Tail::kKey);
    path.key_ = key;
    return path;
  }
  /// This path with `[index]` behind it.
  [[nodiscard]] Path Index(std::size_t index) const& { return Item({}, index); }
  /// This path with `[key]` behind it.
  [[nodiscard]] Path Key(std::string_view key) const& { return Item({}, key); }
  Path Child(std::string_view name) const&& = delete;
  Path Item(std::string_view name, std::size_t index) const&& = delete;
  Path Item(std::string_view name, std::string_view key) const&& = delete;
  Path Index(std::size_t index) const&& = delete;
  Path Key(std::string_view key) const&& = delete;

  [[nodiscard]] std::string ToString() const;

 private:
  enum class Tail : std::uint8_t { kNone, kIndex, kKey };
  Path(const Path* parent, std::string_view name, Tail tail)
      : parent_(parent), name_(name), tail_(tail) {}
  void AppendTo(std::string& out) const;

  const Path* parent_ = nullptr;
  std::string_view name_;
  std::string_view key_;
  std::size_t index_ = 0;
  Tail tail_ = Tail::kNone;
};

enum class ErrorType : std::uint8_t {
  kRequired,
  kInvalid,
  kNotSupported,
  kDuplicate,
  kForbidden,
  kTooLong,
  kTooMany,
  kNotFound,
  kInternal,
};

/// The rejected value as messages show it: texts quoted, numbers bare, other things as JSON.
class BadValue {
 public:
  // NOLINTBEGIN(google-explicit-constructor): reads well at call sites
  BadValue(std::string_view text);
  BadValue(const char* text) : BadValue(std::string_view(text)) {}
  BadValue(const std::string& text) : BadValue(std::string_view(text)) {}
  BadValue(std::int64_t number);
  BadValue(std::int32_t number) : BadValue(std::int64_t{number}) {}
  BadValue(bool value);
  // NOLINTEND(google-explicit-constructor)
  static BadValue Null() { return Raw("null"); }
  /// Text that is shown as it is.
  static BadValue Raw(std::string text);
  /// The object's JSON.
  static BadValue Json(const schema::TypeDesc& type, const void* root);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  BadValue() = default;
  std::string text_;
};

struct FieldError {
  ErrorType type = ErrorType::kInvalid;
  std::string field;
  std::string value;  // rendered; unused by types whose message shows none
  std::string detail;

  /// `Invalid value: "x": must be ...`: the message of the cause.
  [[nodiscard]] std::string Body() const;
  /// `spec.x: Invalid value: "x": must be ...`.
  [[nodiscard]] std::string ToString() const;
  /// "FieldValueInvalid", ...
  [[nodiscard]] std::string_view CauseType() const;

  friend bool operator==(const FieldError&, const FieldError&) = default;
};

/// The errors of one request, in the order found.
class FieldErrors {
 public:
  void Required(const Path& path, std::string_view detail = {});
  void Invalid(const Path& path, const BadValue& value, std::string_view detail);
  /// `supported` is shown in its order.
  void NotSupported(const Path& path,
                    const BadValue& value,
                    std::span<const std::string_view> supported);
  void Duplicate(const Path& path, const BadValue& value);
  void Forbidden(const Path& path, std::string_view detail);
  /// `may not be more than N bytes` (or characters).
  void TooLong(const Path& path, std::size_t max, std::string_view unit = "bytes");
  /// `must have at most N items`.
  void TooMany(const Path& path, std::size_t actual, std::size_t max);
  void NotFound(const Path& path, const BadValue& value, std::string_view detail = {});
  void Internal(const Path& path, std::string_view detail);
  /// One Invalid for each of `problems` (what the name checks of names.h answer).
  void InvalidAll(const Path& path,
                  std::string_view value,
                  const std::vector<std::string>& problems);
  void InvalidAll(const Path& path, std::int64_t value, const std::vector<std::string>& problems);
  void Add(FieldError error) { errors_.push_back(std::move(error)); }
  /// Puts `more` behind.
  void Append(FieldErrors more);

  [[nodiscard]] bool empty() const { return errors_.empty(); }
  [[nodiscard]] std::size_t size() const { return errors_.size(); }
  [[nodiscard]] const std::vector<FieldError>& list() const { return errors_; }

 private:
  std::vector<FieldError> errors_;
};

/// The errors of the two kinds of rules: hand-written ones are shown first, declared ones behind
/// them.
struct Report {
  FieldErrors hand;
  FieldErrors declared;
};

/// The 422 of a request: `Kind.group "name" is invalid: ...` with one cause an error. REQUIRES:
/// errors not empty.
[[nodiscard]] base::Status ToStatus(std::string_view group,
                                    std::string_view kind,
                                    std::string_view name,
                                    const FieldErrors& errors);

/// `text` quoted as Go's %q does.
[[nodiscard]] std::string Quote(std::string_view text);

}  // namespace allot::api
