// allot get: any resource in every output form, with watch; and the made-up resources devices and
// pools.
#include <algorithm>
#include <functional>
#include <optional>

#include "cli/connection.h"
#include "cli/device_tables.h"
#include "cli/discovery.h"
#include "cli/flags.h"
#include "cli/printer.h"
#include "cli/targets.h"
#include "cli/verbs.h"
#include "text/json.h"

namespace allot::cli {
namespace {

using text::Value;

constexpr std::string_view kTableAccept =
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

struct GetFlags {
  ConnectionFlags connection;
  std::string output;
  std::string selector;
  std::string field_selector;
  std::string sort_by;
  std::vector<std::string> label_columns;
  bool watch = false;
  bool watch_only = false;
  bool no_headers = false;
  bool show_labels = false;
  bool show_kind = false;
  bool show_managed_fields = false;
  bool ignore_not_found = false;
  int chunk_size = 500;
};

void Declare(Flags& flags, GetFlags& out) {
  flags.Text(
      "-o,--output", out.output, "table, wide, json, yaml, name, jsonpath=..., custom-columns=...");
  flags.Text("-l,--selector", out.selector, "label selector");
  flags.Text("--field-selector", out.field_selector, "field selector");
  flags.Text("--sort-by", out.sort_by, "JSONPath of the field to sort by");
  flags.Texts("-L,--label-columns", out.label_columns, "labels to show as columns");
  flags.Bool("-w,--watch", out.watch, "keep watching after the list");
  flags.Bool("--watch-only", out.watch_only, "watch without the list");
  flags.Bool("--no-headers", out.no_headers, "no header line");
  flags.Bool("--show-labels", out.show_labels, "labels as the last column");
  flags.Bool("--show-kind", out.show_kind, "kind in front of names");
  flags.Bool(
      "--show-managed-fields", out.show_managed_fields, "keep managedFields in json and yaml");
  flags.Bool("--ignore-not-found", out.ignore_not_found, "a missing object is no error");
  flags.Int("--chunk-size", out.chunk_size, "objects a request (0 = all at once)");
  flags.Namespace(out.connection);
  flags.Connection(out.connection);
}

class Getter {
 public:
  Getter(const Io& io, Connection& connection, const GetFlags& flags, OutputOptions output)
      : io_(io), connection_(connection), flags_(flags), output_(std::move(output)) {}

  int Run(const std::vector<Target>& targets) {
    if (flags_.watch || flags_.watch_only) {
      return Watch(targets);
    }
    return output_.WantsTable() ? Tables(targets) : Objects(targets);
  }

 private:
  /// The list or object of a target. Calls `take` once a chunk.
  base::Result<void> Fetch(const Target& target,
                           std::string_view accept,
                           const std::function<void(Value)>& take) {
    std::string next;
    do {
      const std::string query =
          target.name.empty()
              ? Query({{"labelSelector", flags_.selector},
                       {"fieldSelector", flags_.field_selector},
                       {"limit", flags_.chunk_size > 0 ? std::to_string(flags_.chunk_size) : ""},
                       {"continue", next}})
              : "";
      ALLOT_ASSIGN_OR_RETURN(
          Value answer,
          connection_.GetJson(target.resource->Path(connection_.namespace_(), target.name) + query,
                              accept));
      next = answer.StringAt({"metadata", "continue"});
      take(std::move(answer));
    } while (!next.empty() && target.name.empty());
    return {};
  }

  bool Failed(const base::Status& status) {
    if (flags_.ignore_not_found && status.reason() == base::Reason::kNotFound) {
      return false;
    }
    io_.err(ErrorText(status));
    return true;
  }

  int Tables(const std::vector<Target>& targets) {
    int code = kOk;
    bool printed = false;
    for (std::size_t i = 0; i < targets.size();) {
      std::size_t end = i + 1;  // names of one type share a table
      while (end < targets.size() && targets[end].resource == targets[i].resource &&
             !targets[end].name.empty()) {
        ++end;
      }
      Value table;
      for (; i < end; ++i) {
        const auto fetched = Fetch(
            targets[i], kTableAccept, [&table](Value piece) { Merge(table, std::move(piece)); });
        if (!fetched && Failed(fetched.error())) {
          code = kFailed;
        }
      }
      const Value* const rows = table.Find("rows");
      if (rows == nullptr || rows->items().empty()) {
        continue;
      }
      Sort(*table.Find("rows"), "object");
      OutputOptions options = OptionsFor(*targets[end - 1].resource);
      options.show_kind |= MixedTypes(targets);
      io_.out((printed ? "\n" : "") +
              PrintTable(table, *targets[end - 1].resource, options, /*header=*/true));
      printed = true;
    }
    if (!printed && code == kOk && !flags_.ignore_not_found) {
      io_.err(connection_.all_namespaces() || !targets[0].resource->namespaced
                  ? "No resources found\n"
                  : "No resources found in " + connection_.namespace_() + " namespace.\n");
    }
    return code;
  }

  static bool MixedTypes(const std::vector<Target>& targets) {
    for (const Target& target : targets) {
      if (target.resource != targets[0].resource) {
        return true;
      }
    }
    return false;
  }

  static void Merge(Value& table, Value piece) {
    if (table.is_null()) {
      table = std::move(piece);
      return;
    }
    if (Value* const more = piece.Find("rows"); more != nullptr) {
      for (Value& row : more->MutableItems()) {
        table["rows"].Append(std::move(row));
      }
    }
  }

  OutputOptions OptionsFor(const ApiResource& resource) const {
    OutputOptions options = output_;
    options.show_namespace = connection_.all_namespaces() && resource.namespaced;
    return options;
  }

  void Sort(Value& list, std::string_view field) const {
    if (flags_.sort_by.empty()) {
      return;
    }
    const auto path = JsonPath::ParseRelaxed(flags_.sort_by);
    if (!path) {
      return;
    }
    const auto key = [&](const Value& item) {
      const Value* const object = field.empty() ? &item : item.Find(field);
      const auto found = object != nullptr ? path->Select(*object) : std::vector<const Value*>();
      return found.empty() ? Value() : *found[0];
    };
    auto& items = list.MutableItems();
    std::stable_sort(items.begin(), items.end(), [&](const Value& a, const Value& b) {
      const Value x = key(a);
      const Value y = key(b);
      return x.is_number() && y.is_number() ? x.AsDouble() < y.AsDouble()
                                            : PlainText(x) < PlainText(y);
    });
  }

  int Objects(const std::vector<Target>& targets) {
    int code = kOk;
    std::vector<Value> objects;
    std::vector<std::string> names;
    bool as_list = targets.size() > 1;
    for (const Target& target : targets) {
      as_list |= target.name.empty();
      const auto fetched = Fetch(target, "application/json", [&](Value answer) {
        if (!target.name.empty()) {
          objects.push_back(std::move(answer));
        } else if (Value* const items = answer.Find("items"); items != nullptr) {
          for (Value& item : items->MutableItems()) {
            item.Set("apiVersion", Value(target.resource->ApiVersion()));
            item.Set("kind", Value(target.resource->kind));
            objects.push_back(std::move(item));
          }
        }
      });
      if (!fetched && Failed(fetched.error())) {
        code = kFailed;
      }
      while (names.size() < objects.size()) {
        names.push_back(target.resource->ShortForm() + "/" +
                        std::string(objects[names.size()].StringAt({"metadata", "name"})));
      }
    }
    if (objects.empty() && !as_list) {
      return code;
    }
    if (!flags_.sort_by.empty() && output_.form != OutputForm::kName) {
      Value list = Value::Array(std::move(objects));
      Sort(list, "");
      objects = std::move(list.MutableItems());
    }
    io_.out(PrintObjects(std::move(objects), as_list, output_, names));
    return code;
  }

  int Watch(const std::vector<Target>& targets) {
    if (targets.size() != 1) {
      io_.err("error: you may only specify a single resource type to watch\n");
      return kUsage;
    }
    const Target& target = targets[0];
    const bool table = output_.WantsTable();
    const std::string_view accept = table ? kTableAccept : std::string_view("application/json");
    const std::string by_name = target.name.empty() ? "" : "metadata.name=" + target.name;
    const std::string fields = flags_.field_selector +
                               (flags_.field_selector.empty() || by_name.empty() ? "" : ",") +
                               by_name;
    std::string revision;
    bool header = true;
    const auto listed = connection_.GetJson(
        target.resource->Path(connection_.namespace_()) +
            Query({{"labelSelector", flags_.selector}, {"fieldSelector", fields}}),
        accept);
    if (!listed) {
      io_.err(ErrorText(listed.error()));
      return kFailed;
    }
    revision = listed->StringAt({"metadata", "resourceVersion"});
    if (!flags_.watch_only) {
      header = PrintListed(*listed, target, table);
    }
    return Follow(target, accept, fields, revision, table, header);
  }

  /// Prints the list before a watch; returns whether the header is still to be printed.
  bool PrintListed(const Value& listed, const Target& target, bool table) {
    if (table) {
      const Value* const rows = listed.Find("rows");
      if (rows == nullptr || rows->items().empty()) {
        return true;
      }
      io_.out(PrintTable(listed, *target.resource, OptionsFor(*target.resource), /*header=*/true));
      return false;
    }
    if (const Value* const items = listed.Find("items"); items != nullptr) {
      for (const Value& item : items->items()) {
        PrintOne(item, target);
      }
    }
    return false;
  }

  void PrintOne(Value item, const Target& target) {
    item.Set("apiVersion", Value(target.resource->ApiVersion()));
    item.Set("kind", Value(target.resource->kind));
    const std::string name =
        target.resource->ShortForm() + "/" + std::string(item.StringAt({"metadata", "name"}));
    std::string text = PrintObjects({std::move(item)}, /*as_list=*/false, output_, {name});
    io_.out((output_.form == OutputForm::kYaml ? "---\n" : "") + text);
  }

  int Follow(const Target& target,
             std::string_view accept,
             const std::string& fields,
             const std::string& revision,
             bool table,
             bool header) {
    client::RestRequest request;
    request.target =
        target.resource->Path(connection_.namespace_()) + Query({{"watch", "true"},
                                                                 {"resourceVersion", revision},
                                                                 {"labelSelector", flags_.selector},
                                                                 {"fieldSelector", fields}});
    request.accept = accept;
    std::optional<base::Status> failure;
    const auto streamed = connection_.rest().Stream(
        request,
        [&](std::string_view line) {
          auto event = text::ParseJson(line);
          if (!event) {
            return true;
          }
          Value* const object = event->Find("object");
          if (object == nullptr || event->StringAt({"type"}) == "BOOKMARK") {
            return true;
          }
          if (event->StringAt({"type"}) == "ERROR") {
            failure = client::StatusFromBody(500, text::ToJson(*object));
            return false;
          }
          if (table) {
            io_.out(PrintTable(*object, *target.resource, OptionsFor(*target.resource), header));
            header = false;
          } else {
            PrintOne(std::move(*object), target);
          }
          return true;
        },
        std::stop_token());
    if (!streamed) {
      failure = streamed.error();
    }
    if (failure) {
      io_.err(ErrorText(*failure));
      return kFailed;
    }
    return kOk;
  }

  const Io& io_;
  Connection& connection_;
  const GetFlags& flags_;
  OutputOptions output_;
};

}  // namespace

int RunGet(Arguments arguments, const Io& io) {
  GetFlags flags;
  Flags parser("get TYPE[,TYPE...] [NAME...] | TYPE/NAME...",
               "Shows objects: any resource of the server, and `devices` and `pools` made from "
               "slices and claims.");
  Declare(parser, flags);
  const auto fail = [&io](const base::Status& status, int code) {
    io.err(ErrorText(status));
    return code;
  };
  std::vector<std::string> names;
  if (const auto end = parser.Begin(arguments, io, names)) {
    return *end;
  }
  auto output = ParseOutput(flags.output);
  if (!output) {
    return Fail(io, output.error().message(), kUsage);
  }
  if (const auto path = JsonPath::ParseRelaxed(flags.sort_by); !flags.sort_by.empty() && !path) {
    return Fail(io, "--sort-by: " + path.error().message(), kUsage);
  }
  output->no_headers = flags.no_headers;
  output->show_labels = flags.show_labels;
  output->show_kind = flags.show_kind;
  output->show_managed_fields = flags.show_managed_fields;
  output->label_columns = flags.label_columns;
  auto connection = Connection::Open(io, flags.connection);
  if (!connection) {
    return fail(connection.error(), kFailed);
  }
  if (!names.empty() && IsDeviceTable(names[0])) {
    if (!flags.selector.empty() || !flags.field_selector.empty() || flags.watch ||
        flags.watch_only) {
      return Fail(
          io,
          "" + names[0] +
              " are made from slices and claims: selectors and watches do not apply to them",
          kUsage);
    }
    const auto text = DeviceTable(*connection, names, *output);
    if (!text) {
      return fail(text.error(), kFailed);
    }
    io.out(*text);
    return kOk;
  }
  const auto discovery = Discovery::Load(*connection);
  if (!discovery) {
    return fail(discovery.error(), kFailed);
  }
  const auto targets = ParseTargets(*discovery, *connection, names);
  if (!targets) {
    return Fail(io, targets.error().message(), kFailed);
  }
  if (const auto checked = CheckSelectors(*targets, flags.selector, flags.field_selector);
      !checked) {
    return Fail(io, checked.error().message(), kUsage);
  }
  return Getter(io, *connection, flags, *std::move(output)).Run(*targets);
}

}  // namespace allot::cli
