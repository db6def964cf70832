// allot wait: waits until objects have a condition, a field value, exist, or are gone.
#include <algorithm>
#include <cctype>
#include <optional>

#include "cli/connection.h"
#include "cli/discovery.h"
#include "cli/flags.h"
#include "cli/json_path.h"
#include "cli/targets.h"
#include "cli/verbs.h"
#include "cli/watch_until.h"

namespace allot::cli {
namespace {

using text::Value;

struct Condition {
  enum class Kind : std::uint8_t { kCondition, kJsonPath, kDelete, kCreate };
  Kind kind = Kind::kCondition;
  std::string type;
  std::string value = "True";
  bool any_value = false;
  std::optional<JsonPath> path;

  /// Whether the object (null = it does not exist) is as wanted.
  [[nodiscard]] bool Holds(const Value* object) const {
    if (kind == Kind::kDelete || kind == Kind::kCreate) {
      return (object == nullptr) == (kind == Kind::kDelete);
    }
    if (object == nullptr) {
      return false;
    }
    if (kind == Kind::kJsonPath) {
      const auto found = path->Select(*object);
      return std::any_of(found.begin(), found.end(), [this](const Value* item) {
        return any_value || PlainText(*item) == value;
      });
    }
    const Value* const conditions = object->FindPath({"status", "conditions"});
    return conditions != nullptr &&
           std::any_of(
               conditions->items().begin(), conditions->items().end(), [this](const Value& c) {
                 return Same(c.StringAt({"type"}), type) && Same(c.StringAt({"status"}), value);
               });
  }

  static bool Same(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
      return std::tolower(x) == std::tolower(y);
    });
  }
};

base::Result<Condition> ParseCondition(std::string_view text) {
  Condition condition;
  if (text == "delete" || text == "create") {
    condition.kind = text == "delete" ? Condition::Kind::kDelete : Condition::Kind::kCreate;
    return condition;
  }
  if (text.starts_with("condition=")) {
    text.remove_prefix(10);
    const std::size_t equals = text.find('=');
    condition.type = text.substr(0, equals);
    if (equals != std::string_view::npos) {
      condition.value = text.substr(equals + 1);
    }
    return condition;
  }
  if (text.starts_with("jsonpath=")) {
    text.remove_prefix(9);
    condition.kind = Condition::Kind::kJsonPath;
    const std::size_t close = text.rfind('}');
    const std::size_t equals = text.find('=', close == std::string_view::npos ? 0 : close);
    condition.any_value = equals == std::string_view::npos;
    if (!condition.any_value) {
      condition.value = text.substr(equals + 1);
    }
    std::string path(text.substr(0, equals));
    std::erase(path, '\'');
    ALLOT_ASSIGN_OR_RETURN(condition.path, JsonPath::ParseRelaxed(path));
    return condition;
  }
  return base::Error(
      base::Reason::kInvalid,
      "--for: found \"" + std::string(text) +
          "\", expected delete, create, condition=TYPE[=STATUS] or jsonpath='{...}'[=VALUE]");
}

struct WaitFlags {
  ConnectionFlags connection;
  std::string condition;
  std::string selector;
  std::string field_selector;
  std::string timeout = "30s";
  bool all = false;
};

/// Names of the objects that arguments and selectors mean.
base::Result<std::vector<std::pair<std::string, std::string>>> NamesOf(Connection& connection,
                                                                       const Target& target,
                                                                       const WaitFlags& flags) {
  std::vector<std::pair<std::string, std::string>> names;
  if (!target.name.empty()) {
    names.emplace_back(connection.namespace_(), target.name);
    return names;
  }
  if (!flags.all && flags.selector.empty() && flags.field_selector.empty()) {
    return base::Error(base::Reason::kInvalid,
                       "resource(s) were provided, but no name was specified; name objects, or use "
                       "--all or a selector");
  }
  ALLOT_ASSIGN_OR_RETURN(const Value list,
                         connection.GetJson(target.resource->Path(connection.namespace_()) +
                                            Query({{"labelSelector", flags.selector},
                                                   {"fieldSelector", flags.field_selector}})));
  if (const Value* const items = list.Find("items"); items != nullptr) {
    for (const Value& item : items->items()) {
      names.emplace_back(item.StringAt({"metadata", "namespace"}),
                         item.StringAt({"metadata", "name"}));
    }
  }
  return names;
}

int Wait(const Io& io,
         Connection& connection,
         const std::vector<Target>& targets,
         const Condition& condition,
         const WaitFlags& flags) {
  const auto timeout = ParseTimeout(flags.timeout);
  const base::MonoTime start = io.clock->Monotonic();
  int code = kOk;
  bool any = false;
  for (const Target& target : targets) {
    const auto names = NamesOf(connection, target, flags);
    if (!names) {
      io.err(ErrorText(names.error()));
      return kFailed;
    }
    for (const auto& [ns, name] : *names) {
      any = true;
      // One allowance for all objects; the last ones are still looked at once.
      const auto left = std::max<std::chrono::nanoseconds>(
          *timeout - (io.clock->Monotonic() - start), std::chrono::milliseconds(1));
      bool existed =
          condition.kind == Condition::Kind::kDelete || condition.kind == Condition::Kind::kCreate;
      bool missing = false;
      const auto done = WatchUntil(connection,
                                   *target.resource,
                                   ns,
                                   name,
                                   timeout->count() == 0 ? *timeout : left,
                                   [&](const Value* object) {
                                     missing = object == nullptr && !existed;
                                     existed = true;
                                     return missing || condition.Holds(object);
                                   });
      if (missing) {
        io.err("Error from server (NotFound): " + target.resource->FullName() + " \"" + name +
               "\" not found\n");
        code = kFailed;
      } else if (!done) {
        io.err(done.error().reason() == base::Reason::kTimeout
                   ? "error: " + done.error().message() + "\n"
                   : ErrorText(done.error()));
        code = kFailed;
      } else {
        io.out(target.resource->ShortForm() + "/" + name + " condition met\n");
      }
    }
  }
  if (!any) {
    io.err("error: no matching resources found\n");
    return kFailed;
  }
  return code;
}

}  // namespace

int RunWait(Arguments arguments, const Io& io) {
  WaitFlags flags;
  Flags parser("wait TYPE NAME... | TYPE/NAME... --for=CONDITION",
               "Waits until objects are as wanted.");
  parser.Text("--for",
              flags.condition,
              "delete, create, condition=TYPE[=STATUS], jsonpath='{...}'[=VALUE]");
  parser.Text("-l,--selector", flags.selector, "label selector");
  parser.Text("--field-selector", flags.field_selector, "field selector");
  parser.Bool("--all", flags.all, "all objects of the type");
  parser.Text("--timeout", flags.timeout, "how long to wait (0 = look once, negative = a week)");
  parser.Namespace(flags.connection);
  parser.Connection(flags.connection);
  std::vector<std::string> rest;
  if (const auto end = parser.Begin(arguments, io, rest)) {
    return *end;
  }
  const auto condition = ParseCondition(flags.condition);
  if (!condition) {
    return Fail(io, condition.error().message(), kUsage);
  }
  if (const auto timeout = ParseTimeout(flags.timeout); !timeout) {
    return Fail(io, timeout.error().message(), kUsage);
  } else if (timeout->count() == 0) {
    flags.timeout = "1ms";
  }
  auto server = Server::Open(io, flags.connection);
  if (!server) {
    io.err(ErrorText(server.error()));
    return kFailed;
  }
  const auto targets = ParseTargets(server->discovery, server->connection, rest);
  if (!targets) {
    return Fail(io, targets.error().message(), kUsage);
  }
  return Wait(io, server->connection, *targets, *condition, flags);
}

}  // namespace allot::cli
