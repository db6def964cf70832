#include "base/random.h"

#include <bit>
#include <string_view>

#include <sys/random.h>

#include "base/check.h"

namespace allot::base {

Random::Random(std::uint64_t seed) {
  for (auto& word : state_) {  // splitmix64 spreads the seed over the state
    seed += 0x9e3779b97f4a7c15U;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    word = z ^ (z >> 31U);
  }
}

std::uint64_t Random::OsSeed() {
  std::uint64_t seed = 0;
  ALLOT_CHECK(::getrandom(&seed, sizeof(seed), 0) == sizeof(seed));
  return seed;
}

std::uint64_t Random::Next() {
  const std::lock_guard lock(mutex_);
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Random::Below(std::uint64_t bound) {
  ALLOT_DCHECK(bound > 0);
  const std::uint64_t limit = (~std::uint64_t{0} / bound) * bound;  // reject the uneven tail
  std::uint64_t value = Next();
  while (value >= limit) {
    value = Next();
  }
  return value % bound;
}

double Random::Unit() {
  return static_cast<double>(Next() >> 11U) * 0x1.0p-53;
}

std::string Random::Uuid() {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::uint64_t high = Next();
  std::uint64_t low = Next();
  high = (high & ~std::uint64_t{0xf000}) | 0x4000U;
  low = (low & ~(std::uint64_t{3} << 62U)) | (std::uint64_t{2} << 62U);
  std::string text;
  text.reserve(36);
  for (int i = 0; i < 32; ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) {
      text += '-';
    }
    const std::uint64_t word = i < 16 ? high : low;
    text += kHex[(word >> static_cast<unsigned>(60 - 4 * (i % 16))) & 15U];
  }
  return text;
}

std::string Random::NameSuffix(int length) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string text;
  for (int i = 0; i < length; ++i) {
    text += kAlphabet[Below(kAlphabet.size())];
  }
  return text;
}

}  // namespace allot::base
