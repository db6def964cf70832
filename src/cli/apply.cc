// allot apply: creates objects from manifests, or changes them to what the manifests say (as
// kubectl apply does).
#include "api/registry.h"
#include "cli/connection.h"
#include "cli/discovery.h"
#include "cli/flags.h"
#include "cli/manifest.h"
#include "cli/merge_three_way.h"
#include "cli/printer.h"
#include "cli/targets.h"
#include "cli/verbs.h"
#include "text/json.h"

namespace allot::cli {
namespace {

using text::Value;

constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr int kMaxTries = 5;
constexpr std::string_view kFieldManager = "allot-client-side-apply";

struct ApplyFlags {
  ConnectionFlags connection;
  std::vector<std::string> files;
  std::string output;
  std::string dry_run = "none";
  std::string validate = "true";
  bool recursive = false;
};

class Applier {
 public:
  Applier(Connection& connection, const Discovery& discovery, const ApplyFlags& flags)
      : connection_(connection), discovery_(discovery), flags_(flags) {}

  /// Returns "pod/x created" or the like without the object's name.
  base::Result<std::string> Apply(Value object) {
    ALLOT_ASSIGN_OR_RETURN(
        resource_, discovery_.FindKind(object.StringAt({"apiVersion"}), object.StringAt({"kind"})));
    Value& metadata = object["metadata"];
    name_ = metadata.StringAt({"name"});
    std::string ns;
    if (resource_->namespaced) {
      ns = metadata.StringAt({"namespace"});
      const std::string& wanted = flags_.connection.namespace_;
      if (!ns.empty() && !wanted.empty() && ns != wanted) {
        return base::Error(base::Reason::kInvalid,
                           "the namespace from the provided object \"" + ns +
                               "\" does not match the namespace \"" + wanted +
                               "\". You must pass '--namespace=" + ns +
                               "' to perform this operation.");
      }
      if (ns.empty()) {
        ns = connection_.namespace_();
        metadata.Set("namespace", Value(ns));
      }
    }
    if (name_.empty()) {
      if (metadata.StringAt({"generateName"}).empty()) {
        return base::Error(base::Reason::kInvalid, "resource name may not be empty");
      }
      return base::Error(base::Reason::kInvalid, "cannot use generate name with apply");
    }
    const std::string path = resource_->Path(ns);
    for (int tries = 1;; ++tries) {
      auto live = connection_.GetJson(resource_->Path(ns, name_));
      if (!live && live.error().reason() != base::Reason::kNotFound) {
        return base::Error(live.error());
      }
      auto done = live ? Change(object, *live, resource_->Path(ns, name_)) : Create(object, path);
      // Somebody else was faster: look again, as often as kubectl does.
      if (done || done.error().reason() != base::Reason::kConflict || tries == kMaxTries) {
        return done;
      }
    }
  }

  [[nodiscard]] std::string FullName() const { return resource_->ShortForm() + "/" + name_; }
  [[nodiscard]] const Value& result() const { return result_; }
  [[nodiscard]] const ApiResource& resource() const { return *resource_; }

 private:
  [[nodiscard]] std::string Parameters() const {
    const std::string& validate = flags_.validate;
    return Query({{"fieldManager", std::string(kFieldManager)},
                  {"fieldValidation",
                   validate == "true" || validate == "strict" ? "Strict"
                   : validate == "warn"                       ? "Warn"
                                                              : "Ignore"},
                  {"dryRun", flags_.dry_run == "server" ? "All" : ""}});
  }

  static void Annotate(Value& object) {
    Value plain = object;
    if (Value* const annotations = plain["metadata"].Find("annotations"); annotations != nullptr) {
      annotations->Erase(kLastApplied);
    } else {
      plain["metadata"].Set("annotations", Value::Object());
    }
    object["metadata"]["annotations"].Set(kLastApplied, Value(text::ToJson(plain) + "\n"));
  }

  base::Result<std::string> Create(Value object, const std::string& path) {
    Annotate(object);
    if (flags_.dry_run == "client") {
      result_ = std::move(object);
      return std::string("created (dry run)");
    }
    ALLOT_ASSIGN_OR_RETURN(result_,
                           connection_.SendJson({.method = "POST",
                                                 .target = path + Parameters(),
                                                 .content_type = "application/json",
                                                 .body = text::ToJson(object)}));
    return std::string(flags_.dry_run == "server" ? "created (server dry run)" : "created");
  }

  base::Result<std::string> Change(Value object, const Value& live, const std::string& path) {
    Annotate(object);
    Value last;
    if (const Value* const annotations = live.FindPath({"metadata", "annotations"});
        annotations != nullptr) {
      if (auto parsed = text::ParseJson(annotations->StringAt({kLastApplied})); parsed) {
        last = *std::move(parsed);
      }
    }
    const api::KindInfo* const kind =
        api::FindKind(resource_->group, resource_->version, resource_->kind);
    Value patch = MergeThreeWay(last, object, live, kind != nullptr ? kind->type : nullptr);
    patch.Erase("status");
    if (patch.members().empty()) {
      result_ = live;
      return std::string("unchanged");
    }
    if (flags_.dry_run == "client") {
      result_ = std::move(object);
      return std::string("configured (dry run)");
    }
    // Merged lists were made from what was read: nobody may have changed it since.
    patch["metadata"].Set("resourceVersion", Value(live.StringAt({"metadata", "resourceVersion"})));
    ALLOT_ASSIGN_OR_RETURN(result_,
                           connection_.SendJson({.method = "PATCH",
                                                 .target = path + Parameters(),
                                                 .content_type = "application/merge-patch+json",
                                                 .body = text::ToJson(patch)}));
    const bool same = result_.StringAt({"metadata", "resourceVersion"}) ==
                      live.StringAt({"metadata", "resourceVersion"});
    return std::string(same                         ? "unchanged"
                       : flags_.dry_run == "server" ? "configured (server dry run)"
                                                    : "configured");
  }

  Connection& connection_;
  const Discovery& discovery_;
  const ApplyFlags& flags_;
  const ApiResource* resource_ = nullptr;
  std::string name_;
  Value result_;
};

/// Applies one manifest and tells what became of it; false when it failed.
bool ApplyOne(Applier& applier, Manifest& manifest, const OutputOptions& output, const Io& io) {
  const auto done = applier.Apply(std::move(manifest.object));
  if (!done) {
    std::string text = ErrorText(done.error());
    io.err(text.substr(0, text.size() - 1) + " (" + manifest.source + ")\n");
    return false;
  }
  if (output.WantsTable()) {
    io.out(applier.FullName() + " " + *done + "\n");
  } else {
    io.out(PrintObjects({applier.result()}, /*as_list=*/false, output, {applier.FullName()}));
  }
  return true;
}

}  // namespace

int RunApply(Arguments arguments, const Io& io) {
  ApplyFlags flags;
  Flags parser(
      "apply -f FILE",
      "Creates the objects of files, folders or standard input (-f -), or changes them to match.");
  parser.Texts(
      "-f,--filename", flags.files, "file, folder, or - for standard input; may be repeated");
  parser.Bool("-R,--recursive", flags.recursive, "also folders below");
  parser.Text("-o,--output", flags.output, "name, json or yaml instead of a line per object");
  parser.OneOf("--dry-run", flags.dry_run, {"none", "client", "server"}, "none, client or server");
  parser.OneOf("--validate",
               flags.validate,
               {"strict", "true", "warn", "ignore", "false"},
               "strict (or true), warn, ignore (or false): unknown fields");
  parser.Namespace(flags.connection);
  parser.Connection(flags.connection);
  std::vector<std::string> rest;
  if (const auto end = parser.Begin(arguments, io, rest)) {
    return *end;
  }
  if (!rest.empty()) {
    return Fail(io, "unexpected argument \"" + rest[0] + "\"; files are given with -f", kUsage);
  }
  if (flags.files.empty()) {
    return Fail(io, "must specify -f", kUsage);
  }
  const auto output = ParseOutput(flags.output);
  if (!output) {
    return Fail(io, output.error().message(), kUsage);
  }
  auto manifests = ReadManifests(io, flags.files, flags.recursive);
  if (!manifests) {
    return Fail(io, manifests.error().message(), kFailed);
  }
  int code = kOk;
  for (const std::string& problem : manifests->problems) {
    code = Fail(io, problem, kFailed);
  }
  if (manifests->objects.empty()) {
    return code == kOk ? Fail(io, "no objects passed to apply", kUsage) : code;
  }
  auto server = Server::Open(io, flags.connection);
  if (!server) {
    io.err(ErrorText(server.error()));
    return kFailed;
  }
  Applier applier(server->connection, server->discovery, flags);
  for (Manifest& manifest : manifests->objects) {
    if (!ApplyOne(applier, manifest, *output, io)) {
      code = kFailed;
    }
  }
  return code;
}

}  // namespace allot::cli
