// What the strategies make of whole objects, told as JSON: in goes what a client sends, out comes
// what the server would store, or the errors.
#include "api/strategy.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/disabled_fields.h"
#include "api/registry.h"
#include "base/arena.h"
#include "schema/codec.h"
#include "text/json.h"

namespace allot::api {
namespace {

constexpr quantity::Time kNow = {.seconds = 1'800'000'000, .set = true};

class StrategyTest : public testing::Test {
 protected:
  /// An object with its memory.
  struct Object {
    std::unique_ptr<base::Arena> arena = std::make_unique<base::Arena>();
    std::string json;
    const Strategy* strategy = nullptr;
    void* root = nullptr;
    std::string errors;

    /// The JSON of the part at `path`, of keys between dots; "" when it is not there.
    [[nodiscard]] std::string At(std::string_view path) const {
      std::string out;
      schema::EncodeJson(*strategy->type, root, out);
      const auto value = text::ParseJson(out);
      const text::Value* at = &*value;
      while (at != nullptr && !path.empty()) {
        const auto dot = std::min(path.find('.'), path.size());
        const std::string_view step = path.substr(0, dot);
        at = step.find_first_not_of("0123456789") == std::string_view::npos && at->is_array()
                 ? &at->items()[static_cast<std::size_t>(step[0] - '0')]
                 : at->Find(step);
        path.remove_prefix(std::min(dot + 1, path.size()));
      }
      std::string text;
      if (at != nullptr) {
        text::WriteJson(*at, text);
      }
      return text;
    }
  };

  Object Decode(std::string_view kind, std::string_view json) {
    Object object;
    object.json = json;
    const KindInfo* const info =
        FindKind(kind == "Pod" || kind == "Node" ? "" : "resource.k8s.io", "v1", kind);
    object.strategy = FindStrategy(*info->type);
    object.root = object.arena->Allocate(info->type->size, info->type->alignment);
    std::fill_n(static_cast<char*>(object.root), info->type->size, '\0');
    const auto decoded = schema::DecodeJson(*info->type, object.json, *object.arena, object.root);
    EXPECT_TRUE(decoded) << decoded.error().message();
    if (object.strategy->apply_defaults != nullptr) {
      object.strategy->apply_defaults(Context(), object.root, *object.arena);
    }
    return object;
  }

  Object Create(std::string_view kind, std::string_view json) {
    Object object = Decode(kind, json);
    if (object.strategy->prepare_for_create != nullptr) {
      object.strategy->prepare_for_create(Context(), object.root, *object.arena);
    }
    FieldErrors errors;
    object.strategy->validate_create(Context(), object.root, errors);
    object.errors = Texts(errors);
    return object;
  }

  /// `json` put over `old`, as a request on the subresource ("" = the object itself).
  Object Update(const Object& old,
                std::string_view kind,
                std::string_view json,
                std::string_view subresource = "") {
    Object object = Decode(kind, json);
    const Strategy& strategy = *object.strategy;
    strategy.Metadata(object.root).generation = strategy.Metadata(old.root).generation;
    const UpdateRules& rules = *strategy.Update(subresource);
    rules.prepare(Context(), object.root, old.root, *object.arena);
    FieldErrors errors;
    rules.validate(Context(), object.root, old.root, errors);
    object.errors = Texts(errors);
    return object;
  }

  void TurnOn(std::string_view gates) {
    ASSERT_TRUE(gates_.Parse(gates));
    disabled_ = DisabledFields(gates_);
  }
  void TurnOff(Gate gate) {
    gates_.Set(gate, false);
    disabled_ = DisabledFields(gates_);
  }

 private:
  [[nodiscard]] StrategyContext Context() const {
    return {.gates = gates_, .now = kNow, .disabled = &disabled_};
  }

  static std::string Texts(const FieldErrors& errors) {
    std::string out;
    for (const FieldError& error : errors.list()) {
      out += error.ToString() + "\n";
    }
    return out;
  }

  GateSet gates_;
  DisabledFields disabled_{gates_};
};

/// A pod with one container that has these resources; `more` goes into the spec.
std::string Pod(std::string_view resources, std::string_view more = "") {
  return fmt::format(R"({{"metadata": {{"name": "p", "namespace": "n"}}, "spec": {{{}
      "containers": [{{"name": "c", "image": "i:1", "resources": {}}}]}}}})",
                     more,
                     resources);
}

std::string Slice(std::string_view more, std::string_view device_more = "") {
  return fmt::format(R"({{"metadata": {{"name": "s"}}, "spec": {{{} "driver": "d.example.com",
      "nodeName": "n", "pool": {{"name": "p", "generation": 1, "resourceSliceCount": 1}},
      "devices": [{{{} "name": "d0"}}]}}}})",
                     more,
                     device_more);
}

constexpr std::string_view kClaim = R"({"metadata": {"name": "c", "namespace": "n"}, "spec":
    {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}})";

TEST_F(StrategyTest, EveryStoredKindHasAStrategy) {
  for (const KindInfo& kind : Kinds()) {
    if (std::ranges::find(kind.verbs, "list") == kind.verbs.end()) {
      continue;
    }
    SCOPED_TRACE(kind.kind);
    const Strategy* const strategy = FindStrategy(*kind.type);
    // Events of events.k8s.io are stored as those of core.
    if (kind.group == "events.k8s.io") {
      EXPECT_EQ(strategy, nullptr);
      continue;
    }
    ASSERT_NE(strategy, nullptr);
    EXPECT_NE(strategy->validate_create, nullptr);
    ASSERT_NE(strategy->Update(""), nullptr);
    EXPECT_NE(strategy->Update("")->validate, nullptr);
    EXPECT_EQ(strategy->Update("no-such"), nullptr);
  }
}

TEST_F(StrategyTest, TypedNamesOfPodsDefaults) {
  const Object pod = Create("Pod", Pod("{}"));
  EXPECT_EQ(pod.errors, "");
  EXPECT_EQ(pod.At("spec.restartPolicy"), R"("Always")");
  EXPECT_EQ(pod.At("spec.containers.0.imagePullPolicy"), R"("IfNotPresent")");
  EXPECT_EQ(pod.At("spec.terminationGracePeriodSeconds"), "30");
  EXPECT_EQ(pod.At("spec.schedulerName"), R"("default-scheduler")");
  EXPECT_EQ(pod.At("status.phase"), R"("Pending")");
}

TEST_F(StrategyTest, QosClassFollowsRequestsAndLimits) {
  const struct {
    std::string_view resources;
    std::string_view qos;
  } cases[] = {
      {"{}", "BestEffort"},
      {R"({"requests": {"cpu": "1"}})", "Burstable"},
      {R"({"limits": {"cpu": "1"}})", "Burstable"},
      {R"({"limits": {"cpu": "1", "memory": "1Gi"}})", "Guaranteed"},
      {R"({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}})",
       "Guaranteed"},
      {R"({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "1Gi"}})",
       "Burstable"},
      {R"({"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}})",
       "BestEffort"},
  };
  for (const auto& c : cases) {
    const Object pod = Create("Pod", Pod(c.resources));
    EXPECT_EQ(pod.errors, "");
    EXPECT_EQ(pod.At("status.qosClass"), fmt::format("\"{}\"", c.qos)) << c.resources;
  }
}

TEST_F(StrategyTest, LimitsStandInForAbsentRequests) {
  const Object pod = Create("Pod", Pod(R"({"limits": {"cpu": "1", "memory": "1Gi"}})"));
  EXPECT_EQ(pod.At("spec.containers.0.resources.requests"), R"({"cpu":"1","memory":"1Gi"})");
}

TEST_F(StrategyTest, PodLevelLimitsBecomePodLevelRequests) {
  const Object pod = Create(
      "Pod", Pod(R"({"requests": {"cpu": "250m"}})", R"("resources": {"limits": {"cpu": "1"}},)"));
  EXPECT_EQ(pod.errors, "");
  // What the containers ask for goes before the limit of the pod.
  EXPECT_EQ(pod.At("spec.resources"), R"({"limits":{"cpu":"1"},"requests":{"cpu":"250m"}})");
}

// Neither rounded to thousandths nor added up beyond what 128 bits hold.
TEST_F(StrategyTest, TheLargestAmountsStayTheLargest) {
  const Object pod = Create(
      "Pod",
      Pod(R"({"requests": {"memory": "1e30"}})", R"("resources": {"requests": {"memory": "1"}},)"));
  EXPECT_THAT(pod.errors,
              ::testing::HasSubstr("aggregate container requests of 170141183460469231731687"));
}

TEST_F(StrategyTest, PodLevelRequestsHoldThoseOfContainers) {
  const Object pod = Create(
      "Pod", Pod(R"({"requests": {"cpu": "2"}})", R"("resources": {"requests": {"cpu": "1"}},)"));
  EXPECT_EQ(pod.errors,
            "spec.resources.requests[cpu]: Invalid value: \"1\": must be greater than or equal to "
            "aggregate container requests of 2\n");
}

TEST_F(StrategyTest, SpecOfAPodIsFixedButForAFewFields) {
  const Object old = Create("Pod", Pod("{}", R"("schedulingGates": [{"name": "a/g"}],)"));
  ASSERT_EQ(old.errors, "");
  EXPECT_EQ(Update(old, "Pod", Pod("{}")).errors, "");  // a gate goes
  EXPECT_NE(Update(old, "Pod", Pod("{}", R"("schedulingGates": [{"name": "b/g"}],)")).errors, "");
  const Object moved = Update(old, "Pod", Pod("{}", R"("schedulerName": "other",)"));
  EXPECT_TRUE(
      moved.errors.starts_with("spec: Forbidden: pod updates may not change fields other than"))
      << moved.errors;
}

TEST_F(StrategyTest, GenerationCountsChangesOfTheSpec) {
  const Object old = Create("Pod", Pod("{}"));
  EXPECT_EQ(old.At("metadata.generation"), "1");
  EXPECT_EQ(Update(old, "Pod", Pod("{}")).At("metadata.generation"), "1");
  const Object changed = Update(old, "Pod", Pod("{}", R"("activeDeadlineSeconds": 5,)"));
  EXPECT_EQ(changed.errors, "");
  EXPECT_EQ(changed.At("metadata.generation"), "2");
}

TEST_F(StrategyTest, StatusIsWrittenOnlyThroughItsSubresource) {
  const std::string with_status =
      std::string(kClaim.substr(0, kClaim.size() - 1)) +
      R"(, "status": {"reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}]}})";
  EXPECT_EQ(Create("ResourceClaim", with_status).At("status"), "{}");
  const Object old = Create("ResourceClaim", kClaim);
  EXPECT_EQ(Update(old, "ResourceClaim", with_status).At("status"), "{}");
  // A reservation needs an allocation.
  const Object reserved = Update(old, "ResourceClaim", with_status, "status");
  EXPECT_EQ(reserved.errors,
            "status.reservedFor: Forbidden: may not be specified when `allocated` is not set\n");
}

TEST_F(StrategyTest, StatusWritesLeaveTheSpecAlone) {
  const Object old = Create("ResourceClaim", kClaim);
  std::string other(kClaim);
  other.replace(other.find("gpu"), 3, "fpg");
  const Object next = Update(old, "ResourceClaim", other, "status");
  EXPECT_EQ(next.errors, "");
  EXPECT_EQ(next.At("spec.devices.requests.0.exactly.deviceClassName"), R"("gpu")");
  EXPECT_NE(Update(old, "ResourceClaim", other).errors, "");
}

TEST_F(StrategyTest, FieldsOfGatesThatAreOffAreDropped) {
  TurnOff(Gate::kDRADeviceTaints);
  constexpr std::string_view kTaint = R"("taints": [{"key": "k", "effect": "NoSchedule"}],)";
  const Object slice = Create("ResourceSlice", Slice("", kTaint));
  EXPECT_EQ(slice.errors, "");
  EXPECT_EQ(slice.At("spec.devices.0"), R"({"name":"d0"})");
}

TEST_F(StrategyTest, FieldsInUseAreKeptWhenTheirGateGoesOff) {
  constexpr std::string_view kTaint = R"("taints": [{"key": "k", "effect": "NoSchedule"}],)";
  const Object old = Create("ResourceSlice", Slice("", kTaint));
  TurnOff(Gate::kDRADeviceTaints);
  const Object next = Update(old, "ResourceSlice", Slice("", kTaint));
  EXPECT_NE(next.At("spec.devices.0.taints"), "");
}

TEST_F(StrategyTest, DroppedFieldsAreNoChange) {
  TurnOff(Gate::kDRADeviceTaints);
  const Object old = Create("ResourceSlice", Slice(""));
  EXPECT_EQ(old.At("metadata.generation"), "1");
  constexpr std::string_view kTaint = R"("taints": [{"key": "k", "effect": "NoSchedule"}],)";
  const Object next = Update(old, "ResourceSlice", Slice("", kTaint));
  EXPECT_EQ(next.errors, "");
  EXPECT_EQ(next.At("metadata.generation"), "1");
}

TEST_F(StrategyTest, TaintsGetTheTimeTheyWereAdded) {
  const Object slice =
      Create("ResourceSlice", Slice("", R"("taints": [{"key": "k", "effect": "NoSchedule"}],)"));
  EXPECT_EQ(slice.At("spec.devices.0.taints.0.timeAdded"), R"("2027-01-15T08:00:00Z")");
}

TEST_F(StrategyTest, ExpressionsOfSelectorsAreCompiled) {
  const auto device_class = [](std::string_view expression) {
    return fmt::format(
        R"({{"metadata": {{"name": "gpu"}}, "spec": {{"selectors": [{{"cel": {{"expression": "{}"}}}}]}}}})",
        expression);
  };
  EXPECT_EQ(Create("DeviceClass", device_class("device.driver == 'gpu.example.com'")).errors, "");
  EXPECT_EQ(Create("DeviceClass", device_class("device.driver")).errors,
            "spec.selectors[0].cel.expression: Invalid value: \"device.driver\": must evaluate to "
            "bool or the unknown type, not string\n");
  EXPECT_TRUE(Create("DeviceClass", device_class("nosuch"))
                  .errors.starts_with("spec.selectors[0].cel.expression: Invalid value: "
                                      "\"nosuch\": compilation failed: ERROR: "
                                      "<input>:1:1: undeclared reference to 'nosuch'"));
}

TEST_F(StrategyTest, ClusterObjectsHaveNoNamespace) {
  const Object node = Create("Node", R"({"metadata": {"name": "n", "namespace": "x"}})");
  EXPECT_EQ(node.errors, "metadata.namespace: Forbidden: not allowed on this type\n");
}

TEST_F(StrategyTest, TaintsOfNodesAreUniqueByKeyAndEffect) {
  const Object node = Create("Node", R"({"metadata": {"name": "n"}, "spec": {"taints": [
      {"key": "k", "effect": "NoSchedule"}, {"key": "k", "value": "v", "effect": "NoSchedule"}]}})");
  EXPECT_TRUE(node.errors.starts_with("metadata.taints[1]: Duplicate value: ")) << node.errors;
}

}  // namespace
}  // namespace allot::api
