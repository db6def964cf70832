// Columns of text padded as kubectl prints them: left-aligned, three blanks between, no trailing
// blanks after the last cell.  Thread safety: one writer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace allot::text {

/// Collects rows and prints them with aligned columns. Width is counted in code points.
class TextTable {
 public:
  /// Starts with a header row. An empty list of names means no header.
  explicit TextTable(std::vector<std::string> header = {});

  /// Adds a row; line breaks in cells are printed as `\n`, like kubectl does.
  void AddRow(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// Appends all rows, each ended by a line break. Every line starts with `indent`.
  void Write(std::string& out, std::string_view indent = {}) const;
  [[nodiscard]] std::string ToString() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// The number of code points in UTF-8 text.
[[nodiscard]] std::size_t DisplayWidth(std::string_view text);

}  // namespace allot::text
