#include "base/arena.h"

#include <algorithm>

namespace allot::base {

struct Arena::Block {
  Block* previous;
};

namespace {
constexpr std::size_t kLargestBlock = std::size_t{256} * 1024;
}  // namespace

Arena& Arena::operator=(Arena&& other) noexcept {
  if (this != &other) {
    Reset();
    blocks_ = std::exchange(other.blocks_, nullptr);
    cursor_ = std::exchange(other.cursor_, nullptr);
    end_ = std::exchange(other.end_, nullptr);
    next_block_ = other.next_block_;
    reserved_ = std::exchange(other.reserved_, 0);
  }
  return *this;
}

void* Arena::AllocateSlow(std::size_t size, std::size_t alignment) {
  const std::size_t need = sizeof(Block) + size + alignment;
  const std::size_t bytes = std::max(need, next_block_);
  char* const memory = static_cast<char*>(::operator new(bytes));
  reserved_ += bytes;
  next_block_ = std::min(kLargestBlock, std::max(next_block_, bytes) * 2);
  blocks_ = ::new (memory) Block{blocks_};
  cursor_ = memory + sizeof(Block);
  end_ = memory + bytes;
  return Allocate(size, alignment);
}

void Arena::Reset() {
  while (blocks_ != nullptr) {
    Block* const previous = blocks_->previous;
    ::operator delete(blocks_);
    blocks_ = previous;
  }
  cursor_ = nullptr;
  end_ = nullptr;
  reserved_ = 0;
}

}  // namespace allot::base
