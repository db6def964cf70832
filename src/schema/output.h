// The growing end of a std::string that an encoder writes to without zero-filling it first.
// Internal to schema.  Thread safety: one writer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace allot::schema {

class Output {
 public:
  explicit Output(std::string& text) : text_(text), used_(text.size()) { Grow(256); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() { text_.resize(static_cast<std::size_t>(cursor_ - text_.data())); }

  /// Room for `size` more bytes; returns where to write them. Advance says how many were written.
  [[nodiscard]] char* Room(std::size_t size) {
    if (static_cast<std::size_t>(end_ - cursor_) < size) {
      Grow(size);
    }
    return cursor_;
  }
  void Advance(const char* to) { cursor_ += to - cursor_; }

  void Put(char c) {
    *Room(1) = c;
    ++cursor_;
  }
  void Put(std::string_view text) {
    std::memcpy(Room(text.size()), text.data(), text.size());
    cursor_ += text.size();
  }

 private:
  void Grow(std::size_t more) {
    if (cursor_ != nullptr) {
      used_ = static_cast<std::size_t>(cursor_ - text_.data());
    }
    const std::size_t wanted = std::max(used_ + more, std::max(used_ * 2, text_.capacity()));
    text_.resize_and_overwrite(wanted, [](char*, std::size_t size) { return size; });
    cursor_ = text_.data() + used_;
    end_ = text_.data() + text_.size();
  }

  std::string& text_;
  std::size_t used_;
  char* cursor_ = nullptr;
  char* end_ = nullptr;
};

}  // namespace allot::schema
