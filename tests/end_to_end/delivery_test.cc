// Nothing lost, nothing twice: real agents replay windows into a real server,
// and both are killed at random moments.
//
// The moments follow from a seed, which is printed; SWAPLOCK_SEED sets it.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/end_to_end/random_life.h"
#include "tests/end_to_end/test_bed.h"

namespace swaplock {
namespace {

// The windows of one life of an agent, each with numbers of its own.
std::string NewLife(const TestBed& bed, uint64_t epoch, uint64_t windows,
                    Random* random) {
  std::string path = bed.Path(absl::StrCat("life", epoch, ".slk"));
  WriteLife(path, "host-a", epoch, windows, random);
  return path;
}

// A random moment: the experiment itself, nothing is waited for.
void LetSomeTimePass(Random* random) {
  absl::SleepFor(absl::Microseconds(Draw(random, 300'000)));
}

void ExpectEqual(const TestBed& bed) {
  const absl::StatusOr<Totals> recorded = bed.Recorded();
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  const absl::StatusOr<Totals> counted = bed.Counted();
  ASSERT_TRUE(counted.ok()) << counted.status();
  ASSERT_EQ(counted->Text(), recorded->Text()) << bed.Logs();
}

TEST(DeliveryTest, TotalsSurviveKillingEitherSideAtAnyMoment) {
  const uint64_t seed = ChooseSeed();
  Random random(seed);
  SCOPED_TRACE(absl::StrCat("SWAPLOCK_SEED=", seed));
  TestBed bed;
  ASSERT_NO_FATAL_FAILURE(bed.StartServer());
  constexpr uint64_t kRounds = 10;
  uint64_t agents_killed = 0;
  uint64_t servers_killed = 0;
  uint64_t epoch = 0;
  std::string life;
  for (uint64_t round = 1; round <= kRounds; ++round) {
    // Now and then a life repeats the one before: the same keys again.
    if (epoch == 0 || Draw(&random, 5) != 0) {
      life = NewLife(bed, ++epoch, 60, &random);
    }
    std::unique_ptr<ChildProcess> agent = bed.StartAgent(life);
    if (Draw(&random, 2) == 0) {
      LetSomeTimePass(&random);
      bed.server()->Signal(SIGKILL);
      bed.server()->Wait();
      ++servers_killed;
      LetSomeTimePass(&random);
    }
    if (Draw(&random, 4) != 0) {
      LetSomeTimePass(&random);
      agents_killed += agent->Running() ? 1 : 0;
      agent->Signal(SIGKILL);
      agent->Wait();
    }
    if (!bed.server()->Running()) {
      ASSERT_NO_FATAL_FAILURE(bed.StartServer());
    }
    // Every agent left alone ends by itself once all is delivered.
    if (agent->Running()) {
      ASSERT_EQ(agent->Wait(), 0) << bed.Logs();
      ASSERT_NO_FATAL_FAILURE(ExpectEqual(bed));
    }
  }

  const std::string last = NewLife(bed, ++epoch, 3, &random);
  ASSERT_EQ(bed.StartAgent(last)->Wait(), 0) << bed.Logs();
  ASSERT_NO_FATAL_FAILURE(ExpectEqual(bed));
  bed.server()->Signal(SIGKILL);
  bed.server()->Wait();
  ASSERT_NO_FATAL_FAILURE(bed.StartServer());
  ASSERT_NO_FATAL_FAILURE(ExpectEqual(bed));
  std::printf("%llu agents and %llu servers killed, %llu windows counted\n",
              static_cast<unsigned long long>(agents_killed),
              static_cast<unsigned long long>(servers_killed),
              static_cast<unsigned long long>(bed.Recorded()->windows));
}

TEST(DeliveryTest, TerminationIsCleanOnBothSides) {
  Random random(1);
  TestBed bed;
  ASSERT_NO_FATAL_FAILURE(bed.StartServer());
  const std::string life = NewLife(bed, 1, 2, &random);
  // At this speed the second window is a year away.
  std::unique_ptr<ChildProcess> agent =
      bed.StartAgent(life, {"--replay_speed=3e-7"});
  ASSERT_TRUE(Eventually([&bed] {
    const absl::StatusOr<Totals> counted = bed.Counted();
    return counted.ok() && counted->windows == 1;
  })) << bed.Logs();
  agent->Signal(SIGTERM);
  EXPECT_EQ(agent->Wait(), 0) << bed.Logs();
  ExpectEqual(bed);
  // With a stream open, too.
  agent = bed.StartAgent(life, {"--replay_speed=3e-7"});
  bed.server()->Signal(SIGTERM);
  EXPECT_EQ(bed.server()->Wait(), 0) << bed.Logs();
}

// More windows than the spool holds: their resolution is lost, no count is.
TEST(DeliveryTest, AnHourWithoutTheServerIsMergedAndArrives) {
  Random random(3);
  TestBed bed;
  ASSERT_NO_FATAL_FAILURE(bed.StartServer());
  const std::string life = NewLife(bed, 1, 360, &random);
  ASSERT_EQ(bed.StartAgent(life, {"--server=", "--spool_bytes=65536"})->Wait(),
            0)
      << bed.Logs();
  const std::string next = NewLife(bed, 2, 1, &random);
  ASSERT_EQ(bed.StartAgent(next)->Wait(), 0) << bed.Logs();
  const absl::StatusOr<Totals> recorded = bed.Recorded();
  const absl::StatusOr<Totals> counted = bed.Counted();
  ASSERT_TRUE(recorded.ok() && counted.ok()) << bed.Logs();
  EXPECT_EQ(counted->CellsText(), recorded->CellsText()) << bed.Logs();
  EXPECT_EQ(recorded->windows, 361u);
  EXPECT_LT(counted->windows, 100u);
}

TEST(DeliveryTest, WhatCouldNotBeSentWaitsForTheNextStart) {
  Random random(2);
  TestBed bed;
  ASSERT_NO_FATAL_FAILURE(bed.StartServer());
  bed.server()->Signal(SIGTERM);
  ASSERT_EQ(bed.server()->Wait(), 0) << bed.Logs();
  const std::string life = NewLife(bed, 1, 5, &random);
  // A replay that could not deliver says so by its exit status.
  EXPECT_EQ(bed.StartAgent(life, {"--drain=0s"})->Wait(), 69) << bed.Logs();
  ASSERT_NO_FATAL_FAILURE(bed.StartServer());
  const std::string next = NewLife(bed, 2, 1, &random);
  EXPECT_EQ(bed.StartAgent(next)->Wait(), 0) << bed.Logs();
  EXPECT_EQ(bed.Counted()->windows, 6u);
  ExpectEqual(bed);
}

}  // namespace
}  // namespace swaplock
