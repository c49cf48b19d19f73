#include "cli/report/run_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "absl/strings/str_cat.h"
#include "common/testing.h"

namespace swaplock {
namespace {

// A run of 10 s with these cells.
RecordedRun RunOf(const std::vector<Cell>& cells) {
  RecordedRun run;
  run.begin.name = "run";
  run.windows = 1;
  run.measured_ns = 10'000'000'000;
  for (const Cell& cell : cells) run.cells[cell.key] = cell;
  return run;
}

double ValueOf(const Numbers& numbers, absl::string_view metric) {
  EXPECT_NE(FindMetric(metric), nullptr) << metric;
  return numbers.Value(metric).value_or(-1);
}

TEST(RunStatisticsTest, MetricsHaveNamesOfTheirOwn) {
  std::set<absl::string_view> names;
  for (const Metric& metric : Metrics()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_EQ(FindMetric(metric.name), &metric);
  }
  EXPECT_EQ(FindMetric("wait_p99_ns")->title, "p99");
  EXPECT_EQ(FindMetric("nothing"), nullptr);
}

TEST(RunStatisticsTest, NumbersOfALock) {
  Cell write = MakeCell(Subsystem::kZram, Operation::kWrite, Role::kStream);
  AddHold(&write, 1'000'000);
  AddHold(&write, 2'000'000, 10'000'000);
  AddHold(&write, 4'000'000, 0, 3'000'000, 20'000'000);
  write.preempted_ns = 10'000'000;
  write.inversions = 1;
  write.wait_owner_runnable_ns = 5'000'000;
  RecordedRun run = RunOf({write});
  RecordedHold longest;
  longest.key = write.key;
  longest.hold.stall_ns = 25'000'000;
  run.longest = {longest};

  const std::vector<Numbers> all = StatisticsOf(run);
  ASSERT_EQ(all.size(), 1);
  const Numbers& lock = all[0];
  EXPECT_EQ(lock.subject.kind, Subject::Kind::kLock);
  EXPECT_EQ(lock.subject.key.device, "");
  EXPECT_EQ(lock.subject.key.algorithm, "");
  EXPECT_EQ(lock.model, LockModel::kMutex);
  EXPECT_EQ(ValueOf(lock, "acquisitions"), 3);
  EXPECT_DOUBLE_EQ(ValueOf(lock, "acquisitions_per_second"), 0.3);
  EXPECT_EQ(ValueOf(lock, "contended"), 1);
  EXPECT_DOUBLE_EQ(ValueOf(lock, "contended_share"), 1.0 / 3);
  EXPECT_EQ(ValueOf(lock, "inversions"), 1);
  EXPECT_EQ(ValueOf(lock, "longest_stall_ns"), 25'000'000);
  EXPECT_EQ(ValueOf(lock, "wait_total_ns"), 20'000'000);
  EXPECT_EQ(ValueOf(lock, "wait_over_10ms"), 1);
  EXPECT_EQ(ValueOf(lock, "wait_over_100ms"), 0);
  EXPECT_DOUBLE_EQ(ValueOf(lock, "wait_owner_runnable_share"), 0.25);
  EXPECT_EQ(ValueOf(lock, "hold_max_ns"), 12'000'000);
  EXPECT_DOUBLE_EQ(ValueOf(lock, "hold_on_cpu_share"), 7.0 / 20);
  EXPECT_DOUBLE_EQ(ValueOf(lock, "hold_runnable_share"), 0.5);
  EXPECT_DOUBLE_EQ(ValueOf(lock, "hold_preempted_share"), 0.5);
  EXPECT_DOUBLE_EQ(ValueOf(lock, "hold_blocked_share"), 3.0 / 20);
  EXPECT_EQ(ValueOf(lock, "runnable_count"), 1);
  // One wait has no spread, and three holds no p90.
  EXPECT_FALSE(lock.Value("wait_stddev_ns").has_value());
  EXPECT_FALSE(lock.Value("hold_p90_ns").has_value());
  EXPECT_FALSE(lock.Value("mode_share").has_value());
  EXPECT_FALSE(lock.Value("hold_timed").has_value());
}

TEST(RunStatisticsTest, WhatTheTierCannotSeeIsAbsent) {
  Cell contention =
      MakeCell(Subsystem::kZsmalloc, Operation::kUnspecified, Role::kSizeClass);
  contention.hold_tier = Tier::kUnspecified;
  contention.contended = 1;
  contention.wait.Add(5'000);
  Cell probe =
      MakeCell(Subsystem::kZram, Operation::kUnspecified, Role::kStream);
  probe.hold_tier = Tier::kOwnerProbe;
  probe.runnable.Add(7'000);
  const std::vector<Numbers> all = StatisticsOf(RunOf({contention, probe}));
  ASSERT_EQ(all.size(), 2);
  EXPECT_EQ(all[0].subject.key.subsystem, Subsystem::kZram);
  EXPECT_EQ(ValueOf(all[0], "runnable_max_ns"), 7'000);
  for (const Numbers& numbers : all) {
    for (const auto& [name, value] : numbers.values) {
      EXPECT_NE(name.substr(0, 5), "hold_") << name;
      EXPECT_NE(name.substr(0, 12), "acquisitions") << name;
      EXPECT_NE(name, "contended_share");
    }
  }
  EXPECT_EQ(ValueOf(all[1], "wait_max_ns"), 5'000);
  EXPECT_FALSE(all[1].Value("runnable_max_ns").has_value());
}

TEST(RunStatisticsTest, NumbersOfOperations) {
  Cell read = MakeCell(Subsystem::kZram, Operation::kRead, Role::kUnspecified);
  read.key.mode = Mode::kUnspecified;
  read.hold_tier = Tier::kUnspecified;
  read.wait_tier = Tier::kUnspecified;
  read.latency_tier = Tier::kExact;
  for (int i = 0; i < 20; ++i) read.latency.Add(1'000'000);
  const std::vector<Numbers> all = StatisticsOf(RunOf({read}));
  ASSERT_EQ(all.size(), 1);
  EXPECT_EQ(all[0].subject.kind, Subject::Kind::kOperation);
  EXPECT_EQ(ValueOf(all[0], "operations"), 20);
  EXPECT_DOUBLE_EQ(ValueOf(all[0], "operations_per_second"), 2);
  EXPECT_DOUBLE_EQ(ValueOf(all[0], "latency_mean_ns"), 1'000'000);
  EXPECT_LE(ValueOf(all[0], "latency_p90_ns"), 1'000'000);
  EXPECT_FALSE(all[0].Value("contended").has_value());
}

TEST(RunStatisticsTest, SharesOfModes) {
  Cell shared =
      MakeCell(Subsystem::kZram, Operation::kRead, Role::kDecompressStream);
  shared.key.mode = Mode::kShared;
  for (int i = 0; i < 3; ++i) AddHold(&shared, 1'000);
  Cell alone =
      MakeCell(Subsystem::kZram, Operation::kRead, Role::kDecompressStream);
  AddHold(&alone, 1'000);
  Cell write =
      MakeCell(Subsystem::kZram, Operation::kWrite, Role::kCompressStream);
  AddHold(&write, 1'000);
  const std::vector<Numbers> all = StatisticsOf(RunOf({shared, alone, write}));
  ASSERT_EQ(all.size(), 3);
  EXPECT_DOUBLE_EQ(ValueOf(all[0], "mode_share"), 0.25);
  EXPECT_DOUBLE_EQ(ValueOf(all[1], "mode_share"), 0.75);
  EXPECT_FALSE(all[2].Value("mode_share").has_value());
}

TEST(RunStatisticsTest, NamesDevicesOnlyWhereThereAreSeveral) {
  Cell first = MakeCell(Subsystem::kZram, Operation::kRead, Role::kStream);
  AddHold(&first, 1'000);
  Cell idle = MakeCell(Subsystem::kZram, Operation::kRead, Role::kStream);
  idle.key.device = "zram7";
  EXPECT_EQ(StatisticsOf(RunOf({first, idle}))[0].subject.key.device, "");
  Cell second = first;
  second.key.device = "zram1";
  const std::vector<Numbers> two = StatisticsOf(RunOf({first, second}));
  ASSERT_EQ(two.size(), 2);
  EXPECT_EQ(two[0].subject.key.device, "zram0");
  EXPECT_EQ(two[1].subject.key.device, "zram1");
}

TEST(RunStatisticsTest, WhatTheCommandMeasuredIsExact) {
  Measurement reads;
  reads.name = "reads";
  reads.threads = 2;
  reads.nice = -19;
  for (const uint64_t ns : {2'000'000, 4'000'000, 4'000'000, 6'000'000}) {
    reads.Add(ns);
  }
  RecordedRun run = RunOf({});
  run.begin.command = {"true"};
  run.end.emplace();
  run.end->end_boottime_ns = 4'000'000'000;
  run.end->result.measurements = {reads};
  std::vector<Numbers> all = StatisticsOf(run);
  ASSERT_EQ(all.size(), 1);
  EXPECT_EQ(all[0].subject.measurement, "reads");
  EXPECT_EQ(all[0].nice, -19);
  EXPECT_DOUBLE_EQ(ValueOf(all[0], "operations_per_second"), 1);
  EXPECT_DOUBLE_EQ(ValueOf(all[0], "latency_stddev_ns"), std::sqrt(2e12));
  // It says itself how long it measured.
  run.end->result.facts["seconds"] = "2";
  EXPECT_DOUBLE_EQ(ValueOf(StatisticsOf(run)[0], "operations_per_second"), 2);
  run.end->result.facts["seconds"] = "nan";
  EXPECT_DOUBLE_EQ(ValueOf(StatisticsOf(run)[0], "operations_per_second"), 1);
}

TEST(RunStatisticsTest, SampledHoldsSayHowManyWereTimed) {
  Cell cell = MakeCell(Subsystem::kZram, Operation::kRead, Role::kStream);
  AddHold(&cell, 1'000);
  cell.acquisitions = 8;
  EXPECT_EQ(ValueOf(StatisticsOf(RunOf({cell}))[0], "hold_timed"), 1);
}

TEST(RunStatisticsTest, NoQuantileIsAboveTheMaximum) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    Distribution values;
    const int count = 1 + static_cast<int>(random() % 20'000);
    for (int i = 0; i < count; ++i) {
      values.Add(random() >> (random() % 63));
    }
    double before = 0;
    for (const int q : {5000, 9000, 9900, 9990, 9999}) {
      const std::optional<double> value = QuantileNs(values, q);
      EXPECT_EQ(value.has_value(), count >= 10'000 / (10'000 - q)) << count;
      if (!value.has_value()) continue;
      EXPECT_LE(*value, static_cast<double>(values.max_ns));
      EXPECT_GE(*value, before);
      before = *value;
    }
    const std::optional<double> deviation = StandardDeviationNs(values);
    if (deviation.has_value()) {
      EXPECT_GE(*deviation, 0);
      EXPECT_TRUE(std::isfinite(*deviation));
    }
  }
}

TEST(RunStatisticsTest, DeviationFromBucketsIsCloseToTheTruth) {
  std::mt19937_64 random(6);
  std::lognormal_distribution<double> draw(10, 1);
  Distribution values;
  double sum = 0;
  double squares = 0;
  constexpr int kCount = 20'000;
  for (int i = 0; i < kCount; ++i) {
    const auto ns = static_cast<uint64_t>(draw(random));
    values.Add(ns);
    sum += static_cast<double>(ns);
    squares += static_cast<double>(ns) * static_cast<double>(ns);
  }
  const double mean = sum / kCount;
  const double truth = std::sqrt(squares / kCount - mean * mean);
  EXPECT_NEAR(StandardDeviationNs(values).value_or(0), truth, 0.03 * truth);
  EXPECT_FALSE(StandardDeviationNs(Distribution()).has_value());
}

TEST(RunStatisticsTest, GroupsRunsThatRepeatEachOther) {
  std::vector<RecordedRun> runs;
  for (int i = 0; i < 5; ++i) {
    Cell cell = MakeCell(Subsystem::kZram, Operation::kRead, Role::kStream);
    cell.key.device = absl::StrCat("zram", i);
    for (int n = 0; n <= i; ++n) AddHold(&cell, 1'000);
    runs.push_back(RunOf({cell}));
  }
  runs.push_back(runs[0]);
  runs.back().begin.variant = "patched";
  const std::vector<RunGroup> groups = GroupsOf(runs);
  ASSERT_EQ(groups.size(), 2);
  EXPECT_EQ(groups[1].begin().variant, "patched");
  const std::vector<GroupNumbers> numbers = StatisticsOf(groups[0]);
  ASSERT_EQ(numbers.size(), 1);
  EXPECT_EQ(numbers[0].runs, 5);
  EXPECT_EQ(numbers[0].group_runs, 5);
  const std::optional<Spread> spread =
      SpreadOf(numbers[0].values.at("acquisitions"));
  ASSERT_TRUE(spread.has_value());
  EXPECT_EQ(spread->median, 3);
  EXPECT_EQ(spread->min, 1);
  EXPECT_EQ(spread->max, 5);
}

}  // namespace
}  // namespace swaplock
