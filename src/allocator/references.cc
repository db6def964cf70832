#include "allocator/references.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace allot::allocator {
namespace {

struct Token {
  char kind = 0;  // 'i' identifier, 's' string, or the character itself
  std::string_view text;
};

bool IsWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Identifiers, plain string literals and single characters; escapes inside strings do not matter
// for names.
std::vector<Token> TokensOf(std::string_view text) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    std::size_t end = at + 1;
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      at = end;
      continue;
    }
    if (c == '"' || c == '\'') {
      while (end < text.size() && text[end] != c) {
        end += text[end] == '\\' ? 2 : 1;
      }
      end = std::min(end, text.size());
      tokens.push_back({'s', text.substr(at + 1, end - at - 1)});
      at = end + 1;
      continue;
    }
    while (IsWord(c) && end < text.size() && IsWord(text[end])) {
      ++end;
    }
    tokens.push_back({IsWord(c) ? 'i' : c, text.substr(at, end - at)});
    at = end;
  }
  return tokens;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : tokens_(TokensOf(text)) {}

  [[nodiscard]] std::size_t size() const { return tokens_.size(); }
  [[nodiscard]] bool Is(std::size_t at, std::string_view text) const {
    return at < tokens_.size() && tokens_[at].kind != 's' && tokens_[at].text == text;
  }
  [[nodiscard]] std::string_view StringAt(std::size_t at) const {
    return at < tokens_.size() && tokens_[at].kind == 's' ? tokens_[at].text : std::string_view();
  }
  // `device . member`, moved behind it.
  [[nodiscard]] bool Member(std::size_t& at, std::string_view member) const {
    if (!Is(at, "device") || !Is(at + 1, ".") || !Is(at + 2, member)) {
      return false;
    }
    at += 3;
    return true;
  }
  // `["domain"]` or `[device.driver]`, moved behind it; also with `[?`.
  [[nodiscard]] bool Domain(std::size_t& at, std::string& domain) const {
    if (!Is(at, "[")) {
      return false;
    }
    std::size_t next = at + (Is(at + 1, "?") ? 2 : 1);
    if (!StringAt(next).empty()) {
      domain = StringAt(next++);
    } else if (!Member(next, "driver")) {
      return false;
    }
    if (!Is(next, "]")) {
      return false;
    }
    at = next + 1;
    return true;
  }
  // `.id`, `.?id`, `["id"]` or `[?"id"]`; empty when none follows.
  [[nodiscard]] std::string_view Id(std::size_t at) const {
    const bool dot = Is(at, ".");
    if (!dot && !Is(at, "[")) {
      return {};
    }
    const std::size_t next = at + (Is(at + 1, "?") ? 2 : 1);
    if (!dot) {
      return StringAt(next);
    }
    const bool word = next < tokens_.size() && tokens_[next].kind == 'i' && !Is(next + 1, "(");
    return word ? tokens_[next].text : std::string_view();
  }

 private:
  std::vector<Token> tokens_;
};

// Letters to change, insert, drop or exchange.
std::size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::vector<std::size_t> next(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  const auto lower = [](char c) {
    return std::tolower(static_cast<unsigned char>(c));
  };
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1])) {
        next[j] = std::min(next[j], before[j - 2] + 1);
      }
    }
    before = row;
    row = next;
  }
  return row[b.size()];
}

}  // namespace

std::vector<Reference> ReferencesOf(std::string_view expression) {
  std::vector<Reference> out;
  const Reader reader(expression);
  const auto add = [&](Reference reference) {
    if (std::find(out.begin(), out.end(), reference) == out.end()) {
      out.push_back(std::move(reference));
    }
  };
  for (std::size_t i = 0; i < reader.size(); ++i) {
    for (const Section section : {Section::kAttributes, Section::kCapacity}) {
      std::size_t at = i;
      Reference reference;
      reference.section = section;
      if (!reader.Member(at, section == Section::kAttributes ? "attributes" : "capacity") ||
          !reader.Domain(at, reference.domain)) {
        continue;
      }
      if (const std::string_view id = reader.Id(at); !id.empty()) {
        reference.id = id;
        add(std::move(reference));
      } else if (i >= 2 && reader.Is(i - 1, "in") && !reader.StringAt(i - 2).empty()) {
        reference.id = reader.StringAt(i - 2);
        add(std::move(reference));
      }
    }
  }
  return out;
}

std::vector<std::string> DriversOf(std::string_view expression) {
  std::vector<std::string> out;
  const Reader reader(expression);
  for (std::size_t i = 0; i < reader.size(); ++i) {
    std::size_t at = i;
    if (!reader.Member(at, "driver")) {
      continue;
    }
    if (reader.Is(at, "=") && reader.Is(at + 1, "=") && !reader.StringAt(at + 2).empty()) {
      out.emplace_back(reader.StringAt(at + 2));
    } else if (i >= 3 && reader.Is(i - 1, "=") && reader.Is(i - 2, "=") &&
               !reader.StringAt(i - 3).empty()) {
      out.emplace_back(reader.StringAt(i - 3));
    }
  }
  return out;
}

std::string_view LooksLike(std::string_view name, const std::vector<std::string_view>& candidates) {
  std::string_view best;
  std::size_t least = std::max<std::size_t>(name.size() / 3, 1) + 1;
  for (const std::string_view candidate : candidates) {
    if (const std::size_t distance = Distance(name, candidate); distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace allot::allocator
