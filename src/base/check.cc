#include "base/check.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include <unistd.h>

namespace allot::base {

void CheckFailed(const char* condition, const char* file, int line) {
  const std::string text =
      std::string("CHECK failed: ") + condition + " at " + file + ":" + std::to_string(line) + "\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  std::abort();
}

}  // namespace allot::base
