#include <utility>
#include <vector>

#include "store/log.h"

namespace allot::store {
namespace {

class MemoryLog final : public Log {
 public:
  explicit MemoryLog(std::shared_ptr<MemoryDisk> disk) : disk_(std::move(disk)) {}

  base::Result<LogState> Load(
      const std::function<base::Result<void>(const LogRow&)>& row) override {
    LogState state;
    if (disk_ == nullptr) {
      return state;
    }
    state.compacted = disk_->compacted;
    state.last = disk_->compacted;
    for (const auto& [revision, stored] : disk_->rows) {
      LogRow view{.revision = revision, .created = stored.created, .key = stored.key, .value = {}};
      if (stored.value) {
        view.value = *stored.value;
      }
      ALLOT_RETURN_IF_ERROR(row(view));
      state.last = std::max(state.last, revision);
    }
    return state;
  }

  std::expected<void, LogFailure> Append(std::span<const LogRow> rows) override {
    for (const LogRow& row : rows) {
      if (disk_ != nullptr) {
        MemoryDisk::Row& stored = disk_->rows[row.revision];
        stored.created = row.created;
        stored.key = row.key;
        stored.value = row.value ? std::optional<std::string>(*row.value) : std::nullopt;
      }
    }
    return {};
  }

  std::expected<void, LogFailure> Compact(Revision compacted,
                                          std::span<const Revision> dead) override {
    if (disk_ != nullptr) {
      disk_->compacted = compacted;
      for (const Revision revision : dead) {
        disk_->rows.erase(revision);
      }
    }
    return {};
  }

  std::expected<void, LogFailure> Probe() override { return {}; }
  std::expected<bool, LogFailure> Maintain(bool) override { return false; }
  [[nodiscard]] LogSize size() const override { return {}; }

 private:
  std::shared_ptr<MemoryDisk> disk_;
};

}  // namespace

std::unique_ptr<Log> MakeMemoryLog(std::shared_ptr<MemoryDisk> disk) {
  return std::make_unique<MemoryLog>(std::move(disk));
}

}  // namespace allot::store
