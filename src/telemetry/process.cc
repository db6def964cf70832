#include <cstdio>
#include <filesystem>
#include <system_error>

#include <unistd.h>

#include "telemetry/metrics.h"

namespace allot::telemetry {
namespace {

double ResidentBytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) {
    return 0;
  }
  long size = 0;
  long resident = 0;
  const int fields = std::fscanf(file, "%ld %ld", &size, &resident);
  std::fclose(file);
  return fields == 2 ? static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE))
                     : 0;
}

double OpenFiles() {
  std::error_code error;
  double count = 0;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end;
       !error && entry != end;
       entry.increment(error)) {
    ++count;
  }
  return count;
}

}  // namespace

void RegisterProcessMetrics(Registry& registry, const base::Clock& clock) {
  registry.SetFunction(
      "process_cpu_seconds_total",
      "User and system CPU time of the process.",
      {},
      [] { return std::chrono::duration<double>(base::ProcessCpuTime()).count(); },
      /*rises=*/true);
  registry.SetFunction("process_resident_memory_bytes", "Resident memory.", {}, ResidentBytes);
  registry.SetFunction("process_open_fds", "Open file descriptors.", {}, OpenFiles);
  registry.GetGauge("process_start_time_seconds", "Start time since the Unix epoch.")
      .Set(std::chrono::duration<double>(clock.Now().time_since_epoch()).count());
}

}  // namespace allot::telemetry
