#include "cli/device_tables.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "text/table.h"

namespace allot::cli {
namespace {

using text::Value;

using PoolKey = std::pair<std::string, std::string>;                  // driver, pool
using DeviceKey = std::tuple<std::string, std::string, std::string>;  // driver, pool, device

struct Use {
  std::vector<std::string> claims;  // "namespace/name"
  std::vector<std::string> pods;
  bool shared = false;
};

struct Pool {
  std::int64_t generation = -1;
  std::int64_t expected = 0;
  std::vector<const Value*> slices;  // of the newest generation
  std::size_t obsolete = 0;
};

std::int64_t IntAt(const Value& value, std::initializer_list<std::string_view> path) {
  const Value* const found = value.FindPath(path);
  return found != nullptr ? found->AsInt() : 0;
}

std::map<PoolKey, Pool> PoolsOf(const Value& slices) {
  std::map<PoolKey, Pool> pools;
  for (const Value& slice : slices.items()) {
    Pool& pool = pools[{std::string(slice.StringAt({"spec", "driver"})),
                        std::string(slice.StringAt({"spec", "pool", "name"}))}];
    const std::int64_t generation = IntAt(slice, {"spec", "pool", "generation"});
    if (generation > pool.generation) {
      pool.obsolete += pool.slices.size();
      pool.slices.clear();
      pool.generation = generation;
      pool.expected = IntAt(slice, {"spec", "pool", "resourceSliceCount"});
    }
    if (generation == pool.generation) {
      pool.slices.push_back(&slice);
    } else {
      ++pool.obsolete;
    }
  }
  return pools;
}

std::map<DeviceKey, Use> UsesOf(const Value& claims) {
  std::map<DeviceKey, Use> uses;
  for (const Value& claim : claims.items()) {
    const Value* const results = claim.FindPath({"status", "allocation", "devices", "results"});
    if (results == nullptr) {
      continue;
    }
    const std::string ns(claim.StringAt({"metadata", "namespace"}));
    for (const Value& result : results->items()) {
      if (const Value* const admin = result.Find("adminAccess");
          admin != nullptr && admin->AsBool()) {
        continue;  // looks on, takes nothing
      }
      Use& use = uses[{std::string(result.StringAt({"driver"})),
                       std::string(result.StringAt({"pool"})),
                       std::string(result.StringAt({"device"}))}];
      use.claims.push_back(ns + "/" + std::string(claim.StringAt({"metadata", "name"})));
      use.shared |= result.Find("shareID") != nullptr;
      if (const Value* const reserved = claim.FindPath({"status", "reservedFor"});
          reserved != nullptr) {
        for (const Value& consumer : reserved->items()) {
          use.pods.push_back(ns + "/" + std::string(consumer.StringAt({"name"})));
        }
      }
    }
  }
  return uses;
}

std::string NodeOf(const Value& spec, const Value& device) {
  for (const Value* const at : {&device, &spec}) {
    if (const std::string_view node = at->StringAt({"nodeName"}); !node.empty()) {
      return std::string(node);
    }
    if (const Value* const all = at->Find("allNodes"); all != nullptr && all->AsBool()) {
      return "<all>";
    }
    if (at->Find("nodeSelector") != nullptr) {
      return "<selector>";
    }
  }
  return "<none>";
}

Value Texts(const std::vector<std::string>& texts) {
  Value list = Value::Array();
  for (const std::string& text : texts) {
    list.Append(Value(text));
  }
  return list;
}

Value DeviceRecord(const Value& slice, const Value& device, const std::map<DeviceKey, Use>& uses) {
  const Value* const spec = slice.Find("spec");
  Value record = Value::Object();
  record.Set("node", Value(NodeOf(*spec, device)));
  record.Set("driver", Value(spec->StringAt({"driver"})));
  record.Set("pool", Value(spec->StringAt({"pool", "name"})));
  record.Set("device", Value(device.StringAt({"name"})));
  const auto use = uses.find({std::string(spec->StringAt({"driver"})),
                              std::string(spec->StringAt({"pool", "name"})),
                              std::string(device.StringAt({"name"}))});
  const bool tainted = device.Find("taints") != nullptr && !device.Find("taints")->items().empty();
  std::string state = use == uses.end() ? "Free" : use->second.shared ? "Shared" : "Allocated";
  if (tainted) {
    state += ",Tainted";
  }
  record.Set("state", Value(state));
  record.Set("claims", Texts(use == uses.end() ? std::vector<std::string>() : use->second.claims));
  record.Set("pods", Texts(use == uses.end() ? std::vector<std::string>() : use->second.pods));
  for (const char* const field : {"attributes", "capacity", "taints"}) {
    if (const Value* const found = device.Find(field); found != nullptr) {
      record.Set(field, *found);
    }
  }
  return record;
}

std::string Joined(const Value* list) {
  std::string text;
  if (list != nullptr) {
    for (const Value& item : list->items()) {
      text += (text.empty() ? "" : ",") + std::string(item.AsString());
    }
  }
  return text.empty() ? "<none>" : text;
}

/// The most telling attribute of a device: what it is called.
std::string ModelOf(const Value& record) {
  const Value* const attributes = record.Find("attributes");
  for (const std::string_view name : {"productName", "model", "profile", "family", "type"}) {
    if (attributes != nullptr) {
      for (const text::Member& member : attributes->members()) {
        const std::string_view key = std::string_view(member.key).substr(member.key.find('/') + 1);
        if (key == name && !member.value.StringAt({"string"}).empty()) {
          return std::string(member.value.StringAt({"string"}));
        }
      }
    }
  }
  return "<none>";
}

std::string CapacityOf(const Value& record) {
  std::string text;
  if (const Value* const capacity = record.Find("capacity"); capacity != nullptr) {
    for (const text::Member& member : capacity->members()) {
      text += (text.empty() ? "" : ",") + member.key + "=" +
              std::string(member.value.StringAt({"value"}));
    }
  }
  return text.empty() ? "<none>" : text;
}

std::string PrintDevices(const Value& records, const OutputOptions& options) {
  const bool wide = options.form == OutputForm::kWide;
  std::vector<std::string> header = {"NODE", "DRIVER", "POOL", "DEVICE", "STATE", "CLAIM", "POD"};
  if (wide) {
    header.insert(header.end(), {"MODEL", "CAPACITY"});
  }
  text::TextTable table(options.no_headers ? std::vector<std::string>() : header);
  for (const Value& record : records.items()) {
    std::vector<std::string> cells;
    for (const char* const field : {"node", "driver", "pool", "device", "state"}) {
      cells.emplace_back(record.StringAt({field}));
    }
    cells.push_back(Joined(record.Find("claims")));
    cells.push_back(Joined(record.Find("pods")));
    if (wide) {
      cells.push_back(ModelOf(record));
      cells.push_back(CapacityOf(record));
    }
    table.AddRow(std::move(cells));
  }
  return table.ToString();
}

std::string PrintPools(const Value& records, const OutputOptions& options) {
  text::TextTable table(
      options.no_headers
          ? std::vector<std::string>()
          : std::vector<std::string>{
                "DRIVER", "POOL", "NODE", "GENERATION", "SLICES", "COMPLETE", "DEVICES", "FREE"});
  for (const Value& record : records.items()) {
    std::vector<std::string> cells;
    for (const char* const field :
         {"driver", "pool", "node", "generation", "slices", "complete", "devices", "free"}) {
      const Value* const found = record.Find(field);
      cells.push_back(found != nullptr ? PlainText(*found) : "");
    }
    table.AddRow(std::move(cells));
  }
  return table.ToString();
}

base::Result<Value> FetchItems(Connection& connection, const std::string& path) {
  Value all = Value::Array();
  std::string next;
  do {
    ALLOT_ASSIGN_OR_RETURN(
        Value answer,
        connection.GetJson(path + "?limit=500" +
                           (next.empty() ? "" : "&continue=" + client::EscapeUrl(next))));
    next = answer.StringAt({"metadata", "continue"});
    if (Value* const items = answer.Find("items"); items != nullptr) {
      for (Value& item : items->MutableItems()) {
        all.Append(std::move(item));
      }
    }
  } while (!next.empty());
  return all;
}

}  // namespace

bool IsDeviceTable(std::string_view word) {
  return word == "devices" || word == "device" || word == "pools" || word == "pool";
}

Value DeviceRecords(const Value& slices, const Value& claims) {
  const auto uses = UsesOf(claims);
  std::vector<Value> records;
  for (const auto& [key, pool] : PoolsOf(slices)) {
    for (const Value* const slice : pool.slices) {
      if (const Value* const devices = slice->FindPath({"spec", "devices"}); devices != nullptr) {
        for (const Value& device : devices->items()) {
          records.push_back(DeviceRecord(*slice, device, uses));
        }
      }
    }
  }
  std::stable_sort(records.begin(), records.end(), [](const Value& a, const Value& b) {
    return std::make_tuple(a.StringAt({"node"}), a.StringAt({"driver"}), a.StringAt({"pool"})) <
           std::make_tuple(b.StringAt({"node"}), b.StringAt({"driver"}), b.StringAt({"pool"}));
  });
  return Value::Array(std::move(records));
}

Value PoolRecords(const Value& slices, const Value& claims) {
  const auto uses = UsesOf(claims);
  Value records = Value::Array();
  for (const auto& [key, pool] : PoolsOf(slices)) {
    std::set<std::string> nodes;
    std::int64_t devices = 0;
    std::int64_t taken = 0;
    for (const Value* const slice : pool.slices) {
      const Value* const list = slice->FindPath({"spec", "devices"});
      const Value none = Value();
      if (list == nullptr || list->items().empty()) {
        nodes.insert(NodeOf(*slice->Find("spec"), none));
        continue;
      }
      for (const Value& device : list->items()) {
        nodes.insert(NodeOf(*slice->Find("spec"), device));
        ++devices;
        taken +=
            uses.contains({key.first, key.second, std::string(device.StringAt({"name"}))}) ? 1 : 0;
      }
    }
    Value& record = records.Append(Value::Object());
    record.Set("driver", Value(key.first));
    record.Set("pool", Value(key.second));
    record.Set("node", Value(nodes.size() == 1 ? *nodes.begin() : "<several>"));
    record.Set("generation", Value(pool.generation));
    record.Set("slices",
               Value(std::to_string(pool.slices.size()) + "/" + std::to_string(pool.expected)));
    record.Set("complete", Value(static_cast<std::int64_t>(pool.slices.size()) == pool.expected));
    record.Set("devices", Value(devices));
    record.Set("free", Value(devices - taken));
    record.Set("obsoleteSlices", Value(static_cast<std::int64_t>(pool.obsolete)));
  }
  return records;
}

base::Result<std::string> DeviceTable(Connection& connection,
                                      const std::vector<std::string>& arguments,
                                      const OutputOptions& options) {
  const bool pools = arguments[0].starts_with("pool");
  ALLOT_ASSIGN_OR_RETURN(const Value slices,
                         FetchItems(connection, "/apis/resource.k8s.io/v1/resourceslices"));
  ALLOT_ASSIGN_OR_RETURN(const Value claims,
                         FetchItems(connection, "/apis/resource.k8s.io/v1/resourceclaims"));
  Value records = pools ? PoolRecords(slices, claims) : DeviceRecords(slices, claims);
  const std::string_view name_field = pools ? "pool" : "device";
  if (arguments.size() > 1) {
    std::erase_if(records.MutableItems(), [&](const Value& record) {
      return std::find(arguments.begin() + 1, arguments.end(), record.StringAt({name_field})) ==
             arguments.end();
    });
  }
  if (records.items().empty()) {
    return base::Error(base::Reason::kNotFound,
                       std::string("no ") + (pools ? "pools" : "devices") +
                           " found: no driver has published a matching ResourceSlice");
  }
  if (options.WantsTable()) {
    return pools ? PrintPools(records, options) : PrintDevices(records, options);
  }
  std::vector<std::string> names;
  for (const Value& record : records.items()) {
    names.push_back(std::string(name_field) + "/" + std::string(record.StringAt({name_field})));
  }
  return PrintObjects(std::move(records.MutableItems()), /*as_list=*/true, options, names);
}

}  // namespace allot::cli
