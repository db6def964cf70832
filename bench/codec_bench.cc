// What do the codecs cost? Time, bytes and heap blocks of one running device pod and its allocated
// claim, and of their create requests, in every direction. Figures and goals: docs/performance.md.
//
// Usage: codec_bench [--benchmark_filter=...]
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include <benchmark/benchmark.h>

#include "api/core/v1.gen.h"
#include "api/resource/v1.gen.h"
#include "base/arena.h"
#include "bench/codec_shapes.h"
#include "schema/codec.h"
#include "testing/heap_counter.h"
#include "text/json.h"

namespace {

using namespace allot;

struct Sample {
  const char* name;
  const schema::TypeDesc* type;
  std::string json;
};

Sample Make(const char* name, const schema::TypeDesc& type, std::string_view json) {
  Sample sample{name, &type, {}};
  text::AppendCompactJson(json, sample.json);
  return sample;
}

void Count(benchmark::State& state, std::size_t bytes, std::size_t blocks_before) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(bytes));
  state.counters["bytes"] = static_cast<double>(bytes);
  state.counters["blocks"] =
      static_cast<double>(allot::testing::HeapAllocations() - blocks_before) /
      static_cast<double>(state.iterations());
}

void DecodeJson(benchmark::State& state, const Sample& sample) {
  const std::size_t before = allot::testing::HeapAllocations();
  for (auto _ : state) {
    base::Arena arena(2 * sample.json.size() + sample.type->size);
    schema::StrictFindings strict;
    void* const root = schema::NewStruct(*sample.type, arena);
    if (!schema::DecodeJson(*sample.type, sample.json, arena, root, {.strict = &strict})) {
      state.SkipWithError("does not decode");
    }
    benchmark::DoNotOptimize(root);
  }
  Count(state, sample.json.size(), before);
}

void EncodeJson(benchmark::State& state, const Sample& sample) {
  base::Arena arena;
  void* const root = schema::NewStruct(*sample.type, arena);
  static_cast<void>(schema::DecodeJson(*sample.type, sample.json, arena, root));
  std::string out;
  const std::size_t before = allot::testing::HeapAllocations();
  for (auto _ : state) {
    out.clear();
    schema::EncodeJson(*sample.type, root, out);
    benchmark::DoNotOptimize(out.data());
  }
  Count(state, out.size(), before);
}

std::string Protobuf(const Sample& sample) {
  base::Arena arena;
  void* const root = schema::NewStruct(*sample.type, arena);
  static_cast<void>(schema::DecodeJson(*sample.type, sample.json, arena, root));
  std::string out;
  schema::EncodeProtobuf(*sample.type, root, out);
  return out;
}

void DecodeProtobuf(benchmark::State& state, const Sample& sample) {
  const std::string bytes = Protobuf(sample);
  const std::size_t before = allot::testing::HeapAllocations();
  for (auto _ : state) {
    base::Arena arena(2 * bytes.size() + sample.type->size);
    void* const root = schema::NewStruct(*sample.type, arena);
    if (!schema::DecodeOwnProtobuf(*sample.type, bytes, arena, root)) {
      state.SkipWithError("does not decode");
    }
    benchmark::DoNotOptimize(root);
  }
  Count(state, bytes.size(), before);
}

void EncodeProtobuf(benchmark::State& state, const Sample& sample) {
  base::Arena arena;
  void* const root = schema::NewStruct(*sample.type, arena);
  static_cast<void>(schema::DecodeJson(*sample.type, sample.json, arena, root));
  std::string out;
  const std::size_t before = allot::testing::HeapAllocations();
  for (auto _ : state) {
    out.clear();
    schema::EncodeProtobuf(*sample.type, root, out);
    benchmark::DoNotOptimize(out.data());
  }
  Count(state, out.size(), before);
}

void Copy(benchmark::State& state, const Sample& sample) {
  base::Arena arena;
  void* const root = schema::NewStruct(*sample.type, arena);
  static_cast<void>(schema::DecodeJson(*sample.type, sample.json, arena, root));
  const std::size_t before = allot::testing::HeapAllocations();
  for (auto _ : state) {
    base::Arena to(3 * sample.json.size() + sample.type->size);
    void* const copy = schema::NewStruct(*sample.type, to);
    schema::DeepCopy(*sample.type, root, copy, to);
    benchmark::DoNotOptimize(copy);
  }
  Count(state, sample.json.size(), before);
}

void Transcode(benchmark::State& state, const Sample& sample) {
  const std::string bytes = Protobuf(sample);
  std::string out;
  const std::size_t before = allot::testing::HeapAllocations();
  for (auto _ : state) {
    base::Arena arena(2 * bytes.size() + sample.type->size);
    void* const root = schema::NewStruct(*sample.type, arena);
    static_cast<void>(schema::DecodeOwnProtobuf(*sample.type, bytes, arena, root));
    out.clear();
    schema::EncodeJson(*sample.type, root, out);
    benchmark::DoNotOptimize(out.data());
  }
  Count(state, out.size(), before);
}

void ParseTree(benchmark::State& state, const Sample& sample) {
  const std::size_t before = allot::testing::HeapAllocations();
  for (auto _ : state) {
    auto value = text::ParseJson(sample.json);
    benchmark::DoNotOptimize(value);
  }
  Count(state, sample.json.size(), before);
}

}  // namespace

int main(int argc, char** argv) {
  const Sample samples[] = {
      Make("pod", api::core::kPodDesc, bench::kRunningPod),
      Make("claim", api::resource::kResourceClaimDesc, bench::kAllocatedClaim),
      Make("pod-create", api::core::kPodDesc, bench::kPodCreate),
      Make("claim-create", api::resource::kResourceClaimDesc, bench::kClaimCreate)};
  for (const Sample& sample : samples) {
    const std::string name = std::string("/") + sample.name;
    const auto add = [&sample, &name](const char* what,
                                      void (*run)(benchmark::State&, const Sample&)) {
      benchmark::RegisterBenchmark((what + name).c_str(),
                                   [run, &sample](benchmark::State& state) { run(state, sample); });
    };
    add("json_decode", &DecodeJson);
    add("json_encode", &EncodeJson);
    add("protobuf_decode", &DecodeProtobuf);
    add("protobuf_encode", &EncodeProtobuf);
    add("protobuf_to_json", &Transcode);
    add("deep_copy", &Copy);
    add("json_tree", &ParseTree);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
