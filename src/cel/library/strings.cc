// The strings library, version 2. Positions count code points.
#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "cel/format_string.h"
#include "cel/functions.h"
#include "cel/library/libraries.h"
#include "cel/operations.h"
#include "quantity/go_text.h"

namespace allot::cel {
namespace {

using quantity::DecodeRune;

// The byte offset of a code point; the size when it is past the end.
std::size_t ByteOffset(std::string_view text, std::int64_t point) {
  std::size_t at = 0;
  for (; point > 0 && at < text.size(); --point) {
    at += DecodeRune(text.substr(at)).width;
  }
  return at;
}

std::int64_t Points(std::string_view text) {
  return CountCodePoints(text);
}

Value OutOfRange(Context& context, std::int64_t index) {
  return context.Error(fmt::format("index out of range: {}", index));
}

Value CharAt(Context& context, Args args) {
  const std::string_view text = args[0].text();
  const std::int64_t index = args[1].integer;
  if (index < 0 || index > Points(text)) {
    return OutOfRange(context, index);
  }
  const std::size_t at = ByteOffset(text, index);
  return Value::String(at == text.size() ? std::string_view()
                                         : text.substr(at, DecodeRune(text.substr(at)).width));
}

// The first occurrence, in time linear in both texts whatever they are.
std::size_t FindFirst(std::string_view text, std::string_view sub, std::size_t from) {
  if (text.size() - from < sub.size()) {
    return std::string_view::npos;
  }
  const void* const found = memmem(text.data() + from, text.size() - from, sub.data(), sub.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

// The last occurrence that starts at `from` or before, likewise.
std::size_t FindLast(std::string_view text, std::string_view sub, std::size_t from) {
  text = text.substr(0, std::min(text.size(), from + sub.size()));
  constexpr std::size_t kShort = 1 << 16;
  if (text.size() * sub.size() <= kShort) {
    return text.rfind(sub);
  }
  const std::string backward(text.rbegin(), text.rend());
  const std::size_t found = FindFirst(backward, std::string(sub.rbegin(), sub.rend()), 0);
  return found == std::string_view::npos ? found : text.size() - found - sub.size();
}

Value IndexOf(Context& context, Args args) {
  const std::string_view text = args[0].text();
  const std::string_view sub = args[1].text();
  const std::int64_t offset = args.size() > 2 ? args[2].integer : 0;
  if (offset < 0) {
    return OutOfRange(context, offset);
  }
  const std::int64_t points = Points(text);
  if (sub.empty()) {
    return Value::Int(std::min(offset, points));
  }
  if (offset >= points) {
    return Value::Int(-1);
  }
  const std::size_t found = FindFirst(text, sub, ByteOffset(text, offset));
  return Value::Int(found == std::string_view::npos ? -1 : Points(text.substr(0, found)));
}

Value LastIndexOf(Context& context, Args args) {
  const std::string_view text = args[0].text();
  const std::string_view sub = args[1].text();
  const std::int64_t points = Points(text);
  std::int64_t offset = points - 1;
  if (args.size() > 2) {
    offset = args[2].integer;
    if (offset < 0) {
      return OutOfRange(context, offset);
    }
  }
  if (sub.empty()) {
    return Value::Int(args.size() > 2 ? std::min(offset, points) : points);
  }
  if (offset >= points || text.size() < sub.size()) {
    return Value::Int(-1);
  }
  const std::size_t found = FindLast(text, sub, ByteOffset(text, offset));
  return Value::Int(found == std::string_view::npos ? -1 : Points(text.substr(0, found)));
}

template <char From, char To>
Value ChangeCase(Context& context, Args args) {
  std::string out(args[0].text());
  for (char& c : out) {
    if (c >= From && c <= From + 25) {
      c = static_cast<char>(c - From + To);
    }
  }
  return context.String(out);
}

Value Replace(Context& context, Args args) {
  const std::string_view text = args[0].text();
  const std::string_view from = args[1].text();
  const std::string_view to = args[2].text();
  std::int64_t limit = args.size() > 3 ? args[3].integer : -1;
  if (limit < 0) {
    limit = std::numeric_limits<std::int64_t>::max();
  }
  std::string out;
  std::size_t at = 0;
  constexpr std::size_t kEnough = std::size_t{1} << 27;
  for (; limit > 0 && out.size() < kEnough; --limit) {
    if (from.empty()) {
      out += to;
      if (at >= text.size()) {
        at = text.size();
        break;
      }
      const std::size_t width = DecodeRune(text.substr(at)).width;
      out += text.substr(at, width);
      at += width;
      continue;
    }
    const std::size_t found = FindFirst(text, from, at);
    if (found == std::string_view::npos) {
      break;
    }
    out += text.substr(at, found - at);
    out += to;
    at = found + from.size();
  }
  out += text.substr(at);
  return context.String(out);
}

Value Split(Context& context, Args args) {
  std::string_view text = args[0].text();
  const std::string_view separator = args[1].text();
  std::int64_t limit = args.size() > 2 ? args[2].integer : -1;
  ListRep* const out = context.NewList(4);
  out->go_type = "[]string";
  if (limit == 0) {
    return context.ListValue(out);
  }
  if (limit < 0) {
    limit = std::numeric_limits<std::int64_t>::max();
  }
  if (separator.empty()) {
    while (!text.empty() && limit > 1) {
      const std::size_t width = DecodeRune(text).width;
      context.Append(*out, Value::String(text.substr(0, width)));
      text.remove_prefix(width);
      --limit;
    }
    if (!text.empty()) {
      context.Append(*out, Value::String(text));
    }
    return context.ListValue(out);
  }
  for (; limit > 1; --limit) {
    const std::size_t found = FindFirst(text, separator, 0);
    if (found == std::string_view::npos) {
      break;
    }
    context.Append(*out, Value::String(text.substr(0, found)));
    text.remove_prefix(found + separator.size());
  }
  context.Append(*out, Value::String(text));
  return context.ListValue(out);
}

Value Substring(Context& context, Args args) {
  const std::string_view text = args[0].text();
  const std::int64_t points = Points(text);
  const std::int64_t start = args[1].integer;
  const std::int64_t end = args.size() > 2 ? args[2].integer : points;
  if (args.size() > 2 && start > end) {
    return context.Error(fmt::format("invalid substring range. start: {}, end: {}", start, end));
  }
  if (start < 0 || start > points) {
    return OutOfRange(context, start);
  }
  if (end < 0 || end > points) {
    return OutOfRange(context, end);
  }
  const std::size_t from = ByteOffset(text, start);
  return Value::String(text.substr(from, ByteOffset(text.substr(from), end - start)));
}

bool IsWhiteSpace(char32_t rune) {
  return (rune >= 9 && rune <= 13) || rune == ' ' || rune == 0x85 || rune == 0xA0 ||
         rune == 0x1680 || (rune >= 0x2000 && rune <= 0x200A) || rune == 0x2028 || rune == 0x2029 ||
         rune == 0x202F || rune == 0x205F || rune == 0x3000;
}

Value Trim(Context& /*context*/, Args args) {
  std::string_view text = args[0].text();
  while (!text.empty()) {
    const auto rune = DecodeRune(text);
    if (!IsWhiteSpace(rune.value)) {
      break;
    }
    text.remove_prefix(rune.width);
  }
  while (!text.empty()) {
    std::size_t last = text.size() - 1;
    while (last > 0 && (static_cast<unsigned char>(text[last]) & 0xC0) == 0x80) {
      --last;
    }
    if (!IsWhiteSpace(DecodeRune(text.substr(last)).value)) {
      break;
    }
    text = text.substr(0, last);
  }
  return Value::String(text);
}

Value Join(Context& context, Args args) {
  const std::string_view separator = args.size() > 1 ? args[1].text() : std::string_view();
  std::string out;
  bool first = true;
  for (const Value& item : args[0].list->values()) {
    if (!first) {
      out += separator;
    }
    first = false;
    if (!item.Is(ValueKind::kString)) {
      return context.Error(fmt::format("join: invalid input: {}", GoText(item)));
    }
    out += item.text();
    if (out.size() > Context::kMaxMemory) {
      return context.Exhaust();
    }
  }
  return context.String(out);
}

Value Quote(Context& context, Args args) {
  std::string out = "\"";
  std::string_view text = args[0].text();
  while (!text.empty()) {
    const auto rune = DecodeRune(text);
    text.remove_prefix(rune.width);
    switch (rune.value) {
      case '\a': out += "\\a"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\v': out += "\\v"; break;
      case '\\': out += "\\\\"; break;
      case '"': out += "\\\""; break;
      default: quantity::AppendRune(out, rune.value);
    }
  }
  out += '"';
  return context.String(out);
}

Value Format(Context& context, Args args) {
  std::string out;
  std::string error;
  if (!FormatString(args[0].text(), *args[1].list, out, error)) {
    return error == kFormatTooLong ? context.Exhaust() : context.Error(error);
  }
  return context.String(out);
}

}  // namespace

void RegisterStrings(Registry& registry) {
  using namespace types;
  Declare d(registry, kLibStrings);
  const Type* const list = d.List(&kString);
  d.Member("charAt", "string_char_at_int", {&kString, &kInt}, &kString, CharAt);
  d.Member("indexOf", "string_index_of_string", {&kString, &kString}, &kInt, IndexOf);
  d.Member("indexOf", "string_index_of_string_int", {&kString, &kString, &kInt}, &kInt, IndexOf);
  d.Member("lastIndexOf", "string_last_index_of_string", {&kString, &kString}, &kInt, LastIndexOf);
  d.Member("lastIndexOf",
           "string_last_index_of_string_int",
           {&kString, &kString, &kInt},
           &kInt,
           LastIndexOf);
  d.Member("lowerAscii", "string_lower_ascii", {&kString}, &kString, ChangeCase<'A', 'a'>);
  d.Member("upperAscii", "string_upper_ascii", {&kString}, &kString, ChangeCase<'a', 'A'>);
  d.Member(
      "replace", "string_replace_string_string", {&kString, &kString, &kString}, &kString, Replace);
  d.Member("replace",
           "string_replace_string_string_int",
           {&kString, &kString, &kString, &kInt},
           &kString,
           Replace);
  d.Member("split", "string_split_string", {&kString, &kString}, list, Split);
  d.Member("split", "string_split_string_int", {&kString, &kString, &kInt}, list, Split);
  d.Member("substring", "string_substring_int", {&kString, &kInt}, &kString, Substring);
  d.Member("substring", "string_substring_int_int", {&kString, &kInt, &kInt}, &kString, Substring);
  d.Member("trim", "string_trim", {&kString}, &kString, Trim);
  d.Member("format",
           "string_format",
           {&kString, d.List(&kDyn)},
           &kString,
           Format,
           {.arity = Arity::kVariadic, .cost = CostRule::kFirstString});
  d.Global("strings.quote",
           "strings_quote",
           {&kString},
           &kString,
           Quote,
           {.cost = CostRule::kFirstString});
  d.Member("join", "list_join", {list}, &kString, Join);
  d.Member("join", "list_join_string", {list, &kString}, &kString, Join);
  for (const std::string_view name : {"lowerAscii", "upperAscii", "substring", "trim"}) {
    d.Cost(name, NamedCost::kScanFirst);
  }
  d.Cost("replace", NamedCost::kScanFirstTwice);
  d.Cost("split", NamedCost::kScanFirstTwice);
  d.Cost("join", NamedCost::kJoin);
}

}  // namespace allot::cel
