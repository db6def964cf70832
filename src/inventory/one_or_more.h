// OneOrMore: a list that most often has one element, which it keeps inside itself: one cache line
// less to wait for than with std::vector. Thread safety: a value.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace allot::inventory {

template <typename T>
class OneOrMore {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const T* data() const { return size_ == 1 ? &one_ : more_.data(); }
  [[nodiscard]] T* data() { return size_ == 1 ? &one_ : more_.data(); }
  [[nodiscard]] const T* begin() const { return data(); }
  [[nodiscard]] const T* end() const { return data() + size_; }
  [[nodiscard]] T* begin() { return data(); }
  [[nodiscard]] T* end() { return data() + size_; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return data()[i]; }
  [[nodiscard]] const T& front() const { return *data(); }

  void push_back(T value) {
    if (size_ == 0) {
      one_ = std::move(value);
    } else {
      if (size_ == 1) {
        more_.push_back(std::move(one_));
      }
      more_.push_back(std::move(value));
    }
    ++size_;
  }

 private:
  std::size_t size_ = 0;
  T one_{};              // when it is the only one
  std::vector<T> more_;  // otherwise all
};

}  // namespace allot::inventory
