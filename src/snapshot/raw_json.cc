#include "snapshot/raw_json.h"

#include <cstddef>
#include <string>

#include "text/json_scanner.h"

namespace allot::snapshot {
namespace {

constexpr int kMaxDepth = 10'000;

std::string_view Between(const char* from, const char* to) {
  return {from, static_cast<std::size_t>(to - from)};
}

bool IsKey(const text::RawString& raw, std::string_view key) {
  if (raw.plain) {
    return raw.text == key;
  }
  std::string plain(text::UnescapedBound(raw.text), '\0');
  plain.resize(text::Unescape(raw.text, plain.data()));
  return plain == key;
}

}  // namespace

std::string_view TakeRawValue(std::string_view& text) {
  const char* const end = text.data() + text.size();
  const char* const from = text::SkipBlanks(text.data(), end);
  if (from == end) {
    text = {};
    return {};
  }
  const char* const to = text::SkipValue(from, end, kMaxDepth);
  if (to == nullptr) {
    return {};
  }
  text = Between(to, end);
  return Between(from, to);
}

std::string_view RawMember(std::string_view object, std::string_view key) {
  std::string_view found;
  const char* const end = object.data() + object.size();
  const char* at = text::SkipBlanks(object.data(), end);
  if (at == end || *at != '{') {
    return found;
  }
  for (++at;;) {
    at = text::SkipBlanks(at, end);
    text::RawString name;
    if (at == end || *at != '"' || (at = text::ScanString(at, end, name)) == nullptr) {
      return found;
    }
    at = text::SkipBlanks(at, end);
    if (at == end || *at != ':') {
      return found;
    }
    std::string_view rest = Between(at + 1, end);
    const std::string_view value = TakeRawValue(rest);
    if (value.empty()) {
      return found;
    }
    if (IsKey(name, key)) {
      found = value;
    }
    at = text::SkipBlanks(rest.data(), end);
    if (at == end || *at != ',') {
      return found;
    }
    ++at;
  }
}

std::vector<std::string_view> RawItems(std::string_view array) {
  std::vector<std::string_view> items;
  if (array.empty() || array.front() != '[') {
    return items;
  }
  for (std::string_view rest = array.substr(1);;) {
    const std::string_view item = TakeRawValue(rest);
    if (item.empty()) {
      return items;
    }
    items.push_back(item);
    const char* const end = rest.data() + rest.size();
    const char* const at = text::SkipBlanks(rest.data(), end);
    if (at == end || *at != ',') {
      return items;
    }
    rest = Between(at + 1, end);
  }
}

}  // namespace allot::snapshot
