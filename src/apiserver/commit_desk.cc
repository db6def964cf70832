#include "apiserver/commit_desk.h"

#include <optional>
#include <utility>
#include <vector>

namespace allot::apiserver {

void CommitDesk::OnCommitted(std::span<const store::CommitOutcome> outcomes) {
  struct Outcome {
    std::uint64_t token = 0;
    std::optional<base::Status> error;
  };
  std::vector<Outcome> batch;
  batch.reserve(outcomes.size());
  for (const store::CommitOutcome& outcome : outcomes) {
    batch.push_back(
        {outcome.token, outcome.error != nullptr ? std::optional(*outcome.error) : std::nullopt});
  }
  loop_.Post([this, batch = std::move(batch)] {
    for (const Outcome& outcome : batch) {
      const auto found = waiting_.find(outcome.token);
      if (found == waiting_.end()) {
        continue;
      }
      Done done = std::move(found->second);
      waiting_.erase(found);
      done(outcome.error ? &*outcome.error : nullptr);
    }
  });
}

}  // namespace allot::apiserver
