#include "cli/simulate_command.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "analysis/answer_case.h"
#include "analysis/simulate.h"
#include "api/desc.h"
#include "schema/codec.h"
#include "snapshot/allocation_case.h"
#include "snapshot/cluster.h"
#include "text/json.h"
#include "text/table.h"
#include "text/value.h"
#include "text/yaml.h"

namespace allot::cli {
namespace {

using text::Value;

constexpr std::string_view kUsageText =
    "Schedules the pending pods of files of cluster objects and prints what they get.\n"
    "\n"
    "Usage: allot simulate -f DIR|FILE|- [flags]\n"
    "       allot simulate --cases < problems.jsonl > answers.jsonl\n"
    "\n"
    "  -f, --filename PATH   a file, a folder (its .yaml, .yml and .json files) or - for standard "
    "input; may be repeated\n"
    "  -o, --output FORM     table (default), yaml or json\n"
    "      --feature-gates T A=true,B=false as the scheduler takes them\n"
    "      --profile NAME    compat (default: upstream's choice of node) or packing\n"
    "      --per-node NODE   consider this node only\n"
    "      --cases           answer allocation problems, one JSON object a line\n"
    "\n"
    "Exit code: 0 every pending pod was placed, 3 some were not, 1 bad input, 2 bad usage.\n";

struct Options {
  std::vector<std::string> files;
  std::string output = "table";
  analysis::SimulateOptions simulate;
  bool cases = false;
  bool help = false;
};

// One flag with a value: "--name value" or "--name=value". `missing` names a flag that lacks it.
bool TakeValue(Arguments arguments,
               std::size_t& i,
               std::string_view name,
               std::string_view short_name,
               std::string& value,
               std::string& missing) {
  const std::string& argument = arguments[i];
  if (argument.starts_with(std::string(name) + "=")) {
    value = argument.substr(name.size() + 1);
    missing = value.empty() ? std::string(name) : missing;
    return true;
  }
  if (argument != name && (short_name.empty() || argument != short_name)) {
    return false;
  }
  if (i + 1 < arguments.size()) {
    value = arguments[++i];
  }
  missing = value.empty() ? argument : missing;
  return true;
}

base::Result<Options> ParseOptions(Arguments arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string value;
    std::string missing;
    if (arguments[i] == "-h" || arguments[i] == "--help") {
      options.help = true;
    } else if (arguments[i] == "--cases") {
      options.cases = true;
    } else if (TakeValue(arguments, i, "--filename", "-f", value, missing)) {
      options.files.push_back(value);
    } else if (TakeValue(arguments, i, "--output", "-o", value, missing)) {
      if (!value.empty() && value != "table" && value != "yaml" && value != "json") {
        return base::Error(
            base::Reason::kBadRequest,
            fmt::format("output form \"{}\" is not one of table, yaml, json", value));
      }
      options.output = value;
    } else if (TakeValue(arguments, i, "--feature-gates", "", value, missing) ||
               TakeValue(arguments, i, "--gates", "", value, missing)) {
      ALLOT_RETURN_IF_ERROR(options.simulate.gates.Parse(value));
    } else if (TakeValue(arguments, i, "--per-node", "", value, missing)) {
      options.simulate.only_node = value;
    } else if (TakeValue(arguments, i, "--profile", "", value, missing)) {
      if (!value.empty() && value != "compat" && value != "packing") {
        return base::Error(base::Reason::kBadRequest,
                           fmt::format("profile \"{}\" is not one of compat, packing", value));
      }
      options.simulate.profile =
          value == "packing" ? placement::Profile::kPacking : placement::Profile::kCompatible;
    } else {
      return base::Error(base::Reason::kBadRequest,
                         fmt::format("unknown argument \"{}\"", arguments[i]));
    }
    if (!missing.empty()) {
      return base::Error(base::Reason::kBadRequest,
                         fmt::format("flag needs an argument: {}", missing));
    }
  }
  if (options.files.empty() && !options.cases && !options.help) {
    return base::Error(base::Reason::kBadRequest, "nothing to read: use -f or --cases");
  }
  return options;
}

base::Result<void> ReadPath(const Io& io, const std::string& path, snapshot::Cluster& cluster) {
  std::error_code error;
  if (path != "-" && std::filesystem::is_directory(path, error)) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path, error)) {
      const std::string extension = entry.path().extension().string();
      if (entry.is_regular_file(error) &&
          (extension == ".yaml" || extension == ".yml" || extension == ".json")) {
        files.push_back(entry.path().string());
      }
    }
    if (error) {
      return base::Error(base::Reason::kNotFound, fmt::format("{}: {}", path, error.message()));
    }
    if (files.empty()) {
      return base::Error(base::Reason::kNotFound,
                         fmt::format("{}: no .yaml, .yml or .json file in this folder", path));
    }
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
      ALLOT_RETURN_IF_ERROR(ReadPath(io, file, cluster));
    }
    return {};
  }
  ALLOT_ASSIGN_OR_RETURN(const std::string text, ReadFile(io, path));
  return cluster.Add(text, path == "-" ? "standard input" : path);
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

// ---- table
// ----------------------------------------------------------------------------------------

std::string DevicesOf(const analysis::SimulatedPod& pod) {
  std::string out;
  for (const analysis::SimulatedClaim& claim : pod.claims) {
    if (claim.allocation == nullptr) {
      continue;
    }
    for (const auto& result : claim.allocation->devices.results) {
      out += fmt::format(
          "{}{}/{}/{}", out.empty() ? "" : ",", result.driver, result.pool, result.device);
    }
  }
  return out.empty() ? "<none>" : out;
}

void PrintDiagnosis(const Io& io, const analysis::SimulatedPod& pod) {
  std::string text = fmt::format("\n{}/{}: {}\n", pod.namespace_, pod.name, pod.diagnosis.message);
  for (const allocator::NodeDiagnosis& group : pod.diagnosis.groups) {
    text += group.nodes == 1
                ? fmt::format("  node {}:\n", group.example_node)
                : fmt::format("  {} nodes like {}:\n", group.nodes, group.example_node);
    for (const allocator::RequestFunnel& funnel : group.funnels) {
      text += fmt::format("    {} request {} (wants {}): {} published",
                          funnel.claim,
                          funnel.request,
                          funnel.wanted,
                          funnel.published);
      for (const allocator::FunnelStage& stage : funnel.stages) {
        text += fmt::format(", {} after {}", stage.left, CauseName(stage.lost_to));
      }
      text += "\n";
    }
    for (const allocator::Cause& cause : group.causes) {
      text += fmt::format("    {}: {}", CauseName(cause.kind), cause.subject);
      if (!cause.example.empty()) {
        text += ": " + cause.example;
      }
      if (!cause.hint.empty()) {
        text += " (" + cause.hint + ")";
      }
      text += "\n";
    }
  }
  if (pod.diagnosis.groups.empty()) {
    for (const allocator::Cause& cause : pod.diagnosis.causes) {
      text += fmt::format("  {}: {}{}\n",
                          CauseName(cause.kind),
                          cause.subject,
                          cause.hint.empty() ? "" : " (" + cause.hint + ")");
    }
  }
  io.out(text);
}

void PrintTable(const Io& io, const analysis::Simulation& simulation) {
  text::TextTable table({"NAMESPACE", "POD", "NODE", "DEVICES"});
  std::size_t placed = 0;
  for (const analysis::SimulatedPod& pod : simulation.pods) {
    placed += pod.placed ? 1 : 0;
    table.AddRow({pod.namespace_,
                  pod.name,
                  pod.placed ? pod.node : "<none>",
                  pod.placed ? DevicesOf(pod) : "<none>"});
  }
  if (!simulation.pods.empty()) {
    io.out(table.ToString());
  }
  for (const analysis::SimulatedPod& pod : simulation.pods) {
    if (!pod.placed) {
      PrintDiagnosis(io, pod);
    }
  }
  io.out(fmt::format("{}{} of {} pending pods placed; {} nodes; {} of {} devices in use\n",
                     simulation.pods.empty() ? "" : "\n",
                     placed,
                     simulation.pods.size(),
                     simulation.nodes,
                     simulation.devices_in_use,
                     simulation.devices));
}

// ---- yaml and json
// --------------------------------------------------------------------------------

Value CauseValue(const allocator::Cause& cause) {
  Value out = Value::Object();
  out.Set("kind", Value(CauseName(cause.kind)));
  out.Set("subject", Value(cause.subject));
  out.Set("count", Value(cause.count));
  if (!cause.example.empty()) {
    out.Set("example", Value(cause.example));
  }
  if (!cause.hint.empty()) {
    out.Set("hint", Value(cause.hint));
  }
  return out;
}

Value CausesValue(const std::vector<allocator::Cause>& causes) {
  Value out = Value::Array();
  for (const allocator::Cause& cause : causes) {
    out.Append(CauseValue(cause));
  }
  return out;
}

Value GroupValue(const allocator::NodeDiagnosis& group) {
  Value out = Value::Object();
  out.Set("nodes", Value(group.nodes));
  out.Set("exampleNode", Value(group.example_node));
  Value reasons = Value::Array();
  for (const std::string& reason : group.reasons) {
    reasons.Append(Value(reason));
  }
  out.Set("reasons", std::move(reasons));
  out.Set("causes", CausesValue(group.causes));
  Value funnels = Value::Array();
  for (const allocator::RequestFunnel& funnel : group.funnels) {
    Value one = Value::Object();
    one.Set("claim", Value(funnel.claim));
    one.Set("request", Value(funnel.request));
    one.Set("wanted", Value(funnel.wanted));
    one.Set("published", Value(funnel.published));
    Value stages = Value::Array();
    for (const allocator::FunnelStage& stage : funnel.stages) {
      Value step = Value::Object();
      step.Set("lostTo", Value(CauseName(stage.lost_to)));
      step.Set("left", Value(stage.left));
      if (!stage.example.empty()) {
        step.Set("example", Value(stage.example));
      }
      stages.Append(std::move(step));
    }
    one.Set("stages", std::move(stages));
    funnels.Append(std::move(one));
  }
  out.Set("requests", std::move(funnels));
  return out;
}

base::Result<Value> PodValue(const analysis::SimulatedPod& pod) {
  Value out = Value::Object();
  out.Set("namespace", Value(pod.namespace_));
  out.Set("name", Value(pod.name));
  out.Set("placed", Value(pod.placed));
  if (pod.placed) {
    out.Set("node", Value(pod.node));
    Value claims = Value::Array();
    for (const analysis::SimulatedClaim& claim : pod.claims) {
      Value one = Value::Object();
      one.Set("name", Value(claim.name));
      if (claim.allocation != nullptr) {
        std::string json;
        schema::EncodeJson(api::Desc<api::resource::AllocationResult>(), claim.allocation, json);
        ALLOT_ASSIGN_OR_RETURN(Value allocation, text::ParseJson(json));
        one.Set("allocation", std::move(allocation));
      }
      claims.Append(std::move(one));
    }
    out.Set("claims", std::move(claims));
    return out;
  }
  out.Set("message", Value(pod.diagnosis.message));
  out.Set("causes", CausesValue(pod.diagnosis.causes));
  Value groups = Value::Array();
  for (const allocator::NodeDiagnosis& group : pod.diagnosis.groups) {
    groups.Append(GroupValue(group));
  }
  out.Set("nodeGroups", std::move(groups));
  return out;
}

base::Result<void> PrintTree(const Io& io, const analysis::Simulation& simulation, bool json) {
  Value root = Value::Object();
  root.Set("apiVersion", Value("allot.dev/v1"));
  root.Set("kind", Value("Simulation"));
  Value pods = Value::Array();
  for (const analysis::SimulatedPod& pod : simulation.pods) {
    ALLOT_ASSIGN_OR_RETURN(Value value, PodValue(pod));
    pods.Append(std::move(value));
  }
  root.Set("pods", std::move(pods));
  root.Set("nodes", Value(static_cast<std::int64_t>(simulation.nodes)));
  root.Set("devices", Value(static_cast<std::int64_t>(simulation.devices)));
  root.Set("devicesInUse", Value(static_cast<std::int64_t>(simulation.devices_in_use)));
  io.out(json ? text::ToJson(root, text::JsonStyle::kIndented) + "\n" : text::ToYaml(root));
  return {};
}

int AnswerCases(const Io& io) {
  int code = kOk;
  std::size_t number = 0;
  for (std::string line; io.read_line(line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      continue;
    }
    auto problem = snapshot::ParseAllocationCase(line);
    if (!problem) {
      // One answer a line, so that tools stay in step.
      snapshot::AllocationAnswer bad;
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
  return code;
}

}  // namespace

int RunSimulate(Arguments arguments, const Io& io) {
  auto options = ParseOptions(arguments);
  if (!options) {
    io.err(fmt::format("error: {}\nSee 'allot simulate --help' for usage.\n",
                       options.error().message()));
    return kUsage;
  }
  if (options->help) {
    io.out(kUsageText);
    return kOk;
  }
  if (options->cases) {
    return AnswerCases(io);
  }
  snapshot::Cluster cluster;
  for (const std::string& file : options->files) {
    if (auto read = ReadPath(io, file, cluster); !read) {
      io.err(fmt::format("error: {}\n", read.error().message()));
      return kFailed;
    }
  }
  if (auto good = CheckInput(cluster, *options); !good) {
    io.err(fmt::format("error: {}\n", good.error().message()));
    return kFailed;
  }
  if (const std::string left_out = LeftOut(cluster); !left_out.empty()) {
    io.err(fmt::format("note: left out: {}; only pods are placed\n", left_out));
  }
  const analysis::Simulation simulation = analysis::Simulate(cluster, options->simulate);
  if (options->output == "table") {
    PrintTable(io, simulation);
  } else if (auto printed = PrintTree(io, simulation, options->output == "json"); !printed) {
    io.err(fmt::format("error: {}\n", printed.error().message()));
    return kFailed;
  }
  const bool all = std::all_of(
      simulation.pods.begin(), simulation.pods.end(), [](const auto& pod) { return pod.placed; });
  return all ? kOk : kNotPlaced;
}

}  // namespace allot::cli
