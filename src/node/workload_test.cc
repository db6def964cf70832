#include "node/workload.h"

#include <gtest/gtest.h>

namespace allot::node {
namespace {

using std::chrono::milliseconds;

struct CommandCase {
  const char* name;
  std::vector<std::string_view> words;
  ContainerRun want;
};

constexpr std::nullopt_t kForever = std::nullopt;

TEST(WorkloadTest, ReadsBehaviourOffTheCommand) {
  const CommandCase kCases[] = {
      {"no command", {}, {kForever, 0}},
      {"server", {"/usr/bin/python3", "serve.py"}, {kForever, 0}},
      {"sleep", {"sleep", "5"}, {milliseconds(5000), 0}},
      {"sleep with unit", {"/bin/sleep", "1.5m"}, {milliseconds(90000), 0}},
      {"several sleeps add up", {"sleep", "1", "2s"}, {milliseconds(3000), 0}},
      {"sleep infinity", {"sleep", "infinity"}, {kForever, 0}},
      {"a long sleep means forever", {"sleep", "9999"}, {kForever, 0}},
      {"true", {"true"}, {milliseconds(0), 0}},
      {"false", {"/bin/false"}, {milliseconds(0), 1}},
      {"shell sleep", {"sh", "-c", "sleep 3"}, {milliseconds(3000), 0}},
      {"shell exit", {"/bin/bash", "-c", "echo hi; exit 3"}, {milliseconds(0), 3}},
      {"exit after sleep",
       {"bash", "-ec", "nvidia-smi -L && sleep 2 && exit 7"},
       {milliseconds(2000), 7}},
      {"last command decides", {"sh", "-c", "false; true"}, {milliseconds(0), 0}},
      {"demo line waits",
       {"bash", "-c", "export; trap 'exit 0' TERM; sleep 9999 & wait"},
       {kForever, 0}},
      {"unknown program in a shell line", {"sh", "-c", "exec ./server --port 80"}, {kForever, 0}},
      {"quoted separators do not split",
       {"sh", "-c", "echo 'a; sleep 9999'; sleep 1"},
       {milliseconds(1000), 0}},
      {"comments and assignments", {"sh", "-c", "# note\nA=1\nsleep 1"}, {milliseconds(1000), 0}},
  };
  for (const CommandCase& test : kCases) {
    EXPECT_EQ(RunOfCommand(test.words), test.want) << test.name;
  }
}

TEST(WorkloadTest, AnnotationsGoBeforeTheCommand) {
  schema::Draft<api::core::Pod> pod;
  const api::core::Container container;
  pod.Put(pod->metadata.annotations, kRunSecondsAnnotation, schema::Str("4"));
  EXPECT_EQ(RunOfContainer(*pod, container), (ContainerRun{milliseconds(4000), 0}));
  pod.Put(pod->metadata.annotations, kExitCodeAnnotation, schema::Str("2"));
  EXPECT_EQ(RunOfContainer(*pod, container), (ContainerRun{milliseconds(4000), 2}));
}

}  // namespace
}  // namespace allot::node
