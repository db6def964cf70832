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
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "cel/cel.h"
#include "text/value.h"

namespace allot::cli {

/// A device read from JSON, with the memory its view points into.
class CelDevice {
 public:
  /// Errors: kBadRequest naming the attribute or capacity.
  static base::Result<std::unique_ptr<CelDevice>> Parse(const text::Value& json);
  CelDevice(const CelDevice&) = delete;
  CelDevice& operator=(const CelDevice&) = delete;
  ~CelDevice() = default;

  [[nodiscard]] const cel::DeviceView& view() const { return view_; }

 private:
  CelDevice() = default;
  base::Result<void> AddAttribute(const text::Member& attribute);
  base::Result<void> SetKind(std::string_view kind,
                             const text::Value& value,
                             cel::AttributeValue& out);

  text::Value json_;
  cel::DeviceView view_;
  std::vector<cel::Attribute> attributes_;
  std::vector<cel::Capacity> capacities_;
  std::vector<std::unique_ptr<std::int64_t[]>> integers_;
  std::vector<std::unique_ptr<bool[]>> booleans_;
  std::vector<std::unique_ptr<std::string_view[]>> texts_;
};

/// Runs records one after the other; devices named once are known to later records.
class CelRecords {
 public:
  /// Runs one line. The answer goes to `out` with a newline; a device's definition answers nothing.
  /// Errors: kBadRequest: no JSON, no expression, or a device that is none;
  /// then nothing went to `out`.
  base::Result<void> Run(std::string_view line, std::string& out);

 private:
  /// A device by value, kept in `own`, or one known by name.
  base::Result<const cel::DeviceView*> Device(const text::Value& value,
                                              std::vector<std::unique_ptr<CelDevice>>& own) const;
  void Answer(const text::Value& record,
              const cel::Compilation& compiled,
              std::span<const cel::DeviceView* const> devices,
              std::string& out);
  const cel::Compilation& Compile(std::string_view expression, const cel::CompileOptions& options);
  void Evaluate(const cel::Program& program,
                const cel::DeviceView& device,
                bool cancelled,
                std::string& out);

  std::map<std::string, std::unique_ptr<CelDevice>, std::less<>> devices_;
  std::unordered_map<std::string, cel::Compilation> compiled_;
  std::string key_;
  cel::Evaluator evaluator_;
};

}  // namespace allot::cli
