#include "text/table.h"

#include <algorithm>

namespace allot::text {

TextTable::TextTable(std::vector<std::string> header) {
  if (!header.empty()) {
    AddRow(std::move(header));
  }
}

void TextTable::AddRow(std::vector<std::string> cells) {
  for (std::string& cell : cells) {
    if (cell.find('\n') != std::string::npos) {
      std::string one_line;
      for (const char c : cell) {
        one_line += c == '\n' ? std::string("\\n") : std::string(1, c);
      }
      cell = std::move(one_line);
    }
  }
  rows_.push_back(std::move(cells));
}

void TextTable::Write(std::string& out, std::string_view indent) const {
  constexpr std::size_t kGap = 3;
  constexpr std::size_t kNarrowest = 6;  // of a column with its gap
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    // The last cell of a row pads nothing, so it does not widen its column.
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      if (i >= widths.size()) {
        widths.resize(i + 1);
      }
      widths[i] = std::max(widths[i], DisplayWidth(row[i]));
    }
  }
  for (const auto& row : rows_) {
    out += indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size()) {
        out.append(std::max(widths[i] + kGap, kNarrowest) - DisplayWidth(row[i]), ' ');
      }
    }
    out += '\n';
  }
}

std::string TextTable::ToString() const {
  std::string out;
  Write(out);
  return out;
}

std::size_t DisplayWidth(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace allot::text
