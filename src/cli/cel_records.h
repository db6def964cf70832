// The records of `allot cel eval --jsonl`: a case in, what the CEL engine makes of it out, both
// JSON lines.
//
//   in:  {"id", "expr", "env": "stored"|"new", "gates": {NAME: bool}, "derived", "raw": bool,
//         "cost_limit": N, "cancelled": bool, "device": DEVICE | "devices": [DEVICE | "name"]}
//   in:  {"device_name": NAME, "driver", "attributes": {NAME: {KIND: V}},
//         "capacity": {NAME: QUANTITY}, "allowMultipleAllocations": bool}
//   out: {"id", "compile_error"?, "type"?, "max_cost"?, "results": [{"value"|"error", "cost"}]}
//        {"line": N, "error"} for a line that is no record
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "cel/cel.h"
#include "cli/cel_device.h"
#include "text/value.h"

namespace allot::cli {

/// Runs records one after the other; devices named once are known to later records.
class CelRecords {
 public:
  /// Runs one line. The answer goes to `out` with a newline; a device's definition answers nothing.
  /// Errors: kBadRequest: no JSON, no expression, or a field of the wrong type, with its path; then
  /// nothing went to `out`.
  base::Result<void> Run(std::string_view line, std::string& out);

 private:
  const cel::Compilation& Compile(std::string_view expression, const cel::CompileOptions& options);
  struct Case;
  base::Result<void> ReadOptions(const text::Value& record, Case& out) const;
  base::Result<void> ReadDevices(const text::Value& record, Case& out) const;
  base::Result<void> AddDevice(const text::Value& device, std::string_view path, Case& out) const;
  void Evaluate(const cel::Program& program,
                const cel::DeviceView& device,
                const Case& in,
                std::string& out);

  std::map<std::string, std::unique_ptr<CelDevice>, std::less<>> devices_;
  std::unordered_map<std::string, cel::Compilation> compiled_;
  std::string key_;
  cel::Evaluator evaluator_;
};

}  // namespace allot::cli
