// ProblemMix::kWide: what the other mixes leave out. Clusters of several nodes and drivers, pools
// in every state of an update, node selectors, counter sets spread over slices, several capacities
// with policies, every type of attribute, expressions that fail, gate sets up to all and none.
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/random.h"
#include "differential/json_parts.h"
#include "differential/problems.h"

namespace allot::testing {
namespace {

using Choice = std::string_view;

constexpr std::array<Choice, 3> kDrivers = {
    "gpu.example.com", "nic.example.com", "cpu.example.com"};
constexpr std::array<Choice, 4> kPools = {"n1", "fabric", "pool-a", "zz"};

class WideGenerator {
 public:
  explicit WideGenerator(std::uint64_t seed) : random_(seed * 0x9E3779B97F4A7C15ULL + 1) {}

  std::string Build(std::uint64_t seed) {
    // A theme makes some features frequent, so that their combinations are dense.
    counters_ = Chance(45);
    shares_ = Chance(45);
    lists_ = Chance(30);
    hostile_ = Chance(12);
    constrained_ = Chance(55);
    big_ = Chance(8);
    many_ = Chance(2);
    PickFeatures();
    const std::uint64_t pools = stable_ ? 1 : 1 + Below(4);
    for (std::uint64_t p = 0; p < pools; ++p) {
      AddPool(p);
    }
    Texts claims;
    const std::uint64_t claim_count = Chance(65) ? 1 : 2 + Below(3);
    for (std::uint64_t c = 0; c < claim_count; ++c) {
      claims.push_back(Claim(c));
    }
    Texts parts = {fmt::format("\"id\":\"wide-{}\"", seed),
                   Member("node", Node()),
                   Member("classes", Classes()),
                   Member("slices", ListOf(slices_)),
                   Member("claims", ListOf(claims)),
                   Member("allocated", Allocated())};
    if (!features_.empty()) {
      parts.push_back(Member("features", ObjectOf(features_)));
    } else if (Chance(20)) {
      parts.push_back(R"("implementation":"experimental")");  // its rules with the usual gates
    }
    return ObjectOf(parts);
  }

 private:
  std::uint64_t Below(std::uint64_t bound) { return random_.Below(bound); }
  bool Chance(std::uint64_t percent) { return Below(100) < percent; }
  template <std::size_t N>
  Choice Pick(const Choice (&list)[N]) {
    return list[Below(N)];
  }
  template <std::size_t N>
  Choice Pick(const std::array<Choice, N>& list) {
    return list[Below(N)];
  }

  void PickFeatures() {
    static constexpr std::array<Choice, 5> kLater = {"FractionalCapacityRange",
                                                     "ListTypeAttributes",
                                                     "OptionalNodeOperations",
                                                     "DerivedAttributes",
                                                     "CompatibilityGroups"};
    static constexpr std::array<Choice, 6> kUsual = {"AdminAccess",
                                                     "PrioritizedList",
                                                     "PartitionableDevices",
                                                     "DeviceTaints",
                                                     "DeviceBindingAndStatus",
                                                     "ConsumableCapacity"};
    const std::uint64_t kind = Below(10);
    if (kind < 3) {
      return;  // a stock scheduler
    }
    if (kind < 6) {
      features_.push_back(R"("base":"all")");
      derived_ = groups_ = true;
      if (Chance(30)) {
        features_.push_back(Member(Pick(kLater), "false"));
        derived_ = groups_ = Chance(50);
      }
      if (Chance(15)) {
        features_.push_back(Member(Pick(kUsual), "false"));
      }
      return;
    }
    if (kind == 6) {
      features_.push_back(R"("base":"none")");
      stable_ = true;
      for (const Choice name :
           {"AdminAccess", "PrioritizedList", "PartitionableDevices", "DeviceTaints"}) {
        if (Chance(75)) {
          features_.push_back(Member(name, "true"));
        }
      }
      return;
    }
    for (const Choice name : kLater) {
      if (Chance(35)) {
        features_.push_back(Member(name, "true"));
        derived_ = derived_ || name == "DerivedAttributes";
        groups_ = groups_ || name == "CompatibilityGroups";
      }
    }
    if (Chance(12)) {
      const Choice off = Pick(kUsual);
      features_.push_back(Member(off, "false"));
    }
  }

  std::string Node() {
    Texts labels = {R"("kubernetes.io/hostname":"n1")", R"("zone":"a")", R"("cores":"64")"};
    if (Chance(60)) {
      labels.push_back(R"("dra":"true")");
    }
    return ObjectOf({"\"metadata\":{\"name\":\"n1\",\"labels\":" + ObjectOf(labels) + "}",
                     Chance(55) ? R"("status":{"declaredFeatures":["DRAOptionalNodeOperations"]})"
                                : R"("status":{})"});
  }

  std::string Requirement() {
    static constexpr Choice kRequirements[] = {
        R"({"key":"zone","operator":"In","values":["a","b"]})",
        R"({"key":"zone","operator":"In","values":["b","a"]})",
        R"({"key":"zone","operator":"NotIn","values":["b"]})",
        R"({"key":"zone","operator":"In","values":["b"]})",
        R"({"key":"dra","operator":"Exists"})",
        R"({"key":"gone","operator":"DoesNotExist"})",
        R"({"key":"cores","operator":"Gt","values":["32"]})",
        R"({"key":"cores","operator":"Lt","values":["100"]})",
        R"({"key":"kubernetes.io/hostname","operator":"In","values":["n1"]})"};
    static constexpr Choice kBroken[] = {R"({"key":"cores","operator":"Gt","values":["x"]})",
                                         R"({"key":"zone","operator":"Near","values":["a"]})",
                                         R"({"key":"zone","operator":"In"})",
                                         R"({"key":"zone","operator":"Exists","values":["a"]})"};
    return std::string(hostile_ && Chance(10) ? Pick(kBroken) : Pick(kRequirements));
  }

  std::string Selector() {
    Texts terms;
    const std::uint64_t count = hostile_ && Chance(15) ? 2 : 1;
    for (std::uint64_t t = 0; t < count; ++t) {
      Texts term;
      if (Chance(90)) {
        term.push_back(
            Member("matchExpressions",
                   Chance(25) ? ListOf({Requirement(), Requirement()}) : ListOf({Requirement()})));
      }
      if (Chance(12)) {
        term.push_back(
            R"("matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}])");
      }
      terms.push_back(ObjectOf(term));
    }
    return "\"nodeSelector\":{\"nodeSelectorTerms\":" + ListOf(terms) + "}";
  }

  // Empty: no rule at all.
  std::string NodeRule() {
    const std::uint64_t kind = Below(20);
    if (kind < 7) {
      return R"("nodeName":"n1")";
    }
    if (kind < 9) {
      return R"("nodeName":"n2")";
    }
    if (kind < 13) {
      return R"("allNodes":true)";
    }
    return kind < 19 ? Selector() : std::string();
  }

  std::string Value(Choice type) {
    if (type == "int") {
      return fmt::format("\"int\":{}", Below(3));
    }
    if (type == "string") {
      return fmt::format("\"string\":\"{}\"", Pick({"a", "b", "1"}));
    }
    if (type == "bool") {
      return fmt::format("\"bool\":{}", Chance(50));
    }
    if (type == "version") {
      return fmt::format("\"version\":\"{}\"", Pick({"1.0.0", "1.2.0", "1.2.0+x", "2.0.0-rc.1"}));
    }
    if (type == "ints") {
      return fmt::format("\"ints\":[{},{}]", Below(4), Below(4));
    }
    if (type == "strings") {
      return fmt::format("\"strings\":[\"{}\",\"{}\"]", Pick({"a", "b", "c"}), Pick({"a", "d"}));
    }
    if (type == "bools") {
      return R"("bools":[true,false])";
    }
    return fmt::format("\"versions\":[\"1.{}.0\",\"2.0.0\"]", Below(3));
  }

  std::string Attributes(Choice driver) {
    Texts out;
    bool valueless = false;
    const auto add = [&](Choice name, Choice usual, Choice list) {
      if (Chance(88)) {
        Choice type = lists_ && Chance(45) ? list : usual;
        if (Chance(4)) {
          type = Pick({"int", "string", "bool", "version"});
        }
        // One without a value at most: upstream names any of several.
        const bool empty = hostile_ && !valueless && Chance(3);
        valueless = valueless || empty;
        out.push_back(Member(name, "{" + (empty ? "" : Value(type)) + "}"));
      }
    };
    add("model", "string", "strings");
    add("numa", "int", "ints");
    add("healthy", "bool", "bools");
    add("driverVersion", "version", "versions");
    if (Chance(40)) {
      add("shared.example.com/root", "string", "strings");
    }
    if (driver != kDrivers[0] && Chance(20)) {
      // Another driver's name; its own under the full name would make two of one.
      add("gpu.example.com/numa", "int", "ints");
    }
    return ObjectOf(out);
  }

  std::string Policy() {
    Texts policy;
    if (Chance(70)) {
      policy.push_back(
          fmt::format("\"default\":\"{}\"", Pick({"1", "2", "1000m", "3", "500m", "2.0", "1e0"})));
    }
    const std::uint64_t kind = Below(4);
    if (kind < 2) {
      Texts range = {Member("min", Quoted(Pick({"1", "2", "500m", "0", "100m"})))};
      if (Chance(55)) {
        range.push_back(Member("step", Quoted(Pick({"1", "2", "500m", "250m", "3"}))));
      }
      if (Chance(45)) {
        range.push_back(Member("max", Quoted(Pick({"4", "6", "8", "7500m"}))));
      }
      policy.push_back(Member("validRange", ObjectOf(range)));
    } else if (kind == 2) {
      policy.push_back(R"("validValues":["1","2","4","8"])");
    }
    return ObjectOf(policy);
  }

  std::string Capacities() {
    Texts out;
    for (const Choice name : {"mem", "cores", "other.example.com/bw"}) {
      if (!Chance(name == "mem" ? 75 : 25)) {
        continue;
      }
      Texts parts = {Member(
          "value",
          Quoted(
              Pick({"4", "8", "16", "8000m", "7500m", "40Gi", "8e0", "4.0", "0.016k", "1.5Gi"})))};
      if (hostile_ && name == "mem" && Chance(10)) {
        parts = {Member("value", Quoted(Pick({"0", "-1", "20E", "9223372036854775807", "1n"})))};
      }
      if (Chance(shares_ ? 55 : 15)) {
        parts.push_back(Member("requestPolicy", Policy()));
      }
      out.push_back(Member(name, ObjectOf(parts)));
    }
    return ObjectOf(out);
  }

  std::string Uses() {
    Texts uses;
    const std::uint64_t first = Below(3);
    const std::uint64_t sets = Chance(70) ? 1 : 2;
    for (std::uint64_t s = 0; s < sets; ++s) {
      std::string set = fmt::format("set-{}", (first + s) % 3);
      if (hostile_ && Chance(4)) {
        set = "set-9";
      }
      Texts counters = {
          fmt::format("\"mem\":{{\"value\":\"{}\"}}", Pick({"10", "20", "40", "500m", "0", "15"}))};
      if (Chance(50)) {
        counters.push_back(fmt::format("\"slot-{}\":{{\"value\":\"1\"}}", Below(3)));
      }
      if (hostile_ && Chance(2)) {
        counters.push_back(R"("gone":{"value":"1"})");
      }
      Texts parts = {Member("counterSet", Quoted(set)), Member("counters", ObjectOf(counters))};
      if (Chance(groups_ ? 45 : 1)) {
        parts.push_back(Member(
            "compatibilityGroups",
            std::string(Pick({R"(["x"])", R"(["y"])", R"(["x","y"])", R"(["y","z"])", R"([])"}))));
      }
      uses.push_back(ObjectOf(parts));
    }
    return ListOf(uses);
  }

  std::string Taints() {
    Texts out;
    const std::uint64_t count = 1 + Below(2);
    for (std::uint64_t t = 0; t < count; ++t) {
      Texts parts = {Member("key", Quoted(Pick({"k", "l", "example.com/unhealthy"})))};
      if (Chance(50)) {
        parts.push_back(Member("value", Quoted(Pick({"v", "w"}))));
      }
      parts.push_back(
          Member("effect", Quoted(Pick({"NoSchedule", "NoExecute", "None", "NoSchedule", "Odd"}))));
      out.push_back(ObjectOf(parts));
    }
    return ListOf(out);
  }

  std::string Device(
      const std::string& name, Choice driver, const std::string& pool, bool own, bool counters) {
    devices_.push_back(
        fmt::format(R"({{"driver":"{}","pool":"{}","device":"{}")", driver, pool, name));
    Texts parts = {Member("name", Quoted(name)),
                   Member("attributes", Attributes(driver)),
                   Member("capacity", Capacities())};
    if (own) {
      if (std::string rule = NodeRule(); !rule.empty()) {
        parts.push_back(std::move(rule));
      }
    }
    if (Chance(shares_ ? 55 : 10)) {
      parts.push_back(Member("allowMultipleAllocations", Chance(92) ? "true" : "false"));
    }
    if (Chance(14)) {
      parts.push_back(Member("taints", Taints()));
    }
    if (Chance(5)) {
      parts.push_back(Chance(70) ? R"("bindingConditions":["Attached"])"
                                 : R"("bindingConditions":[])");
      parts.push_back(R"("bindingFailureConditions":["Failed"])");
    }
    if (Chance(6)) {
      parts.push_back(Member("bindsToNode", Chance(70) ? "true" : "false"));
    }
    if (Chance(4)) {
      parts.push_back(R"("nodeAllocatableResources":{"cpu":{"mapping":{"deviceMultiplier":"2"}}})");
    }
    if (counters && Chance(80)) {
      parts.push_back(Member("consumesCounters", Uses()));
    }
    return ObjectOf(parts);
  }

  struct Pool {
    Choice driver;
    std::string name;
    std::uint64_t ordinal = 0;
    std::uint64_t want = 1;
    std::uint64_t slices = 0;
  };

  void AddSlice(Pool& pool,
                std::uint64_t generation,
                const std::string& rule,
                const std::string& content) {
    Texts spec = {Member("driver", Quoted(pool.driver)),
                  fmt::format(R"("pool":{{"name":"{}","generation":{},"resourceSliceCount":{}}})",
                              pool.name,
                              generation,
                              pool.want),
                  content};
    if (!rule.empty()) {
      spec.push_back(rule);
    }
    if (Chance(6)) {
      spec.push_back(
          Member("skipNodeOperations",
                 std::string(Pick({R"(["*"])",
                                   R"(["NodePrepareResources","NodeUnprepareResources"])",
                                   R"(["NodeUnprepareResources"])"}))));
    }
    // Names in another order than the slices were made.
    slices_.push_back(fmt::format(R"({{"metadata":{{"name":"slice-{}-{}-{}"}},"spec":{}}})",
                                  Below(3),
                                  pool.ordinal,
                                  pool.slices++,
                                  ObjectOf(spec)));
  }

  void AddDevices(Pool& pool,
                  std::uint64_t generation,
                  std::uint64_t& next,
                  bool counters,
                  const std::string& shared_rule) {
    const bool own = !stable_ && Chance(10);
    Texts devices;
    const std::uint64_t count = big_ || many_ ? 8 + Below(24) : Below(6);
    for (std::uint64_t d = 0; d < count; ++d) {
      const bool twice = hostile_ && Chance(3) && next > 0;
      devices.push_back(
          Device(fmt::format("d{}", twice ? 0 : next), pool.driver, pool.name, own, counters));
      ++next;
    }
    AddSlice(pool,
             generation,
             own          ? R"("perDeviceNodeSelection":true)"
             : Chance(70) ? shared_rule
                          : NodeRule(),
             Member("devices", ListOf(devices)));
  }

  void AddPool(std::uint64_t ordinal) {
    Pool pool;
    pool.driver = Chance(60) ? kDrivers[0] : Pick(kDrivers);
    // The place in the list keeps pools of one driver apart, two drivers may share a name.
    pool.name = pool.driver == kDrivers[0] ? fmt::format("{}-{}", Pick(kPools), ordinal)
                                           : std::string(kPools[ordinal % kPools.size()]);
    pool.ordinal = ordinal;
    const bool counters = counters_ && Chance(75);
    const std::uint64_t device_slices = stable_ ? 1 : 1 + Below(3);
    const std::uint64_t counter_slices = counters ? (stable_ ? 1 : 1 + Below(2)) : 0;
    pool.want = device_slices + counter_slices;
    if (Chance(5)) {
      pool.want = Chance(50) ? pool.want + 1 : pool.want - 1;  // incomplete, either way
    }
    const std::uint64_t generation = 1 + Below(3);
    const std::string rule = Chance(65) ? R"("nodeName":"n1")" : NodeRule();
    std::uint64_t next = 0;
    for (std::uint64_t s = 0; s < device_slices; ++s) {
      AddDevices(pool, generation, next, counters, rule);
    }
    for (std::uint64_t s = 0; s < counter_slices; ++s) {
      AddSlice(pool,
               generation,
               Chance(80) ? rule : NodeRule(),
               Member("sharedCounters", CounterSets(s, counter_slices)));
    }
    if (!stable_ && Chance(7)) {
      // A slice of another generation, here or elsewhere.
      std::uint64_t other = 50;
      AddDevices(pool, Chance(60) ? generation - 1 : generation + 1, other, false, NodeRule());
    }
  }

  std::string CounterSets(std::uint64_t slice, std::uint64_t slices) {
    Texts sets;
    for (std::uint64_t set = slice; set < 3; set += slices) {
      sets.push_back(fmt::format(
          R"({{"name":"set-{}","counters":{{"mem":{{"value":"{}"}},"slot-0":{{"value":"2"}},"slot-1":{{"value":"1"}},"slot-2":{{"value":"1"}}}}}})",
          hostile_ && Chance(3) ? 0 : set,
          Pick({"40", "50", "80", "20500m"})));
    }
    return ListOf(sets);
  }

  std::string Classes() {
    return R"([{"metadata":{"name":"any"},"spec":{}},)"
           R"({"metadata":{"name":"gpu"},"spec":{"selectors":[{"cel":{"expression":"device.driver == \"gpu.example.com\""}}],)"
           R"("config":[{"opaque":{"driver":"gpu.example.com","parameters":{"a":1}}},{"opaque":{"driver":"nic.example.com","parameters":{"b":[2]}}}]}},)"
           R"({"metadata":{"name":"healthy"},"spec":{"selectors":[{"cel":{"expression":"device.attributes[device.driver].?healthy.orValue(true) != false"}},{"cel":{"expression":"true"}}]}},)"
           R"({"metadata":{"name":"roomy"},"spec":{"selectors":[{"cel":{"expression":"\"mem\" in device.capacity[device.driver] && device.capacity[device.driver].mem.compareTo(quantity(\"5\")) > 0"}}]}},)"
           R"({"metadata":{"name":"broken"},"spec":{"selectors":[{"cel":{"expression":"device.nothing"}}]}}])";
  }

  std::string Expression() {
    static constexpr Choice kExpressions[] = {
        R"(device.attributes["gpu.example.com"].?model.orValue("") == "a")",
        R"(device.attributes["gpu.example.com"].?numa.orValue(0) == 1)",
        R"(device.attributes[device.driver].?numa.orValue(2) in [0, 1])",
        R"(device.driver.startsWith("gpu"))",
        R"(!device.allowMultipleAllocations)",
        R"(has(device.attributes["gpu.example.com"].model))",
        R"("root" in device.attributes["shared.example.com"])",
        R"(device.attributes["gpu.example.com"].?driverVersion.orValue(semver("0.1.0")).isGreaterThan(semver("1.1.0")))",
        R"(device.capacity["gpu.example.com"].?mem.orValue(quantity("1")).isGreaterThan(quantity("4")))",
        R"(device.attributes.exists(d, d == "shared.example.com"))",
        R"(true)",
        R"(device.driver in ["gpu.example.com", "nic.example.com", "cpu.example.com"])"};
    static constexpr Choice kFailing[] = {
        R"(device.attributes["gpu.example.com"].model == "a")",
        R"(device.attributes["gpu.example.com"].numa > 0)",
        R"(device.attributes["gpu.example.com"].driverVersion.major() >= 1)",
        R"(device.capacity["gpu.example.com"].mem.isLessThan(quantity("10")))",
        R"(device.attributes["gpu.example.com"].healthy)",
        R"(device.attributes["gpu.example.com"].model.matches("^[ab]$"))"};
    static constexpr Choice kBroken[] = {"1 + ", "device.name == \"x\"", "1", "\"a\" == 1"};
    static constexpr Choice kLists[] = {
        R"(device.attributes["gpu.example.com"].?numa.orValue(dyn([0])).includes(1))",
        R"(device.attributes["gpu.example.com"].model.includes("a"))"};
    if (hostile_ && Chance(8)) {
      return std::string(Pick(kBroken));
    }
    if (lists_ && Chance(12)) {
      return std::string(Pick(kLists));
    }
    return std::string(Chance(12) ? Pick(kFailing) : Pick(kExpressions));
  }

  std::string Tolerations() {
    static constexpr Choice kTolerations[] = {
        R"({"operator":"Exists"})",
        R"({"key":"k","operator":"Exists"})",
        R"({"key":"k","operator":"Exists","effect":"NoSchedule"})",
        R"({"key":"k","operator":"Equal","value":"v"})",
        R"({"key":"example.com/unhealthy","operator":"Exists","effect":"NoExecute","tolerationSeconds":30})",
        R"({"key":"l","value":"w"})",
        R"({"key":"l","operator":"Odd"})"};
    Texts out;
    const std::uint64_t count = 1 + Below(2);
    for (std::uint64_t t = 0; t < count; ++t) {
      out.emplace_back(Pick(kTolerations));
    }
    return ListOf(out);
  }

  std::string CapacityRequests() {
    Texts out;
    std::string amount(
        Pick({"1", "2", "3", "4", "6", "8", "1500m", "250m", "1Gi", "2.0", "1e0", "+3"}));
    if (hostile_ && Chance(15)) {
      amount = Pick({"1500u", "9223372036854775806", "10E", "-1", "0"});
    }
    if (Chance(85)) {
      out.push_back(Member("mem", Quoted(amount)));
    }
    if (Chance(20)) {
      out.push_back(Member("cores", "\"2\""));
    }
    if (Chance(6)) {
      out.push_back(Member(Pick({"gone", "other.example.com/bw", "gpu.example.com/mem"}), "\"1\""));
    }
    return "{\"requests\":" + ObjectOf(out) + "}";
  }

  std::string Derived() {
    static constexpr Choice kDerived[] = {
        R"(device.attributes["gpu.example.com"].?model.orValue("none"))",
        R"(device.attributes[device.driver].?numa.orValue(7))",
        R"(device.driver)",
        R"("same")",
        R"([1, 2])",
        R"(device.driver == "gpu.example.com" ? ["a", "b"] : ["b", "c"])",
        R"(device.attributes["gpu.example.com"].numa)",
        R"(device.allowMultipleAllocations)",
        R"([])",
        R"(1.5)"};
    Texts out;
    out.push_back(
        ObjectOf({R"("name":"d.example.com/v")",
                  Member("expression", Quoted(Chance(85) ? kDerived[Below(6)] : Pick(kDerived)))}));
    if (Chance(25)) {
      out.push_back(ObjectOf(
          {R"("name":"gpu.example.com/numa")", Member("expression", Quoted(kDerived[Below(4)]))}));
    }
    return ListOf(out);
  }

  std::string Body(bool sub) {
    Texts parts;
    Choice name = Pick({"any", "any", "gpu", "gpu", "healthy", "roomy"});
    if (hostile_ && Chance(4)) {
      name = Pick({"broken", "gone", ""});
    }
    parts.push_back(Member("deviceClassName", Quoted(name)));
    if (Chance(45)) {
      Texts selectors = {ObjectOf({"\"cel\":{\"expression\":" + Quoted(Expression()) + "}"})};
      if (Chance(25)) {
        selectors.push_back(ObjectOf({"\"cel\":{\"expression\":" + Quoted(Expression()) + "}"}));
      }
      parts.push_back(Member("selectors", ListOf(selectors)));
    }
    if (Chance(12)) {
      parts.push_back(R"("allocationMode":"All")");
    } else if (hostile_ && Chance(2)) {
      parts.push_back(R"("allocationMode":"Some")");
    } else {
      parts.push_back(R"("allocationMode":"ExactCount")");
      const std::uint64_t count = Chance(55) ? 1 : big_ && Chance(30) ? 10 + Below(24) : Below(5);
      parts.push_back(fmt::format("\"count\":{}", count));
    }
    if (!sub && Chance(10)) {
      parts.push_back(Member("adminAccess", Chance(80) ? "true" : "false"));
    }
    if (Chance(16)) {
      parts.push_back(Member("tolerations", Tolerations()));
    }
    if (Chance(shares_ ? 45 : 12)) {
      parts.push_back(Member("capacity", CapacityRequests()));
    }
    if (derived_ ? Chance(35) : Chance(1)) {
      parts.push_back(Member("derivedAttributes", Derived()));
    }
    return Joined(parts);
  }

  std::string Constraints(const Texts& names) {
    Texts out;
    const std::uint64_t count = 1 + Below(3);
    for (std::uint64_t c = 0; c < count; ++c) {
      Texts parts;
      if (Chance(40)) {
        Texts scope = {names[Below(names.size())]};
        if (Chance(50)) {
          scope.push_back(names[Below(names.size())]);
        }
        parts.push_back(Member("requests", ListOf(scope)));
      }
      Choice attribute = Pick({"gpu.example.com/numa",
                               "gpu.example.com/model",
                               "gpu.example.com/numa",
                               "shared.example.com/root",
                               "gpu.example.com/driverVersion",
                               "nic.example.com/numa"});
      if (derived_ && Chance(45)) {
        attribute = "d.example.com/v";
      }
      if (!(hostile_ && Chance(2))) {
        parts.push_back(Member(stable_ || Chance(65) ? "matchAttribute" : "distinctAttribute",
                               Quoted(attribute)));
      }
      out.push_back(ObjectOf(parts));
    }
    return ListOf(out);
  }

  std::string Claim(std::uint64_t number) {
    Texts requests;
    Texts names;
    const std::uint64_t count = Chance(4) ? 0 : many_ ? 5 + Below(20) : 1 + Below(big_ ? 3 : 4);
    for (std::uint64_t r = 0; r < count; ++r) {
      const std::string name = fmt::format("r{}", (r * 7) % 31);
      if (Chance(25)) {
        Texts subs;
        const std::uint64_t choices = 1 + Below(Chance(15) ? 8 : 3);
        for (std::uint64_t s = 0; s < choices; ++s) {
          subs.push_back(fmt::format("{{\"name\":\"s{}\",{}}}", s, Body(true)));
          names.push_back(Quoted(fmt::format("{}/s{}", name, s)));
        }
        requests.push_back(
            ObjectOf({Member("name", Quoted(name)), Member("firstAvailable", ListOf(subs))}));
      } else {
        requests.push_back(
            ObjectOf({Member("name", Quoted(name)), "\"exactly\":{" + Body(false) + "}"}));
      }
      names.push_back(Quoted(name));
    }
    Texts devices = {Member("requests", ListOf(requests))};
    if (constrained_ && !names.empty() && Chance(70)) {
      devices.push_back(Member("constraints", Constraints(names)));
    }
    if (Chance(15)) {
      Texts scope;
      for (const std::string& name : names) {
        if (Chance(40)) {
          scope.push_back(name);
        }
      }
      devices.push_back(fmt::format(
          R"("config":[{{"requests":{},"opaque":{{"driver":"gpu.example.com","parameters":{{"c":"x"}}}}}}])",
          ListOf(scope)));
    }
    return fmt::format(
        R"({{"metadata":{{"name":"c{}"{},"uid":"uid-{}"}},"spec":{{"devices":{}}}}})",
        number,
        Chance(95) ? R"(,"namespace":"default")" : "",
        number,
        ObjectOf(devices));
  }

  std::string Allocated() {
    Texts exclusive;
    Texts shared;
    Texts consumed;
    const std::uint64_t load = Pick3(5, 15, 45);
    std::uint64_t share = 0;
    devices_.push_back(R"({"driver":"gpu.example.com","pool":"n1-0","device":"vanished")");
    for (const std::string& device : devices_) {
      if (Chance(load)) {
        exclusive.push_back(device + "}");
      } else if (Chance(shares_ ? load + 10 : 4)) {
        const std::uint64_t shares = 1 + Below(2);
        for (std::uint64_t s = 0; s < shares; ++s) {
          shared.push_back(fmt::format("{},\"shareID\":\"s-{}\"}}", device, share++));
          if (Chance(75)) {
            consumed.push_back(fmt::format("{},\"capacity\":{{\"mem\":\"{}\"}}}}",
                                           device,
                                           Pick({"1", "2", "3", "500m", "4"})));
          }
        }
      }
    }
    return ObjectOf({Member("devices", ListOf(exclusive)),
                     Member("shared", ListOf(shared)),
                     Member("consumedCapacity", ListOf(consumed))});
  }
  std::uint64_t Pick3(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    const std::uint64_t n = Below(3);
    return n == 0 ? a : n == 1 ? b : c;
  }

  base::Random random_;
  bool counters_ = false, shares_ = false, lists_ = false, hostile_ = false, constrained_ = false;
  bool big_ = false, many_ = false, stable_ = false, derived_ = false, groups_ = false;
  Texts features_;
  Texts slices_;
  Texts devices_;
};

}  // namespace

std::string WideProblem(std::uint64_t seed) {
  return WideGenerator(seed).Build(seed);
}

}  // namespace allot::testing
