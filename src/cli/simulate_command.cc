#include "cli/simulate_command.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "analysis/answer_case.h"
#include "analysis/simulate.h"
#include "cli/files.h"
#include "cli/flags.h"
#include "cli/simulation_text.h"
#include "inventory/gates.h"
#include "snapshot/allocation_case.h"
#include "snapshot/cluster.h"
#include "text/json.h"

namespace allot::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  std::vector<std::string> gates;
  std::vector<std::string> gates_too;
  std::string output = "table";
  std::string profile = "compat";
  bool cases = false;
  analysis::SimulateOptions simulate;
};

void Declare(Flags& parser, Options& options) {
  parser.Texts(
      "-f,--filename",
      options.files,
      "file, folder (its .yaml, .yml and .json files, also below) or - for standard input");
  parser.Text("-o,--output", options.output, "table (default), yaml or json");
  parser.Texts("--feature-gates", options.gates, "A=true,B=false as the scheduler takes them");
  parser.Texts("--gates", options.gates_too, "another name of --feature-gates");
  parser.Text(
      "--profile", options.profile, "compat (default: kube-scheduler's choice of node) or packing");
  parser.Text("--per-node", options.simulate.only_node, "consider this node only");
  parser.Bool("--cases",
              options.cases,
              "answer allocation problems on standard input, one JSON object a line; takes no "
              "other flag");
}

base::Result<void> Check(Options& options) {
  const auto bad = [](std::string text) {
    return base::Error(base::Reason::kBadRequest, std::move(text));
  };
  if (options.output != "table" && options.output != "yaml" && options.output != "json") {
    return bad(fmt::format("output form \"{}\" is not one of table, yaml, json", options.output));
  }
  if (options.profile != "compat" && options.profile != "packing") {
    return bad(fmt::format("profile \"{}\" is not one of compat, packing", options.profile));
  }
  options.simulate.profile =
      options.profile == "packing" ? placement::Profile::kPacking : placement::Profile::kCompatible;
  for (const auto* const list : {&options.gates, &options.gates_too}) {
    for (const std::string& gates : *list) {
      ALLOT_RETURN_IF_ERROR(options.simulate.gates.Parse(gates));
    }
  }
  const bool others = !options.files.empty() || !options.gates.empty() ||
                      !options.gates_too.empty() || options.output != "table" ||
                      options.profile != "compat" || !options.simulate.only_node.empty();
  if (options.cases && others) {
    return bad("--cases reads standard input and takes no other flag");
  }
  if (options.files.empty() && !options.cases) {
    return bad("nothing to read: use -f or --cases");
  }
  return {};
}

base::Result<void> ReadPath(const Io& io, const std::string& path, snapshot::Cluster& cluster) {
  ALLOT_ASSIGN_OR_RETURN(const std::vector<std::string> files,
                         ManifestFiles(path, Folders::kVisible));
  // A folder may hold other things; who names a file means it.
  cluster.skip_foreign = files.size() != 1 || files.front() != path;
  for (const std::string& file : files) {
    const auto text = ReadFile(io, file);
    if (!text && cluster.skip_foreign) {
      cluster.warnings.push_back(fmt::format("{}; left out", text.error().message()));
      continue;
    }
    if (!text) {
      return base::Error(text.error());
    }
    ALLOT_RETURN_IF_ERROR(cluster.Add(*text, file == "-" ? "standard input" : file));
  }
  return {};
}

// Nothing to work on, or a node that nobody knows.
base::Result<void> CheckInput(const snapshot::Cluster& cluster, const Options& options) {
  if (cluster.nodes.empty() && cluster.pods.empty() && cluster.slices.empty() &&
      cluster.classes.empty() && cluster.claims.empty() && cluster.templates.empty() &&
      cluster.rules.empty()) {
    return base::Error(base::Reason::kBadRequest,
                       "no nodes, pods, slices, classes, claims or templates were read");
  }
  const std::string& node = options.simulate.only_node;
  if (!node.empty() && std::none_of(cluster.nodes.begin(),
                                    cluster.nodes.end(),
                                    [&](const auto* one) { return one->metadata.name == node; })) {
    return base::Error(base::Reason::kNotFound,
                       fmt::format("--per-node: there is no node \"{}\" among the objects", node));
  }
  return {};
}

// Many objects may have the same mistake.
constexpr std::size_t kMaxWarnings = 20;

void Warn(const Io& io, const std::vector<std::string>& warnings) {
  for (std::size_t i = 0; i < warnings.size() && i < kMaxWarnings; ++i) {
    io.err(fmt::format("warning: {}\n", warnings[i]));
  }
  if (warnings.size() > kMaxWarnings) {
    io.err(fmt::format("warning: {} more objects like these\n", warnings.size() - kMaxWarnings));
  }
}

// Workloads make pods only in a live cluster; whoever gives one here should know.
std::string LeftOut(const snapshot::Cluster& cluster) {
  std::string out;
  for (const std::string_view kind : {"CronJob",
                                      "DaemonSet",
                                      "Deployment",
                                      "Job",
                                      "PodGroup",
                                      "ReplicaSet",
                                      "StatefulSet",
                                      "Workload"}) {
    if (const auto found = cluster.ignored.find(std::string(kind));
        found != cluster.ignored.end()) {
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", found->second, kind);
    }
  }
  return out;
}

int AnswerCases(const Io& io) {
  int code = kOk;
  std::size_t number = 0;
  for (std::string line;;) {
    const auto more = io.read_line(line);
    if (!more) {
      return Fail(io, more.error().message(), kFailed);
    }
    if (!*more) {
      return code;
    }
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      continue;
    }
    auto problem = snapshot::ParseAllocationCase(line);
    if (!problem) {
      // One answer a line, so that tools stay in step.
      snapshot::AllocationAnswer bad;
      if (const auto line_value = text::ParseJson(line)) {
        bad.id = line_value->StringAt({"id"});
      }
      bad.outcome = "invalid";
      bad.error = problem.error().message();
      io.out(snapshot::FormatAllocationAnswer(bad) + "\n");
      io.err(fmt::format("line {}: {}\n", number, problem.error().message()));
      code = kFailed;
      continue;
    }
    base::Arena arena;
    io.out(snapshot::FormatAllocationAnswer(analysis::AnswerCase(*problem, {}, arena)) + "\n");
  }
}

}  // namespace

std::function<void(std::string_view, std::uint64_t)> ProgressTo(const Io& io) {
  return [&io](std::string_view pod, std::uint64_t cost) {
    io.err(
        fmt::format("still at pod {}: evaluating device expressions, CEL cost so far {} million\n",
                    pod,
                    cost / 1'000'000));
  };
}

int RunSimulate(Arguments arguments, const Io& io) {
  Options options;
  Flags parser("simulate -f DIR|FILE|-\n  allot simulate --cases < problems.jsonl > answers.jsonl",
               "Schedules the pending pods of files of cluster objects and prints what they get.\n"
               "Exit code: 0 every pending pod was placed, 3 some were not, 1 bad input, 2 bad "
               "usage.");
  Declare(parser, options);
  if (const auto end = parser.Begin(arguments, io)) {
    return *end;
  }
  if (const auto good = Check(options); !good) {
    io.err(fmt::format("error: {}\nSee 'allot simulate --help'.\n", good.error().message()));
    return kUsage;
  }
  if (options.cases) {
    return AnswerCases(io);
  }
  snapshot::Cluster cluster;
  for (const std::string& file : options.files) {
    if (auto read = ReadPath(io, file, cluster); !read) {
      io.err(fmt::format("error: {}\n", read.error().message()));
      return kFailed;
    }
  }
  Warn(io, cluster.warnings);
  if (auto good = CheckInput(cluster, options); !good) {
    io.err(fmt::format("error: {}\n", good.error().message()));
    return kFailed;
  }
  if (const std::string left_out = LeftOut(cluster); !left_out.empty()) {
    io.err(fmt::format("note: left out: {}; only pods are placed\n", left_out));
  }
  options.simulate.progress = ProgressTo(io);
  for (const std::string_view gate : inventory::GatesWithoutEffect(options.simulate.gates)) {
    io.err(fmt::format("note: gate {} has no effect on the decisions of simulate\n", gate));
  }
  const analysis::Simulation simulation = analysis::Simulate(cluster, options.simulate);
  auto printed = options.output == "table" ? base::Result<std::string>(SimulationTable(simulation))
                                           : SimulationTree(simulation, options.output == "json");
  if (!printed) {
    io.err(fmt::format("error: {}\n", printed.error().message()));
    return kFailed;
  }
  io.out(*printed);
  const bool all = std::all_of(
      simulation.pods.begin(), simulation.pods.end(), [](const auto& pod) { return pod.placed; });
  return all ? kOk : kNotPlaced;
}

}  // namespace allot::cli
