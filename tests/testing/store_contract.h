// The contract of store::Store: one suite over every log (and every other build of the store).
//
// A test file includes this, defines how a disk is made and opened, and instantiates the suite:
//   INSTANTIATE_TEST_SUITE_P(Memory, StoreContract, ::testing::Values(MemoryDisks()), ...).
#pragma once

#include "testing/store_fixture.h"

namespace allot::testing {

TEST_P(StoreContract, WritesGetRisingRevisionsAndAreReadBack) {
  const Revision first = Must(Put("default/a", "1"));
  const Revision second = Must(Put("default/b", "2"));
  const Revision third = Must(Put("default/a", "3", first));
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  const Snapshot snapshot = store_->TakeSnapshot(pods_);
  EXPECT_EQ(snapshot.revision(), third);
  EXPECT_THAT(Describe(snapshot),
              ::testing::ElementsAre(fmt::format("default/a@{}=3", third),
                                     fmt::format("default/b@{}=2", second)));
  EXPECT_EQ(snapshot.Find("default/a")->created(), first);
  EXPECT_EQ(snapshot.Find("default/c"), nullptr);
  EXPECT_EQ(store_->TakeSnapshot(nodes_).size(), 0U);
  EXPECT_EQ(store_->ReadHead({pods_, "default/a"})->revision(), third);
  EXPECT_FALSE(store_->ReadHead({nodes_, "default/a"}));
}

TEST_P(StoreContract, Preconditions) {
  const Revision a = Must(Put("a", "1", kAbsent));
  EXPECT_EQ(Refused(Put("a", "2", kAbsent)), Reason::kAlreadyExists);
  EXPECT_EQ(Refused(Put("a", "2", a + 1)), Reason::kConflict);
  EXPECT_EQ(Refused(Put("b", "2", a)), Reason::kNotFound);
  EXPECT_EQ(Refused(Remove("b")), Reason::kNotFound);
  EXPECT_EQ(Refused(Remove("a", a + 1)), Reason::kConflict);
  EXPECT_EQ(Refused({.key = {ResourceId{77}, "x"}}), Reason::kBadRequest);
  Must(Remove("a", a));
  EXPECT_EQ(Refused(Remove("a")), Reason::kNotFound);
  EXPECT_EQ(Refused(Put("a", "2", a)), Reason::kNotFound);
  const Revision again = Must(Put("a", "3", kAbsent));
  EXPECT_EQ(store_->ReadHead({pods_, "a"})->created(), again);
}

TEST_P(StoreContract, EventsCarryKindAndPrevious) {
  const Revision r1 = Must(Put("a", "1"));
  const Revision r2 = Must(Put("a", "2"));
  const Revision r3 = Must(Remove("a"));
  Op with_state = Remove("b");
  const Revision r4 = Must(Put("b", "1"));
  with_state.value = Value::Copy("last");
  const Revision r5 = Must(std::move(with_state));
  Must({.key = {nodes_, "n"}, .value = Value::Copy("x")});
  EXPECT_THAT(Describe(Events(r1 - 1)),
              ::testing::ElementsAre(fmt::format("A a@{}=1<-", r1),
                                     fmt::format("M a@{}=2<1", r2),
                                     fmt::format("D a@{}=2<2", r3),
                                     fmt::format("A b@{}=1<-", r4),
                                     fmt::format("D b@{}=last<1", r5)));
  EXPECT_THAT(Describe(Events(r4)), ::testing::ElementsAre(fmt::format("D b@{}=last<1", r5)));
  std::vector<Event> some;
  EXPECT_EQ(*store_->EventsSince(pods_, r1, some, 2), r3);
  EXPECT_EQ(some.size(), 2U);
  some.clear();
  // Nothing left: the answer is complete up to the write to the other resource.
  EXPECT_EQ(*store_->EventsSince(pods_, r5, some, 2), store_->durable());
  EXPECT_TRUE(some.empty());
}

// Invariant 2: nobody sees the undurable, while conflicting writes already conflict.
TEST_P(StoreContract, OnlyHeadShowsWhatIsNotDurable) {
  const Revision a = Must(Put("a", "1"));
  std::atomic<int> woken{0};
  const auto subscription = store_->Subscribe({}, [&woken](const store::Published&) { ++woken; });
  gate_->Close();
  RecordingSink sink;
  const auto pending = store_->Commit(Put("a", "2", a), &sink, 7);
  ASSERT_TRUE(pending.has_value());
  gate_->AwaitWaiter();
  const Revision next = Must(Put("a", "3", (*pending)->revision()), Ack::kSequenced);
  EXPECT_EQ(Refused(Put("a", "4", a)), Reason::kConflict);
  EXPECT_EQ(store_->ReadHead({pods_, "a"})->value().bytes(), "3");
  EXPECT_EQ(store_->TakeSnapshot(pods_).Find("a")->value().bytes(), "1");
  EXPECT_EQ(store_->durable(), a);
  EXPECT_TRUE(Events(a).empty());
  EXPECT_EQ(store_->SnapshotAt(pods_, next).error().reason(), Reason::kTimeout);
  EXPECT_EQ(woken, 0);
  EXPECT_TRUE(sink.tokens().empty());
  gate_->Open();
  sink.Await(1);
  Settle();
  EXPECT_EQ(store_->TakeSnapshot(pods_).Find("a")->value().bytes(), "3");
  EXPECT_EQ(Events(a).size(), 2U);
  EXPECT_THAT(sink.tokens(), ::testing::ElementsAre(7));
}

// Invariant 11: one row a write, one sync, one wake and one call of a sink per batch.
TEST_P(StoreContract, WaitingWritesShareOneSyncOneWakeOneCall) {
  Must(Put("a", "0"));
  std::atomic<int> pods_woken{0};
  std::atomic<int> nodes_woken{0};
  const auto pods = store_->Subscribe({pods_}, [&](const store::Published& published) {
    EXPECT_THAT(published.resources, ::testing::ElementsAre(pods_));
    ++pods_woken;
  });
  const auto nodes = store_->Subscribe({nodes_}, [&](const store::Published&) { ++nodes_woken; });
  gate_->Close();
  RecordingSink first;
  RecordingSink second;
  ASSERT_TRUE(store_->Commit(Put("first", "x"), &first, 0).has_value());
  gate_->AwaitWaiter();
  const std::uint64_t appends = gate_->appends();
  const std::uint64_t rows = gate_->rows();
  for (std::uint64_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(
        store_->Commit(Put(fmt::format("k{}", i % 10), "v"), i % 2 == 0 ? &first : &second, i)
            .has_value());
  }
  gate_->Open();
  first.Await(51);
  second.Await(50);
  EXPECT_EQ(gate_->appends() - appends, 2U);
  EXPECT_EQ(gate_->rows() - rows, 101U);
  EXPECT_EQ(pods_woken, 2);
  EXPECT_EQ(nodes_woken, 0);
  EXPECT_EQ(first.calls(), 2);
  EXPECT_EQ(second.calls(), 1);
}

TEST_P(StoreContract, SnapshotsStayAsTheyWere) {
  std::vector<Snapshot> snapshots;
  std::vector<std::vector<std::string>> described;
  for (int i = 0; i < 200; ++i) {
    const std::string key = fmt::format("k{:02}", i * 37 % 50);
    if (i % 3 == 2 && store_->ReadHead({pods_, key})) {
      Must(Remove(key));
    } else {
      Must(Put(key, std::to_string(i)));
    }
    snapshots.push_back(store_->TakeSnapshot(pods_));
    described.push_back(Describe(snapshots.back()));
  }
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    EXPECT_EQ(Describe(snapshots[i]), described[i]);
    const auto again = store_->SnapshotAt(pods_, snapshots[i].revision());
    ASSERT_TRUE(again.has_value()) << again.error().ToString();
    EXPECT_EQ(again->revision(), snapshots[i].revision());
    EXPECT_EQ(Describe(*again), described[i]);
  }
}

TEST_P(StoreContract, CompactedHistoryExpires) {
  const Revision r1 = Must(Put("a", "1"));
  const Revision r2 = Must(Put("a", "2"));
  const Revision r3 = Must(Put("a", "3"));
  store_->KeepSnapshot(pods_, *store_->SnapshotAt(pods_, r1));
  store_->Compact(r2);
  Settle();
  std::vector<Event> events;
  EXPECT_EQ(store_->EventsSince(pods_, r1, events, 10).error().reason(), Reason::kExpired);
  EXPECT_EQ(store_->SnapshotAt(pods_, r1).error().reason(), Reason::kExpired);
  EXPECT_THAT(Describe(*store_->SnapshotAt(pods_, r2)),
              ::testing::ElementsAre(fmt::format("a@{}=2", r2)));
  EXPECT_THAT(Describe(Events(r2)), ::testing::ElementsAre(fmt::format("M a@{}=3<2", r3)));
  EXPECT_EQ(store_->stats().compacted, r2);
}

TEST_P(StoreContract, RetentionCompactsByItself) {
  const Revision r1 = Must(Put("a", "1"));
  Must(Put("a", "2"));
  clock_.Advance(std::chrono::seconds(2));
  Settle();
  clock_.Advance(options_.retention);
  Settle();
  EXPECT_GE(store_->stats().compacted, r1);
  EXPECT_EQ(store_->SnapshotAt(pods_, 0).error().reason(), Reason::kExpired);
  Await([this] { return gate_->deleted() > 0; });
}

TEST_P(StoreContract, DeadBytesEndTheRetentionEarly) {
  options_.dead_bytes = 10'000;
  Open();
  const std::string big(1000, 'x');
  for (int i = 0; i < 100; ++i) {
    Must(Put("a", big));
  }
  Await([this] { return store_->stats().dead_bytes < 11'000; });
}

TEST_P(StoreContract, SmallWindowExpiresOldCursors) {
  options_.window_bytes = 4000;
  Open();
  const Revision r1 = Must(Put("a", std::string(500, 'x')));
  for (int i = 0; i < 20; ++i) {
    Must(Put("a", std::string(500, 'x')));
  }
  std::vector<Event> events;
  EXPECT_EQ(store_->EventsSince(pods_, r1, events, 10).error().reason(), Reason::kExpired);
  EXPECT_THAT(store_->EventsSince(pods_, r1, events, 10).error().message(),
              ::testing::HasSubstr("too old resource version: "));
  EXPECT_TRUE(store_->EventsSince(pods_, store_->durable() - 2, events, 10).has_value());
  EXPECT_EQ(events.size(), 2U);
}

// Invariant 5: a failed commit fails all its writes, nobody hears of it, no revision comes twice.
TEST_P(StoreContract, FullDiskFailsWhatWaitsAndNothingElse) {
  const Revision a = Must(Put("a", "1"));
  Must(Put("b", "1"));
  const std::vector<std::string> before = Describe(store_->TakeSnapshot(pods_));
  const Revision durable = store_->durable();
  std::atomic<int> woken{0};
  const auto subscription = store_->Subscribe({}, [&woken](const store::Published&) { ++woken; });
  gate_->Close();
  RecordingSink sink;
  const auto update = store_->Commit(Put("a", "2", a), &sink, 1);
  gate_->AwaitWaiter();
  const auto chained = store_->Commit(Put("a", "3", (*update)->revision()), &sink, 2);
  const auto created = store_->Commit(Put("c", "1", kAbsent), &sink, 3);
  const auto removed = store_->Commit(Remove("b"), &sink, 4);
  ASSERT_TRUE(chained && created && removed);
  gate_->FailWith(store::LogFailure{store::LogFailure::Kind::kNoSpace, "full"});
  gate_->Open();
  sink.Await(4);
  EXPECT_THAT(sink.tokens(), ::testing::ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(sink.errors(),
              ::testing::Each(std::string("etcdserver: mvcc: database space exceeded")));
  EXPECT_EQ(Refused(Put("d", "1")), Reason::kInternalError);
  EXPECT_TRUE(store_->stats().out_of_space);
  EXPECT_EQ(Describe(store_->TakeSnapshot(pods_)), before);
  EXPECT_EQ(store_->durable(), durable);
  EXPECT_EQ(store_->ReadHead({pods_, "a"})->revision(), a);
  EXPECT_TRUE(store_->ReadHead({pods_, "b"}));
  EXPECT_FALSE(store_->ReadHead({pods_, "c"}));
  EXPECT_EQ(woken, 0);
  gate_->FailWith(std::nullopt);
  Await([this] { return !store_->stats().out_of_space; });
  // The revision of the failed write is burned: it cannot be anybody's precondition any more.
  EXPECT_EQ(Refused(Put("a", "4", (*update)->revision())), Reason::kConflict);
  EXPECT_GT(Must(Put("a", "4", a)), (*removed)->revision());
  EXPECT_EQ(Events(durable).size(), 1U);
  EXPECT_EQ(store_->stats().failed, 4U);
}

TEST_P(StoreContract, UnknownOutcomeIsFatal) {
  std::string heard;
  options_.on_fatal = [&heard](const base::Status& status) {
    heard = status.message();
  };
  Open();
  const Revision a = Must(Put("a", "1"));
  gate_->FailWith(store::LogFailure{store::LogFailure::Kind::kUnknown, "sync failed"});
  EXPECT_EQ(Refused(Put("a", "2")), Reason::kInternalError);
  EXPECT_EQ(heard, "sync failed");
  gate_->FailWith(std::nullopt);
  EXPECT_EQ(Refused(Put("a", "3")), Reason::kInternalError);
  store_->Compact(a);
  EXPECT_EQ(store_->TakeSnapshot(pods_).Find("a")->value().bytes(), "1");
}

TEST_P(StoreContract, ReopenedStoreGoesOnWhereItStopped) {
  const Revision r1 = Must(Put("ns/a", "1"));
  Must(Put("ns/b", "1"));
  Must(Put("ns/a", "2"));
  Must(Remove("ns/b"));
  Must({.key = {nodes_, "n"}, .value = Value::Copy("node")});
  const auto other = *store_->AddResource("example.com/widgets");
  Must({.key = {other, "w"}, .value = Value::Copy("widget")});
  const auto state = Describe(store_->TakeSnapshot(pods_));
  const auto events = Describe(Events(r1 - 1));
  const Revision durable = store_->durable();
  Open();
  EXPECT_EQ(store_->durable(), durable);
  EXPECT_EQ(Describe(store_->TakeSnapshot(pods_)), state);
  EXPECT_EQ(Describe(Events(r1 - 1)), events);
  EXPECT_EQ(store_->ReadHead({pods_, "ns/a"})->created(), r1);
  EXPECT_FALSE(store_->ReadHead({pods_, "ns/b"}));
  EXPECT_EQ(Refused(Put("ns/a", "3", kAbsent)), Reason::kAlreadyExists);
  EXPECT_GT(Must(Put("ns/a", "3")), durable);
  // A resource that nobody asked for yet has lost nothing.
  const auto widgets = *store_->AddResource("example.com/widgets");
  EXPECT_THAT(Keys(store_->TakeSnapshot(widgets)), ::testing::ElementsAre("w"));
}

// A last write that compaction deletes must not give its revision to another one.
TEST_P(StoreContract, RevisionsAreNotReusedAfterCompactionAndRestart) {
  Must(Put("a", "1"));
  const Revision last = Must(Remove("a"));
  store_->Compact(last);
  Await([this] { return store_->stats().dead_rows == 0; });
  Open();
  EXPECT_EQ(store_->durable(), last);
  EXPECT_EQ(Must(Put("b", "1")), last + 1);
}

// Invariant 9.
TEST_P(StoreContract, CompactionKeepsWhatIsNeeded) {
  options_.compact_chunk = 7;
  Open();
  for (int i = 0; i < 300; ++i) {
    const std::string key = fmt::format("k{}", i * 31 % 17);
    if (i % 5 == 4 && store_->ReadHead({pods_, key})) {
      Must(Remove(key));
    } else {
      Must(Put(key, std::to_string(i)));
    }
  }
  const Revision middle = store_->durable() - 100;
  const auto at_middle = Describe(*store_->SnapshotAt(pods_, middle));
  const auto at_end = Describe(store_->TakeSnapshot(pods_));
  const auto events = Describe(Events(middle));
  store_->Compact(middle);
  Settle();
  Await([this] { return gate_->deleted() >= 100; });
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(Describe(*store_->SnapshotAt(pods_, middle)), at_middle);
    EXPECT_EQ(Describe(store_->TakeSnapshot(pods_)), at_end);
    EXPECT_EQ(Describe(Events(middle)), events);
    Open();
    store_->Compact(middle);  // repeating is harmless
    Settle();
  }
}

TEST_P(StoreContract, TypedViewsAndWireFormsLiveInTheEventWindowOnly) {
  options_.window_attachments = 4;
  Open();
  auto typed = std::make_shared<const int>(42);
  Op op = Put("a", "1");
  op.typed = typed;
  const Revision first = Must(std::move(op));
  const Event event = Events(first - 1).at(0);
  EXPECT_EQ(event.entry->Attached(store::Entry::kTyped), typed);
  const auto wire = std::make_shared<const std::string>("{}");
  EXPECT_EQ(event.entry->Attach(1, wire), wire);
  EXPECT_EQ(event.entry->Attach(1, std::make_shared<const std::string>("late")), wire);
  EXPECT_EQ(event.entry->Attached(2), nullptr);
  for (int i = 0; i < 5; ++i) {
    Must(Put("b", "1"));
  }
  Settle();
  EXPECT_EQ(event.entry->Attached(store::Entry::kTyped), nullptr);
  EXPECT_EQ(event.entry->Attached(1), nullptr);
  EXPECT_EQ(typed.use_count(), 1);
  EXPECT_EQ(event.entry->Attach(1, wire), wire);
  EXPECT_EQ(event.entry->Attached(1), nullptr);
}

TEST_P(StoreContract, RangesAndCounts) {
  for (const char* const key : {"a/1", "a/2", "a-b/1", "b/1", "a/3"}) {
    Must(Put(key, "x"));
  }
  const Snapshot snapshot = store_->TakeSnapshot(pods_);
  EXPECT_THAT(Keys(snapshot), ::testing::ElementsAre("a-b/1", "a/1", "a/2", "a/3", "b/1"));
  EXPECT_EQ(snapshot.Count("a/", store::PrefixEnd("a/")), 3U);
  EXPECT_EQ(snapshot.Count("a/2", ""), 3U);
  EXPECT_EQ(snapshot.Count("x", "b"), 0U);
  EXPECT_EQ(snapshot.Seek("a/11")->key(), "a/2");
  EXPECT_FALSE(snapshot.Seek("c").valid());
}

TEST_P(StoreContract, ResourcePaths) {
  EXPECT_EQ(*store_->AddResource("pods"), pods_);
  for (const char* const path : {"", "/x", "x/", "pods/status"}) {
    EXPECT_EQ(store_->AddResource(path).error().reason(), Reason::kBadRequest) << path;
  }
  ASSERT_TRUE(store_->AddResource("example.com/widgets").has_value());
  EXPECT_EQ(store_->AddResource("example.com").error().reason(), Reason::kBadRequest);
  EXPECT_TRUE(store_->AddResource("podsx").has_value());
}

TEST_P(StoreContract, StoppedStoreCommitsWhatWaitsAndRefusesMore) {
  RecordingSink sink;
  for (std::uint64_t i = 0; i < 50; ++i) {
    ASSERT_TRUE(store_->Commit(Put(std::to_string(i), "x"), &sink, i).has_value());
  }
  store_->Stop();
  EXPECT_EQ(sink.tokens().size(), 50U);
  EXPECT_THAT(sink.errors(), ::testing::Each(std::string()));
  EXPECT_EQ(Refused(Put("x", "x")), Reason::kServiceUnavailable);
  EXPECT_EQ(store_->TakeSnapshot(pods_).size(), 50U);
  Open();
  EXPECT_EQ(store_->TakeSnapshot(pods_).size(), 50U);
}

TEST_P(StoreContract, QueueLimitRefusesWrites) {
  options_.queue_bytes = 5000;
  Open();
  gate_->Close();
  Reason reason = Reason::kUnknown;
  for (int i = 0; i < 100 && reason == Reason::kUnknown; ++i) {
    const auto entry = store_->Commit(Put("a", std::string(500, 'x')), nullptr, 0);
    reason = entry ? Reason::kUnknown : entry.error().reason();
  }
  EXPECT_EQ(reason, Reason::kTooManyRequests);
  gate_->Open();
  Await([this] { return store_->durable() == store_->stats().head; });
  Must(Put("a", "x"));
}

TEST_P(StoreContract, ReviveMakesValuesAndItsErrorNamesTheKey) {
  Must(Put("ns/a", "good"));
  Must({.key = {nodes_, "n"}, .value = Value::Copy("bad")});
  store_.reset();
  options_.revive =
      [](std::string_view path, std::string_view key, Revision, Value raw) -> base::Result<Value> {
    if (raw.bytes() == "bad") {
      return base::Error(Reason::kInternalError, "cannot decode");
    }
    return Value::Copy(fmt::format("{} {} {}", path, key, raw.bytes()));
  };
  auto opened = store::OpenLocal(disk_->Open(), options_);
  ASSERT_TRUE(opened.has_value());
  const auto pods = *(*opened)->AddResource("pods");
  EXPECT_EQ((*opened)->TakeSnapshot(pods).Find("ns/a")->value().bytes(), "pods ns/a good");
  EXPECT_THAT((*opened)->AddResource("nodes").error().message(),
              ::testing::HasSubstr("/registry/nodes/n at revision 2: cannot decode"));
}

TEST_P(StoreContract, SubscriptionEnds) {
  std::atomic<int> woken{0};
  auto subscription = store_->Subscribe({pods_}, [&](const store::Published&) { ++woken; });
  Must(Put("a", "1"));
  EXPECT_EQ(woken, 1);
  subscription.reset();
  Must(Put("a", "2"));
  EXPECT_EQ(woken, 1);
}

TEST_P(StoreContract, LargeAndEmptyValues) {
  const std::string large(3 << 20, 'L');
  Must(Put("large", large));
  Must(Put("empty", ""));
  Must(Put(std::string(500, 'k'), "long key"));
  Open();
  const Snapshot snapshot = store_->TakeSnapshot(pods_);
  EXPECT_EQ(snapshot.Find("large")->value().bytes(), large);
  EXPECT_EQ(snapshot.Find("empty")->value().bytes(), "");
  EXPECT_NE(snapshot.Find(std::string(500, 'k')), nullptr);
}

}  // namespace allot::testing
