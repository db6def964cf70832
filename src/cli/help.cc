#include <array>

#include "cli/verbs.h"

namespace allot::cli {
namespace {

constexpr std::array<VerbInfo, 14> kVerbs = {{
    {"up", "start a control plane: API server, store, scheduler, controllers, simulated fleet"},
    {"scheduler", "run the scheduler beside any Kubernetes API server"},
    {"controllers", "run the controllers beside any Kubernetes API server"},
    {"get", "show objects, devices and pools"},
    {"describe", "show objects in full with their events"},
    {"apply", "create objects from manifests or change them to match"},
    {"delete", "delete objects"},
    {"wait", "wait until objects have a condition"},
    {"explain", "why is this pod where it is, or why is it pending"},
    {"simulate", "schedule pods of a file offline"},
    {"cel", "evaluate and check device expressions"},
    {"completion", "completion script for bash, zsh or fish"},
    {"version", "version of this program and of the server"},
    {"help", "this text"},
}};

}  // namespace

std::span<const VerbInfo> Verbs() {
  return kVerbs;
}

std::string HelpText() {
  std::string text =
      "allot: device allocation for Kubernetes: control plane, tools beside a cluster, and the "
      "same decisions offline.\n\n"
      "Usage:\n  allot VERB [FLAGS]\n\nVerbs:\n";
  for (const VerbInfo& verb : Verbs()) {
    text += "  " + std::string(verb.name) + std::string(13 - verb.name.size(), ' ') +
            std::string(verb.about) + "\n";
  }
  return text + "\n`allot VERB --help` tells the flags of a verb.\n";
}

}  // namespace allot::cli
