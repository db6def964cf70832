#include "differential/problems.h"

#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"
#include "differential/json_parts.h"

namespace allot::testing {
namespace {

constexpr std::array<std::string_view, 2> kDrivers = {"gpu.example.com", "nic.example.com"};

class Generator {
 public:
  Generator(std::uint64_t seed, ProblemMix mix)
      : random_(seed), all_(mix == ProblemMix::kEverything) {}

  std::string Build(std::uint64_t seed) {
    PickFeatures();
    Texts pools;
    const std::uint64_t pool_count = 1 + Below(3);
    for (std::uint64_t p = 0; p < pool_count; ++p) {
      AddPool(p);
    }
    Texts claims;
    const std::uint64_t claim_count = Chance(70) ? 1 : 1 + Below(3);
    for (std::uint64_t c = 0; c < claim_count; ++c) {
      claims.push_back(Claim(c));
    }
    Texts parts = {fmt::format("\"id\":\"random-{}\"", seed),
                   "\"node\":" + Node(),
                   "\"classes\":" + Classes(),
                   "\"slices\":" + ListOf(slices_),
                   "\"claims\":" + ListOf(claims),
                   "\"allocated\":" + Allocated()};
    if (!features_.empty()) {
      parts.push_back("\"features\":" + ObjectOf(features_));
    }
    return ObjectOf(parts);
  }

 private:
  std::uint64_t Below(std::uint64_t bound) { return random_.Below(bound); }
  bool Chance(std::uint64_t percent) { return Below(100) < percent; }
  template <typename List>
  auto Pick(const List& list) {
    return list[Below(list.size())];
  }

  void Feature(std::string_view name, bool on) {
    features_.push_back(fmt::format("\"{}\":{}", name, on));
  }

  void PickFeatures() {
    if (!all_) {
      return;
    }
    fractional_ = Chance(30);
    if (fractional_) {
      Feature("FractionalCapacityRange", true);
    }
    lists_ = Chance(25);
    derived_ = Chance(20);
    groups_ = Chance(20);
    if (lists_) {
      Feature("ListTypeAttributes", true);
    }
    if (derived_) {
      Feature("DerivedAttributes", true);
    }
    if (groups_) {
      Feature("CompatibilityGroups", true);
    }
    if (Chance(15)) {
      Feature("OptionalNodeOperations", true);
    }
    if (Chance(3)) {
      Feature("DeviceTaints", false);
    }
    if (Chance(3)) {
      Feature("PartitionableDevices", false);
    }
    if (Chance(3)) {
      Feature("DeviceBindingAndStatus", false);
    }
    if (Chance(2)) {
      Feature("ConsumableCapacity", false);
    }
  }

  std::string Node() {
    Texts status;
    if (Chance(60)) {
      status.push_back("\"declaredFeatures\":[\"DRAOptionalNodeOperations\"]");
    }
    return ObjectOf({"\"metadata\":{\"name\":\"n1\",\"labels\":{\"zone\":\"a\",\"disk\":\"ssd\"}}",
                     "\"status\":" + ObjectOf(status)});
  }

  std::string Attribute(const std::string& name) {
    if (name == "model") {
      return fmt::format("\"model\":{{\"string\":\"{}\"}}", Chance(50) ? "a" : "b");
    }
    if (name == "numa") {
      if (all_ && lists_ && Chance(40)) {
        return fmt::format("\"numa\":{{\"ints\":[{},{}]}}", Below(3), Below(3));
      }
      return fmt::format("\"numa\":{{\"int\":{}}}", Below(3));
    }
    if (name == "version") {
      return fmt::format("\"version\":{{\"version\":\"1.{}.0\"}}", Below(3));
    }
    return fmt::format("\"{}\":{{\"bool\":{}}}", name, Chance(50));
  }

  std::string Capacity() {
    Texts parts = {fmt::format(
        "\"value\":\"{}\"", Pick(std::array<std::string_view, 5>{"4", "8", "10", "16", "40Gi"}))};
    if (all_ && Chance(40)) {
      Texts policy;
      if (Chance(60)) {
        policy.push_back(fmt::format("\"default\":\"{}\"", 1 + Below(4)));
      }
      const std::uint64_t kind = Below(3);
      if (kind == 0) {
        Texts range = {fmt::format("\"min\":\"{}\"",
                                   Pick(std::array<std::string_view, 4>{"1", "2", "500m", "0"}))};
        if (Chance(60)) {
          range.push_back(fmt::format(
              "\"step\":\"{}\"", Pick(std::array<std::string_view, 4>{"1", "2", "4", "500m"})));
        }
        if (Chance(50)) {
          range.push_back(fmt::format("\"max\":\"{}\"", 4 + Below(8)));
        }
        policy.push_back("\"validRange\":" + ObjectOf(range));
      } else if (kind == 1) {
        policy.push_back("\"validValues\":[\"1\",\"2\",\"4\",\"8\"]");
      }
      if (!policy.empty()) {
        parts.push_back("\"requestPolicy\":" + ObjectOf(policy));
      }
    }
    return "\"mem\":" + ObjectOf(parts);
  }

  std::string NodeRule() {
    switch (Below(5)) {
      case 0: return "\"nodeName\":\"n1\"";
      case 1: return "\"nodeName\":\"n2\"";
      case 2:
        return "\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\","
               "\"operator\":\"In\",\"values\":[\"a\",\"b\"]}]}]}";
      case 3:
        return "\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"disk\","
               "\"operator\":\"NotIn\",\"values\":[\"ssd\"]}]}]}";
      default: return "\"allNodes\":true";
    }
  }

  std::string Counters(bool counter_sets) {
    if (!counter_sets || !Chance(80)) {
      return {};
    }
    Texts uses;
    const std::uint64_t sets = Chance(80) ? 1 : 2;
    const std::uint64_t first = Below(2);
    for (std::uint64_t s = 0; s < sets; ++s) {
      Texts parts = {
          fmt::format("\"counterSet\":\"set-{}\"", (first + s) % 2),
          fmt::format("\"counters\":{{\"mem\":{{\"value\":\"{}\"}},\"slot-{}\":{{\"value\":"
                      "\"1\"}}}}",
                      Pick(std::array<int, 4>{10, 20, 30, 40}),
                      Below(2))};
      if (all_ && Chance(groups_ ? 40 : 2)) {
        parts.push_back(Pick(std::array<std::string, 3>{"\"compatibilityGroups\":[\"x\"]",
                                                        "\"compatibilityGroups\":[\"y\"]",
                                                        "\"compatibilityGroups\":[\"x\",\"y\"]"}));
      }
      uses.push_back(ObjectOf(parts));
    }
    return "\"consumesCounters\":" + ListOf(uses);
  }

  std::string Device(const std::string& pool,
                     const std::string& driver,
                     std::uint64_t n,
                     bool per_device,
                     bool counter_sets) {
    const std::string name = fmt::format("d{}", n);
    devices_.push_back(
        fmt::format(R"({{"driver":"{}","pool":"{}","device":"{}")", driver, pool, name));
    Texts attributes;
    for (const std::string name_of : {"model", "numa", "version", "healthy"}) {
      if (Chance(90)) {
        attributes.push_back(Attribute(name_of));
      }
    }
    Texts parts = {"\"name\":" + Quoted(name), "\"attributes\":" + ObjectOf(attributes)};
    if (Chance(60)) {
      parts.push_back("\"capacity\":" + ObjectOf({Capacity()}));
    }
    if (per_device) {
      parts.push_back(NodeRule());
    }
    if (all_) {
      if (Chance(35)) {
        parts.push_back("\"allowMultipleAllocations\":true");
      }
      if (Chance(12)) {
        parts.push_back(fmt::format(R"("taints":[{{"key":"{}","value":"v","effect":"{}"}}])",
                                    Chance(50) ? "k" : "l",
                                    Pick(std::array<std::string_view, 4>{
                                        "NoSchedule", "NoExecute", "None", "NoSchedule"})));
      }
      if (Chance(5)) {
        parts.push_back(
            "\"bindingConditions\":[\"Attached\"],\"bindingFailureConditions\":[\"Failed\"]");
      }
      if (Chance(4)) {
        parts.push_back("\"bindsToNode\":true");
      }
      if (std::string counters = Counters(counter_sets); !counters.empty()) {
        parts.push_back(std::move(counters));
      }
    }
    return ObjectOf(parts);
  }

  void AddPool(std::uint64_t ordinal) {
    const std::string driver(Pick(kDrivers));
    const std::string pool = fmt::format("pool-{}", Chance(90) ? ordinal : 0);
    const bool counter_sets = all_ && Chance(40);
    const std::uint64_t device_slices = 1 + Below(2);
    std::uint64_t total = device_slices + (counter_sets ? 1 : 0);
    if (all_ && Chance(4)) {
      ++total;  // incomplete
    }
    std::uint64_t next = 0;
    for (std::uint64_t s = 0; s < device_slices; ++s) {
      const bool per_device = Chance(8);
      Texts devices;
      const std::uint64_t count = 1 + Below(5);
      for (std::uint64_t d = 0; d < count; ++d) {
        devices.push_back(
            Device(pool, driver, all_ && Chance(1) ? 0 : next, per_device, counter_sets));
        ++next;
      }
      AddSlice(driver,
               pool,
               ordinal,
               s,
               total,
               per_device   ? "\"perDeviceNodeSelection\":true"
               : Chance(75) ? "\"nodeName\":\"n1\""
                            : NodeRule(),
               "\"devices\":" + ListOf(devices));
    }
    if (counter_sets) {
      Texts sets;
      for (int set = 0; set < 2; ++set) {
        sets.push_back(fmt::format(
            R"({{"name":"set-{}","counters":{{"mem":{{"value":"{}"}},"slot-0":{{"value":"2"}},"slot-1":{{"value":"1"}}}}}})",
            set,
            Pick(std::array<int, 3>{40, 50, 80})));
      }
      AddSlice(driver,
               pool,
               ordinal,
               9,
               total,
               Chance(80) ? "\"nodeName\":\"n1\"" : "\"allNodes\":true",
               "\"sharedCounters\":" + ListOf(sets));
    }
  }

  void AddSlice(const std::string& driver,
                const std::string& pool,
                std::uint64_t ordinal,
                std::uint64_t number,
                std::uint64_t total,
                const std::string& rule,
                const std::string& content) {
    Texts spec = {
        "\"driver\":" + Quoted(driver),
        fmt::format(
            R"("pool":{{"name":"{}","generation":1,"resourceSliceCount":{}}})", pool, total),
        rule,
        content};
    if (all_ && Chance(5)) {
      spec.push_back("\"skipNodeOperations\":[\"*\"]");
    }
    slices_.push_back(fmt::format(
        R"({{"metadata":{{"name":"slice-{}-{}"}},"spec":{}}})", ordinal, number, ObjectOf(spec)));
  }

  std::string Classes() {
    return R"([{"metadata":{"name":"any"},"spec":{}},)"
           R"({"metadata":{"name":"gpu"},"spec":{"selectors":[{"cel":{"expression":"device.driver == \"gpu.example.com\""}}],)"
           R"("config":[{"opaque":{"driver":"gpu.example.com","parameters":{"a":1}}}]}},)"
           R"({"metadata":{"name":"nic"},"spec":{"selectors":[{"cel":{"expression":"device.driver == \"nic.example.com\""}}]}}])";
  }

  std::string Selector() {
    static constexpr std::array<std::string_view, 6> kExpressions = {
        R"(device.attributes["gpu.example.com"].?model.orValue("") == "a")",
        R"(device.attributes["gpu.example.com"].?numa.orValue(0) == 1)",
        R"(device.attributes["gpu.example.com"].?healthy.orValue(true))",
        R"(device.allowMultipleAllocations)",
        R"(device.driver != "x")",
        R"(device.attributes["gpu.example.com"].?model.orValue("a") != "b")"};
    if (all_ && Chance(6)) {
      return R"(device.attributes["gpu.example.com"].model == "a")";  // fails where it is missing
    }
    return std::string(Pick(kExpressions));
  }

  std::string RequestBody(bool sub, const std::string& name, bool& all_mode) {
    Texts parts;
    if (sub) {
      parts.push_back("\"name\":" + Quoted(name));
    }
    parts.push_back(
        fmt::format("\"deviceClassName\":\"{}\"",
                    Pick(std::array<std::string_view, 5>{"any", "gpu", "gpu", "gpu", "nic"})));
    if (Chance(50)) {
      parts.push_back("\"selectors\":[{\"cel\":{\"expression\":" + Quoted(Selector()) + "}}]");
    }
    all_mode = Chance(10);
    parts.push_back(all_mode ? "\"allocationMode\":\"All\"" : "\"allocationMode\":\"ExactCount\"");
    if (!all_mode) {
      parts.push_back(fmt::format("\"count\":{}", Chance(60) ? 1 : Below(5)));
    }
    if (!sub && Chance(8)) {
      parts.push_back("\"adminAccess\":true");
    }
    if (all_) {
      if (Chance(15)) {
        parts.push_back(Pick(std::array<std::string, 3>{
            R"("tolerations":[{"operator":"Exists"}])",
            R"("tolerations":[{"key":"k","operator":"Exists","effect":"NoSchedule"}])",
            R"("tolerations":[{"key":"k","operator":"Equal","value":"v"}])"}));
      }
      if (Chance(25)) {
        parts.push_back(fmt::format(
            R"("capacity":{{"requests":{{"mem":"{}"}}}})",
            Pick(std::array<std::string_view, 7>{"1", "2", "3", "4", "6", "8", "1500m"})));
      }
      if (derived_ && Chance(30)) {
        parts.push_back(
            R"x("derivedAttributes":[{"name":"d.example.com/v","expression":"device.attributes[\"gpu.example.com\"].?model.orValue(\"none\")"}])x");
      }
    }
    return Joined(parts);
  }

  std::string Claim(std::uint64_t number) {
    Texts requests;
    Texts names;
    const std::uint64_t count = 1 + Below(3);
    for (std::uint64_t r = 0; r < count; ++r) {
      const std::string name = fmt::format("r{}", r);
      bool all_mode = false;
      if (Chance(20)) {
        Texts subs;
        const std::uint64_t choices = 1 + Below(3);
        for (std::uint64_t s = 0; s < choices; ++s) {
          subs.push_back("{" + RequestBody(true, fmt::format("s{}", s), all_mode) + "}");
          names.push_back(Quoted(fmt::format("{}/s{}", name, s)));
        }
        requests.push_back(
            ObjectOf({"\"name\":" + Quoted(name), "\"firstAvailable\":" + ListOf(subs)}));
      } else {
        requests.push_back(ObjectOf({"\"name\":" + Quoted(name),
                                     "\"exactly\":{" + RequestBody(false, name, all_mode) + "}"}));
      }
      names.push_back(Quoted(name));
    }
    Texts devices = {"\"requests\":" + ListOf(requests)};
    if (Chance(40)) {
      devices.push_back("\"constraints\":" + Constraints(names));
    }
    if (Chance(10)) {
      devices.push_back(
          R"("config":[{"requests":["r0"],"opaque":{"driver":"gpu.example.com","parameters":{"b":2}}}])");
    }
    return fmt::format(
        R"({{"metadata":{{"name":"c{}","namespace":"default","uid":"uid-{}"}},"spec":{{"devices":{}}}}})",
        number,
        number,
        ObjectOf(devices));
  }

  std::string Constraints(const Texts& names) {
    Texts out;
    const std::uint64_t count = 1 + Below(2);
    for (std::uint64_t c = 0; c < count; ++c) {
      Texts parts;
      if (Chance(40)) {
        parts.push_back("\"requests\":" + ListOf({Pick(names)}));
      }
      const std::string attribute =
          derived_ && Chance(40) ? "d.example.com/v"
                                 : Pick(std::array<std::string, 4>{"gpu.example.com/numa",
                                                                   "gpu.example.com/model",
                                                                   "gpu.example.com/numa",
                                                                   "gpu.example.com/version"});
      parts.push_back(fmt::format(
          "\"{}\":\"{}\"", Chance(65) ? "matchAttribute" : "distinctAttribute", attribute));
      out.push_back(ObjectOf(parts));
    }
    return ListOf(out);
  }

  std::string Allocated() {
    Texts exclusive;
    Texts shared;
    Texts consumed;
    std::uint64_t share = 0;
    for (const std::string& device : devices_) {
      if (Chance(15)) {
        exclusive.push_back(device + "}");
      } else if (all_ && Chance(12)) {
        shared.push_back(fmt::format("{},\"shareID\":\"s-{}\"}}", device, share++));
        if (Chance(70)) {
          consumed.push_back(
              fmt::format("{},\"capacity\":{{\"mem\":\"{}\"}}}}", device, 1 + Below(6)));
        }
      }
    }
    return ObjectOf({"\"devices\":" + ListOf(exclusive),
                     "\"shared\":" + ListOf(shared),
                     "\"consumedCapacity\":" + ListOf(consumed)});
  }

  base::Random random_;
  bool all_;
  bool fractional_ = false, lists_ = false, derived_ = false, groups_ = false;
  Texts features_;
  Texts slices_;
  Texts devices_;
};

// The alphabet of the exhaustive instances: devices of 4 kinds (two attributes of two values),
// requests of 6 kinds, one constraint or none, devices in use or not.
constexpr std::uint64_t kDeviceKinds = 4;
constexpr std::uint64_t kRequestKinds = 6;
constexpr std::uint64_t kConstraints = 4;
constexpr std::uint64_t kMaxDevices = 5;
constexpr std::uint64_t kMaxRequests = 3;

std::uint64_t Power(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t out = 1;
  for (; exponent > 0; --exponent) {
    out *= base;
  }
  return out;
}

}  // namespace

std::string RandomProblem(std::uint64_t seed, ProblemMix mix) {
  if (mix == ProblemMix::kWide) {
    return WideProblem(seed);
  }
  return Generator(seed * 2 + (mix == ProblemMix::kBasic ? 0 : 1), mix).Build(seed);
}

std::uint64_t ExhaustiveCount() {
  std::uint64_t count = 0;
  for (std::uint64_t d = 1; d <= kMaxDevices; ++d) {
    for (std::uint64_t r = 1; r <= kMaxRequests; ++r) {
      count += Power(kDeviceKinds, d) * Power(kRequestKinds, r) * kConstraints;
    }
  }
  return count;
}

std::string ExhaustiveProblem(std::uint64_t n) {
  std::uint64_t devices = 1;
  std::uint64_t requests = 1;
  for (;; requests = requests == kMaxRequests ? 1 : requests + 1) {
    const std::uint64_t size =
        Power(kDeviceKinds, devices) * Power(kRequestKinds, requests) * kConstraints;
    if (n < size) {
      break;
    }
    n -= size;
    devices += requests == kMaxRequests ? 1 : 0;
  }
  const std::uint64_t constraint = n % kConstraints;
  n /= kConstraints;
  Texts device_list;
  for (std::uint64_t d = 0; d < devices; ++d) {
    device_list.push_back(
        fmt::format(R"({{"name":"d{}","attributes":{{"m":{{"int":{}}},"n":{{"int":{}}}}}}})",
                    d,
                    n % kDeviceKinds % 2,
                    n % kDeviceKinds / 2));
    n /= kDeviceKinds;
  }
  Texts request_list;
  for (std::uint64_t r = 0; r < requests; ++r) {
    const std::uint64_t kind = n % kRequestKinds;
    n /= kRequestKinds;
    const std::string any = R"("deviceClassName":"any","allocationMode":"ExactCount")";
    const std::string picky =
        any + R"(,"selectors":[{"cel":{"expression":"device.attributes[\"x\"].m == 1"}}])";
    std::string body;
    switch (kind) {
      case 0: body = "\"exactly\":{" + any + ",\"count\":1}"; break;
      case 1: body = "\"exactly\":{" + any + ",\"count\":2}"; break;
      case 2: body = "\"exactly\":{" + picky + ",\"count\":1}"; break;
      case 3: body = "\"exactly\":{" + picky + ",\"count\":2}"; break;
      case 4:
        body = "\"firstAvailable\":[{\"name\":\"a\"," + picky + ",\"count\":2},{\"name\":\"b\"," +
               any + ",\"count\":1}]";
        break;
      default:
        body = "\"firstAvailable\":[{\"name\":\"a\"," + any + ",\"count\":3},{\"name\":\"b\"," +
               picky + ",\"count\":1}]";
        break;
    }
    request_list.push_back(fmt::format("{{\"name\":\"r{}\",{}}}", r, body));
  }
  static constexpr std::array<std::string_view, kConstraints> kTexts = {
      "",
      R"(,"constraints":[{"matchAttribute":"x/n"}])",
      R"(,"constraints":[{"distinctAttribute":"x/n"}])",
      R"(,"constraints":[{"requests":["r0"],"matchAttribute":"x/m"},{"matchAttribute":"x/n"}])"};
  return fmt::format(
      R"({{"id":"e","node":{{"metadata":{{"name":"n1"}}}},"classes":[{{"metadata":{{"name":"any"}},"spec":{{}}}}],)"
      R"("slices":[{{"metadata":{{"name":"s"}},"spec":{{"driver":"x","pool":{{"name":"p","generation":1,"resourceSliceCount":1}},)"
      R"("nodeName":"n1","devices":{}}}}}],"claims":[{{"metadata":{{"name":"c","namespace":"default","uid":"u"}},)"
      R"("spec":{{"devices":{{"requests":{}{}}}}}}}]}})",
      ListOf(device_list),
      ListOf(request_list),
      kTexts[constraint]);
}

}  // namespace allot::testing
