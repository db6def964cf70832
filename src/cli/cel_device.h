// CelDevice: a device in JSON, for `allot cel`: of a record of --jsonl, or of a file.
// Thread safety: const access from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cel/device.h"
#include "text/value.h"

namespace allot::cli {

/// "PATH: found WHAT, expected EXPECTED", as kBadRequest.
[[nodiscard]] std::unexpected<base::Status> WrongShape(std::string_view path,
                                                       const text::Value& found,
                                                       std::string_view expected);

/// A device read from JSON, with the memory its view points into.
class CelDevice {
 public:
  enum class Form : std::uint8_t {
    kRecord,  ///< of a record: fields nobody knows are left alone
    kFile,    ///< written by hand: a field that a device does not have is refused
  };
  /// Errors: kBadRequest with the path of the field, what was found and what was expected. `path`
  /// is where the device stands, empty or ending in a dot.
  static base::Result<std::unique_ptr<CelDevice>> Parse(const text::Value& json,
                                                        Form form = Form::kRecord,
                                                        std::string_view path = "");
  CelDevice(const CelDevice&) = delete;
  CelDevice& operator=(const CelDevice&) = delete;
  ~CelDevice() = default;

  [[nodiscard]] const cel::DeviceView& view() const { return view_; }

 private:
  CelDevice() = default;
  base::Result<void> AddAttribute(const text::Member& attribute, const std::string& path);
  base::Result<void> AddCapacity(const text::Member& member, Form form, const std::string& path);
  base::Result<void> SetKind(std::string_view kind,
                             const text::Value& value,
                             const std::string& path,
                             cel::AttributeValue& out);
  base::Result<void> SetList(std::string_view kind,
                             const text::Value& value,
                             const std::string& path,
                             cel::AttributeValue& out);

  text::Value json_;
  cel::DeviceView view_;
  std::vector<cel::Attribute> attributes_;
  std::vector<cel::Capacity> capacities_;
  std::vector<std::unique_ptr<std::int64_t[]>> integers_;
  std::vector<std::unique_ptr<bool[]>> booleans_;
  std::vector<std::unique_ptr<std::string_view[]>> texts_;
  std::vector<std::unique_ptr<std::string>> owned_;
};

}  // namespace allot::cli
