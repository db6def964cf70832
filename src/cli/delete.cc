// allot delete: deletes objects by name, selector or manifest, and waits until they are gone.

#include "cli/connection.h"
#include "cli/discovery.h"
#include "cli/flags.h"
#include "cli/manifest.h"
#include "cli/targets.h"
#include "cli/verbs.h"
#include "cli/watch_until.h"
#include "text/json.h"

namespace allot::cli {
namespace {

using text::Value;

struct DeleteFlags {
  ConnectionFlags connection;
  std::vector<std::string> files;
  std::string selector;
  std::string field_selector;
  std::string cascade = "background";
  std::string output;
  std::string timeout = "0s";
  bool all = false;
  bool force = false;
  bool now = false;
  bool wait = true;
  bool ignore_not_found = false;
  bool recursive = false;
  int grace_period = -1;
};

struct Doomed {
  const ApiResource* resource = nullptr;
  std::string ns;
  std::string name;
  std::string uid;
};

class Deleter {
 public:
  Deleter(const Io& io,
          Connection& connection,
          const Discovery& discovery,
          const DeleteFlags& flags)
      : io_(io), connection_(connection), discovery_(discovery), flags_(flags) {}

  base::Result<std::vector<Doomed>> FromFiles() {
    std::vector<Doomed> doomed;
    ALLOT_ASSIGN_OR_RETURN(const ManifestSet set,
                           ReadManifests(io_, flags_.files, flags_.recursive));
    for (const std::string& problem : set.problems) {
      io_.err("error: " + problem + "\n");
      failed_ = true;
    }
    for (const Manifest& manifest : set.objects) {
      const Value& object = manifest.object;
      ALLOT_ASSIGN_OR_RETURN(
          const ApiResource* const resource,
          discovery_.FindKind(object.StringAt({"apiVersion"}), object.StringAt({"kind"})));
      std::string ns(object.StringAt({"metadata", "namespace"}));
      doomed.push_back({resource,
                        ns.empty() ? connection_.namespace_() : ns,
                        std::string(object.StringAt({"metadata", "name"})),
                        ""});
    }
    return doomed;
  }

  base::Result<std::vector<Doomed>> FromArguments(const std::vector<std::string>& arguments) {
    std::vector<Doomed> doomed;
    ALLOT_ASSIGN_OR_RETURN(const std::vector<Target> targets,
                           ParseTargets(discovery_, connection_, arguments));
    ALLOT_RETURN_IF_ERROR(CheckSelectors(targets, flags_.selector, flags_.field_selector));
    for (const Target& target : targets) {
      if (!target.name.empty()) {
        doomed.push_back({target.resource, connection_.namespace_(), target.name, ""});
        continue;
      }
      if (!flags_.all && flags_.selector.empty() && flags_.field_selector.empty()) {
        return base::Error(base::Reason::kInvalid,
                           "resource(s) were provided, but no name was specified; name objects, or "
                           "use --all or a selector");
      }
      ALLOT_ASSIGN_OR_RETURN(
          const Value list,
          connection_.GetJson(target.resource->Path(connection_.namespace_()) +
                              Query({{"labelSelector", flags_.selector},
                                     {"fieldSelector", flags_.field_selector}})));
      if (const Value* const items = list.Find("items"); items != nullptr) {
        for (const Value& item : items->items()) {
          doomed.push_back({target.resource,
                            std::string(item.StringAt({"metadata", "namespace"})),
                            std::string(item.StringAt({"metadata", "name"})),
                            std::string(item.StringAt({"metadata", "uid"}))});
        }
      }
    }
    return doomed;
  }

  int Delete(std::vector<Doomed> doomed) {
    if (doomed.empty() && !failed_) {
      io_.out("No resources found\n");
    }
    std::vector<Doomed> pending;
    for (Doomed& item : doomed) {
      const auto answer = connection_.SendJson({.method = "DELETE",
                                                .target = item.resource->Path(item.ns, item.name),
                                                .content_type = "application/json",
                                                .body = text::ToJson(Options())});
      if (!answer) {
        if (!(flags_.ignore_not_found && answer.error().reason() == base::Reason::kNotFound)) {
          io_.err(ErrorText(answer.error()));
          failed_ = true;
        }
        continue;
      }
      io_.out(flags_.output == "name"
                  ? item.resource->ShortForm() + "/" + item.name + "\n"
                  : item.resource->ShortForm() + " \"" + item.name + "\" " +
                        (flags_.grace_period == 0 ? "force deleted" : "deleted") +
                        (item.resource->namespaced ? " from " + item.ns + " namespace" : "") +
                        "\n");
      if (answer->StringAt({"kind"}) != "Status") {
        item.uid = answer->StringAt({"metadata", "uid"});
        pending.push_back(std::move(item));
      }
    }
    if (flags_.wait) {
      WaitFor(pending);
    }
    return failed_ ? kFailed : kOk;
  }

 private:
  [[nodiscard]] Value Options() const {
    Value options = Value::Object();
    options.Set("apiVersion", Value("v1"));
    options.Set("kind", Value("DeleteOptions"));
    options.Set("propagationPolicy",
                Value(flags_.cascade == "foreground" ? "Foreground"
                      : flags_.cascade == "orphan"   ? "Orphan"
                                                     : "Background"));
    if (flags_.grace_period >= 0) {
      options.Set("gracePeriodSeconds", Value(flags_.grace_period));
    }
    return options;
  }

  void WaitFor(const std::vector<Doomed>& pending) {
    const auto timeout = ParseTimeout(flags_.timeout);
    for (const Doomed& item : pending) {
      const auto gone = WatchUntil(connection_,
                                   *item.resource,
                                   item.ns,
                                   item.name,
                                   timeout.value_or(std::chrono::seconds(0)),
                                   [&item](const Value* object) {
                                     return object == nullptr ||
                                            object->StringAt({"metadata", "uid"}) != item.uid;
                                   });
      if (!gone) {
        io_.err(ErrorText(gone.error()));
        failed_ = true;
      }
    }
  }

  const Io& io_;
  Connection& connection_;
  const Discovery& discovery_;
  const DeleteFlags& flags_;
  bool failed_ = false;
};

}  // namespace

int RunDelete(Arguments arguments, const Io& io) {
  DeleteFlags flags;
  Flags parser("delete TYPE NAME... | TYPE/NAME... | -f FILE",
               "Deletes objects and waits until they are gone.");
  parser.Texts("-f,--filename", flags.files, "file, folder, or - for standard input");
  parser.Bool("-R,--recursive", flags.recursive, "also folders below");
  parser.Text("-l,--selector", flags.selector, "label selector");
  parser.Text("--field-selector", flags.field_selector, "field selector");
  parser.Bool("--all", flags.all, "all objects of the type");
  parser.OneOf("--cascade",
               flags.cascade,
               {"background", "foreground", "orphan"},
               "background, foreground or orphan: what happens to dependents");
  parser.Int("--grace-period", flags.grace_period, "seconds a pod gets to stop (-1 = its own)");
  parser.Bool("--now", flags.now, "the same as --grace-period=1");
  parser.Bool("--force", flags.force, "with --grace-period=0: do not wait for the node");
  parser.Bool("--wait", flags.wait, "wait until the objects are gone (default true)");
  parser.Text("--timeout", flags.timeout, "how long to wait (0s = without limit)");
  parser.Bool("--ignore-not-found", flags.ignore_not_found, "a missing object is no error");
  parser.OneOf("-o,--output", flags.output, {"name"}, "name: print names only");
  parser.Namespace(flags.connection);
  parser.Connection(flags.connection);
  std::vector<std::string> rest;
  if (const auto end = parser.Begin(arguments, io, rest)) {
    return *end;
  }
  if (rest.empty() == flags.files.empty()) {
    return Fail(io, "name objects either as arguments or with -f", kUsage);
  }
  if (const auto timeout = ParseTimeout(flags.timeout); !timeout) {
    return Fail(io, timeout.error().message(), kUsage);
  }
  if (flags.now) {
    flags.grace_period = 1;
  }
  if (flags.force && flags.grace_period < 0) {
    flags.grace_period = 0;
  }
  auto server = Server::Open(io, flags.connection);
  if (!server) {
    io.err(ErrorText(server.error()));
    return kFailed;
  }
  Deleter deleter(io, server->connection, server->discovery, flags);
  auto doomed = flags.files.empty() ? deleter.FromArguments(rest) : deleter.FromFiles();
  if (!doomed) {
    return Fail(io, doomed.error().message(), kFailed);
  }
  return deleter.Delete(*std::move(doomed));
}

}  // namespace allot::cli
