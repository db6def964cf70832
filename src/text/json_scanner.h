// The lexical half of JSON: blanks, strings and numbers, sixteen bytes a step. Used by ParseJson
// and by the typed decoder of schema, so that both read alike.
//
// Functions take and return positions in one text; null means malformed (FindJsonError says how).
// Thread safety: stateless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace allot::text {

/// The first position at or after `at` that is not a blank.
[[nodiscard]] inline const char* SkipBlanks(const char* at, const char* end) {
  while (at != end && static_cast<unsigned char>(*at) <= ' ') {
    if (*at != ' ' && *at != '\n' && *at != '\t' && *at != '\r') {
      break;
    }
    ++at;
  }
  return at;
}

/// A string as it stands between its quotes.
struct RawString {
  std::string_view text;
  bool plain = true;  // no escape and valid UTF-8: `text` is the value itself
};

/// Scans the string whose opening quote is at `at`; returns the position after the closing quote.
/// Errors: null when it is malformed (control character, bad escape, no end).
[[nodiscard]] const char* ScanStringSlow(const char* from,
                                         const char* at,
                                         const char* end,
                                         RawString& out);

[[nodiscard]] inline const char* ScanString(const char* at, const char* end, RawString& out) {
  const char* const from = ++at;
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i slash = _mm_set1_epi8('\\');
  const __m128i blank = _mm_set1_epi8(' ');
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    // Signed comparison: bytes of 0x80 and above count as below a blank, so one test finds both
    // kinds.
    const __m128i odd = _mm_or_si128(_mm_cmplt_epi8(bytes, blank), _mm_cmpeq_epi8(bytes, slash));
    const auto mask =
        static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(odd, _mm_cmpeq_epi8(bytes, quote))));
    if (mask != 0) {
      at += __builtin_ctz(mask);
      if (*at == '"') {
        out = {{from, static_cast<std::size_t>(at - from)}, true};
        return at + 1;
      }
      return ScanStringSlow(from, at, end, out);
    }
    at += 16;
  }
#endif
  return ScanStringSlow(from, at, end, out);
}

/// Unit: bytes that Unescape writes at most.
[[nodiscard]] inline std::size_t UnescapedBound(std::string_view raw) {
  return 3 * raw.size();
}
/// Writes the value of a scanned string; invalid UTF-8 and lone surrogates become U+FFFD.
/// Unit: returns the bytes written.
[[nodiscard]] std::size_t Unescape(std::string_view raw, char* out);

/// Scans the number at `at`; returns the position after it, null when it is malformed.
[[nodiscard]] const char* ScanNumber(const char* at, const char* end, bool& is_integer);

/// Skips the value at `at` (blanks before it allowed), whatever it is.
/// `blanks`, when given, is set to whether insignificant blanks were met inside.
/// Errors: null when it is malformed or nested deeper than `max_depth`.
[[nodiscard]] const char* SkipValue(const char* at,
                                    const char* end,
                                    int max_depth,
                                    bool* blanks = nullptr);

/// True when the bytes are valid UTF-8.
[[nodiscard]] bool IsValidUtf8(std::string_view text);
/// Unit: bytes of the valid UTF-8 sequence at the start of `text`; 0 when it is invalid.
[[nodiscard]] std::size_t Utf8Length(std::string_view text);

}  // namespace allot::text
