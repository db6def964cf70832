#include "placement/load_index.h"

#include <algorithm>
#include <bit>

namespace allot::placement {

std::uint32_t LoadIndex::HeadFrom(std::uint32_t bucket) const {
  for (std::uint32_t word = bucket / 64; word < used_.size(); ++word) {
    std::uint64_t bits = used_[word];
    if (word == bucket / 64) {
      bits &= ~std::uint64_t{0} << (bucket % 64);
    }
    if (bits != 0) {
      return ends_[word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits))].first;
    }
  }
  return kNone;
}

std::uint32_t LoadIndex::Next(std::uint32_t node) const {
  const Link& link = links_[node];
  if (link.next != kNone) {
    return link.next;
  }
  return link.bucket + 1 < kBuckets ? HeadFrom(link.bucket + 1) : kNone;
}

void LoadIndex::Remove(std::uint32_t node) {
  if (node >= links_.size() || links_[node].bucket == kNone) {
    return;
  }
  Link& link = links_[node];
  Ends& ends = ends_[link.bucket];
  (link.previous != kNone ? links_[link.previous].next : ends.first) = link.next;
  (link.next != kNone ? links_[link.next].previous : ends.last) = link.previous;
  if (ends.first == kNone) {
    used_[link.bucket / 64] &= ~(std::uint64_t{1} << (link.bucket % 64));
  }
  link = {};
}

void LoadIndex::Set(std::uint32_t node, std::int64_t load) {
  const auto bucket = static_cast<std::uint32_t>(std::clamp<std::int64_t>(load, 0, kBuckets - 1));
  if (node >= links_.size()) {
    links_.resize(node + 1);
  }
  if (links_[node].bucket == bucket) {
    return;
  }
  Remove(node);
  Link& link = links_[node];
  Ends& ends = ends_[bucket];
  link = {kNone, ends.last, bucket};
  (ends.last != kNone ? links_[ends.last].next : ends.first) = node;
  ends.last = node;
  used_[bucket / 64] |= std::uint64_t{1} << (bucket % 64);
}

}  // namespace allot::placement
