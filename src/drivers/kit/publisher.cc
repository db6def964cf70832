#include "drivers/kit/publisher.h"

#include <algorithm>
#include <utility>

#include "api/core/v1.gen.h"
#include "client/typed.h"
#include "schema/codec.h"

namespace allot::drivers::kit {
namespace {

constexpr std::chrono::milliseconds kRepairDelay{500};

}  // namespace

Publisher::Publisher(client::Client& client,
                     client::Loop& loop,
                     std::vector<Driver*> drivers,
                     telemetry::Logger log)
    : client_(client),
      loop_(loop),
      drivers_(std::move(drivers)),
      log_(std::move(log)),
      slices_(client, loop, client::ResourceOf<Slice>()) {
  slices_.OnChanges([this](std::span<const client::Change> changes) { OnChanges(changes); });
}

base::Result<void> Publisher::PublishClasses() {
  for (const Driver* const driver : drivers_) {
    for (const ClassSpec& spec : driver->Classes()) {
      schema::Draft<api::resource::DeviceClass> draft;
      draft->metadata.name = draft.Copy(spec.name);
      auto* const selectors = draft.MutableList(draft->spec.selectors, 1);
      draft.Mutable(selectors[0].cel).expression = draft.Copy(spec.expression);
      if (!spec.extended_resource_name.empty()) {
        draft.Set(draft->spec.extended_resource_name, draft.Copy(spec.extended_resource_name));
      }
      const auto created = client::Create(client_, draft);
      if (!created && created.error().reason() != base::Reason::kAlreadyExists) {
        return base::Error(created.error());
      }
    }
  }
  return {};
}

base::Result<void> Publisher::Start(std::vector<NodeRef> nodes) {
  ALLOT_ASSIGN_OR_RETURN(const auto list, client::List<Slice>(client_));
  std::map<Pool, std::vector<Existing>> existing;
  for (const auto& item : list.items) {
    if (item->spec.node_name != nullptr) {
      existing[{std::string(item->spec.driver), std::string(*item->spec.node_name)}].push_back(
          {std::string(item->metadata.name), item.view});
    }
  }
  for (NodeRef& node : nodes) {
    for (Driver* const driver : drivers_) {
      ALLOT_RETURN_IF_ERROR(Publish(node, *driver, existing[{driver->name(), node.name}]));
    }
    std::string name = node.name;
    nodes_.emplace(std::move(name), std::move(node));
  }
  slices_.Start();
  return {};
}

bool Publisher::Same(const NodeRef& node,
                     const std::vector<schema::Draft<Slice>>& wanted,
                     const std::vector<Existing>& existing) {
  if (wanted.size() != existing.size()) {
    return false;
  }
  std::vector<bool> used(existing.size());
  for (const auto& draft : wanted) {
    bool found = false;
    for (std::size_t i = 0; i < existing.size() && !found; ++i) {
      const Slice& slice = *existing[i].view;
      const bool owned = !slice.metadata.owner_references.empty() &&
                         slice.metadata.owner_references[0].uid == node.uid;
      api::resource::ResourceSliceSpec spec = slice.spec;
      spec.pool.generation = draft->spec.pool.generation;
      if (!used[i] && owned &&
          schema::SemanticEqual(
              api::Desc<api::resource::ResourceSliceSpec>(), &spec, &draft->spec)) {
        used[i] = found = true;
      }
    }
    if (!found) {
      return false;
    }
  }
  return true;
}

base::Result<void> Publisher::Publish(const NodeRef& node,
                                      Driver& driver,
                                      const std::vector<Existing>& existing) {
  std::vector<schema::Draft<Slice>> wanted = driver.Discover(node.name);
  if (Same(node, wanted, existing)) {
    stats_.unchanged += wanted.size();
    return {};
  }
  std::int64_t generation = 0;
  for (const Existing& slice : existing) {
    generation = std::max(generation, slice.view->spec.pool.generation);
  }
  for (auto& draft : wanted) {
    draft->metadata.generate_name = draft.Copy(node.name + "-" + driver.name() + "-");
    draft->spec.pool.generation = generation + 1;
    auto* const owner = draft.MutableList(draft->metadata.owner_references, 1);
    owner[0].api_version = "v1";
    owner[0].kind = "Node";
    owner[0].name = draft.Copy(node.name);
    owner[0].uid = draft.Copy(node.uid);
    draft.Set(owner[0].controller, true);
    ALLOT_RETURN_IF_ERROR(client::Create(client_, draft, {.ack = client::Ack::kSequenced}));
    ++stats_.written;
  }
  for (const Existing& slice : existing) {
    own_deletes_.insert(slice.name);
    const auto deleted = client::Delete<Slice>(client_, "", slice.name);
    if (!deleted && deleted.error().reason() != base::Reason::kNotFound) {
      return base::Error(deleted.error());
    }
    ++stats_.deleted;
  }
  return {};
}

void Publisher::OnChanges(std::span<const client::Change> changes) {
  for (const client::Change& change : changes) {
    if (change.type == client::EventType::kAdded) {
      continue;
    }
    const auto view = client::ViewOf<Slice>(change.item);
    if (!view || (*view)->spec.node_name == nullptr || !nodes_.contains(*(*view)->spec.node_name)) {
      continue;
    }
    if (change.type == client::EventType::kDeleted &&
        own_deletes_.erase(std::string((*view)->metadata.name)) != 0) {
      continue;
    }
    Pool pool{std::string((*view)->spec.driver), std::string(*(*view)->spec.node_name)};
    const bool ours = std::any_of(drivers_.begin(), drivers_.end(), [&pool](const Driver* driver) {
      return driver->name() == pool.first;
    });
    if (ours && repairing_.insert(pool).second) {
      loop_.After(kRepairDelay, [this, pool = std::move(pool)] { Repair(pool); });
    }
  }
}

void Publisher::Repair(const Pool& pool) {
  repairing_.erase(pool);
  const auto node = nodes_.find(pool.second);
  const auto alive = client::Get<api::core::Node>(client_, "", pool.second);
  if (node == nodes_.end() || !alive || (*alive)->metadata.uid != node->second.uid) {
    return;  // the node is gone, and its slices with it
  }
  std::vector<Existing> existing;
  slices_.ForEach([&](const client::ObjectRef& object) {
    const auto view = schema::DecodeAs<Slice>(object);
    if (view && (*view)->spec.driver == pool.first && (*view)->spec.node_name != nullptr &&
        *(*view)->spec.node_name == pool.second) {
      existing.push_back({std::string(object->name()), *view});
    }
  });
  for (Driver* const driver : drivers_) {
    if (driver->name() == pool.first) {
      if (const auto published = Publish(node->second, *driver, existing); !published) {
        log_.Warning(
            "cannot publish slices",
            {{"driver", pool.first}, {"node", pool.second}, telemetry::Field(published.error())});
      }
    }
  }
}

}  // namespace allot::drivers::kit
