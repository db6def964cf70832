// Bytes: an immutable, shared run of bytes: one encoded watch event is held once and sent to many.
// Thread safety: as shared_ptr; copies may be used from any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace allot::net {

class Bytes {
 public:
  Bytes() = default;
  /// Takes the text over without copying it.
  explicit Bytes(std::string text) {
    auto held = std::make_shared<const std::string>(std::move(text));
    view_ = *held;
    owner_ = std::move(held);
  }
  /// Views bytes that live as long as `owner` does.
  Bytes(std::shared_ptr<const void> owner, std::string_view view)
      : owner_(std::move(owner)), view_(view) {}
  /// Views bytes that live as long as the process does (literals).
  [[nodiscard]] static Bytes Static(std::string_view literal) { return {nullptr, literal}; }
  [[nodiscard]] static Bytes Copy(std::string_view text) { return Bytes(std::string(text)); }

  [[nodiscard]] std::string_view view() const { return view_; }
  [[nodiscard]] std::size_t size() const { return view_.size(); }
  [[nodiscard]] bool empty() const { return view_.empty(); }
  /// The part from `offset` on (at most `count` bytes), sharing the owner.
  [[nodiscard]] Bytes Slice(std::size_t offset, std::size_t count = std::string_view::npos) const {
    return {owner_, view_.substr(offset, count)};
  }

 private:
  std::shared_ptr<const void> owner_;
  std::string_view view_;
};

}  // namespace allot::net
