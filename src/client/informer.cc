#include "client/informer.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "schema/codec.h"

namespace allot::client {

using std::chrono::milliseconds;
using std::chrono::seconds;

Informer::Informer(Client& client, Loop& loop, const Resource& resource, Options options)
    : client_(client),
      loop_(loop),
      resource_(resource),
      options_(std::move(options)),
      epoch_(std::make_shared<std::uint64_t>(0)) {}

Informer::~Informer() {
  Stop();
}

int Informer::AddIndex(std::string_view name, KeysOf keys_of) {
  for (std::size_t i = 0; i < indexes_.size(); ++i) {
    if (indexes_[i].name == name) {
      return static_cast<int>(i);
    }
  }
  indexes_.push_back({.name = std::string(name), .keys_of = std::move(keys_of), .entries = {}});
  return static_cast<int>(indexes_.size()) - 1;
}

void Informer::Start() {
  ++*epoch_;
  Relist();
}

void Informer::Stop() {
  ++*epoch_;
  watch_.reset();
}

void Informer::Later(void (Informer::*step)()) {
  const auto delay = std::min<std::chrono::nanoseconds>(
      milliseconds(100) * (1 << std::min(failures_, 10)), seconds(30));
  ++failures_;
  loop_.After(delay, [this, step, epoch = epoch_, now = *epoch_] {
    if (*epoch == now) {
      (this->*step)();
    }
  });
}

void Informer::Relist() {
  watch_.reset();
  ListOptions options;
  options.label_selector = options_.label_selector;
  options.field_selector = options_.field_selector;
  ++lists_;
  base::Result<ListAnswer> answer = client_.List(resource_, options_.ns, options);
  if (!answer) {
    last_error_ = answer.error().ToString();
    // A server that does not have the resource has none of its objects: nobody need wait for it.
    synced_ |= answer.error().reason() == base::Reason::kNotFound;
    Later(&Informer::Relist);
    return;
  }
  revision_ = answer->revision;
  std::vector<Change> changes;
  changes.reserve(answer->items.size());
  std::unordered_set<Key, KeyHash> present;
  for (const Item& item : answer->items) {
    const Key key{item.object->namespace_(), item.object->name()};
    present.insert(key);
    const auto found = store_.find(key);
    if (found == store_.end()) {
      changes.push_back({EventType::kAdded, item, nullptr});
    } else if (found->second.item.object->uid() != item.object->uid()) {
      // Deleted and made again while nobody watched: handlers must see both.
      const ObjectRef& old = found->second.item.object;
      changes.push_back({EventType::kDeleted, {old, nullptr}, old});
      changes.push_back({EventType::kAdded, item, nullptr});
    } else if (found->second.item.object->revision() != item.object->revision()) {
      changes.push_back({EventType::kModified, item, found->second.item.object});
    }
  }
  for (const auto& [key, entry] : store_) {
    if (!present.contains(key)) {
      const ObjectRef& object = entry.item.object;
      changes.push_back({EventType::kDeleted, {object, nullptr}, object});
    }
  }
  constexpr std::size_t kPiece = 512;
  for (std::size_t at = 0; at < changes.size(); at += kPiece) {
    const auto first = changes.begin() + static_cast<std::ptrdiff_t>(at);
    const auto last =
        changes.begin() + static_cast<std::ptrdiff_t>(std::min(changes.size(), at + kPiece));
    Commit({std::make_move_iterator(first), std::make_move_iterator(last)});
  }
  synced_ = true;
  StartWatch();
}

void Informer::StartWatch() {
  watch_.reset();
  WatchOptions options;
  options.label_selector = options_.label_selector;
  options.field_selector = options_.field_selector;
  options.after = revision_;
  watch_epoch_ = ++*epoch_;
  auto watch = client_.Watch(resource_, options_.ns, options, *this);
  if (!watch) {
    last_error_ = watch.error().ToString();
    const bool forgotten = watch.error().reason() == base::Reason::kExpired ||
                           watch.error().reason() == base::Reason::kGone;
    Later(forgotten ? &Informer::Relist : &Informer::StartWatch);
    return;
  }
  last_error_.clear();
  watch_ = *std::move(watch);
}

void Informer::OnEvents(const WatchBatch& batch) {
  loop_.Post([this, batch, epoch = epoch_, now = watch_epoch_] {
    if (*epoch == now) {
      Apply(*batch);
    }
  });
}

void Informer::OnClosed(const base::Status& why) {
  const bool forgotten =
      why.reason() == base::Reason::kExpired || why.reason() == base::Reason::kGone;
  loop_.Post([this, forgotten, text = why.ToString(), epoch = epoch_, now = watch_epoch_] {
    if (*epoch != now) {
      return;
    }
    last_error_ = text;
    Later(forgotten ? &Informer::Relist : &Informer::StartWatch);
  });
}

void Informer::Apply(const std::vector<WatchEvent>& events) {
  ++batches_;
  failures_ = 0;
  std::vector<Change> changes;
  changes.reserve(events.size());
  for (const WatchEvent& event : events) {
    revision_ = std::max(revision_, event.revision);
    if (event.type != EventType::kBookmark) {
      changes.push_back({event.type, event.item, nullptr});
    }
  }
  Commit(std::move(changes));
}

bool Informer::Decode(Item& item) {
  if (item.view != nullptr) {
    return true;
  }
  ++decodes_;
  base::Result<schema::DecodedObject> decoded = schema::DecodeObject(item.object);
  if (!decoded) {
    ++broken_;
    last_error_ = decoded.error().ToString();
    return false;
  }
  item.view = AnyView(std::move(decoded->arena), decoded->root);
  return true;
}

void Informer::Commit(std::vector<Change> changes) {
  std::size_t kept = 0;
  for (Change& change : changes) {
    const Key key{change.item.object->namespace_(), change.item.object->name()};
    const auto found = store_.find(key);
    change.old = found != store_.end() ? found->second.item.object : nullptr;
    if (change.type == EventType::kDeleted) {
      if (!change.old || !Decode(change.item)) {
        continue;
      }
      Erase(found);
    } else {
      if (change.old && change.old->uid() == change.item.object->uid() &&
          change.old->revision() >= change.item.object->revision()) {
        continue;  // seen in the list already
      }
      if (!Decode(change.item)) {
        continue;
      }
      Put(found, change.item);
      change.type = change.old ? EventType::kModified : EventType::kAdded;
    }
    if (kept != static_cast<std::size_t>(&change - changes.data())) {
      changes[kept] = std::move(change);
    }
    ++kept;
  }
  changes.resize(kept);
  if (changes.empty()) {
    return;
  }
  for (const Handler& handler : handlers_) {
    handler(changes);
  }
}

void Informer::KeepView(Entry& entry) {
  ForgetView(entry);
  if (Entry* const oldest = viewed_[next_viewed_]; oldest != nullptr) {
    oldest->item.view = nullptr;
    oldest->viewed = kNotViewed;
  }
  viewed_[next_viewed_] = &entry;
  entry.viewed = next_viewed_;
  next_viewed_ = (next_viewed_ + 1) % kViews;
}

void Informer::ForgetView(Entry& entry) {
  if (entry.viewed != kNotViewed) {
    viewed_[entry.viewed] = nullptr;
    entry.viewed = kNotViewed;
  }
}

void Informer::Put(Store::iterator found, const Item& item) {
  const Key key{item.object->namespace_(), item.object->name()};
  Entry* entry = nullptr;
  if (found == store_.end()) {
    entry = &store_[key];
    entry->keys.resize(indexes_.size());
  } else {
    found->first.ns = key.ns;
    found->first.name = key.name;
    entry = &found->second;
  }
  entry->item = item;
  KeepView(*entry);
  Reindex(*entry);
}

void Informer::Erase(Store::iterator found) {
  Entry& entry = found->second;
  ForgetView(entry);
  for (std::size_t i = 0; i < indexes_.size(); ++i) {
    for (const std::string& old : entry.keys[i]) {
      Unindex(indexes_[i], old, &entry);
    }
  }
  store_.erase(found);
}

void Informer::Reindex(Entry& entry) {
  for (std::size_t i = 0; i < indexes_.size(); ++i) {
    Index& index = indexes_[i];
    std::vector<std::string> keys;
    index.keys_of(entry.item, keys);
    if (keys == entry.keys[i]) {
      continue;  // most changes leave the keys as they are
    }
    for (const std::string& old : entry.keys[i]) {
      Unindex(index, old, &entry);
    }
    std::sort(keys.begin(), keys.end());  // an object may name a key twice; it is in the index once
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    for (const std::string& key : keys) {
      index.entries[key].insert(&entry);
    }
    entry.keys[i] = std::move(keys);
  }
}

void Informer::Unindex(Index& index, const std::string& key, const Entry* entry) {
  const auto set = index.entries.find(key);
  if (set != index.entries.end()) {
    set->second.erase(entry);
    if (set->second.empty()) {
      index.entries.erase(set);
    }
  }
}

ObjectRef Informer::Find(std::string_view ns, std::string_view name) const {
  const auto found = store_.find(Key{ns, name});
  return found != store_.end() ? found->second.item.object : nullptr;
}

Item Informer::FindItem(std::string_view ns, std::string_view name) const {
  const auto found = store_.find(Key{ns, name});
  return found != store_.end() ? found->second.item : Item{};
}

void Informer::ForEach(const std::function<void(const ObjectRef&)>& visit) const {
  for (const auto& [key, entry] : store_) {
    visit(entry.item.object);
  }
}

std::vector<Item> Informer::ByIndex(int index, std::string_view key) const {
  std::vector<Item> items;
  const Index& from = indexes_[static_cast<std::size_t>(index)];
  if (const auto found = from.entries.find(std::string(key)); found != from.entries.end()) {
    items.reserve(found->second.size());
    for (const Entry* const entry : found->second) {
      items.push_back(entry->item);
    }
  }
  return items;
}

}  // namespace allot::client
