// CommitDesk: brings the outcomes of commits from the store's writer thread to the event loop.
// Thread safety: loop thread, except OnCommitted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "base/status.h"
#include "net/loop.h"
#include "store/store.h"

namespace allot::apiserver {

class CommitDesk final : public store::CommitSink {
 public:
  using Done = std::move_only_function<void(const base::Status* error)>;

  explicit CommitDesk(net::Loop& loop) : loop_(loop) {}

  /// A token for the next commit.
  [[nodiscard]] std::uint64_t NextToken() { return ++last_token_; }
  /// Calls `done` once the commit with this token is durable (null) or has failed. Outcomes come
  /// as tasks of the loop, so this may be called after Commit has returned.
  void Expect(std::uint64_t token, Done done) { waiting_.emplace(token, std::move(done)); }
  /// Commits whose outcome is awaited.
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

  /// Called on the writer thread: one task a batch.
  void OnCommitted(std::span<const store::CommitOutcome> outcomes) override;

 private:
  net::Loop& loop_;
  std::uint64_t last_token_ = 0;
  std::unordered_map<std::uint64_t, Done> waiting_;
};

}  // namespace allot::apiserver
