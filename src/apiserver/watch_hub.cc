#include "apiserver/watch_hub.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "apiserver/watch_frame.h"

namespace allot::apiserver {
namespace {

/// Events handled in one go before other work gets its turn.
constexpr std::size_t kEventsPerTurn = 2048;
/// Bytes of initial state or of backlog that are queued in one go for one watcher.
constexpr std::size_t kPieceBytes = 128U << 10U;
constexpr std::size_t kLowWater = 64U << 10U;
constexpr std::size_t kMaxQueued = net::ResponseWriter::kMaxQueuedBytes;
constexpr std::chrono::seconds kBookmarkRound{10};
constexpr std::chrono::seconds kBookmarkEvery{50};
/// The last bookmark leaves this long before the time-out.
constexpr std::chrono::milliseconds kFarewell{200};

base::Status TooOld(store::Revision asked, store::Revision oldest) {
  return {base::Reason::kExpired, fmt::format("too old resource version: {} ({})", asked, oldest)};
}

}  // namespace

struct WatchHub::Watcher {
  Group* group = nullptr;
  std::shared_ptr<net::ResponseWriter> writer;
  store::Revision cursor = 0;
  bool live = false;     ///< up to date and able to take more: fed with the group's frames
  bool waiting = false;  ///< a call of OnWritable is under way
  bool bookmarks = false;
  bool initial_bookmark = false;
  bool mark_first_bookmark = false;
  bool columns_sent = false;
  bool closed = false;
  std::optional<store::Snapshot> initial;
  std::optional<store::Cursor> at;
  base::MonoTime last_bookmark;
  net::Loop::TimerId deadline = 0;
};

struct WatchHub::Group {
  Channel* channel = nullptr;
  std::string key;
  FrameStyle style;
  Filter filter;
  std::vector<WatcherRef> watchers;
};

/// One resource of the store: how far its groups have been fed.
struct WatchHub::Channel {
  store::ResourceId id{};
  store::Revision cursor = 0;
  std::unordered_map<std::string, std::unique_ptr<Group>> groups;
};

struct WatchHub::Waiter {
  store::Revision revision = 0;
  std::function<void(bool)> task;
  net::Loop::TimerId timer = 0;
};

WatchHub::WatchHub(store::Store& store,
                   net::Loop& loop,
                   const base::Clock& clock,
                   telemetry::Registry& metrics)
    : store_(store),
      loop_(loop),
      clock_(clock),
      watchers_gauge_(metrics.GetGauge(
          "apiserver_longrunning_requests", "Watches that are open.", {{"verb", "WATCH"}})),
      events_counter_(metrics.GetCounter("apiserver_watch_events_total",
                                         "Events handed to groups of watchers.")) {
  subscription_ = store_.Subscribe({}, [this](const store::Published&) { Wake(); });
}

WatchHub::~WatchHub() {
  subscription_.reset();
  *alive_ = false;
  loop_.Cancel(bookmark_timer_);
}

void WatchHub::Wake() {
  if (!wake_posted_.exchange(true)) {
    loop_.Post([this, alive = alive_] {
      if (*alive) {
        wake_posted_ = false;
        Pump();
      }
    });
  }
}

WatchHub::Group& WatchHub::GroupOf(const WatchRequest& request) {
  auto& channel = channels_[request.resource->store_id];
  if (channel == nullptr) {
    channel = std::make_unique<Channel>();
    channel->id = request.resource->store_id;
  }
  if (channel->groups.empty()) {
    channel->cursor = store_.durable();
  }
  std::string key = fmt::format("{}/{} {} {} {} {}",
                                request.resource->info->group,
                                request.resource->info->version,
                                static_cast<int>(request.choice.format),
                                static_cast<int>(request.choice.shape),
                                static_cast<int>(request.include),
                                request.filter_key);
  auto& group = channel->groups[key];
  if (group == nullptr) {
    group = std::make_unique<Group>();
    group->channel = channel.get();
    group->key = std::move(key);
    group->style = {request.resource, request.choice, request.include, 0};
    group->filter = request.filter;
  }
  return *group;
}

void WatchHub::Add(WatchRequest request,
                   std::shared_ptr<net::ResponseWriter> writer,
                   const net::HeaderList& headers) {
  Group& group = GroupOf(request);
  auto watcher = std::make_shared<Watcher>();
  watcher->group = &group;
  watcher->writer = std::move(writer);
  watcher->bookmarks = request.bookmarks;
  watcher->initial_bookmark = request.initial_bookmark;
  watcher->mark_first_bookmark = request.mark_first_bookmark;
  watcher->last_bookmark = clock_.Monotonic();
  group.watchers.push_back(watcher);
  watchers_gauge_.Add(1);
  watcher->writer->SendHeaders(200, headers);
  watcher->writer->OnClose([this, alive = alive_, weak = std::weak_ptr(watcher)] {
    if (const WatcherRef held = weak.lock(); held != nullptr && *alive && !held->closed) {
      held->closed = true;
      Remove(*held);
    }
  });
  watcher->deadline =
      loop_.After(std::max<std::chrono::nanoseconds>(request.timeout - kFarewell, kFarewell),
                  [this, alive = alive_, weak = std::weak_ptr(watcher)] {
                    if (const WatcherRef held = weak.lock(); held != nullptr && *alive) {
                      OnDeadline(held);
                    }
                  });
  if (bookmark_timer_ == 0) {
    bookmark_timer_ = loop_.After(kBookmarkRound, [this, alive = alive_] {
      if (*alive) {
        BookmarkRound();
      }
    });
  }
  if (request.after) {
    watcher->cursor = *request.after;
    if (*request.after < oldest_) {
      SendError(*watcher, TooOld(*request.after, oldest_));
      Close(watcher);
      return;
    }
  } else {
    watcher->initial = store_.TakeSnapshot(group.channel->id);
    watcher->cursor = watcher->initial->revision();
    watcher->at = watcher->initial->Seek(group.filter.key_prefix());
  }
  CatchUp(watcher);
}

bool WatchHub::SendInitial(Watcher& watcher) {
  Group& group = *watcher.group;
  group.style.now = NowUnix();
  std::string piece;
  store::Cursor& at = *watcher.at;
  while (at.valid() && at->key().starts_with(group.filter.key_prefix())) {
    if (piece.size() >= kPieceBytes) {
      break;
    }
    if (group.filter.Matches(*at) &&
        AppendInitialFrame(group.style, *at, !watcher.columns_sent, piece)) {
      watcher.columns_sent = true;
    }
    at.Next();
  }
  const bool done = !at.valid() || !at->key().starts_with(group.filter.key_prefix());
  if (!piece.empty()) {
    watcher.writer->Write(net::Bytes(std::move(piece)));
  }
  if (done) {
    watcher.at.reset();
    watcher.initial.reset();
    if (watcher.initial_bookmark) {
      SendBookmark(watcher, watcher.cursor, /*initial_end=*/true);
    }
  }
  return done;
}

void WatchHub::CatchUp(const WatcherRef& watcher) {
  if (watcher->closed || watcher->waiting) {
    return;
  }
  if (watcher->initial && !SendInitial(*watcher)) {
    ContinueLater(watcher);
    return;
  }
  Group& group = *watcher->group;
  while (watcher->cursor < group.channel->cursor) {
    std::vector<store::Event> events;
    const base::Result<store::Revision> complete =
        store_.EventsSince(group.channel->id, watcher->cursor, events, kEventsPerTurn);
    if (!complete) {
      SendError(*watcher, complete.error());
      Close(watcher);
      return;
    }
    group.style.now = NowUnix();
    std::string frames;
    for (const store::Event& event : events) {
      // What the group has not been fed yet comes with the group.
      if (event.entry->revision() > group.channel->cursor) {
        break;
      }
      if (AppendEventFrame(group.style, group.filter, event, !watcher->columns_sent, frames)) {
        watcher->columns_sent = true;
      }
    }
    watcher->cursor = std::min(*complete, group.channel->cursor);
    if (!frames.empty()) {
      watcher->writer->Write(net::Bytes(std::move(frames)));
    }
    if (watcher->writer->queued_bytes() > kPieceBytes) {
      ContinueLater(watcher);
      return;
    }
  }
  watcher->live = true;
}

void WatchHub::ContinueLater(const WatcherRef& watcher) {
  watcher->live = false;
  watcher->waiting = true;
  watcher->writer->OnWritable(kLowWater, [this, alive = alive_, weak = std::weak_ptr(watcher)] {
    if (const WatcherRef held = weak.lock(); held != nullptr && *alive) {
      held->waiting = false;
      CatchUp(held);
    }
  });
}

void WatchHub::Pump() {
  const store::Revision durable = store_.durable();
  for (auto& [id, channel] : channels_) {
    PumpChannel(*channel);
  }
  std::vector<std::unique_ptr<Waiter>> due;
  std::erase_if(waiters_, [&](std::unique_ptr<Waiter>& waiter) {
    if (waiter->revision > durable) {
      return false;
    }
    due.push_back(std::move(waiter));
    return true;
  });
  for (const std::unique_ptr<Waiter>& waiter : due) {
    loop_.Cancel(waiter->timer);
    waiter->task(/*reached=*/true);
  }
}

void WatchHub::PumpChannel(Channel& channel) {
  if (channel.groups.empty()) {
    channel.cursor = std::max(channel.cursor, store_.durable());
    return;
  }
  std::vector<store::Event> events;
  const base::Result<store::Revision> complete =
      store_.EventsSince(channel.id, channel.cursor, events, kEventsPerTurn);
  if (!complete) {
    // The loop was away so long that events left the window: everybody starts again.
    std::vector<WatcherRef> all;
    for (auto& [key, group] : channel.groups) {
      all.insert(all.end(), group->watchers.begin(), group->watchers.end());
    }
    for (const WatcherRef& watcher : all) {
      SendError(*watcher, complete.error());
      Close(watcher);
    }
    channel.cursor = store_.durable();
    return;
  }
  const store::Revision from = std::exchange(channel.cursor, *complete);
  for (auto& [key, group] : channel.groups) {
    SendToGroup(*group, events, from, *complete);
  }
  if (events.size() >= kEventsPerTurn) {
    Wake();
  }
}

/// For a watcher that began after the group's last turn: its initial state holds some of the
/// events.
void WatchHub::SendAlone(Watcher& watcher,
                         const std::vector<store::Event>& events,
                         store::Revision complete) {
  Group& group = *watcher.group;
  std::string frames;
  for (const store::Event& event : events) {
    if (event.entry->revision() > watcher.cursor &&
        AppendEventFrame(group.style, group.filter, event, !watcher.columns_sent, frames)) {
      watcher.columns_sent = true;
    }
  }
  watcher.cursor = std::max(watcher.cursor, complete);
  if (!frames.empty()) {
    watcher.writer->Write(net::Bytes(std::move(frames)));
  }
}

void WatchHub::SendToGroup(Group& group,
                           const std::vector<store::Event>& events,
                           store::Revision from,
                           store::Revision complete) {
  group.style.now = NowUnix();
  std::string frames;
  for (const store::Event& event : events) {
    if (AppendEventFrame(group.style, group.filter, event, /*columns=*/false, frames)) {
      events_counter_.Add();
    }
  }
  const net::Bytes shared(std::move(frames));
  const std::vector<WatcherRef> watchers = group.watchers;  // closing changes the list
  for (const WatcherRef& watcher : watchers) {
    if (!watcher->live || watcher->closed) {
      continue;
    }
    if (watcher->cursor > from) {
      SendAlone(*watcher, events, complete);
      continue;
    }
    if (shared.empty()) {
      watcher->cursor = complete;
      continue;
    }
    const bool needs_columns = group.style.choice.shape == Shape::kTable && !watcher->columns_sent;
    if (needs_columns || watcher->writer->queued_bytes() + shared.size() > kMaxQueued) {
      watcher->live = false;  // alone from its own cursor, when its peer has read on
      if (needs_columns) {
        CatchUp(watcher);
      } else {
        ContinueLater(watcher);
      }
      continue;
    }
    watcher->writer->Write(shared);
    watcher->cursor = complete;
  }
}

void WatchHub::SendBookmark(Watcher& watcher, store::Revision revision, bool initial_end) {
  std::string frame;
  const bool marked = std::exchange(watcher.mark_first_bookmark, false) || initial_end;
  AppendBookmarkFrame(watcher.group->style, revision, marked, frame);
  watcher.last_bookmark = clock_.Monotonic();
  watcher.writer->Write(net::Bytes(std::move(frame)));
}

void WatchHub::SendError(Watcher& watcher, const base::Status& status) {
  std::string frame;
  AppendErrorFrame(watcher.group->style, status, frame);
  watcher.writer->Write(net::Bytes(std::move(frame)));
}

void WatchHub::Close(const WatcherRef& watcher) {
  if (watcher->closed) {
    return;
  }
  watcher->closed = true;
  watcher->writer->OnClose(nullptr);
  watcher->writer->End();
  Remove(*watcher);
}

void WatchHub::Remove(Watcher& watcher) {
  watcher.live = false;
  loop_.Cancel(watcher.deadline);
  watchers_gauge_.Add(-1);
  watcher.initial.reset();
  watcher.at.reset();
  Group& group = *watcher.group;
  const auto writer = std::move(watcher.writer);
  std::erase_if(group.watchers, [&](const WatcherRef& one) { return one.get() == &watcher; });
  if (group.watchers.empty()) {
    // Later in the turn: callers may still be walking the groups.
    loop_.Post([this, alive = alive_, id = group.channel->id, key = group.key] {
      if (!*alive) {
        return;
      }
      auto& groups = channels_.at(id)->groups;
      const auto found = groups.find(key);
      if (found != groups.end() && found->second->watchers.empty()) {
        groups.erase(found);
      }
    });
  }
}

void WatchHub::OnDeadline(const WatcherRef& watcher) {
  if (watcher->closed) {
    return;
  }
  if (watcher->bookmarks && watcher->live) {
    SendBookmark(*watcher, watcher->cursor, /*initial_end=*/false);
  }
  Close(watcher);
}

void WatchHub::BookmarkRound() {
  bookmark_timer_ = 0;
  const base::MonoTime now = clock_.Monotonic();
  bool any = false;
  for (auto& [id, channel] : channels_) {
    for (auto& [key, group] : channel->groups) {
      any = any || !group->watchers.empty();
      for (const WatcherRef& watcher : group->watchers) {
        if (watcher->bookmarks && watcher->live && !watcher->closed &&
            now - watcher->last_bookmark >= kBookmarkEvery) {
          SendBookmark(*watcher, watcher->cursor, /*initial_end=*/false);
        }
      }
    }
  }
  if (any) {
    bookmark_timer_ = loop_.After(kBookmarkRound, [this, alive = alive_] {
      if (*alive) {
        BookmarkRound();
      }
    });
  }
}

void WatchHub::CloseAll() {
  std::vector<WatcherRef> all;
  for (auto& [id, channel] : channels_) {
    for (auto& [key, group] : channel->groups) {
      all.insert(all.end(), group->watchers.begin(), group->watchers.end());
    }
  }
  for (const WatcherRef& watcher : all) {
    Close(watcher);
  }
}

void WatchHub::WhenDurable(store::Revision revision,
                           std::chrono::milliseconds timeout,
                           std::function<void(bool)> task) {
  if (store_.durable() >= revision) {
    task(/*reached=*/true);
    return;
  }
  auto waiter = std::make_unique<Waiter>();
  waiter->revision = revision;
  waiter->task = std::move(task);
  Waiter* const raw = waiter.get();
  waiter->timer = loop_.After(timeout, [this, alive = alive_, raw] {
    if (!*alive) {
      return;
    }
    const auto at = std::ranges::find_if(
        waiters_, [&](const std::unique_ptr<Waiter>& one) { return one.get() == raw; });
    if (at != waiters_.end()) {
      const std::unique_ptr<Waiter> held = std::move(*at);
      waiters_.erase(at);
      held->task(/*reached=*/false);
    }
  });
  waiters_.push_back(std::move(waiter));
}

std::int64_t WatchHub::NowUnix() const {
  return std::chrono::floor<std::chrono::seconds>(clock_.Now().time_since_epoch()).count();
}

}  // namespace allot::apiserver
