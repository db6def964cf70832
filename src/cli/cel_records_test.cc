#include "cli/cel_records.h"

#include <gtest/gtest.h>

#include "text/json.h"

namespace allot::cli {
namespace {

// What Kubernetes' types refuse is refused here, with the path of the field.
TEST(CelRecordsTest, FieldsOfTheWrongTypeAreRefused) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {R"({"expr":"true","id":5})", "id: found 5, expected a string"},
      {R"({"expr":"true","device_name":5})", "device_name: found 5, expected a string"},
      {R"({"expr":"true","env":"old"})", "env: found \"old\", expected \"stored\" or \"new\""},
      {R"({"expr":"true","raw":1})", "raw: found 1, expected true or false"},
      {R"({"expr":"true","derived":"true"})", "derived: found \"true\", expected true or false"},
      {R"({"expr":"true","cancelled":[]})", "cancelled: found [], expected true or false"},
      {R"({"expr":"true","gates":[]})",
       "gates: found [], expected an object of true or false by name"},
      {R"({"expr":"true","gates":{"DRAListTypeAttributes":"a"}})",
       "gates.DRAListTypeAttributes: found \"a\", expected true or false"},
      {R"({"expr":"true","cost_limit":-1})",
       "cost_limit: found -1, expected an integer from 0 to 2^64 - 1"},
      {R"({"expr":"true","cost_limit":1.5})",
       "cost_limit: found 1.500000e+00, expected an integer from 0 to 2^64 - 1"},
      {R"({"expr":"true","cost_limit":"a"})",
       "cost_limit: found \"a\", expected an integer from 0 to 2^64 - 1"},
      {R"({"expr":"true","devices":"x"})", "devices: found \"x\", expected a list"},
      {R"({"expr":"true","device":null})",
       "device: found null, expected an object or the name of a device"},
      {R"({"expr":"true","devices":[{},5]})",
       "devices[1]: found 5, expected an object or the name of a device"},
      {R"({"expr":"true","device":"x"})", "device: unknown device \"x\""},
      {R"({"expr":"true","device":{"driver":1}})", "device.driver: found 1, expected a string"},
      {R"({"expr":"true","device":{"allowMultipleAllocations":"x"}})",
       "device.allowMultipleAllocations: found \"x\", expected true or false"},
      {R"({"expr":"true","device":{"attributes":[]}})",
       "device.attributes: found [], expected an object of attributes by name"},
      {R"({"expr":"true","device":{"attributes":{"a":1}}})",
       R"(device.attributes.a: found 1, expected an object such as {"string": "a"})"},
      {R"({"expr":"true","device":{"attributes":{"a":{"bool":"true"}}}})",
       "device.attributes.a.bool: found \"true\", expected true or false"},
      {R"({"expr":"true","device":{"attributes":{"a":{"version":1}}}})",
       "device.attributes.a.version: found 1, expected a string"},
      {R"({"expr":"true","device":{"attributes":{"a":{"int":null}}}})",
       "device.attributes.a.int: found null, expected a 64-bit integer"},
      {R"({"expr":"true","device":{"attributes":{"a":{"ints":[1,"x"]}}}})",
       R"(device.attributes.a.ints[1]: strconv.ParseInt: parsing "x": invalid syntax)"},
      {R"({"expr":"true","device":{"attributes":{"a":{"strings":["x",1]}}}})",
       "device.attributes.a.strings[1]: found 1, expected a string"},
      {R"({"expr":"true","device":{"attributes":{"a":{"bools":true}}}})",
       "device.attributes.a.bools: found true, expected a list"},
      {R"({"expr":"true","device":{"attributes":{"a":{"text":"x"}}}})",
       "device.attributes.a: unknown attribute kind \"text\""},
      {R"({"device_name":"d","capacity":{"a":1}})",
       R"(capacity.a: found 1, expected a quantity such as "40Gi")"},
      {R"({"device_name":"d","capacity":"40Gi"})",
       "capacity: found \"40Gi\", expected an object of quantities by name"},
  };
  CelRecords records;
  for (const auto& [line, error] : kCases) {
    std::string out;
    const auto done = records.Run(line, out);
    ASSERT_FALSE(done) << line << out;
    EXPECT_EQ(done.error().message(), error) << line;
    EXPECT_EQ(out, "") << line;
  }
}

TEST(CelRecordsTest, NullStandsForWhatIsLeftOut) {
  constexpr std::string_view kLines[] = {
      R"({"id":"1","expr":"true","env":null,"gates":null,"raw":null,"derived":null,"cost_limit":null,"devices":null})",
      R"({"id":"1","expr":"true","device":{"driver":null,"attributes":null,"capacity":null}})",
      R"({"id":"1","expr":"true","device":{"attributes":{"c":{"ints":null}}}})",
      R"({"id":"1","expr":"true","device":{"attributes":{"a":{"bools":[null],"strings":[null]}}}})",
      R"({"id":"1","expr":"true","cost_limit":18446744073709551615,"expect":5})"};
  CelRecords records;
  for (const std::string_view line : kLines) {
    std::string out;
    EXPECT_TRUE(records.Run(line, out)) << line;
    EXPECT_EQ(out,
              R"({"id":"1","type":"bool","max_cost":0,"results":[{"value":true,"cost":0}]})"
              "\n")
        << line;
  }
}

TEST(CelRecordsTest, DerivedAndRawGivesTheAttribute) {
  CelRecords records;
  std::string out;
  ASSERT_TRUE(records.Run(R"({"id":"1","expr":"1 + 1","derived":true,"raw":true})", out));
  EXPECT_EQ(out,
            R"({"id":"1","type":"int","max_cost":1,"results":[{"value":{"int":"2"},"cost":1}]})"
            "\n");
}

// A device in a file is written by hand: what it does not have is named.
TEST(CelDeviceTest, FilesHoldOneDevice) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {R"({"attributs":{}})",
       "attributs: unknown field, expected those of a device (name, attributes, capacity, "
       "allowMultipleAllocations, ...) or driver"},
      {R"({"name":"a","basic":{}})",
       "basic: since v1beta2 what was in it stands in the device itself"},
      {R"({"kind":"ResourceSlice","spec":{}})",
       "found a whole ResourceSlice, expected one device: an entry of spec.devices, with "
       "\"driver\" beside its fields"},
      {R"({"name":"a","taints":[],"nodeName":"n","consumesCounters":[]})", ""},
      {R"({"capacity":{"a":{"value":5},"b":1.5}})", ""},
      {R"({"capacity":{"a":true}})",
       R"(capacity.a: found true, expected a quantity such as "40Gi")"},
  };
  for (const auto& [json, error] : kCases) {
    const auto device = CelDevice::Parse(*text::ParseJson(json), CelDevice::Form::kFile);
    EXPECT_EQ(device ? "" : device.error().message(), error) << json;
  }
}

}  // namespace
}  // namespace allot::cli
