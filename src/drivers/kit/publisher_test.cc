#include "drivers/kit/publisher.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/core/v1.gen.h"
#include "api/resource/v1.gen.h"
#include "testing/component_fixture.h"

namespace allot::drivers::kit {
namespace {

using api::core::Node;
using api::resource::DeviceClass;
using api::resource::ResourceSlice;
using std::chrono::seconds;
using ::testing::ElementsAre;

/// A driver with one slice for each of its device lists.
class ListDriver final : public Driver {
 public:
  explicit ListDriver(std::vector<std::vector<std::string>> slices) : slices(std::move(slices)) {}
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::vector<ClassSpec> Classes() const override {
    return {{.name = "plain", .expression = "true", .extended_resource_name = ""},
            {.name = "extended",
             .expression = "device.driver == 'x'",
             .extended_resource_name = "example.com/x"}};
  }
  [[nodiscard]] std::vector<schema::Draft<ResourceSlice>> Discover(
      std::string_view node) const override {
    std::vector<schema::Draft<ResourceSlice>> drafts;
    for (const std::vector<std::string>& devices : slices) {
      schema::Draft<ResourceSlice> draft;
      draft->spec.driver = draft.Copy(name_);
      draft.Set(draft->spec.node_name, draft.Copy(node));
      draft->spec.pool.name = draft.Copy(node);
      draft->spec.pool.resource_slice_count = static_cast<std::int64_t>(slices.size());
      auto* const list = draft.MutableList(draft->spec.devices, devices.size());
      for (std::size_t i = 0; i < devices.size(); ++i) {
        list[i].name = draft.Copy(devices[i]);
      }
      drafts.push_back(std::move(draft));
    }
    return drafts;
  }
  base::Result<std::vector<PreparedDevice>> Prepare(std::string_view,
                                                    const api::resource::ResourceClaim&) override {
    return {};
  }
  base::Result<void> Unprepare(std::string_view, std::string_view) override { return {}; }

  std::vector<std::vector<std::string>> slices;

 private:
  std::string name_ = "x";
};

class PublisherTest : public allot::testing::ComponentTest {
 protected:
  void SetUp() override {
    api.Add<Node>(R"({"metadata":{"name":"n","uid":"node-1"}})");
    Restart();
  }
  void TearDown() override { publisher->Stop(); }
  void Restart(const std::string& uid = "node-1") {
    if (publisher) {
      publisher->Stop();
    }
    publisher = std::make_unique<Publisher>(
        client, loop, std::vector<Driver*>{&driver}, telemetry::Logger());
    ASSERT_TRUE(publisher->Start({{.name = "n", .uid = uid}}));
    Run();
  }
  /// "generation/count: devices" of every slice, sorted.
  std::vector<std::string> Slices() {
    std::vector<std::string> out;
    for (const auto& slice : api.All<ResourceSlice>()) {
      std::string text = std::to_string(slice->spec.pool.generation) + "/" +
                         std::to_string(slice->spec.pool.resource_slice_count) + ":";
      for (const auto& device : slice->spec.devices) {
        text += " " + std::string(device.name);
      }
      out.push_back(text);
    }
    std::ranges::sort(out);
    return out;
  }
  std::string AnySlice() { return std::string(api.All<ResourceSlice>()[0]->metadata.name); }

  ListDriver driver{{{"a", "b"}, {"c"}}};
  std::unique_ptr<Publisher> publisher;
};

TEST_F(PublisherTest, SlicesAreOwnedByTheirNode) {
  EXPECT_THAT(Slices(), ElementsAre("1/2: a b", "1/2: c"));
  const auto slice = api.All<ResourceSlice>()[0];
  EXPECT_TRUE(slice->metadata.name.starts_with("n-x-"));
  ASSERT_EQ(slice->metadata.owner_references.size(), 1U);
  EXPECT_EQ(slice->metadata.owner_references[0].uid, "node-1");
  EXPECT_TRUE(*slice->metadata.owner_references[0].controller);
}

TEST_F(PublisherTest, ARestartWritesNothing) {
  const std::uint64_t writes = api.writes();
  Restart();
  EXPECT_EQ(api.writes(), writes);
  EXPECT_EQ(publisher->stats().unchanged, 2U);
}

TEST_F(PublisherTest, AChangedPoolGetsAHigherGeneration) {
  driver.slices = {{"a"}};
  Restart();
  EXPECT_THAT(Slices(), ElementsAre("2/1: a"));
  EXPECT_EQ(publisher->stats().deleted, 2U);
}

TEST_F(PublisherTest, ANodeMadeAnewGetsNewSlices) {
  Restart("node-2");
  EXPECT_THAT(Slices(), ElementsAre("2/2: a b", "2/2: c"));
}

TEST_F(PublisherTest, ADeletedSliceIsWrittenAgain) {
  api.Remove(client::ResourceOf<ResourceSlice>(), "", AnySlice());
  Pass(seconds(1));
  EXPECT_THAT(Slices(), ElementsAre("2/2: a b", "2/2: c"));
  // Its own clean-up is no reason to write once more.
  const std::uint64_t writes = api.writes();
  Pass(seconds(5));
  EXPECT_EQ(api.writes(), writes);
}

TEST_F(PublisherTest, AChangedSliceIsPutRight) {
  api.Change(client::ResourceOf<ResourceSlice>(),
             "",
             AnySlice(),
             R"({"spec":{"devices":[{"name":"forged"}]}})");
  Pass(seconds(1));
  EXPECT_THAT(Slices(), ElementsAre("2/2: a b", "2/2: c"));
}

TEST_F(PublisherTest, SlicesOfAGoneNodeStayGone) {
  api.Remove(client::ResourceOf<Node>(), "", "n");
  api.Remove(client::ResourceOf<ResourceSlice>(), "", AnySlice());
  Pass(seconds(5));
  EXPECT_EQ(Slices().size(), 1U);
}

TEST_F(PublisherTest, SlicesOfOthersAreLeftAlone) {
  api.Add<ResourceSlice>(R"({"metadata":{"name":"other"},"spec":{"driver":"y","nodeName":"n",
      "pool":{"name":"n","generation":1,"resourceSliceCount":1}}})");
  Restart();
  api.Remove(client::ResourceOf<ResourceSlice>(), "", "other");
  const std::uint64_t writes = api.writes();
  Pass(seconds(5));
  EXPECT_EQ(api.writes(), writes);
}

TEST_F(PublisherTest, ClassesAreMadeOnceAndLeftAsTheyAre) {
  ASSERT_TRUE(publisher->PublishClasses());
  const auto made = api.Get<DeviceClass>("", "extended");
  ASSERT_TRUE(made);
  EXPECT_EQ(*made->spec.extended_resource_name, "example.com/x");
  EXPECT_EQ(api.Get<DeviceClass>("", "plain")->spec.extended_resource_name, nullptr);
  api.Change(client::ResourceOf<DeviceClass>(),
             "",
             "plain",
             R"({"metadata":{"labels":{"edited":"yes"}}})");
  ASSERT_TRUE(publisher->PublishClasses());
  EXPECT_EQ(api.Get<DeviceClass>("", "plain")->metadata.labels.Get("edited"), "yes");
}

}  // namespace
}  // namespace allot::drivers::kit
