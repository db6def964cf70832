#include "apiserver/bootstrap.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string_view>

#include "api/core/v1.gen.h"
#include "apiserver/errors.h"

namespace allot::apiserver {
namespace {

constexpr std::string_view kNamespaces[] = {
    "default", "kube-system", "kube-public", "kube-node-lease"};

/// Waits for the outcomes of a few commits.
class CountingSink final : public store::CommitSink {
 public:
  void OnCommitted(std::span<const store::CommitOutcome> outcomes) override {
    const std::lock_guard lock(mutex_);
    for (const store::CommitOutcome& outcome : outcomes) {
      ++done_;
      if (outcome.error != nullptr) {
        error_ = *outcome.error;
      }
    }
    condition_.notify_one();
  }
  base::Result<void> WaitFor(int count) {
    std::unique_lock lock(mutex_);
    condition_.wait(lock, [&] { return done_ >= count; });
    return error_ ? base::Result<void>(base::Error(*error_)) : base::Result<void>();
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  int done_ = 0;
  std::optional<base::Status> error_;
};

}  // namespace

base::Result<void> Bootstrap(Registry& registry) {
  const Resource* const namespaces = registry.resources().Find("", "v1", "namespaces");
  if (namespaces == nullptr) {
    return {};
  }
  const User user{"system:apiserver", "", {std::string(kMastersGroup)}, {}};
  CountingSink sink;
  int begun = 0;
  base::Result<void> result;
  for (const std::string_view name : kNamespaces) {
    AnyDraft draft(*namespaces->info->type);
    draft.As<api::core::Namespace>().metadata.name = name;
    const WriteContext context{.user = user,
                               .warnings = nullptr,
                               .dry_run = false,
                               .manager = "allot",
                               .sink = &sink,
                               .token = 0};
    base::Result<Written> written = registry.Create(context, *namespaces, "", std::move(draft));
    if (written) {
      ++begun;
    } else if (written.error().reason() != base::Reason::kAlreadyExists) {
      result = base::Error(written.error());
      break;
    }
  }
  ALLOT_RETURN_IF_ERROR(sink.WaitFor(begun));
  return result;
}

}  // namespace allot::apiserver
