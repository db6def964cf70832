#include "api/line_diff.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace allot::api {
namespace {

using Lines = std::vector<std::string_view>;

constexpr std::size_t kContext = 3;
/// In long texts lines that are more frequent than one in a hundred do not anchor a match.
constexpr std::size_t kLongText = 200;

Lines SplitLines(std::string_view text) {
  Lines lines;
  std::size_t at = 0;
  while (true) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) {
      return lines;
    }
    at = end + 1;
  }
}

/// Equal stretches: `size` lines from `a` and from `b` on.
struct Block {
  std::size_t a = 0;
  std::size_t b = 0;
  std::size_t size = 0;
};
struct Range {
  std::size_t a_begin, a_end, b_begin, b_end;
};

class Matcher {
 public:
  Matcher(const Lines& a, const Lines& b) : a_(a), b_(b) {
    for (std::size_t i = 0; i < b.size(); ++i) {
      places_[b[i]].push_back(i);
    }
    if (b.size() >= kLongText) {
      const std::size_t most = b.size() / 100 + 1;
      std::erase_if(places_, [&](const auto& entry) { return entry.second.size() > most; });
    }
  }

  /// All equal stretches in order, with an empty one at the end.
  [[nodiscard]] std::vector<Block> Blocks() const {
    std::vector<Block> found;
    std::vector<Range> open = {{0, a_.size(), 0, b_.size()}};
    while (!open.empty()) {
      const Range range = open.back();
      open.pop_back();
      const Block block = Longest(range);
      if (block.size == 0) {
        continue;
      }
      found.push_back(block);
      open.push_back({range.a_begin, block.a, range.b_begin, block.b});
      open.push_back({block.a + block.size, range.a_end, block.b + block.size, range.b_end});
    }
    std::ranges::sort(found, [](const Block& x, const Block& y) { return x.a < y.a; });
    std::vector<Block> out;
    for (const Block& block : found) {
      if (!out.empty() && out.back().a + out.back().size == block.a &&
          out.back().b + out.back().size == block.b) {
        out.back().size += block.size;
      } else {
        out.push_back(block);
      }
    }
    out.push_back({a_.size(), b_.size(), 0});
    return out;
  }

 private:
  [[nodiscard]] Block Longest(const Range& range) const {
    Block best{range.a_begin, range.b_begin, 0};
    std::unordered_map<std::size_t, std::size_t> lengths;  // ending at this line of b
    for (std::size_t i = range.a_begin; i < range.a_end; ++i) {
      std::unordered_map<std::size_t, std::size_t> next;
      if (const auto found = places_.find(a_[i]); found != places_.end()) {
        for (const std::size_t j : found->second) {
          if (j < range.b_begin) {
            continue;
          }
          if (j >= range.b_end) {
            break;
          }
          const auto before = j > 0 ? lengths.find(j - 1) : lengths.end();
          const std::size_t length = (before != lengths.end() ? before->second : 0) + 1;
          next[j] = length;
          if (length > best.size) {
            best = {i + 1 - length, j + 1 - length, length};
          }
        }
      }
      lengths = std::move(next);
    }
    while (best.a > range.a_begin && best.b > range.b_begin && a_[best.a - 1] == b_[best.b - 1]) {
      --best.a;
      --best.b;
      ++best.size;
    }
    while (best.a + best.size < range.a_end && best.b + best.size < range.b_end &&
           a_[best.a + best.size] == b_[best.b + best.size]) {
      ++best.size;
    }
    return best;
  }

  const Lines& a_;
  const Lines& b_;
  std::unordered_map<std::string_view, std::vector<std::size_t>> places_;
};

/// A stretch that is equal in both, or what stands in one for the other.
struct Piece {
  bool equal = false;
  Range range{};
};

std::vector<Piece> Pieces(const std::vector<Block>& blocks) {
  std::vector<Piece> pieces;
  std::size_t a = 0;
  std::size_t b = 0;
  for (const Block& block : blocks) {
    if (a < block.a || b < block.b) {
      pieces.push_back({false, {a, block.a, b, block.b}});
    }
    if (block.size > 0) {
      pieces.push_back({true, {block.a, block.a + block.size, block.b, block.b + block.size}});
    }
    a = block.a + block.size;
    b = block.b + block.size;
  }
  return pieces;
}

/// Cuts long equal stretches to the lines around changes.
std::vector<std::vector<Piece>> Groups(std::vector<Piece> pieces) {
  std::vector<std::vector<Piece>> groups;
  std::vector<Piece> group;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    Range range = pieces[i].range;
    if (!pieces[i].equal) {
      group.push_back(pieces[i]);
      continue;
    }
    const std::size_t size = range.a_end - range.a_begin;
    const bool first = i == 0;
    const bool last = i + 1 == pieces.size();
    if (first && size > kContext) {
      range = {range.a_end - kContext, range.a_end, range.b_end - kContext, range.b_end};
    } else if (last && size > kContext) {
      range = {range.a_begin, range.a_begin + kContext, range.b_begin, range.b_begin + kContext};
    } else if (!first && !last && size > 2 * kContext) {
      group.push_back(
          {true,
           {range.a_begin, range.a_begin + kContext, range.b_begin, range.b_begin + kContext}});
      groups.push_back(std::exchange(group, {}));
      range = {range.a_end - kContext, range.a_end, range.b_end - kContext, range.b_end};
    }
    group.push_back({true, range});
  }
  const bool changes = std::ranges::any_of(group, [](const Piece& piece) { return !piece.equal; });
  if (changes) {
    groups.push_back(std::move(group));
  }
  return groups;
}

std::string RangeText(std::size_t begin, std::size_t end) {
  const std::size_t size = end - begin;
  if (size == 1) {
    return fmt::format("{}", begin + 1);
  }
  return fmt::format("{},{}", size == 0 ? begin : begin + 1, size);
}

void AppendLines(
    const Lines& lines, std::size_t begin, std::size_t end, char mark, std::string& out) {
  for (std::size_t i = begin; i < end; ++i) {
    out += mark;
    out += lines[i];
    out += '\n';
  }
}

}  // namespace

std::string UnifiedDiff(std::string_view before, std::string_view after) {
  const Lines a = SplitLines(before);
  const Lines b = SplitLines(after);
  std::string out;
  for (const std::vector<Piece>& group : Groups(Pieces(Matcher(a, b).Blocks()))) {
    const Range& first = group.front().range;
    const Range& last = group.back().range;
    out += fmt::format("@@ -{} +{} @@\n",
                       RangeText(first.a_begin, last.a_end),
                       RangeText(first.b_begin, last.b_end));
    for (const Piece& piece : group) {
      const Range& range = piece.range;
      if (piece.equal) {
        AppendLines(a, range.a_begin, range.a_end, ' ', out);
        continue;
      }
      AppendLines(a, range.a_begin, range.a_end, '-', out);
      AppendLines(b, range.b_begin, range.b_end, '+', out);
    }
  }
  return out;
}

}  // namespace allot::api
