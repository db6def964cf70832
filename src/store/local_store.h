// OpenLocal: the Store of one process over a Log: sequencer, head index, writer thread, durable
// trees, event windows, compaction.
// Thread safety: see store.h. The options' functions are called while opening (revive) or on the
// writer thread (on_fatal).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/status.h"
#include "store/log.h"
#include "store/store.h"
#include "telemetry/log.h"
#include "telemetry/metrics.h"

namespace allot::store {

/// Makes the caller's object from a row read at start or at AddResource. `raw` holds the bytes.
using Revive = std::function<base::Result<Value>(
    std::string_view path, std::string_view key, Revision revision, Value raw)>;

struct LocalOptions {
  /// Default: the raw bytes.
  Revive revive{};
  telemetry::Logger logger{};
  /// May be null. Lifetime: the store.
  telemetry::Registry* metrics = nullptr;
  const base::Clock* clock = &base::SystemClock();
  /// An append whose outcome nobody knows. Default: logs and ends the process at once, because only
  /// a restart can tell what the log holds. When the function returns, every further write fails.
  std::function<void(const base::Status&)> on_fatal{};

  std::string prefix = "/registry/";
  std::chrono::nanoseconds retention =
      std::chrono::minutes(5);  ///< history younger than this stays
  std::uint64_t dead_bytes =
      256 << 20;  ///< more superseded bytes than this end the retention early
  std::uint64_t window_bytes = 32 << 20;    ///< event window of one resource
  std::uint32_t window_attachments = 1024;  ///< newest events of a resource that keep attachments
  std::uint64_t queue_bytes =
      256 << 20;                    ///< sequenced and not durable; beyond it writes are refused
  std::uint32_t batch_rows = 1024;  ///< rows of one log commit
  std::uint64_t batch_bytes = 4 << 20;
  std::uint32_t compact_chunk = 256;  ///< rows deleted in one go
  std::uint32_t kept_snapshots = 64;
  std::chrono::nanoseconds probe_interval = std::chrono::seconds(1);  ///< when out of space
};

/// Reads the log and starts the writer. Errors: of the log or of `revive` (with the key).
[[nodiscard]] base::Result<std::unique_ptr<Store>> OpenLocal(std::unique_ptr<Log> log,
                                                             LocalOptions options);

}  // namespace allot::store
