#include "cel/zone.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "quantity/time.h"

namespace allot::cel {
namespace {

std::int64_t BigEndian(std::string_view data, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value = value << 8 | static_cast<unsigned char>(data[at + i]);
  }
  return bytes == 4 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(value))
                    : static_cast<std::int64_t>(value);
}

struct Header {
  std::size_t utc_flags, std_flags, leaps, times, kinds, letters;
};

bool ReadHeader(std::string_view data, std::size_t at, Header& out) {
  if (data.size() < at + 44 || data.substr(at, 4) != "TZif") {
    return false;
  }
  const auto count = [&](std::size_t i) {
    return static_cast<std::size_t>(BigEndian(data, at + 20 + 4 * i, 4));
  };
  out = {count(0), count(1), count(2), count(3), count(4), count(5)};
  constexpr std::size_t kSane = 100'000;
  return out.times < kSane && out.kinds < kSane && out.letters < kSane && out.leaps < kSane &&
         out.std_flags < kSane && out.utc_flags < kSane;
}

std::size_t BodySize(const Header& header, std::size_t time_size) {
  return header.times * time_size + header.times + header.kinds * 6 + header.letters +
         header.leaps * (time_size + 4) + header.std_flags + header.utc_flags;
}

bool ReadNumber(std::string_view& text, int& out) {
  if (text.empty() || text[0] < '0' || text[0] > '9') {
    return false;
  }
  out = 0;
  while (!text.empty() && text[0] >= '0' && text[0] <= '9' && out < 100'000) {
    out = out * 10 + (text[0] - '0');
    text.remove_prefix(1);
  }
  return true;
}

// [+-]hh[:mm[:ss]] as seconds.
bool ReadClock(std::string_view& text, std::int64_t& out) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  int part = 0;
  if (!ReadNumber(text, part)) {
    return false;
  }
  out = part * std::int64_t{3600};
  for (std::int64_t unit = 60; unit >= 1 && text.starts_with(':'); unit /= 60) {
    text.remove_prefix(1);
    if (!ReadNumber(text, part)) {
      return false;
    }
    out += part * unit;
  }
  out = negative ? -out : out;
  return true;
}

void SkipName(std::string_view& text) {
  if (text.starts_with('<')) {
    text.remove_prefix(std::min(text.find('>') + 1, text.size()));
    return;
  }
  while (!text.empty() &&
         ((text[0] >= 'A' && text[0] <= 'Z') || (text[0] >= 'a' && text[0] <= 'z'))) {
    text.remove_prefix(1);
  }
}

}  // namespace

bool Zone::ReadDay(std::string_view& text, Day& out) {
  if (text.starts_with('J')) {
    text.remove_prefix(1);
    out.kind = Day::Kind::kJulian;
    if (!ReadNumber(text, out.day)) {
      return false;
    }
  } else if (text.starts_with('M')) {
    text.remove_prefix(1);
    out.kind = Day::Kind::kMonthWeek;
    for (int* const part : {&out.month, &out.week, &out.day}) {
      if (!ReadNumber(text, *part)) {
        return false;
      }
      if (text.starts_with('.')) {
        text.remove_prefix(1);
      }
    }
    if (out.month < 1 || out.month > 12 || out.week < 1 || out.week > 5 || out.day > 6) {
      return false;
    }
  } else {
    out.kind = Day::Kind::kDayOfYear;
    if (!ReadNumber(text, out.day)) {
      return false;
    }
  }
  if (text.starts_with('/')) {
    text.remove_prefix(1);
    return ReadClock(text, out.seconds);
  }
  return true;
}

void Zone::ReadFooter(std::string_view text) {
  SkipName(text);
  std::int64_t west = 0;
  if (!ReadClock(text, west)) {
    return;
  }
  has_footer_ = true;
  standard_ = -west;
  if (text.empty()) {
    return;
  }
  SkipName(text);
  daylight_ = standard_ + 3600;
  if (!text.starts_with(',')) {
    if (!ReadClock(text, west)) {
      return;
    }
    daylight_ = -west;
  }
  if (!text.starts_with(',')) {
    return;
  }
  text.remove_prefix(1);
  if (!ReadDay(text, start_) || !text.starts_with(',')) {
    return;
  }
  text.remove_prefix(1);
  has_dst_ = ReadDay(text, end_);
}

std::unique_ptr<const Zone> Zone::Parse(std::string_view data) {
  Header header{};
  if (!ReadHeader(data, 0, header)) {
    return nullptr;
  }
  std::size_t at = 44;
  std::size_t time_size = 4;
  const bool version2 = data[4] >= '2';
  if (version2) {
    at += BodySize(header, 4);
    if (!ReadHeader(data, at, header)) {
      return nullptr;
    }
    at += 44;
    time_size = 8;
  }
  if (data.size() < at + BodySize(header, time_size) || header.kinds == 0) {
    return nullptr;
  }
  auto zone = std::make_unique<Zone>();
  const std::size_t indexes = at + header.times * time_size;
  const std::size_t kinds = indexes + header.times;
  const auto offset_of = [&](std::size_t kind) {
    return BigEndian(data, kinds + 6 * std::min(kind, header.kinds - 1), 4);
  };
  // Before the first transition Go takes the first standard-time kind.
  std::size_t first = 0;
  for (std::size_t kind = 0; kind < header.kinds; ++kind) {
    if (data[kinds + 6 * kind + 4] == 0) {
      first = kind;
      break;
    }
  }
  zone->offsets_.push_back(offset_of(first));
  for (std::size_t i = 0; i < header.times; ++i) {
    zone->times_.push_back(BigEndian(data, at + i * time_size, time_size));
    zone->offsets_.push_back(offset_of(static_cast<unsigned char>(data[indexes + i])));
  }
  if (version2) {
    std::string_view footer = data.substr(at + BodySize(header, time_size));
    if (footer.starts_with('\n')) {
      footer.remove_prefix(1);
      zone->ReadFooter(footer.substr(0, footer.find('\n')));
    }
  }
  return zone;
}

std::int64_t Zone::OffsetAt(std::int64_t unix_seconds) const {
  const auto next = std::ranges::upper_bound(times_, unix_seconds);
  if (next == times_.end() && has_footer_) {
    return FooterOffset(unix_seconds);
  }
  return offsets_[static_cast<std::size_t>(next - times_.begin())];
}

std::int64_t Zone::FooterOffset(std::int64_t unix_seconds) const {
  if (!has_dst_) {
    return standard_;
  }
  const std::int64_t year = quantity::ToCivil(unix_seconds + standard_).year;
  // Local wall-clock seconds since the epoch at which a rule day falls in `year`.
  const auto moment = [&](const Day& day) {
    std::int64_t date = quantity::DaysFromCivil(year, 1, 1);
    const bool leap = quantity::DaysFromCivil(year + 1, 1, 1) - date == 366;
    switch (day.kind) {
      case Day::Kind::kDayOfYear: date += day.day; break;
      case Day::Kind::kJulian: date += day.day - 1 + (leap && day.day >= 60 ? 1 : 0); break;
      case Day::Kind::kMonthWeek: {
        const std::int64_t month = quantity::DaysFromCivil(year, day.month, 1);
        const std::int64_t weekday = ((month + 4) % 7 + 7) % 7;
        date = month + (day.day - weekday + 7) % 7 + 7 * (day.week - 1);
        const std::int64_t next_month = day.month == 12
                                            ? quantity::DaysFromCivil(year + 1, 1, 1)
                                            : quantity::DaysFromCivil(year, day.month + 1, 1);
        if (date >= next_month) {
          date -= 7;
        }
        break;
      }
    }
    return date * 86'400 + day.seconds;
  };
  const std::int64_t start = moment(start_) - standard_;
  const std::int64_t end = moment(end_) - daylight_;
  const bool daylight = start < end ? unix_seconds >= start && unix_seconds < end
                                    : unix_seconds >= start || unix_seconds < end;
  return daylight ? daylight_ : standard_;
}

namespace {

std::unexpected<base::Status> ZoneError(std::string text) {
  return base::Error(base::Reason::kInvalid, std::move(text));
}

// Go's text of a failed system call.
std::unexpected<base::Status> SystemError(int cause) {
  std::string text = std::strerror(cause);
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return ZoneError(std::move(text));
}

// Whether a call failed for what the name stands for, and will again.
bool IsOfName(int cause) {
  return cause == ENOENT || cause == ENOTDIR || cause == EISDIR || cause == ENAMETOOLONG ||
         cause == ELOOP;
}

// The contents of a file of the database. The name comes from an expression or a device: it may be
// a directory, a pipe or anything else, so nothing here may throw, wait or read without bound.
base::Result<std::string> ReadZoneFile(std::string_view name, bool& passing) {
  constexpr std::size_t kMaxSize = 10 << 20;
  const std::string path = "/usr/share/zoneinfo/" + std::string(name);
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    passing = !IsOfName(errno);
    return errno == ENOENT ? ZoneError(fmt::format("unknown time zone {}", name))
                           : SystemError(errno);
  }
  std::string data;
  char buffer[16384];
  ssize_t size = 0;
  do {
    size = ::read(file, buffer, sizeof(buffer));
    if (size > 0) {
      data.append(buffer, static_cast<std::size_t>(size));
    }
  } while ((size > 0 && data.size() <= kMaxSize) || (size < 0 && errno == EINTR));
  const int cause = errno;
  ::close(file);
  if (size < 0) {
    passing = !IsOfName(cause);
    return SystemError(cause);
  }
  if (data.size() > kMaxSize) {
    return ZoneError(fmt::format("time: file {} is too large", path));
  }
  return data;
}

base::Result<std::unique_ptr<const Zone>> LoadZone(std::string_view name, bool& passing) {
  if (name[0] == '/' || name[0] == '\\' || name.contains("..")) {
    return ZoneError("time: invalid location name");
  }
  if (name.contains('\0')) {
    return SystemError(EINVAL);
  }
  ALLOT_ASSIGN_OR_RETURN(const std::string data, ReadZoneFile(name, passing));
  auto zone = Zone::Parse(data);
  if (zone == nullptr) {
    return ZoneError("malformed time zone information");
  }
  return zone;
}

}  // namespace

base::Result<const Zone*> ZoneCache::Find(std::string_view name) {
  if (name.empty() || name == "UTC" || name == "Local") {
    return nullptr;
  }
  auto found = zones_.find(name);
  if (found == zones_.end()) {
    constexpr std::size_t kMaxCached = 512;
    if (zones_.size() >= kMaxCached) {
      zones_.clear();
      passing_.clear();
    }
    bool passing = false;
    found = zones_.emplace(std::string(name), LoadZone(name, passing)).first;
    if (passing) {
      passing_.emplace_back(name);
    }
  }
  if (!found->second) {
    return std::unexpected(found->second.error());
  }
  return found->second->get();
}

void ZoneCache::ForgetPassing() {
  for (const std::string& name : passing_) {
    zones_.erase(name);
  }
  passing_.clear();
}

}  // namespace allot::cel
