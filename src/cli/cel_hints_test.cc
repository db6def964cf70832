#include "cli/cel_hints.h"

#include <gtest/gtest.h>

#include "cel/cel.h"
#include "cli/cel_device.h"
#include "text/json.h"

namespace allot::cli {
namespace {

constexpr std::string_view kDevice = R"({
  "driver": "gpu.nvidia.com",
  "attributes": {
    "productName": {"string": "NVIDIA H100"}, "driverVersion": {"version": "550.54.15"},
    "index": {"int": 0}, "type": {"string": "gpu"}, "names": {"strings": ["a", "b"]},
    "ready": {"bool": true}, "resource.kubernetes.io/pcieRoot": {"string": "pci0000:00"}},
  "capacity": {"memory": "80Gi"}})";

// $ stands for the attributes of the driver, # for its capacities.
std::string Expand(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c == '$'   ? R"(device.attributes["gpu.nvidia.com"])"
           : c == '#' ? R"(device.capacity["gpu.nvidia.com"])"
                      : std::string(1, c);
  }
  return out;
}

// All hints for an expression on the device, as `allot cel eval` gives them.
std::string HintsFor(std::string_view expression) {
  const auto device = *CelDevice::Parse(*text::ParseJson(kDevice));
  cel::CompileOptions options;
  const cel::Compilation compiled = cel::CompileVerbose(expression, options);
  std::string error = compiled.error;
  if (compiled.program != nullptr) {
    error = cel::Evaluator().Match(*compiled.program, device->view()).error;
  }
  std::string out;
  for (const std::string& hint : CelHints(expression, error, &device->view())) {
    out += (out.empty() ? "" : "\n") + hint;
  }
  return out;
}

TEST(CelHintsTest, HintsTellWhatToWrite) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"$.prodctName == 'x'",
       "driver gpu.nvidia.com publishes no attribute \"prodctName\" in domain \"gpu.nvidia.com\" "
       "on "
       "this device; did you mean $.productName?\n"
       "guard the read with has($.prodctName) or use $.?prodctName.orValue(...): an error on any "
       "device stops the allocation"},
      {"$.xyz == 1",
       "driver gpu.nvidia.com publishes no attribute \"xyz\" in domain \"gpu.nvidia.com\" on this "
       "device\n"
       "guard the read with has($.xyz) or use $.?xyz.orValue(...): an error on any device stops "
       "the allocation"},
      {"'memory' in $", "\"memory\" is a capacity of the device, not an attribute; write #.memory"},
      {"device.attributes['productName'] == 'x'",
       "\"productName\" is a name, not a domain; write $.productName"},
      {"device.attributes.gpu.nvidia.com.type == 'gpu'",
       "a domain with dots stands in brackets; write $.type"},
      {"device.capacity['memory'] > quantity('1')",
       "\"memory\" is a name, not a domain; write #.memory\n"
       "device.capacity takes a domain, then a name: device.capacity[\"DOMAIN\"].NAME"},
      {"$.driverVersion == '550.54.15'",
       "\"driverVersion\" is a version; compare it with one: $.driverVersion.compareTo(semver("
       "\"550.54.15\")) >= 0, or == semver(\"550.54.15\")"},
      {"$.index == '0'", "\"index\" is an integer, never equal to a text; write $.index == 0"},
      {"$.ready == 'true'",
       "\"ready\" is true or false, never equal to a text; write $.ready without quotes and "
       "comparison"},
      {"$.names == 'a'", "\"names\" is a list, equal to lists only; write VALUE in $.names"},
      {"quantity(#.memory).isInteger()",
       "a capacity is a quantity already; leave quantity(...) away"},
      {"#.memory.isGreaterThan('40Gi')",
       "quantities are compared with quantities; write quantity(\"...\") round the text"},
      {"#.memory > quantity('1')",
       "quantities have no operators but == and !=; use compareTo, isGreaterThan or isLessThan"},
      {"#.memory", ""},
      {"#.memory.compareTo(quantity('40GB')) > 0",
       "the suffixes of quantities are k, M, G, T for powers of 1000 and Ki, Mi, Gi, Ti for those "
       "of 1024, without B"},
      {"device.name == 'x'", "expressions do not know a device's name; select by attributes"},
      {"device.drivr == 'x'", "did you mean device.driver?"},
      {"devce.driver == 'x'", "did you mean device?"},
      {"$.productName.startswith('N')", "the function is startsWith"},
      {"len(device.driver) > 1", "the function is size"},
      {"device.driver == 'x' and true", "and, or, not are written &&, ||, !"},
      {"device.attributes[gpu.nvidia.com].type == 'gpu'",
       "the domain is a text: device.attributes[\"gpu.nvidia.com\"]"},
      {"device.driver == 'gpu.nvidia.com'", ""},
  };
  for (const auto& [expression, hints] : kCases) {
    EXPECT_EQ(HintsFor(Expand(expression)), Expand(hints)) << expression;
  }
}

}  // namespace
}  // namespace allot::cli
