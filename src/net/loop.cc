#include "net/loop.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <map>
#include <unordered_map>
#include <utility>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mailbox.h"

namespace allot::net {

namespace {

constexpr int kEventsPerWait = 256;
constexpr std::uint64_t kWakeToken = ~std::uint64_t{0};

std::uint32_t ToEpoll(std::uint32_t events) {
  std::uint32_t out = EPOLLRDHUP;
  if ((events & Loop::kReadable) != 0) {
    out |= EPOLLIN;
  } else {
    out &= ~static_cast<std::uint32_t>(EPOLLRDHUP);  // level-triggered: it would fire for ever
  }
  if ((events & Loop::kWritable) != 0) {
    out |= EPOLLOUT;
  }
  return out;
}

std::uint32_t FromEpoll(std::uint32_t events) {
  std::uint32_t out = 0;
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
    out |= Loop::kReadable;
  }
  if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) {
    out |= Loop::kWritable;
  }
  return out;
}

}  // namespace

/// What posting threads touch; outlives the loop when a Handle does.
struct Loop::Handle::Shared {
  Shared() : event_fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)), mailbox([this] { Wake(); }) {
    ALLOT_CHECK(event_fd >= 0);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { ::close(event_fd); }

  // The loop sets `sleeping` and then drains under the mailbox's lock; a producer pushes under that
  // lock and then reads `sleeping`. So either the drain sees the push or the producer sees the
  // flag.
  void Wake() const {
    if (sleeping.load()) {
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto written = ::write(event_fd, &one, sizeof(one));
    }
  }

  int event_fd;
  std::atomic<bool> sleeping{false};
  std::atomic<std::thread::id> thread;
  base::Mailbox<Task> mailbox;
};

struct Loop::Impl {
  struct Watched {
    FdHandler* handler = nullptr;
    std::uint32_t generation = 0;
    std::uint32_t events = 0;
  };

  int epoll_fd = -1;
  std::shared_ptr<Handle::Shared> shared = std::make_shared<Handle::Shared>();
  std::atomic<bool> stopped{false};
  std::vector<Watched> watched;
  std::vector<Task> tasks;
  std::map<std::pair<base::MonoTime, TimerId>, Task> timers;
  std::unordered_map<TimerId, base::MonoTime> deadlines;
  TimerId next_timer = 1;
};

Loop::Loop(const base::Clock& clock)
    : clock_(clock), now_(clock.Monotonic()), impl_(std::make_unique<Impl>()) {
  ::signal(SIGPIPE, SIG_IGN);  // NOLINT: a write to a closed socket must not end the process
  impl_->epoll_fd = ::epoll_create1(EPOLL_CLOEXEC);
  ALLOT_CHECK(impl_->epoll_fd >= 0);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kWakeToken;
  ALLOT_CHECK(::epoll_ctl(impl_->epoll_fd, EPOLL_CTL_ADD, impl_->shared->event_fd, &event) == 0);
}

Loop::~Loop() {
  Stop();
  // Tasks may own connections whose destructors use the loop: let go of them while it is whole.
  std::vector<Task> dropped;
  while (impl_->shared->mailbox.Drain(dropped)) {
    dropped.clear();
  }
  impl_->tasks.clear();
  impl_->timers.clear();
  while (!garbage_.empty()) {
    std::vector<std::shared_ptr<void>> garbage;
    garbage.swap(garbage_);
  }
  ::close(impl_->epoll_fd);
}

void Loop::Run() {
  while (!stopped()) {
    RunOnce(std::chrono::nanoseconds::max());
  }
  // Whoever posted before the stop was told that the task will run, and may be waiting for it.
  while (impl_->shared->mailbox.Drain(impl_->tasks)) {
    RunTasks();
  }
}

void Loop::RunOnce(std::chrono::nanoseconds max_wait) {
  Impl& impl = *impl_;
  impl.shared->thread.store(std::this_thread::get_id());
  impl.shared->sleeping.store(true);
  const bool has_tasks = impl.shared->mailbox.Drain(impl.tasks);
  std::int64_t wait_ms = -1;
  if (has_tasks || stopped() || !turn_end_.empty() || !garbage_.empty()) {
    wait_ms = 0;
  } else {
    auto wait = max_wait;
    if (!impl.timers.empty()) {
      const auto due = impl.timers.begin()->first.first - clock_.Monotonic();
      wait = std::min(wait, std::max(due, std::chrono::nanoseconds(0)));
    }
    if (wait != std::chrono::nanoseconds::max()) {
      wait_ms = std::min<std::int64_t>((wait.count() + 999'999) / 1'000'000, 3'600'000);
    }
  }
  epoll_event events[kEventsPerWait];
  const int count = ::epoll_wait(impl.epoll_fd, events, kEventsPerWait, static_cast<int>(wait_ms));
  impl.shared->sleeping.store(false);
  now_ = clock_.Monotonic();
  ++turns_;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t token = events[i].data.u64;
    if (token == kWakeToken) {
      std::uint64_t value = 0;
      [[maybe_unused]] const auto got = ::read(impl.shared->event_fd, &value, sizeof(value));
      continue;
    }
    const auto fd = static_cast<std::size_t>(token & 0xFFFFFFFFU);
    const Impl::Watched& watched = impl.watched[fd];
    if (watched.handler != nullptr &&
        watched.generation == static_cast<std::uint32_t>(token >> 32U)) {
      watched.handler->OnReady(FromEpoll(events[i].events));
    }
  }
  RunTimers();
  RunTasks();
  RunTurnEnd();
  std::vector<std::shared_ptr<void>> garbage;
  garbage.swap(garbage_);
}

void Loop::RunTimers() {
  // Timers set by a timer wait for the next turn, so a zero delay cannot hold the loop.
  const TimerId newest = impl_->next_timer;
  while (!impl_->timers.empty()) {
    auto first = impl_->timers.begin();
    if (first->first.first > now_ || first->first.second >= newest) {
      break;
    }
    Task task = std::move(first->second);
    impl_->deadlines.erase(first->first.second);
    impl_->timers.erase(first);
    task();
  }
}

void Loop::RunTasks() {
  std::vector<Task> tasks;
  tasks.swap(impl_->tasks);
  for (Task& task : tasks) {
    task();
    task = nullptr;
  }
  // What arrived meanwhile, once: it shares this turn's writes.
  if (impl_->shared->mailbox.Drain(tasks)) {
    for (Task& task : tasks) {
      task();
      task = nullptr;
    }
  }
}

void Loop::RunTurnEnd() {
  // Swapped: who adds itself from now on is called in the next turn, which then does not wait.
  running_turn_end_.swap(turn_end_);
  for (std::size_t i = 0; i < running_turn_end_.size(); ++i) {
    if (TurnEndHandler* const handler = running_turn_end_[i]; handler != nullptr) {
      running_turn_end_[i] = nullptr;
      handler->OnTurnEnd();
    }
  }
  running_turn_end_.clear();
}

void Loop::ForgetTurnEnd(TurnEndHandler* handler) {
  std::replace(turn_end_.begin(), turn_end_.end(), handler, static_cast<TurnEndHandler*>(nullptr));
  std::replace(running_turn_end_.begin(),
               running_turn_end_.end(),
               handler,
               static_cast<TurnEndHandler*>(nullptr));
}

void Loop::Stop() {
  impl_->stopped.store(true);
  impl_->shared->mailbox.Stop();
}

bool Loop::stopped() const {
  return impl_->stopped.load();
}

bool Loop::Post(Task task) {
  return impl_->shared->mailbox.Post(std::move(task));
}

bool Loop::PostAll(std::vector<Task> tasks) {
  return impl_->shared->mailbox.PostAll(std::move(tasks));
}

Loop::Handle Loop::handle() const {
  Handle handle;
  handle.shared_ = impl_->shared;
  return handle;
}

bool Loop::Handle::Post(Task task) const {
  return shared_ != nullptr && shared_->mailbox.Post(std::move(task));
}

bool Loop::Handle::PostAll(std::vector<Task> tasks) const {
  return shared_ != nullptr && shared_->mailbox.PostAll(std::move(tasks));
}

bool Loop::OnLoopThread() const {
  return impl_->shared->thread.load() == std::this_thread::get_id();
}

bool Loop::Handle::OnLoopThread() const {
  return shared_ != nullptr && shared_->thread.load() == std::this_thread::get_id();
}

Loop::TimerId Loop::After(std::chrono::nanoseconds delay, Task task) {
  const TimerId id = impl_->next_timer++;
  const base::MonoTime due = clock_.Monotonic() + delay;
  impl_->timers.emplace(std::pair(due, id), std::move(task));
  impl_->deadlines.emplace(id, due);
  return id;
}

void Loop::Cancel(TimerId timer) {
  if (const auto found = impl_->deadlines.find(timer); found != impl_->deadlines.end()) {
    // The task is destroyed after the maps are consistent: its captures may cancel other timers.
    auto node = impl_->timers.extract(std::pair(found->second, timer));
    impl_->deadlines.erase(found);
  }
}

bool Loop::Watch(int fd, std::uint32_t events, FdHandler* handler) {
  const auto index = static_cast<std::size_t>(fd);
  if (index >= impl_->watched.size()) {
    impl_->watched.resize(std::max(index + 1, impl_->watched.size() * 2));
  }
  Impl::Watched& watched = impl_->watched[index];
  ++watched.generation;
  epoll_event event{};
  event.events = ToEpoll(events);
  event.data.u64 = (static_cast<std::uint64_t>(watched.generation) << 32U) | index;
  if (::epoll_ctl(impl_->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
    return false;
  }
  watched.handler = handler;
  watched.events = events;
  return true;
}

void Loop::Rewatch(int fd, std::uint32_t events) {
  const auto index = static_cast<std::size_t>(fd);
  Impl::Watched& watched = impl_->watched[index];
  if (watched.events == events) {
    return;
  }
  watched.events = events;
  epoll_event event{};
  event.events = ToEpoll(events);
  event.data.u64 = (static_cast<std::uint64_t>(watched.generation) << 32U) | index;
  ::epoll_ctl(impl_->epoll_fd, EPOLL_CTL_MOD, fd, &event);
}

void Loop::Unwatch(int fd) {
  Impl::Watched& watched = impl_->watched[static_cast<std::size_t>(fd)];
  if (watched.handler != nullptr) {
    watched.handler = nullptr;
    ::epoll_ctl(impl_->epoll_fd, EPOLL_CTL_DEL, fd, nullptr);
  }
}

LoopThread::LoopThread(const std::string& name, const base::Clock& clock)
    : loop_(clock), thread_([this] { loop_.Run(); }) {
  ::pthread_setname_np(thread_.native_handle(), name.substr(0, 15).c_str());
}

LoopThread::~LoopThread() {
  StopAndJoin();
}

void LoopThread::StopAndJoin() {
  loop_.Stop();
  if (thread_.joinable()) {
    thread_.join();
  }
}

}  // namespace allot::net
