// A node with devices and a pod's claims written as JSON, for the tests of this module. Single
// quotes stand for double ones.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "allocator/allocator.h"
#include "api/desc.h"
#include "schema/codec.h"

namespace allot::allocator {

inline std::string Json(std::string text) {
  std::replace(text.begin(), text.end(), '\'', '"');
  return text;
}

template <typename T>
const T* Decode(const std::string& text, base::Arena& arena) {
  T* const object = arena.New<T>();
  const auto decoded = schema::DecodeJson(api::Desc<T>(), arena.Copy(Json(text)), arena, object);
  EXPECT_TRUE(decoded) << (decoded ? "" : decoded.error().message()) << "\n" << text;
  return object;
}

class TestProblem {
 public:
  explicit TestProblem(inventory::Features features = {}) : inventory_(features) {
    Class("any", "");
  }

  inventory::Inventory& inventory() { return inventory_; }
  inventory::AllocatedState& state() { return state_; }
  std::span<const api::resource::ResourceClaim* const> claims() const { return claims_; }

  /// `selector` as in JSON inside a double-quoted text; empty: none.
  void Class(const std::string& name, const std::string& selector) {
    const std::string selectors =
        selector.empty() ? "" : "'selectors':[{'cel':{'expression':" + Quoted(selector) + "}}]";
    inventory_.UpsertClass(*Decode<api::resource::DeviceClass>(
        Json("{'metadata':{'name':'" + name + "'},'spec':{") + Json(selectors) + "}}", arena_));
  }
  /// A slice named like its pool, of the node n1 unless `rule` says otherwise.
  void Slice(const std::string& driver,
             const std::string& pool,
             const std::string& content,
             int count = 1,
             const std::string& name = "",
             const std::string& rule = "'nodeName':'n1'") {
    inventory_.UpsertSlice(*Decode<api::resource::ResourceSlice>(
        "{'metadata':{'name':'" + (name.empty() ? driver + "-" + pool : name) +
            "'},'spec':{'driver':'" + driver + "','pool':{'name':'" + pool +
            "','generation':1,'resourceSliceCount':" + std::to_string(count) + "}," + rule + "," +
            content + "}}",
        arena_));
  }
  /// `devices`: the body of the spec's `devices`.
  void Claim(const std::string& devices, const std::string& name = "c") {
    claims_.push_back(Decode<api::resource::ResourceClaim>(
        "{'metadata':{'name':'" + name + "','namespace':'default','uid':'" + name +
            "'},'spec':{'devices':{" + devices + "}}}",
        arena_));
  }
  void Hold(const std::string& driver,
            const std::string& pool,
            const std::string& device,
            const std::string& holder,
            const std::string& share_of = "",
            std::int64_t amount = 0) {
    inventory::ClaimUse use;
    use.namespace_ = "default";
    use.name = holder;
    inventory::DeviceUse held;
    held.device = inventory_.InternDevice(driver, pool, device);
    held.shared = !share_of.empty();
    if (held.shared) {
      held.consumed.push_back({share_of, quantity::Quantity::FromInt(amount)});
    }
    use.devices.push_back(std::move(held));
    held_.push_back(state_.Commit(std::move(use)));
  }

  Outcome Solve(Limits limits = {}) {
    Allocator allocator(inventory_, limits);
    return allocator.Allocate(allocator.Prepare(claims_), node(), state_);
  }
  NodeDiagnosis Diagnose(Limits limits = {}) {
    Allocator allocator(inventory_, limits);
    return allocator.Diagnose(allocator.Prepare(claims_), node(), state_);
  }
  /// The devices an outcome took, as "request=device", or the verdict.
  static std::string Text(const Outcome& outcome) {
    static constexpr std::string_view kVerdicts[] = {
        "allocated", "infeasible", "node-error", "fatal", "undecided", "unfinished"};
    if (outcome.verdict != Verdict::kAllocated) {
      return std::string(kVerdicts[static_cast<int>(outcome.verdict)]);
    }
    std::string text;
    for (const Pick& pick : outcome.picks) {
      text += (text.empty() ? "" : " ") + std::string(pick.device->spec->name);
    }
    return text;
  }
  inventory::NodeRef node() {
    return inventory::MakeNodeRef(
        *Decode<api::core::Node>("{'metadata':{'name':'n1','labels':{'zone':'a'}}}", arena_));
  }

 private:
  static std::string Quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
      out += c == '\'' ? std::string("\\\"") : std::string(1, c);
    }
    return out + "\"";
  }

  base::Arena arena_;
  inventory::Inventory inventory_;
  inventory::AllocatedState state_;
  std::vector<const api::resource::ResourceClaim*> claims_;
  std::vector<inventory::AllocatedState::Handle> held_;
};

/// A request for `count` devices; `more`: further members, each with a leading comma.
inline std::string Request(const std::string& name,
                           int count = 1,
                           const std::string& more = "",
                           const std::string& device_class = "any") {
  return "{'name':'" + name + "','exactly':{'deviceClassName':'" + device_class +
         "','allocationMode':'ExactCount','count':" + std::to_string(count) + more + "}}";
}

}  // namespace allot::allocator
