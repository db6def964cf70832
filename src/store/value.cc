#include "store/value.h"

#include <cstddef>
#include <cstring>
#include <new>

namespace allot::store {
namespace {

// The store's own value: the bytes stand behind the header in one block.
class Bytes final : public base::RefCounted<Bytes> {
 public:
  static const Bytes* Make(std::string_view text) {
    void* const block = ::operator new(sizeof(Bytes) + text.size());
    auto* const made = ::new (block) Bytes(text.size());
    if (!text.empty()) {
      std::memcpy(static_cast<char*>(block) + sizeof(Bytes), text.data(), text.size());
    }
    return made;
  }
  [[nodiscard]] std::string_view bytes() const {
    return {reinterpret_cast<const char*>(this + 1), size_};
  }
  static void Destroy(const Bytes* bytes) {
    bytes->~Bytes();
    ::operator delete(const_cast<Bytes*>(bytes));
  }

 private:
  explicit Bytes(std::size_t size) : size_(size) {}
  ~Bytes() = default;

  std::size_t size_;
};

}  // namespace

Value Value::Copy(std::string_view bytes) {
  return Of(base::Ref<const Bytes>::Adopt(Bytes::Make(bytes)));
}

}  // namespace allot::store
