#include "agent/capture/window_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "agent/bpf/hold_math.h"
#include "common/plain_text.h"

namespace swaplock {
namespace {

CellMeaning ExactWrite() {
  CellMeaning m;
  m.key = {Subsystem::kZram, Operation::kWrite, Role::kStream,
           Mode::kExclusive, "zram0",           "zstd"};
  m.lock_model = LockModel::kMutex;
  m.hold_tier = Tier::kExact;
  m.wait_tier = Tier::kContention;
  return m;
}

// What the programs do at a release.
void CountHold(sl_cell* cell, uint64_t on_cpu, uint64_t runnable,
               uint32_t window) {
  sl_dist_add(&cell->hold, on_cpu + runnable, window);
  if (runnable > 0) sl_dist_add(&cell->runnable, runnable, window);
  cell->on_cpu_ns += on_cpu;
}

// As hold_sampler.cc reads: the window's maximum in slot 0.
sl_cell AsRead(const sl_cell& cell, uint32_t window) {
  sl_cell out = cell;
  for (sl_dist* d : {&out.wait, &out.hold, &out.runnable, &out.blocked}) {
    const uint32_t slot = window & 1;
    d->max_ns[0] = d->max_window[slot] == window ? d->max_ns[slot] : 0;
  }
  return out;
}

std::vector<Cell> Take(WindowBuilder* builder, const sl_cell& total,
                       uint32_t window) {
  std::map<int, uint32_t> index_of;
  return builder->TakeCells({{3, AsRead(total, window)}}, &index_of);
}

TEST(WindowBuilderTest, WindowsAreDifferences) {
  WindowBuilder builder;
  builder.SetMeaning(3, ExactWrite());
  sl_cell total = {};
  CountHold(&total, 1000, 12'000'000, 1);
  std::vector<Cell> first = Take(&builder, total, 1);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].acquisitions, 1u);
  EXPECT_EQ(first[0].hold.sum_ns, 12'001'000u);
  EXPECT_EQ(first[0].hold.max_ns, 12'001'000u);
  EXPECT_EQ(first[0].runnable.over_10ms, 1u);
  CountHold(&total, 500, 0, 2);
  std::vector<Cell> second = Take(&builder, total, 2);
  EXPECT_EQ(second[0].acquisitions, 1u);
  EXPECT_EQ(second[0].hold.sum_ns, 500u);
  EXPECT_EQ(second[0].hold.max_ns, 500u);
  EXPECT_EQ(second[0].hold.over_1ms, 0u);
}

TEST(WindowBuilderTest, AnIdleWindowIsAMeasuredZero) {
  WindowBuilder builder;
  builder.SetMeaning(3, ExactWrite());
  const std::vector<Cell> cells = Take(&builder, sl_cell{}, 1);
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0].acquisitions, 0u);
}

TEST(WindowBuilderTest, AnUnusedOptionalCellIsLeftOutUntilItCounts) {
  WindowBuilder builder;
  CellMeaning m = ExactWrite();
  m.only_if_used = true;
  builder.SetMeaning(3, m);
  sl_cell total = {};
  EXPECT_TRUE(Take(&builder, total, 1).empty());
  CountHold(&total, 10, 0, 2);
  EXPECT_EQ(Take(&builder, total, 2).size(), 1u);
  EXPECT_EQ(Take(&builder, total, 3).size(), 1u);
}

TEST(WindowBuilderTest, SlotsMayWrapBetweenWindows) {
  WindowBuilder builder;
  builder.SetMeaning(3, ExactWrite());
  sl_cell total = {};
  total.hold.slot[50] = 0xfffffffe;
  Take(&builder, total, 1);
  for (int i = 0; i < 5; ++i) total.hold.slot[50] += 1;
  EXPECT_EQ(Take(&builder, total, 2)[0].acquisitions, 5u);
}

// Any sequence of events: every window satisfies the schema (its parts sum, its
// counts agree), and all of them together are the programs' totals.
TEST(WindowBuilderTest, WindowsAreConsistentAndAddUpToTheTotals) {
  std::mt19937_64 random(17);
  WindowBuilder builder;
  builder.SetMeaning(3, ExactWrite());
  sl_cell total = {};
  Cell sum;
  uint64_t max = 0;
  for (uint32_t w = 1; w <= 400; ++w) {
    for (uint64_t i = random() % 4; i > 0; --i) {
      const uint64_t on_cpu = random() % 2'000'000;
      const uint64_t runnable = random() % 3 == 0 ? random() % 200'000'000 : 0;
      CountHold(&total, on_cpu, runnable, w);
      max = std::max(max, on_cpu + runnable);
    }
    Window window;
    window.key = {"h", std::string(16, 'b'), 1, w};
    window.end_boottime_ns = 1;
    window.cells = Take(&builder, total, w);
    const absl::StatusOr<Window> checked = ParseWindow(Serialize(window));
    ASSERT_TRUE(checked.ok()) << checked.status() << " in window " << w;
    sum.Merge(window.cells[0]);
  }
  EXPECT_EQ(sum.acquisitions, sum.hold.Count());
  EXPECT_EQ(sum.hold.over_1ms, total.hold.over_1ms);
  EXPECT_EQ(sum.hold.over_10ms, total.hold.over_10ms);
  EXPECT_EQ(sum.hold.over_100ms, total.hold.over_100ms);
  EXPECT_EQ(sum.runnable.sum_ns, total.runnable.sum_ns);
  EXPECT_EQ(sum.hold.sum_ns, total.hold.sum_ns);
  EXPECT_EQ(sum.hold.max_ns, max);
}

// A value whose window's maximum was already read: the maximum never leaves
// the highest bucket.
TEST(WindowBuilderTest, AMaximumThatWasMissedIsItsBucketsLowerEnd) {
  WindowBuilder builder;
  builder.SetMeaning(3, ExactWrite());
  sl_cell total = {};
  CountHold(&total, 50'000'000, 0, 1);
  const std::vector<Cell> late = Take(&builder, total, 2);
  EXPECT_GT(late[0].hold.max_ns, 50'000'000 / 1.1);
  EXPECT_LE(late[0].hold.max_ns, 50'000'000u);
}

LatencyMeaning Load(LockModel model, bool only_if_used) {
  LatencyMeaning m;
  m.key.subsystem = Subsystem::kZswap;
  m.key.operation = Operation::kLoad;
  m.lock_model = model;
  m.tier = Tier::kExact;
  m.only_if_used = only_if_used;
  return m;
}

// A load that takes a lock and one that takes none are one operation.
TEST(WindowBuilderTest, OperationsSayWhichLockTheyTook) {
  WindowBuilder builder;
  builder.SetLatencyMeaning(1, Load(LockModel::kSplitMutex, false));
  builder.SetLatencyMeaning(6, Load(LockModel::kNone, true));
  sl_dist locked = {};
  sl_dist free = {};
  const auto take = [&] {
    std::vector<Cell> cells = builder.TakeOperations({{1, locked}, {6, free}});
    EXPECT_EQ(cells.size(), 1u);
    return cells.at(0);
  };
  // Nothing happened, and that was measured.
  EXPECT_EQ(take().latency_tier, Tier::kExact);
  EXPECT_EQ(take().latency.Count(), 0u);
  sl_dist_add(&free, 700, 1);
  Cell cell = take();
  EXPECT_EQ(cell.lock_model, LockModel::kNone);
  EXPECT_EQ(cell.latency.Count(), 1u);
  EXPECT_EQ(cell.latency.sum_ns, 700u);
  sl_dist_add(&locked, 900, 1);
  EXPECT_EQ(take().lock_model, LockModel::kSplitMutex);
  // The compressor was changed in mid-window: both, so neither.
  sl_dist_add(&locked, 900, 1);
  sl_dist_add(&free, 700, 1);
  cell = take();
  EXPECT_EQ(cell.lock_model, LockModel::kUnspecified);
  EXPECT_EQ(cell.latency.Count(), 2u);
}

TEST(WindowBuilderTest, NoNameMakesAWindowUnparseable) {
  for (const char* name :
       {"fourteen bytes\xc3", "\xff\xfe\x80", "a\nb\x1b[31m"}) {
    WindowBuilder builder;
    CellMeaning meaning = ExactWrite();
    meaning.key.device = name;
    meaning.key.algorithm = name;
    builder.SetMeaning(3, meaning);
    Window window;
    window.key = {"h", std::string(16, 'b'), 1, 1};
    window.end_boottime_ns = 1;
    window.cells = Take(&builder, {}, 1);
    const absl::StatusOr<Window> parsed = ParseWindow(Serialize(window));
    ASSERT_TRUE(parsed.ok()) << testing::PrintToString(name);
    EXPECT_TRUE(IsPlainText(parsed->cells[0].key.device));
    EXPECT_TRUE(IsPlainText(parsed->cells[0].key.algorithm));
  }
}

TEST(WindowBuilderTest, TheOwnerProbeHasIntervalsAndNoHolds) {
  WindowBuilder builder;
  CellMeaning m = ExactWrite();
  m.hold_tier = Tier::kOwnerProbe;
  builder.SetMeaning(3, m);
  sl_cell total = {};
  sl_dist_add(&total.runnable, 4000, 1);
  const std::vector<Cell> cells = Take(&builder, total, 1);
  EXPECT_EQ(cells[0].acquisitions, 0u);
  EXPECT_EQ(cells[0].hold.Count(), 0u);
  EXPECT_EQ(cells[0].runnable.sum_ns, 4000u);
}

}  // namespace
}  // namespace swaplock
