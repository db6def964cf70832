// Slices and nodes for the tests of this module, as JSON that may use single quotes.
#pragma once

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "api/core/v1.gen.h"
#include "api/resource/v1.gen.h"
#include "base/arena.h"
#include "inventory/inventory.h"
#include "schema/codec.h"

namespace allot::inventory {

/// Decodes JSON into a struct of the arena.
template <typename T>
T* FromText(std::string text, base::Arena& arena) {
  std::replace(text.begin(), text.end(), '\'', '"');
  T* const out = arena.New<T>();
  const auto done = schema::DecodeJson(api::Desc<T>(), arena.Copy(text), arena, out);
  EXPECT_TRUE(done) << text << ": " << (done ? "" : done.error().message());
  return out;
}

/// A slice of pool p of driver x.
struct SliceText {
  std::string name;
  int generation = 1;
  int count = 1;
  std::string where = "'nodeName':'n1'";  ///< members that say for which nodes
  std::string content;                    ///< further members
};

inline void Publish(Inventory& inventory, const SliceText& slice, base::Arena& arena) {
  inventory.UpsertSlice(*FromText<api::resource::ResourceSlice>(
      "{'metadata':{'name':'" + slice.name +
          "'},'spec':{'driver':'x','pool':{'name':'p','generation':" +
          std::to_string(slice.generation) +
          ",'resourceSliceCount':" + std::to_string(slice.count) + "}," + slice.where +
          (slice.content.empty() ? "" : "," + slice.content) + "}}",
      arena));
}

}  // namespace allot::inventory
