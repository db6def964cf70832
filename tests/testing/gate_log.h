// GateLog: a store log around another one that a test can hold up, make fail and count.
// Thread safety: LogGate from any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "store/log.h"

namespace allot::testing {

class LogGate {
 public:
  /// Appends wait from now on, before they touch the log.
  void Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    closed_ = false;
    condition_.notify_all();
  }
  /// Waits until an append waits at the gate.
  void AwaitWaiter() {
    std::unique_lock lock(mutex_);
    condition_.wait(lock, [this] { return waiting_; });
  }
  /// What every append and probe answers until told otherwise.
  void FailWith(std::optional<store::LogFailure> failure) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
  }
  [[nodiscard]] std::uint64_t appends() const {
    const std::lock_guard lock(mutex_);
    return appends_;
  }
  [[nodiscard]] std::uint64_t rows() const {
    const std::lock_guard lock(mutex_);
    return rows_;
  }
  [[nodiscard]] std::uint64_t deleted() const {
    const std::lock_guard lock(mutex_);
    return deleted_;
  }

 private:
  friend class GateLog;
  mutable std::mutex mutex_;
  std::condition_variable condition_;
  bool closed_ = false;
  bool waiting_ = false;
  std::optional<store::LogFailure> failure_;
  std::uint64_t appends_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t deleted_ = 0;
};

class GateLog final : public store::Log {
 public:
  GateLog(std::unique_ptr<store::Log> log, std::shared_ptr<LogGate> gate)
      : log_(std::move(log)), gate_(std::move(gate)) {}

  base::Result<store::LogState> Load(
      const std::function<base::Result<void>(const store::LogRow&)>& row) override {
    return log_->Load(row);
  }
  std::expected<void, store::LogFailure> Append(std::span<const store::LogRow> rows) override {
    {
      std::unique_lock lock(gate_->mutex_);
      gate_->waiting_ = gate_->closed_;
      gate_->condition_.notify_all();
      gate_->condition_.wait(lock, [this] { return !gate_->closed_; });
      gate_->waiting_ = false;
      if (gate_->failure_) {
        return std::unexpected(*gate_->failure_);
      }
      ++gate_->appends_;
      gate_->rows_ += rows.size();
    }
    return log_->Append(rows);
  }
  std::expected<void, store::LogFailure> Compact(store::Revision compacted,
                                                 std::span<const store::Revision> dead) override {
    {
      const std::lock_guard lock(gate_->mutex_);
      gate_->deleted_ += dead.size();
    }
    return log_->Compact(compacted, dead);
  }
  std::expected<void, store::LogFailure> Probe() override {
    {
      const std::lock_guard lock(gate_->mutex_);
      if (gate_->failure_) {
        return std::unexpected(*gate_->failure_);
      }
    }
    return log_->Probe();
  }
  std::expected<bool, store::LogFailure> Maintain(bool idle) override {
    return log_->Maintain(idle);
  }
  [[nodiscard]] store::LogSize size() const override { return log_->size(); }

 private:
  std::unique_ptr<store::Log> log_;
  std::shared_ptr<LogGate> gate_;
};

}  // namespace allot::testing
