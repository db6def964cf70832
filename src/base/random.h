// Random: seeded, reproducible; the only source of randomness (uids, name suffixes, jitter).
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>

namespace allot::base {

/// xoshiro256**. Thread safety: any thread (one short lock).
class Random {
 public:
  explicit Random(std::uint64_t seed);
  /// Seeded from the operating system.
  [[nodiscard]] static std::uint64_t OsSeed();

  [[nodiscard]] std::uint64_t Next();
  /// Uniform in [0, bound). REQUIRES: bound > 0.
  [[nodiscard]] std::uint64_t Below(std::uint64_t bound);
  /// Uniform in [0, 1).
  [[nodiscard]] double Unit();
  /// A version 4 UUID in lower case.
  [[nodiscard]] std::string Uuid();
  /// `length` characters of upstream's alphabet for generated names (bcdfghjklmnpqrstvwxz2456789).
  [[nodiscard]] std::string NameSuffix(int length = 5);

 private:
  std::mutex mutex_;
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace allot::base
