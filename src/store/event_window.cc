#include "store/event_window.h"

#include <utility>

namespace allot::store {

// An event is charged with the entry it replaced, which only the window keeps alive, or with its
// own when it made the key: the sum over the window then is close to what dropping it would free.
std::uint64_t EventWindow::BytesOf(const Event& event) {
  return sizeof(Event) + (event.previous ? event.previous->memory() : event.entry->memory());
}

void EventWindow::Append(Event event) {
  if (size_ == ring_.size()) {
    std::vector<Event> larger(ring_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) {
      larger[i] = std::move(ring_[(begin_ + i) & mask()]);
    }
    ring_.swap(larger);
    begin_ = 0;
  }
  bytes_ += BytesOf(event);
  ring_[(begin_ + size_) & mask()] = std::move(event);
  ++size_;
}

void EventWindow::Trim(std::uint64_t max_bytes, Revision compacted, std::vector<Event>& out) {
  while (size_ > 0 && (bytes_ > max_bytes || at(0).entry->revision() <= compacted)) {
    Event& oldest = ring_[begin_];
    floor_ = oldest.entry->revision();
    bytes_ -= BytesOf(oldest);
    out.push_back(std::move(oldest));
    begin_ = (begin_ + 1) & mask();
    --size_;
    aged_ -= aged_ > 0 ? 1 : 0;
  }
}

void EventWindow::Age(std::size_t count, std::vector<base::Ref<const Entry>>& out) {
  while (size_ > count && aged_ < size_ - count) {
    out.push_back(at(aged_).entry);
    ++aged_;
  }
}

std::size_t EventWindow::After(Revision revision) const {
  std::size_t low = 0;
  std::size_t high = size_;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (at(middle).entry->revision() <= revision) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace allot::store
