#include "server/fleet/hosts_now.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing.h"
#include "server/fleet/fleet.h"

namespace swaplock {
namespace {

absl::Time EndOf(const Window& window) {
  return absl::FromUnixNanos(static_cast<int64_t>(window.end_unix_ns));
}

// A window whose host has holds of these lengths in progress.
Window Holding(const std::string& host, uint64_t seq,
               const std::vector<uint64_t>& holds_ns) {
  Window window = MakeWindow(host, seq);
  for (const uint64_t ns : holds_ns) {
    Hold hold;
    hold.hold_ns = hold.on_cpu_ns = ns;
    window.holds_in_progress.push_back(hold);
  }
  return window;
}

// The lengths of what is in progress, in order.
std::vector<uint64_t> Lengths(const HostsNow& hosts, absl::Time now) {
  std::vector<uint64_t> out;
  for (const HoldInProgress& held : hosts.HoldsInProgress(now)) {
    out.push_back(held.hold.hold_ns);
  }
  return out;
}

using Ns = std::vector<uint64_t>;

TEST(HostsNowTest, HoldsAreThoseOfTheNewestWindowOfEachHost) {
  HostsNow hosts;
  const Window a = Holding("a", 1, {5'000'000, 2'000'000});
  hosts.Take(a, EndOf(a));
  hosts.Take(Holding("b", 1, {3'000'000}), EndOf(a));
  EXPECT_EQ(Lengths(hosts, EndOf(a)), (Ns{5'000'000, 3'000'000, 2'000'000}));
  const HoldInProgress longest = hosts.HoldsInProgress(EndOf(a))[0];
  EXPECT_EQ(longest.host_id, "a");
  EXPECT_EQ(longest.kernel_release, "6.18.15");
  EXPECT_EQ(longest.key, a.cells[0].key);
  EXPECT_EQ(longest.lock_model, LockModel::kMutex);
  EXPECT_EQ(longest.hold_tier, Tier::kExact);
  EXPECT_EQ(longest.as_of, EndOf(a));
  // The next window of the host lacks one, the one after it has none.
  const Window next = Holding("a", 2, {15'000'000});
  hosts.Take(next, EndOf(next));
  EXPECT_EQ(Lengths(hosts, EndOf(next)), (Ns{15'000'000, 3'000'000}));
  const Window last = MakeWindow("a", 3);
  hosts.Take(last, EndOf(last));
  EXPECT_EQ(Lengths(hosts, EndOf(last)), (Ns{3'000'000}));
}

// Three intervals of ten seconds, and ten seconds.
TEST(HostsNowTest, HoldsOfASilentHostAreGone) {
  HostsNow hosts;
  const Window window = Holding("a", 1, {5'000'000});
  hosts.Take(window, EndOf(window) + absl::Seconds(1));
  EXPECT_EQ(Lengths(hosts, EndOf(window) + absl::Seconds(41)).size(), 1u);
  EXPECT_EQ(Lengths(hosts, EndOf(window) + absl::Seconds(42)).size(), 0u);
}

TEST(HostsNowTest, AClockThatIsALittleWrongHidesNothing) {
  HostsNow hosts;
  const Window window = Holding("a", 1, {5'000'000});
  const absl::Time now = EndOf(window) + absl::Minutes(1);
  hosts.Take(window, now);
  EXPECT_EQ(Lengths(hosts, now + absl::Seconds(40)).size(), 1u);
  EXPECT_EQ(Lengths(hosts, now + absl::Seconds(41)).size(), 0u);
}

TEST(HostsNowTest, HoldsOfAWindowThatComesLateAreOver) {
  HostsNow hosts;
  const Window window = Holding("a", 1, {5'000'000});
  const absl::Time now = EndOf(window) + absl::Hours(1);
  hosts.Take(window, now);
  EXPECT_EQ(Lengths(hosts, now), Ns());
}

// A clock that is ahead must not make a silent host's holds last.
TEST(HostsNowTest, NoHoldIsOfTheFuture) {
  HostsNow hosts;
  const Window window = Holding("a", 1, {5'000'000});
  const absl::Time now = EndOf(window) - absl::Minutes(5);
  hosts.Take(window, now);
  EXPECT_EQ(hosts.HoldsInProgress(now).at(0).as_of, now);
  EXPECT_EQ(Lengths(hosts, now + absl::Seconds(41)), Ns());
}

TEST(HostsNowTest, KeepsTheLongestHoldsOfAHostAndOfAll) {
  HostsNow hosts;
  const absl::Time now = EndOf(MakeWindow("a", 1));
  for (uint64_t host = 0; host < 100; ++host) {
    std::vector<uint64_t> holds;
    for (uint64_t i = 0; i < 20; ++i) {
      holds.push_back(2'000'000 + 1'000 * host + i);
    }
    hosts.Take(Holding(absl::StrCat("h", host), 1, holds), now);
  }
  const Ns lengths = Lengths(hosts, now);
  ASSERT_EQ(lengths.size(), HostsNow::kMaxHolds);
  // Eight of each host, from the host with the longest on.
  for (size_t i = 0; i < lengths.size(); ++i) {
    EXPECT_EQ(lengths[i], 2'000'000 + 1'000 * (99 - i / 8) + 19 - i % 8);
  }
}

Window Saying(uint64_t seq, bool complete,
              const std::map<std::string, uint64_t>& gauges,
              const std::map<std::string, std::string>& facts = {}) {
  Window window = MakeWindow("a", seq);
  window.context.complete = complete;
  window.context.counters["vmstat/zswpin"] = 7;
  window.context.gauges = gauges;
  window.context.facts = facts;
  return window;
}

Context ContextAfter(const std::vector<Window>& windows) {
  HostsNow hosts;
  for (const Window& window : windows) hosts.Take(window, EndOf(window));
  const auto context = hosts.ContextOf("a");
  return context == nullptr ? Context() : context->known;
}

TEST(HostsNowTest, ContextIsWhatAllWindowsSaidTogether) {
  const Context context = ContextAfter(
      {Saying(1, true, {{"mem/free_bytes", 1}, {"zswap/pool_bytes", 2}},
              {{"zswap/compressor", "lzo"}}),
       Saying(2, false, {{"zswap/pool_bytes", 3}})});
  EXPECT_TRUE(context.complete);
  EXPECT_EQ(context.gauges.at("mem/free_bytes"), 1u);
  EXPECT_EQ(context.gauges.at("zswap/pool_bytes"), 3u);
  EXPECT_EQ(context.facts.at("zswap/compressor"), "lzo");
  EXPECT_TRUE(context.counters.empty());
}

TEST(HostsNowTest, ContextIsNotCompleteUntilAHostSaidAllOfIt) {
  EXPECT_FALSE(ContextAfter({Saying(5, false, {{"a", 1}})}).complete);
  const Window all = Saying(1, true, {{"a", 1}});
  EXPECT_TRUE(ContextAfter({all, Saying(2, false, {{"a", 2}})}).complete);
  // A change that did not arrive may be anything.
  EXPECT_FALSE(ContextAfter({all, Saying(3, false, {{"a", 2}})}).complete);
  Window merged = Saying(3, false, {{"a", 2}});
  merged.merged = 2;
  EXPECT_TRUE(ContextAfter({all, merged}).complete);
  // Another life of the agent begins with nothing known.
  Window other = Saying(2, false, {{"b", 1}});
  other.key.epoch = 2;
  const Context context = ContextAfter({all, other});
  EXPECT_FALSE(context.complete);
  EXPECT_EQ(context.gauges.count("a"), 0u);
}

TEST(HostsNowTest, AContextThatIsTooLargeIsCutAndSaysSo) {
  std::map<std::string, std::string> facts;
  for (int i = 0; i < 100; ++i) {
    facts[absl::StrCat("f", i)] = std::string(250, 'x');
  }
  const Context context = ContextAfter({Saying(1, true, {{"g", 1}}, facts)});
  EXPECT_FALSE(context.complete);
  EXPECT_GT(context.facts.size(), 50u);
  EXPECT_LT(context.facts.size(), 70u);
}

TEST(HostsNowTest, AHostThatSaysNothingHasNoContext) {
  HostsNow hosts;
  const Window window = MakeWindow("a", 1);
  hosts.Take(window, EndOf(window));
  EXPECT_EQ(hosts.ContextOf("a"), nullptr);
  EXPECT_EQ(hosts.ContextOf("b"), nullptr);
}

TEST(HostsNowTest, ContextsOfSilentHostsGiveWay) {
  HostsNow hosts;
  const absl::Time now = EndOf(MakeWindow("a", 1));
  const auto take = [&hosts](const std::string& host, absl::Time when) {
    Window window = MakeWindow(host, 1);
    window.end_unix_ns = static_cast<uint64_t>(absl::ToUnixNanos(when));
    window.context.gauges["a"] = 1;
    hosts.Take(window, when);
  };
  for (size_t i = 0; i < HostsNow::kMaxContexts; ++i) {
    take(absl::StrCat("h", i), now);
  }
  take("late", now + absl::Seconds(20));
  EXPECT_EQ(hosts.ContextOf("late"), nullptr);
  EXPECT_NE(hosts.ContextOf("h0"), nullptr);
  take("later", now + absl::Minutes(5));
  EXPECT_NE(hosts.ContextOf("later"), nullptr);
  EXPECT_EQ(hosts.ContextOf("h0"), nullptr);
}

TEST(FleetTest, OldWindowsAndDuplicatesDoNotSayWhatIsNow) {
  Fleet fleet{FleetState()};
  const Window second = Holding("a", 2, {5'000'000});
  const Window first = Holding("a", 1, {2'000'000, 3'000'000});
  const Window empty = MakeWindow("a", 2);
  const absl::Time now = EndOf(second);
  Outcome duplicate;
  duplicate.duplicate = true;
  fleet.Committed({second, first, empty}, {{}, {}, duplicate}, now,
                  absl::ZeroDuration());
  EXPECT_EQ(Lengths(fleet.Snapshot().hosts_now, now), (Ns{5'000'000}));
}

}  // namespace
}  // namespace swaplock
