#include "agent/capture/window_span.h"

#include <gtest/gtest.h>

namespace swaplock {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

ClockReadings At(uint64_t boottime, uint64_t monotonic, uint64_t unix_time) {
  return {boottime * kSecond, monotonic * kSecond, unix_time * kSecond};
}

TEST(WindowSpanTest, WindowsFollowEachOtherWithoutAGap) {
  WindowSpan span;
  span.Begin(At(100, 90, 5000));
  Window first;
  span.End(At(110, 100, 5010), &first);
  Window second;
  span.End(At(120, 110, 5020), &second);
  EXPECT_EQ(first.start_boottime_ns, 100 * kSecond);
  EXPECT_EQ(first.end_boottime_ns, 110 * kSecond);
  EXPECT_EQ(second.start_boottime_ns, first.end_boottime_ns);
  EXPECT_EQ(second.end_boottime_ns, 120 * kSecond);
  EXPECT_EQ(second.end_unix_ns, 5020 * kSecond);
  EXPECT_EQ(first.suspended_ns, 0u);
  EXPECT_EQ(second.suspended_ns, 0u);
}

// A wall clock that steps changes when a window ended, and nothing else.
TEST(WindowSpanTest, AWallClockThatStepsChangesNoLength) {
  for (const uint64_t unix_time : {1u, 4000u, 9'000'000u}) {
    WindowSpan span;
    span.Begin(At(100, 90, 5000));
    Window window;
    span.End(At(110, 100, unix_time), &window);
    EXPECT_EQ(window.end_boottime_ns - window.start_boottime_ns, 10 * kSecond);
    EXPECT_EQ(window.suspended_ns, 0u);
    EXPECT_EQ(window.end_unix_ns, unix_time * kSecond);
  }
}

TEST(WindowSpanTest, TimeSuspendedIsSaidOfTheWindowThatHasIt) {
  WindowSpan span;
  span.Begin(At(100, 90, 5000));
  Window asleep;
  span.End(At(3710, 100, 8610), &asleep);
  EXPECT_EQ(asleep.end_boottime_ns - asleep.start_boottime_ns, 3610 * kSecond);
  EXPECT_EQ(asleep.suspended_ns, 3600 * kSecond);
  Window after;
  span.End(At(3720, 110, 8620), &after);
  EXPECT_EQ(after.suspended_ns, 0u);
}

TEST(WindowSpanTest, ClocksReadOneAfterTheOtherAreNoSuspension) {
  WindowSpan span;
  ClockReadings begin = At(100, 90, 5000);
  span.Begin(begin);
  ClockReadings end = At(110, 100, 5010);
  end.boottime_ns += 900'000;
  Window window;
  span.End(end, &window);
  EXPECT_EQ(window.suspended_ns, 0u);
}

TEST(WindowSpanTest, AWindowOfNoTimeIsANanosecondLong) {
  WindowSpan span;
  span.Begin(At(100, 90, 5000));
  Window window;
  span.End(At(100, 90, 5000), &window);
  EXPECT_EQ(window.end_boottime_ns, window.start_boottime_ns + 1);
  EXPECT_EQ(span.start().boottime_ns, window.end_boottime_ns);
}

TEST(WindowSpanTest, TheClocksOfThisHostGoOn) {
  const ClockReadings a = ReadClocks();
  const ClockReadings b = ReadClocks();
  EXPECT_GE(b.boottime_ns, a.boottime_ns);
  EXPECT_GE(b.monotonic_ns, a.monotonic_ns);
  EXPECT_GT(a.unix_ns, 0u);
}

}  // namespace
}  // namespace swaplock
