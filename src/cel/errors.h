// The errors of one compilation and their display: position, source line, caret, as cel-go prints
// them. Thread safety: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace allot::cel {

/// The offset of what stands nowhere in the source; cel-go shows it in front of the first column.
inline constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

class Errors {
 public:
  explicit Errors(std::string_view source) : source_(source) {}

  /// Reports an error at a place in the source. Unit of offset: bytes; past the end counts as the
  /// end, but for kNowhere.
  void Report(std::size_t offset, std::string message);
  /// Reports an error without a place (line -1).
  void ReportNowhere(std::string message);

  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// All errors, sorted by place; at most 100, then how many more there were.
  [[nodiscard]] std::string Display() const;

 private:
  struct Error {
    std::int64_t line;    // 1-based, -1 nowhere
    std::int64_t column;  // 0-based code points
    std::string message;
  };
  [[nodiscard]] std::string DisplayOne(const Error& error) const;

  std::string_view source_;
  std::vector<Error> errors_;
  std::size_t count_ = 0;
};

}  // namespace allot::cel
