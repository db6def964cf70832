// allot describe: one object in full as readable text, with its events.
#include <algorithm>
#include <cctype>

#include "cli/connection.h"
#include "cli/discovery.h"
#include "cli/flags.h"
#include "cli/json_path.h"
#include "cli/targets.h"
#include "cli/verbs.h"
#include "text/table.h"

namespace allot::cli {
namespace {

using text::Value;

/// "nodeName" -> "Node Name", as kubectl titles the fields of any kind.
std::string Title(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool upper = std::isupper(static_cast<unsigned char>(c)) != 0;
    const bool starts =
        upper && (std::islower(static_cast<unsigned char>(name[i - (i > 0 ? 1 : 0)])) != 0);
    if (i > 0 && starts) {
      out += ' ';
    }
    out += i == 0 ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
  }
  return out;
}

/// Text of an object with `before` in front of every line. Control characters become ^X, so that
/// nothing in an object can drive the terminal.
std::string Shown(std::string_view text, const std::string& before) {
  if (text.ends_with('\n')) {
    text.remove_suffix(1);
  }
  std::string out = before;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += before;
    } else if (byte < 0x20 && c != '\t') {
      out += '^';
      out += static_cast<char>(byte + '@');
    } else {
      out += c;
    }
  }
  return out;
}

void Print(const Value& object, int depth, std::string& out);

void PrintMember(const std::string& title, const Value& value, int depth, std::string& out) {
  const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
  if (value.is_object() || value.is_array()) {
    const bool empty = value.members().empty() && value.items().empty();
    out += indent + title + (empty ? ":  <none>\n" : ":\n");
    Print(value, depth + 1, out);
    return;
  }
  const std::string text = PlainText(value);
  const bool lines = text.find('\n') != std::string::npos;
  out += indent + title + ":" + Shown(text, lines ? "\n" + indent + "  " : "  ") + "\n";
}

void Print(const Value& value, int depth, std::string& out) {
  const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
  for (const text::Member& member : value.members()) {
    PrintMember(Title(member.key), member.value, depth, out);
  }
  for (const Value& item : value.items()) {
    if (!item.is_object()) {
      out += indent + PlainText(item) + "\n";
      continue;
    }
    // The first member tells elements apart; the others stand one step further in.
    std::string text;
    for (const text::Member& member : item.members()) {
      PrintMember(Title(member.key), member.value, depth + (text.empty() ? 0 : 1), text);
    }
    out += text;
  }
}

std::string KeyValues(const Value* map) {
  std::string out;
  if (map != nullptr) {
    for (const text::Member& member : map->members()) {
      if (member.key != "kubectl.kubernetes.io/last-applied-configuration") {
        out += (out.empty() ? "" : "\n              ") + member.key + "=" + PlainText(member.value);
      }
    }
  }
  return out.empty() ? "<none>" : out;
}

std::string EventsText(const Value& list) {
  std::vector<Value> events =
      list.Find("items") != nullptr ? list.Find("items")->items() : std::vector<Value>();
  if (events.empty()) {
    return "Events:       <none>\n";
  }
  const auto time_of = [](const Value& event) {
    for (const char* const field : {"lastTimestamp", "eventTime", "firstTimestamp"}) {
      if (const std::string_view text = event.StringAt({field}); !text.empty()) {
        return std::string(text);
      }
    }
    return std::string();
  };
  std::stable_sort(events.begin(), events.end(), [&](const Value& a, const Value& b) {
    return time_of(a) < time_of(b);
  });
  text::TextTable table({"Type", "Reason", "Time", "From", "Message"});
  for (const Value& event : events) {
    std::string from(event.StringAt({"reportingComponent"}));
    if (from.empty()) {
      from = event.StringAt({"source", "component"});
    }
    table.AddRow({std::string(event.StringAt({"type"})),
                  std::string(event.StringAt({"reason"})),
                  time_of(event),
                  from,
                  std::string(event.StringAt({"message"}))});
  }
  std::string out = "Events:\n";
  table.Write(out, "  ");
  return out;
}

base::Result<std::string> Describe(Connection& connection,
                                   const Target& target,
                                   const std::string& ns,
                                   const std::string& name) {
  ALLOT_ASSIGN_OR_RETURN(Value object, connection.GetJson(target.resource->Path(ns, name)));
  std::string out;
  out += "Name:         " + name + "\n";
  if (target.resource->namespaced) {
    out += "Namespace:    " + ns + "\n";
  }
  out += "Labels:       " + KeyValues(object.FindPath({"metadata", "labels"})) + "\n";
  out += "Annotations:  " + KeyValues(object.FindPath({"metadata", "annotations"})) + "\n";
  out += "API Version:  " + std::string(object.StringAt({"apiVersion"})) + "\n";
  out += "Kind:         " + std::string(object.StringAt({"kind"})) + "\n";
  const std::string uid(object.StringAt({"metadata", "uid"}));
  Value& metadata = object["metadata"];
  for (const char* const field : {"name", "namespace", "labels", "annotations", "managedFields"}) {
    metadata.Erase(field);
  }
  object.Erase("apiVersion");
  object.Erase("kind");
  Print(object, 0, out);
  const std::string fields =
      "involvedObject.name=" + name + (uid.empty() ? "" : ",involvedObject.uid=" + uid);
  const std::string events_path = !target.resource->namespaced
                                      ? "/api/v1/events"
                                      : "/api/v1/namespaces/" + client::EscapeUrl(ns) + "/events";
  if (const auto events =
          connection.GetJson(events_path + Query({{"fieldSelector", fields}, {"limit", "500"}}));
      events) {
    out += EventsText(*events);
  }
  return out;
}

}  // namespace

int RunDescribe(Arguments arguments, const Io& io) {
  ConnectionFlags connection_flags;
  std::string selector;
  Flags parser("describe TYPE [NAME...] | TYPE/NAME...",
               "Shows objects in full, with their events.");
  parser.Text("-l,--selector", selector, "label selector");
  parser.Namespace(connection_flags);
  parser.Connection(connection_flags);
  std::vector<std::string> rest;
  if (const auto end = parser.Begin(arguments, io, rest)) {
    return *end;
  }
  auto server = Server::Open(io, connection_flags);
  if (!server) {
    io.err(ErrorText(server.error()));
    return kFailed;
  }
  const auto targets = ParseTargets(server->discovery, server->connection, rest);
  if (!targets) {
    return Fail(io, targets.error().message(), kFailed);
  }
  if (const auto checked = CheckSelectors(*targets, selector); !checked) {
    return Fail(io, checked.error().message(), kUsage);
  }
  int code = kOk;
  bool first = true;
  const auto show = [&](const Target& target, const std::string& ns, const std::string& name) {
    const auto text = Describe(server->connection, target, ns, name);
    if (!text) {
      io.err(ErrorText(text.error()));
      code = kFailed;
      return;
    }
    io.out((first ? "" : "\n\n") + *text);
    first = false;
  };
  for (const Target& target : *targets) {
    if (!target.name.empty()) {
      show(target, server->connection.namespace_(), target.name);
      continue;
    }
    const auto list =
        server->connection.GetJson(target.resource->Path(server->connection.namespace_()) +
                                   Query({{"labelSelector", selector}}));
    if (!list) {
      io.err(ErrorText(list.error()));
      code = kFailed;
      continue;
    }
    if (const Value* const items = list->Find("items"); items != nullptr) {
      for (const Value& item : items->items()) {
        show(target,
             std::string(item.StringAt({"metadata", "namespace"})),
             std::string(item.StringAt({"metadata", "name"})));
      }
    }
  }
  return code;
}

}  // namespace allot::cli
