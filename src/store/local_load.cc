// Reading the log at start, and handing its rows to the resources that ask for them.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "store/local_impl.h"

namespace allot::store {

base::Result<void> LocalStore::Load() {
  const base::MonoTime begin = options_.clock->Monotonic();
  HeadIndex newest;
  std::uint64_t rows = 0;
  ALLOT_ASSIGN_OR_RETURN(const LogState state, log_->Load([&](const LogRow& row) {
    ++rows;
    return LoadRow(row, newest);
  }));
  std::erase_if(unclaimed_events_, [&state](const Event& event) {
    return event.entry->revision() <= state.compacted;
  });
  loaded_floor_ = std::max(loaded_floor_, state.compacted);
  unclaimed_.reserve(newest.size());
  newest.ForEach(
      [this](const Entry& entry) { unclaimed_.push_back(base::Ref<const Entry>::Share(&entry)); });
  std::ranges::sort(unclaimed_, {}, [](const auto& entry) { return entry->key(); });
  next_ = state.last;
  durable_ = state.last;
  compacted_ = state.compacted;
  dead_.Compact(state.compacted);
  dead_.Note(state.last, options_.clock->Monotonic());
  dead_count_ = dead_.size();
  dead_bytes_ = dead_.bytes();
  if (metrics_ != nullptr) {
    metrics_->revision.Set(static_cast<double>(state.last));
  }
  const auto took = options_.clock->Monotonic() - begin;
  options_.logger.Info("store opened",
                       {{"revision", state.last},
                        {"compacted", state.compacted},
                        {"rows", rows},
                        {"keys", unclaimed_.size()},
                        {"seconds", std::chrono::duration<double>(took).count()}});
  return {};
}

base::Result<void> LocalStore::LoadRow(const LogRow& row, HeadIndex& newest) {
  Entry* const made = EntryMaker::Make(*entries_,
                                       {kUnclaimed, row.key},
                                       {.value = row.value ? Value::Copy(*row.value) : Value(),
                                        .revision = row.revision,
                                        .created = row.created,
                                        .deleted = !row.value.has_value()});
  auto entry = base::Ref<const Entry>::Adopt(made);
  base::Ref<const Entry> previous;
  if (row.value) {
    previous = newest.Put(entry);
  } else {
    previous = newest.Erase({kUnclaimed, row.key}, EntryMaker::HashOf(*made));
    if (previous) {
      EntryMaker::SetValue(*made, previous->value());
    }
  }
  if (previous) {
    dead_.Add(row.revision, previous->revision(), previous->memory());
  }
  if (!row.value) {
    dead_.Add(row.revision, row.revision, row.key.size());
  }
  // All resources together may keep as much as two windows until they are asked for.
  unclaimed_event_bytes_ += made->memory();
  unclaimed_events_.push_back({std::move(entry), std::move(previous)});
  if (unclaimed_event_bytes_ > 3 * options_.window_bytes) {
    std::size_t drop = 0;
    for (; unclaimed_event_bytes_ > 2 * options_.window_bytes; ++drop) {
      unclaimed_event_bytes_ -= unclaimed_events_[drop].entry->memory();
    }
    loaded_floor_ = unclaimed_events_[drop - 1].entry->revision();
    unclaimed_events_.erase(unclaimed_events_.begin(),
                            unclaimed_events_.begin() + static_cast<std::ptrdiff_t>(drop));
  }
  return {};
}

base::Result<void> LocalStore::CheckPath(std::string_view path) const {
  const auto bad = [path](std::string_view why) {
    return base::Error(base::Reason::kBadRequest,
                       fmt::format("resource path \"{}\" {}", path, why));
  };
  if (path.empty() || path.front() == '/' || path.back() == '/') {
    return bad("is empty or begins or ends with a slash");
  }
  if (owned_.size() >= kMaxResources) {
    return bad("is one too many");
  }
  for (const auto& other : owned_) {
    const std::string prefix = options_.prefix + std::string(path) + '/';
    if (prefix.starts_with(other->prefix) || other->prefix.starts_with(prefix)) {
      return bad(fmt::format("lies inside \"{}\", or the other way round", other->path));
    }
  }
  return {};
}

base::Result<ResourceId> LocalStore::AddResource(std::string_view path) {
  const std::lock_guard adding(adding_);
  for (const auto& resource : owned_) {
    if (resource->path == path) {
      return resource->id;
    }
  }
  ALLOT_RETURN_IF_ERROR(CheckPath(path));
  const std::size_t index = owned_.size();
  const Revision floor = std::max(loaded_floor_, compacted_.load(std::memory_order_acquire));
  auto resource = std::make_unique<Resource>(static_cast<ResourceId>(index),
                                             std::string(path),
                                             options_.prefix + std::string(path) + "/",
                                             floor);
  ALLOT_RETURN_IF_ERROR(ClaimRows(*resource));
  const Snapshot state(resource->root, durable());
  {
    const std::lock_guard lock(head_mutex_);
    for (Cursor at = state.Seek(""); at.valid(); at.Next()) {
      head_.Put(at.ref());
    }
  }
  resources_[index].store(resource.get(), std::memory_order_release);
  resource_count_.store(index + 1, std::memory_order_release);
  owned_.push_back(std::move(resource));
  return static_cast<ResourceId>(index);
}

// The loaded entry under the resource's own key and with the caller's kind of value.
base::Result<base::Ref<const Entry>> LocalStore::Claim(const Entry& loaded, Resource& resource) {
  const std::string_view key = loaded.key().substr(resource.prefix.size());
  Value value = loaded.value();
  if (options_.revive && value) {
    auto revived = options_.revive(resource.path, key, loaded.revision(), std::move(value));
    if (!revived) {
      return base::Error(std::move(revived).error().Prepend(
          fmt::format("{} at revision {}: ", loaded.key(), loaded.revision())));
    }
    value = *std::move(revived);
  }
  return base::Ref<const Entry>::Adopt(EntryMaker::Make(*entries_,
                                                        {resource.id, key},
                                                        {.value = std::move(value),
                                                         .revision = loaded.revision(),
                                                         .created = loaded.created(),
                                                         .deleted = loaded.deleted()}));
}

// Moves the resource's rows out of the unclaimed ones into its tree, and its events into its
// window.
base::Result<void> LocalStore::ClaimRows(Resource& resource) {
  const auto key_of = [](const base::Ref<const Entry>& entry) {
    return entry->key();
  };
  const std::string end = PrefixEnd(resource.prefix);
  const auto first = std::ranges::lower_bound(unclaimed_, resource.prefix, {}, key_of);
  const auto last = std::ranges::lower_bound(unclaimed_, end, {}, key_of);
  TreeEditor editor(*nodes_, nullptr);
  for (auto entry = first; entry != last; ++entry) {
    ALLOT_ASSIGN_OR_RETURN(const auto claimed, Claim(**entry, resource));
    EntryMaker::CloseWindow(*claimed);
    editor.Put(*claimed);
  }
  resource.root = editor.Finish();
  ClaimEvents(resource);
  unclaimed_.erase(first, last);
  return {};
}

void LocalStore::ClaimEvents(Resource& resource) {
  const auto ours = [&resource](const Event& event) {
    return event.entry->key().starts_with(resource.prefix);
  };
  const Snapshot state(resource.root, 0);
  std::unordered_map<const Entry*, base::Ref<const Entry>> claimed;
  // The entry of the tree where it is the same one, so that both share it; null when it cannot be
  // read.
  const auto claim = [&](const Entry& loaded) -> base::Ref<const Entry> {
    const auto [place, fresh] = claimed.try_emplace(&loaded);
    if (fresh) {
      const Entry* const live = state.Find(loaded.key().substr(resource.prefix.size()));
      if (live != nullptr && live->revision() == loaded.revision()) {
        place->second = base::Ref<const Entry>::Share(live);
      } else if (auto made = Claim(loaded, resource)) {
        EntryMaker::CloseWindow(**made);
        place->second = *std::move(made);
      }
    }
    return place->second;
  };
  std::vector<Event> dropped;
  for (const Event& event : unclaimed_events_) {
    if (!ours(event) || event.entry->revision() <= resource.window.floor()) {
      continue;
    }
    Event copy{claim(*event.entry), event.previous ? claim(*event.previous) : nullptr};
    if (!copy.entry || (event.previous && !copy.previous)) {
      // An old state that cannot be read any more costs history, not the start.
      resource.window = EventWindow(event.entry->revision());
      continue;
    }
    resource.window.Append(std::move(copy));
  }
  resource.window.Trim(options_.window_bytes, 0, dropped);
  std::erase_if(unclaimed_events_, ours);
}

}  // namespace allot::store
