#include "allot/components.h"

#include <array>
#include <utility>

#include <unistd.h>

#include "inventory/gates.h"

namespace allot {
namespace {

std::string HostName() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

SchedulerThread::SchedulerThread(client::Client& client,
                                 telemetry::Registry& metrics,
                                 const telemetry::Logger& log,
                                 const base::Clock& clock,
                                 base::Random& random,
                                 const api::GateSet& gates,
                                 std::string scheduler_name)
    : client_(client),
      metrics_(metrics),
      log_(log.Named("scheduler")),
      random_(random),
      thread_("scheduler", clock) {
  options_.scheduler_name = std::move(scheduler_name);
  options_.features = inventory::FeaturesOf(gates);
  options_.host = HostName();
  options_.attempt.evaluations.stop = &stop_;
}

void SchedulerThread::Stop() {
  stop_ = true;
  thread_.Stop();
}

void SchedulerThread::Start() {
  thread_.Start(
      metrics_,
      [this] {
        scheduler_ = std::make_unique<scheduler::Scheduler>(
            client_, thread_.loop(), metrics_, log_, random_, options_);
        scheduler_->Start();
      },
      [this] { scheduler_.reset(); });
}

ControllersThread::ControllersThread(client::Client& client,
                                     telemetry::Registry& metrics,
                                     const telemetry::Logger& log,
                                     const base::Clock& clock,
                                     controllers::Options options)
    : client_(client),
      metrics_(metrics),
      log_(log.Named("controllers")),
      options_(std::move(options)),
      thread_("controllers", clock) {}

base::Result<void> ControllersThread::Start() {
  ALLOT_ASSIGN_OR_RETURN(
      manager_, controllers::Manager::Make(client_, thread_.loop(), metrics_, log_, options_));
  thread_.Start(metrics_, [this] { manager_->Start(); }, [this] { manager_.reset(); });
  return {};
}

}  // namespace allot
