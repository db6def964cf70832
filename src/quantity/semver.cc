#include "quantity/semver.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "quantity/go_text.h"

namespace allot::quantity {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool AllDigits(std::string_view text) {
  return std::ranges::all_of(text, IsDigit);
}

bool AllIdentifier(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return IsDigit(c) || c == '-' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

bool LeadingZero(std::string_view text) {
  return text.size() > 1 && text[0] == '0';
}

std::unexpected<base::Status> Bad(std::string_view what, std::string_view text) {
  return base::Error(base::Reason::kInvalid, fmt::format("{} {}", what, GoQuote(text)));
}

// Cuts the part before the next dot off `rest`; `done` becomes true with the last one.
std::string_view NextPart(std::string_view& rest, bool& done) {
  const std::size_t dot = rest.find('.');
  done = dot == std::string_view::npos;
  const std::string_view part = rest.substr(0, dot);
  rest.remove_prefix(done ? rest.size() : dot + 1);
  return part;
}

base::Result<std::uint64_t> Number(std::string_view text,
                                   std::string_view lower,
                                   std::string_view upper) {
  if (!AllDigits(text)) {
    return Bad(fmt::format("Invalid character(s) found in {} number", lower), text);
  }
  if (LeadingZero(text)) {
    return Bad(fmt::format("{} number must not contain leading zeroes", upper), text);
  }
  return GoParseUint(text);
}

base::Result<bool> CheckPre(std::string_view pre) {
  for (bool done = false; !done;) {
    const std::string_view part = NextPart(pre, done);
    if (part.empty()) {
      return base::Error(base::Reason::kInvalid, "Prerelease is empty");
    }
    if (AllDigits(part)) {
      if (LeadingZero(part)) {
        return Bad("Numeric PreRelease version must not contain leading zeroes", part);
      }
      ALLOT_RETURN_IF_ERROR(GoParseUint(part));
    } else if (!AllIdentifier(part)) {
      return Bad("Invalid character(s) found in prerelease", part);
    }
  }
  return true;
}

base::Result<bool> CheckBuild(std::string_view build) {
  for (bool done = false; !done;) {
    const std::string_view part = NextPart(build, done);
    if (part.empty()) {
      return base::Error(base::Reason::kInvalid, "Build meta data is empty");
    }
    if (!AllIdentifier(part)) {
      return Bad("Invalid character(s) found in build meta data", part);
    }
  }
  return true;
}

int Three(std::strong_ordering order) {
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

int ComparePart(std::string_view a, std::string_view b) {
  const bool number_a = AllDigits(a);
  const bool number_b = AllDigits(b);
  if (number_a != number_b) {
    return number_a ? -1 : 1;
  }
  if (number_a && a.size() != b.size()) {
    return a.size() < b.size() ? -1 : 1;
  }
  return Three(a <=> b);
}

}  // namespace

std::string Semver::ToString() const {
  std::string out = fmt::format("{}.{}.{}", major_number, minor_number, patch_number);
  if (!pre.empty()) {
    out += '-';
    out += pre;
  }
  if (!build.empty()) {
    out += '+';
    out += build;
  }
  return out;
}

base::Result<Semver> ParseSemver(std::string_view text) {
  if (text.empty()) {
    return base::Error(base::Reason::kInvalid, "Version string empty");
  }
  const std::size_t first = text.find('.');
  const std::size_t second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos) {
    return base::Error(base::Reason::kInvalid, "No Major.Minor.Patch elements found");
  }
  Semver out;
  ALLOT_ASSIGN_OR_RETURN(out.major_number, Number(text.substr(0, first), "major", "Major"));
  ALLOT_ASSIGN_OR_RETURN(out.minor_number,
                         Number(text.substr(first + 1, second - first - 1), "minor", "Minor"));
  std::string_view patch = text.substr(second + 1);
  const std::size_t plus = patch.find('+');
  if (plus != std::string_view::npos) {
    out.build = patch.substr(plus + 1);
    patch = patch.substr(0, plus);
  }
  const std::size_t dash = patch.find('-');
  if (dash != std::string_view::npos) {
    out.pre = patch.substr(dash + 1);
    patch = patch.substr(0, dash);
  }
  ALLOT_ASSIGN_OR_RETURN(out.patch_number, Number(patch, "patch", "Patch"));
  if (dash != std::string_view::npos) {
    ALLOT_RETURN_IF_ERROR(CheckPre(out.pre));
  }
  if (plus != std::string_view::npos) {
    ALLOT_RETURN_IF_ERROR(CheckBuild(out.build));
  }
  return out;
}

base::Result<std::string> NormalizeSemver(std::string_view text) {
  if (text.starts_with('v')) {
    text.remove_prefix(1);
  }
  std::array<std::string_view, 3> parts;
  std::size_t count = 0;
  for (bool done = false; !done && count < 3;) {
    if (count == 2) {
      parts[count++] = text;
      break;
    }
    parts[count++] = NextPart(text, done);
  }
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    std::string_view part = parts[i];
    bool zero = false;
    if (part.size() > 1) {
      part.remove_prefix(std::min(part.find_first_not_of('0'), part.size()));
      zero = part.empty() || !IsDigit(part[0]);
    }
    out += i > 0 ? "." : "";
    out += zero ? "0" : "";
    out += part;
    if (i + 1 == count && count < 3 && part.find_first_of("+-") != std::string_view::npos) {
      return base::Error(base::Reason::kInvalid,
                         "short version cannot contain PreRelease/Build meta data");
    }
  }
  for (; count < 3; ++count) {
    out += ".0";
  }
  return out;
}

int CompareSemver(const Semver& a, const Semver& b) {
  if (const int order = Three(a.major_number <=> b.major_number); order != 0) {
    return order;
  }
  if (const int order = Three(a.minor_number <=> b.minor_number); order != 0) {
    return order;
  }
  if (const int order = Three(a.patch_number <=> b.patch_number); order != 0) {
    return order;
  }
  if (a.pre.empty() || b.pre.empty()) {
    return a.pre.empty() == b.pre.empty() ? 0 : a.pre.empty() ? 1 : -1;
  }
  std::string_view rest_a = a.pre;
  std::string_view rest_b = b.pre;
  for (;;) {
    bool done_a = false;
    bool done_b = false;
    const std::string_view part_a = NextPart(rest_a, done_a);
    const std::string_view part_b = NextPart(rest_b, done_b);
    if (const int order = ComparePart(part_a, part_b); order != 0) {
      return order;
    }
    if (done_a || done_b) {
      return done_a == done_b ? 0 : done_a ? -1 : 1;
    }
  }
}

}  // namespace allot::quantity
