// JsonReader: where the typed JSON decoder stands in its text, and what it has found wrong so far.
// Internal to schema.  Thread safety: one decoder.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "schema/codec.h"
#include "schema/json_frame.h"
#include "schema/types.h"
#include "text/json.h"
#include "text/json_scanner.h"

namespace allot::schema {

/// The reading functions answer false when the text is malformed, or when decoding ends here; the
/// reader is of no use then.
class JsonReader {
 public:
  JsonReader(std::string_view text, base::Arena& arena, const DecodeOptions& options)
      : at_(text.data()),
        end_(text.data() + text.size()),
        arena_(arena),
        strict_(options.strict),
        max_depth_(options.max_depth) {}

  [[nodiscard]] bool AtEnd() const { return at_ == end_; }
  /// REQUIRES: not at the end.
  [[nodiscard]] char Peek() const { return *at_; }
  [[nodiscard]] bool AtNull() const { return at_ != end_ && *at_ == 'n'; }
  /// REQUIRES: not at the end.
  [[nodiscard]] bool AtNumber() const { return *at_ == '-' || (*at_ >= '0' && *at_ <= '9'); }

  void Blanks() {
    if (at_ != end_ && static_cast<unsigned char>(*at_) <= ' ') {
      at_ = text::SkipBlanks(at_, end_);
    }
  }

  bool Literal(std::string_view word) {
    if (static_cast<std::size_t>(end_ - at_) < word.size() ||
        std::memcmp(at_, word.data(), word.size()) != 0) {
      return false;
    }
    at_ += word.size();
    return true;
  }
  bool Null() { return Literal("null"); }

  /// REQUIRES: at a quote.
  bool String(Str& out) {
    text::RawString raw;
    at_ = text::ScanString(at_, end_, raw);
    if (at_ == nullptr) {
      return false;
    }
    out = Keep(raw);
    return true;
  }

  bool Number(Str& token, bool& is_integer) {
    const char* const from = at_;
    const char* const to = text::ScanNumber(at_, end_, is_integer);
    if (to == nullptr) {
      return false;
    }
    token = {from, static_cast<std::size_t>(to - from)};
    at_ = to;
    return true;
  }

  /// Reads `"key":` and stands at the value.
  bool Key(Str& key) {
    Blanks();
    if (at_ == end_ || *at_ != '"' || !String(key)) {
      return false;
    }
    Blanks();
    if (at_ == end_ || *at_ != ':') {
      return false;
    }
    ++at_;
    Blanks();
    return at_ != end_;
  }

  /// Steps into an object or array; true when it is empty, and past it then.
  bool OpenEmpty(char close) {
    ++at_;
    Blanks();
    if (at_ == end_ || *at_ != close) {
      return false;
    }
    ++at_;
    return true;
  }

  /// After a value: true to go on after a comma, false at `close`. Malformed text sets bad.
  bool More(char close, bool& bad) {
    Blanks();
    if (at_ == end_) {
      bad = true;
      return false;
    }
    const char c = *at_++;
    if (c == ',') {
      return true;
    }
    bad = c != close;
    return false;
  }

  bool Skip(int depth) {
    at_ = text::SkipValue(at_, end_, depth);
    return at_ != nullptr;
  }
  /// The text of any value; `blanks` tells whether there are some inside it.
  bool Token(int depth, Str& token, bool* blanks = nullptr) {
    const char* const from = at_;
    at_ = text::SkipValue(at_, end_, depth, blanks);
    if (at_ == nullptr) {
      return false;
    }
    token = {from, static_cast<std::size_t>(at_ - from)};
    return true;
  }

  [[nodiscard]] base::Arena& arena() { return arena_; }
  [[nodiscard]] bool is_strict() const { return strict_ != nullptr; }
  [[nodiscard]] int max_depth() const { return max_depth_; }

  /// Notes a field that strict decoding refuses: it is "unknown" or "duplicate".
  void Report(std::string_view what, const Frame* parent, Str key);
  /// An error that is told in the end, if it is the first and nothing aborts: decoding goes on.
  void Save(std::string message);
  /// Saves Go's text for a value that does not fit: the struct that holds the field, the path.
  void Cannot(const std::string& value, const Frame* frame, const std::string& type);
  /// Notes a value of the wrong type and skips it.
  bool Mismatch(const Frame* frame, const std::string& type);
  /// An error of a kind that reads its own text: decoding ends, and nothing noted before counts.
  bool Abort(std::string message);
  bool AbortMismatch(const Frame& frame, const std::string& type);
  bool AbortNumber(Str token, const Frame& frame, const std::string& type);
  /// What went wrong beyond syntax; empty when only the syntax is broken.
  [[nodiscard]] std::string& error() { return error_; }

 private:
  Str Keep(const text::RawString& raw) {
    if (raw.plain) {
      return raw.text;
    }
    const std::size_t bound = text::UnescapedBound(raw.text);
    char* const to = static_cast<char*>(arena_.Allocate(bound, 1));
    return {to, text::Unescape(raw.text, to)};
  }

  const char* at_;
  const char* end_;
  base::Arena& arena_;
  StrictFindings* strict_;
  int max_depth_;
  std::string error_;
};

/// Reads a value of a kind with a text form of its own (quantities, times, bytes, raw JSON, ...)
/// into the zeroed or earlier value at `to`.
bool DecodeSpecialJson(
    JsonReader& in, const FieldDesc& field, char* to, const Frame& frame, int depth);

}  // namespace allot::schema
