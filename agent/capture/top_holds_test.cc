#include "agent/capture/top_holds.h"

#include <gtest/gtest.h>

#include <cstring>

#include "common/plain_text.h"

namespace swaplock {
namespace {

const std::map<int, uint32_t> kCells = {{3, 0}, {4, 1}};

sl_top_hold HoldRecord(uint64_t ns, uint32_t window, uint32_t cell = 3) {
  sl_top_hold t = {};
  t.facts.hold_ns = ns;
  t.facts.on_cpu_ns = ns;
  t.facts.window = window;
  t.facts.cell = cell;
  t.facts.static_prio = 139;
  t.facts.acquired_ns = 900;
  t.facts.pid = 7;
  t.facts.lock = 0x1000;
  memcpy(t.facts.comm, "sixteen bytes ok", 16);  // no terminator
  return t;
}

sl_top_wait WaitRecord(uint32_t pid, uint64_t begin, uint64_t ns) {
  sl_top_wait w = {};
  w.window = 1;
  w.begin_ns = begin;
  w.wait_ns = ns;
  w.lock = 0x1000;
  w.owner_pid = 7;
  w.pid = pid;
  w.static_prio = 101;
  w.inversion = 1;
  return w;
}

TEST(TopHoldsTest, AreTheLongestOfTheirWindow) {
  TopHolds top(2, nullptr);
  for (const sl_top_hold& h :
       {HoldRecord(5, 1), HoldRecord(9, 1), HoldRecord(7, 1), HoldRecord(99, 2),
        HoldRecord(50, 1, /*cell=*/8)}) {
    top.AddHold(h);
  }
  const std::vector<Hold> first = top.Take(1, 1000, kCells);
  ASSERT_EQ(first.size(), 2u);  // cell 8 means nothing
  EXPECT_EQ(first[0].hold_ns, 9u);
  EXPECT_EQ(first[1].hold_ns, 7u);
  EXPECT_EQ(first[0].nice, 19);
  EXPECT_EQ(first[0].comm, "sixteen bytes ok");
  EXPECT_EQ(first[0].acquired_offset_ns, -100);
  const std::vector<Hold> second = top.Take(2, 1000, kCells);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].hold_ns, 99u);
  EXPECT_TRUE(top.Take(3, 1000, kCells).empty());
}

// Held from 900 to 1,900.
TEST(TopHoldsTest, AWaiterIsCountedForItsOverlapWithTheHold) {
  TopHolds top(4, nullptr);
  top.AddHold(HoldRecord(1000, 1));
  top.AddWait(WaitRecord(21, 1000, 5000));  // 900 of it
  top.AddWait(WaitRecord(22, 100, 1000));   // 200 of it
  top.AddWait(WaitRecord(23, 1900, 10));    // began at the release
  top.AddWait(WaitRecord(24, 10, 890));     // ended at the acquisition
  sl_top_wait other = WaitRecord(25, 1000, 500);
  other.lock = 0x2000;
  top.AddWait(other);
  top.AddWait(WaitRecord(7, 1000, 500));  // the holder itself
  const Hold hold = top.Take(1, 0, kCells).at(0);
  ASSERT_EQ(hold.waiters.size(), 2u);
  EXPECT_EQ(hold.waiters[0].pid, 21u);
  EXPECT_EQ(hold.waiters[0].ns, 900u);
  EXPECT_EQ(hold.waiters[1].ns, 200u);
  EXPECT_EQ(hold.stall_ns, 1100u);
  EXPECT_EQ(hold.inversion_ns, 900u);
  EXPECT_TRUE(hold.waiters[0].inversion);
  EXPECT_EQ(hold.waiters[0].nice, -19);
}

TEST(TopHoldsTest, WithoutAnAddressTheOwnerTheWaiterSawDecides) {
  TopHolds top(4, nullptr);
  sl_top_hold hold = HoldRecord(1000, 1);
  hold.facts.lock = 0;
  top.AddHold(hold);
  top.AddWait(WaitRecord(21, 1000, 500));
  sl_top_wait other = WaitRecord(22, 1000, 500);
  other.owner_pid = 8;
  top.AddWait(other);
  EXPECT_EQ(top.Take(1, 0, kCells).at(0).waiters.size(), 1u);
}

TEST(TopHoldsTest, ManyWaitersAreBoundedButAllAreInTheStall) {
  TopHolds top(4, nullptr);
  top.AddHold(HoldRecord(1000, 1));
  for (uint32_t i = 0; i < 20; ++i) top.AddWait(WaitRecord(100 + i, 1000, 10));
  const Hold hold = top.Take(1, 0, kCells).at(0);
  EXPECT_EQ(hold.waiters.size(), 8u);
  EXPECT_EQ(hold.stall_ns, 200u);
}

TEST(TopHoldsTest, PreemptorsComeLongestFirst) {
  TopHolds top(4, nullptr);
  sl_top_hold hold = HoldRecord(1000, 1);
  hold.ran[1].pid = 31;
  hold.ran[1].ns = 5;
  hold.ran[3].pid = 32;
  hold.ran[3].ns = 50;
  hold.ran[3].static_prio = 120;
  memcpy(hold.ran[3].comm, "hog", 4);
  top.AddHold(hold);
  const Hold out = top.Take(1, 0, kCells).at(0);
  ASSERT_EQ(out.preemptors.size(), 2u);
  EXPECT_EQ(out.preemptors[0].comm, "hog");
  EXPECT_EQ(out.preemptors[0].nice, 0);
  EXPECT_EQ(out.preemptors[1].ns, 5u);
}

TEST(TopHoldsTest, NoNameMakesAWindowUnparseable) {
  for (const char* name :
       {"fourteen bytes\xc3", "\xff\xfe\x80", "a\nb\x1b[31m"}) {
    TopHolds top(1, nullptr);
    sl_top_hold hold = HoldRecord(1000, 1);
    memset(hold.facts.comm, 0, sizeof(hold.facts.comm));
    memcpy(hold.facts.comm, name, strlen(name));
    hold.ran[0].pid = 5;
    memcpy(hold.ran[0].comm, name, strlen(name));
    top.AddHold(hold);
    sl_top_wait wait = WaitRecord(21, 1000, 50);
    memcpy(wait.comm, name, strlen(name));
    top.AddWait(wait);
    const Hold out = top.Take(1, 0, kCells).at(0);
    EXPECT_TRUE(IsPlainText(out.comm));
    EXPECT_EQ(out.comm.size(), strlen(name));
    EXPECT_TRUE(IsPlainText(out.preemptors.at(0).comm));
    EXPECT_TRUE(IsPlainText(out.waiters.at(0).comm));
  }
}

TEST(TopHoldsTest, HoldsInProgressAreBoundedToo) {
  TopHolds top(2, nullptr);
  std::vector<sl_hold_facts> facts;
  for (uint64_t i = 0; i < 5; ++i) {
    sl_hold_facts f = {};
    f.hold_ns = f.runnable_ns = i;
    f.cell = 4;
    facts.push_back(f);
  }
  const std::vector<Hold> out = top.InProgress(facts, 0, kCells);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].hold_ns, 4u);
  EXPECT_EQ(out[0].cell, 1u);
}

}  // namespace
}  // namespace swaplock
