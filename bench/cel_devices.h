// Devices and selectors of the CEL benchmarks: the shapes that the program around the
// real package measures, too (compare_cel.sh).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cel/cel.h"
#include "quantity/quantity.h"

namespace allot::bench {

struct Selector {
  std::string_view name;  ///< as that program prints it; empty: it does not measure it
  std::string_view expression;
};

inline constexpr Selector kSelectors[] = {
    {"driver ==", R"(device.driver == "gpu.example.com")"},
    {"string attribute ==", R"(device.attributes["gpu.example.com"].model == "H100")"},
    {"three terms &&",
     R"(device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].type == "gpu" && device.attributes["gpu.example.com"].index >= 0)"},
    {"quantity compareTo",
     R"(device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0)"},
    {"semver isGreaterThan",
     R"(device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("550.0.0")))"},
    {"list includes", R"(device.attributes["gpu.example.com"].links.includes("ib3"))"},
    {"matches", R"(device.attributes["gpu.example.com"].model.matches("^[A-Z][0-9]+$"))"},
    {"",
     R"(has(device.attributes["gpu.example.com"].model) ? device.attributes["gpu.example.com"].model == "H100" : false)"},
    {"", R"(device.attributes["gpu.example.com"].links.exists(l, l.startsWith("ib3")))"},
    {"",
     R"(cel.bind(d, device.attributes["gpu.example.com"], d.type == "gpu" && d.?healthy.orValue(true)))"},
};
inline constexpr std::int64_t kSelectorCount = std::size(kSelectors);

/// What makes devices differ: the number of models and whether each has an id of its own that
/// selectors read.
struct DeviceShape {
  std::int64_t attributes = 10;
  std::int64_t models = 2;
};

/// A device with a version, a list of strings and two capacities, like those of that program.
class Device {
 public:
  explicit Device(std::int64_t serial, DeviceShape shape = {})
      : serial_text_(fmt::format("value-{}", serial)),
        model_(serial % shape.models == 0 ? "A100"
                                          : fmt::format("H{}", 99 + serial % shape.models)) {
    const auto text = [](std::string_view value) {
      cel::AttributeValue out;
      out.kind = cel::AttributeKind::kString;
      out.text = value;
      return out;
    };
    attributes_.push_back({"type", text("gpu")});
    attributes_.push_back({"model", text(model_)});
    cel::AttributeValue index;
    index.kind = cel::AttributeKind::kInt;
    index.integer = serial % 8;
    attributes_.push_back({"index", index});
    cel::AttributeValue version;
    version.kind = cel::AttributeKind::kVersion;
    version.text = "570.86.15";
    attributes_.push_back({"driverVersion", version});
    cel::AttributeValue links;
    links.kind = cel::AttributeKind::kStrings;
    links.texts = kLinks;
    attributes_.push_back({"links", links});
    names_.reserve(static_cast<std::size_t>(shape.attributes));
    while (static_cast<std::int64_t>(attributes_.size()) < shape.attributes) {
      names_.push_back(fmt::format("extra{:02}", attributes_.size()));
      attributes_.push_back({names_.back(), text(serial_text_)});
    }
    capacities_.push_back({"memory", *quantity::ParseQuantity("80Gi"), "80Gi"});
    capacities_.push_back({"multiprocessors", *quantity::ParseQuantity("132"), "132"});
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  [[nodiscard]] cel::DeviceView view() const {
    return {"gpu.example.com", attributes_, capacities_, false};
  }

 private:
  static constexpr std::string_view kLinks[] = {"ib0", "ib1", "ib2", "ib3"};
  std::string serial_text_;
  std::string model_;
  std::vector<std::string> names_;
  std::vector<cel::Attribute> attributes_;
  std::vector<cel::Capacity> capacities_;
};

inline std::shared_ptr<const cel::Program> Compile(std::string_view expression) {
  auto program = cel::Compile(expression, {});
  if (!program) {
    std::abort();
  }
  return *std::move(program);
}

}  // namespace allot::bench
