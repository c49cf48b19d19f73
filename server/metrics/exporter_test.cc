#include "server/metrics/exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/testing.h"
#include "server/verdict/verdict_testing.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const absl::Time kNow = absl::FromUnixNanos(kTestUnixNs) + absl::Minutes(1);

std::string Render(const FleetSnapshot& snapshot, absl::Time now = kNow) {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(
      out, RenderMetrics(snapshot, TestBook(), now));
  return out.str();
}

FleetSnapshot SnapshotOf(const std::vector<Window>& windows) {
  FleetSnapshot snapshot;
  for (const Window& w : windows) Merge(w, {}, kNow, &snapshot.state);
  snapshot.host_groups = GroupsOf(snapshot.state.hosts);
  return snapshot;
}

constexpr char kWrite[] =
    "{kernel=\"6.18.15\",preempt=\"lazy\",subsystem=\"zram\",op=\"write\","
    "role=\"stream\",mode=\"exclusive\",algorithm=\"zstd\",tier=\"exact\","
    "wait_tier=\"contention\"";

TEST(ExporterTest, LeadsToThePagesOfTheFiveLongestHolds) {
  Window window = MakeWindow("a", 1);
  window.end_unix_ns = static_cast<uint64_t>(kTestUnixNs);
  const Hold hold = window.top_holds.at(0);
  window.top_holds.clear();
  for (uint64_t i = 0; i < 7; ++i) {
    window.top_holds.push_back(hold);
    window.top_holds.back().pid = 7;
    window.top_holds.back().hold_ns = 9'000'000 - i * 1'000'000;
  }
  const FleetSnapshot snapshot = SnapshotOf({window});
  const std::string text = Render(snapshot);
  for (const int ms : {9, 8, 7, 6, 5}) {
    EXPECT_THAT(
        text,
        HasSubstr(absl::StrCat(
            "swaplock_top_hold_seconds{kernel=\"6.18.15\",subsystem=\"zram\","
            "op=\"write\",role=\"stream\",hold=\"",
            kTestUnixNs, "-7-", ms, "000000\"} 0.00")));
  }
  EXPECT_THAT(text, HasSubstr("-7-8000000\"} 0.008\n"));
  EXPECT_THAT(text, Not(HasSubstr("-7-4000000")));
  EXPECT_THAT(Render(snapshot, kNow + absl::Hours(24)),
              Not(HasSubstr("swaplock_top_hold_seconds")));
}

TEST(ExporterTest, SaysWhetherTheHostsExist) {
  FleetSnapshot snapshot;
  EXPECT_THAT(Render(snapshot), HasSubstr("swaplock_replay 0\n"));
  snapshot.replay = "none does";
  EXPECT_THAT(Render(snapshot), HasSubstr("swaplock_replay 1\n"));
}

TEST(ExporterTest, ShowsTheSumsOfAllHosts) {
  const std::string text =
      Render(SnapshotOf({MakeWindow("a", 1), MakeWindow("b", 1)}));
  for (const std::string& line : {
           absl::StrCat("swaplock_acquisitions_total", kWrite, "} 6\n"),
           absl::StrCat("swaplock_contended_total", kWrite, "} 2\n"),
           absl::StrCat("swaplock_hold_seconds_count", kWrite, "} 6\n"),
           absl::StrCat("swaplock_hold_seconds_sum", kWrite, "} 0.0262\n"),
           absl::StrCat("swaplock_hold_runnable_seconds_sum", kWrite,
                        "} 0.02\n"),
           absl::StrCat("swaplock_hold_on_cpu_seconds_total", kWrite,
                        "} 0.0062\n"),
           absl::StrCat("swaplock_longest_hold_seconds", kWrite, "} 0.012\n"),
           absl::StrCat("swaplock_longest_hold_runnable_seconds", kWrite,
                        "} 0.01\n"),
           absl::StrCat("swaplock_longest_wait_seconds", kWrite, "} 0.02\n"),
           absl::StrCat("swaplock_waits_owner_total", kWrite,
                        ",state=\"running\"} 2\n"),
           std::string("swaplock_hosts{state=\"seen\"} 2\n"),
           std::string("swaplock_windows_total{result=\"merged\"} 2\n"),
           std::string("swaplock_probe_attached_hosts{probe=\"fexit/"
                       "zcomp_stream_get\",kernel=\"6.18.15\"} 2\n"),
           std::string("swaplock_probe_attached_hosts{probe=\"fexit/"
                       "zswap_store\",kernel=\"6.18.15\"} 0\n"),
           std::string("swaplock_events_lost_total{reason=\"recursion\"} 2\n"),
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

// 1 ms exactly lies in le="0.001"; 1 ms and a nanosecond does not. Neither edge
// is a boundary of a bucket.
TEST(ExporterTest, AValueOnAnEdgeLiesBelowIt) {
  Window window = MakeWindow("a", 1);
  window.cells.resize(1);
  window.top_holds.clear();
  Cell& cell = window.cells[0];
  cell = MakeCell(Subsystem::kZram, Operation::kWrite, Role::kStream);
  for (const uint64_t edge :
       {1'024u, 1'000'000u, 10'000'000u, 100'000'000u, 1u << 25}) {
    AddHold(&cell, edge);
    AddHold(&cell, edge + 1);
  }
  const std::string text = Render(SnapshotOf({window}));
  for (const char* bucket :
       {"le=\"1.024e-06\"} 1\n", "le=\"0.001\"} 3\n", "le=\"0.01\"} 5\n",
        "le=\"0.033554432\"} 7\n", "le=\"0.1\"} 9\n", "le=\"+Inf\"} 10\n"}) {
    EXPECT_THAT(text, HasSubstr(absl::StrCat("swaplock_hold_seconds_bucket",
                                             kWrite, ",", bucket)));
  }
}

TEST(ExporterTest, ContradictingExceedancesDoNotMakeAHistogramDecrease) {
  Window window = MakeWindow("a", 1);
  window.cells[0].hold.over_1ms = 3;  // its buckets say 1
  for (const prometheus::MetricFamily& family :
       RenderMetrics(SnapshotOf({window}), TestBook(), kNow)) {
    for (const prometheus::ClientMetric& metric : family.metric) {
      uint64_t previous = 0;
      for (const auto& bucket : metric.histogram.bucket) {
        EXPECT_GE(bucket.cumulative_count, previous) << family.name;
        previous = bucket.cumulative_count;
      }
      EXPECT_LE(previous, metric.histogram.sample_count) << family.name;
    }
  }
}

TEST(ExporterTest, WhatATierCannotMeasureIsAbsent) {
  Window window = MakeWindow("a", 1);
  window.cells.resize(1);
  window.top_holds.clear();
  Cell& cell = window.cells[0];
  cell.hold_tier = Tier::kOwnerProbe;
  std::string text = Render(SnapshotOf({window}));
  EXPECT_THAT(text, Not(HasSubstr("swaplock_acquisitions_total")));
  EXPECT_THAT(text, Not(HasSubstr("swaplock_hold_")));
  EXPECT_THAT(text, Not(HasSubstr("swaplock_longest_hold")));
  EXPECT_THAT(text, HasSubstr("swaplock_owner_off_cpu_interval_seconds_count"));
  EXPECT_THAT(text,
              HasSubstr("tier=\"owner_probe\",wait_tier=\"contention\",state="
                        "\"runnable\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("swaplock_contended_total"));

  cell.hold_tier = Tier::kExact;
  cell.wait_tier = Tier::kUnspecified;
  text = Render(SnapshotOf({window}));
  EXPECT_THAT(text, HasSubstr("swaplock_acquisitions_total"));
  EXPECT_THAT(text, Not(HasSubstr("swaplock_contended_total")));
  EXPECT_THAT(text, Not(HasSubstr("swaplock_wait_")));
  EXPECT_THAT(text, Not(HasSubstr("swaplock_longest_wait")));
  EXPECT_THAT(text, Not(HasSubstr("swaplock_owner_off_cpu")));
}

TEST(ExporterTest, ShowsWhatTheRunnablePartIsMadeOf) {
  Window window = MakeWindow("a", 1);
  window.cells[0].preempted_ns = 7'000'000;
  window.cells[0].woken_ns = 2'000'000;
  window.cells[0].throttled_ns = 500'000;
  window.cells[0].migrations = 3;
  const std::string text = Render(SnapshotOf({window, MakeWindow("b", 1)}));
  for (const std::string& line : {
           absl::StrCat("swaplock_hold_preempted_seconds_total", kWrite,
                        "} 0.007\n"),
           absl::StrCat("swaplock_hold_woken_seconds_total", kWrite,
                        "} 0.002\n"),
           absl::StrCat("swaplock_hold_throttled_seconds_total", kWrite,
                        "} 0.0005\n"),
           absl::StrCat("swaplock_holder_migrations_total", kWrite, "} 3\n"),
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

// A runnable part of which nothing was seen is not one that nobody preempted.
TEST(ExporterTest, ASplitThatNobodySawIsAbsent) {
  const std::string text = Render(SnapshotOf({MakeWindow("a", 1)}));
  const std::string read =
      absl::StrReplaceAll(kWrite, {{"op=\"write\"", "op=\"read\""}});
  for (const char* name : {"swaplock_hold_preempted_seconds_total",
                           "swaplock_hold_woken_seconds_total",
                           "swaplock_hold_throttled_seconds_total",
                           "swaplock_holder_migrations_total"}) {
    EXPECT_THAT(text, Not(HasSubstr(absl::StrCat(name, kWrite))));
    // Its holds had no runnable part at all.
    EXPECT_THAT(text, HasSubstr(absl::StrCat(name, read, "} 0\n")));
  }
}

Cell OperationCell(LockModel lock_model) {
  Cell cell;
  cell.key.subsystem = Subsystem::kZswap;
  cell.key.operation = Operation::kLoad;
  cell.key.algorithm = "lzo";
  cell.lock_model = lock_model;
  cell.latency_tier = Tier::kExact;
  return cell;
}

TEST(ExporterTest, OperationsHaveExactEdgesAndTheirLock) {
  Window window = MakeWindow("a", 1);
  window.top_holds.clear();
  window.cells = {OperationCell(LockModel::kMutex)};
  for (const uint64_t edge : {1'000'000u, 10'000'000u, 100'000'000u}) {
    window.cells[0].latency.Add(edge);
    window.cells[0].latency.Add(edge + 1);
  }
  Window lock_free = MakeWindow("b", 1);
  lock_free.top_holds.clear();
  lock_free.cells = {OperationCell(LockModel::kNone)};
  lock_free.cells[0].latency.Add(5'000);
  const std::string text = Render(SnapshotOf({window, lock_free}));
  const auto series = [](const char* name, const char* model) {
    return absl::StrCat(name,
                        "{kernel=\"6.18.15\",preempt=\"lazy\","
                        "subsystem=\"zswap\",op=\"load\",algorithm=\"lzo\","
                        "lock_model=\"",
                        model, "\",tier=\"exact\"");
  };
  for (const char* bucket :
       {",le=\"0.001\"} 1\n", ",le=\"0.01\"} 3\n", ",le=\"0.1\"} 5\n"}) {
    EXPECT_THAT(text, HasSubstr(absl::StrCat(
                          series("swaplock_operation_seconds_bucket", "mutex"),
                          bucket)));
  }
  for (const std::string& line :
       {absl::StrCat(series("swaplock_operation_seconds_count", "mutex"),
                     "} 6\n"),
        absl::StrCat(series("swaplock_operation_seconds_count", "none"),
                     "} 1\n"),
        absl::StrCat(series("swaplock_operation_seconds_sum", "none"),
                     "} 5e-06\n"),
        std::string("lock_model=\"none\",hold_tier=\"unspecified\","
                    "wait_tier=\"unspecified\",latency_tier=\"exact\"} 1\n")}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  // The cells of operations are none of locks.
  EXPECT_THAT(text, Not(HasSubstr("swaplock_acquisitions_total")));
  EXPECT_THAT(text, Not(HasSubstr("swaplock_contended_total")));
}

TEST(ExporterTest, AHostThatCannotMeasureDoesNotBlurOnesThatCan) {
  Window blind = MakeWindow("b", 1);
  blind.cells[0].hold_tier = Tier::kOwnerProbe;
  const std::string text = Render(SnapshotOf({MakeWindow("a", 1), blind}));
  EXPECT_THAT(text, HasSubstr(absl::StrCat("swaplock_acquisitions_total",
                                           kWrite, "} 3\n")));
}

// increase() does not see the first event of a counter that begins with it.
TEST(ExporterTest, ReasonsThatDidNotOccurAreZero) {
  FleetSnapshot snapshot;
  std::string text = Render(snapshot);
  for (const char* line :
       {"swaplock_events_lost_total{reason=\"recursion\"} 0\n",
        "swaplock_events_lost_total{reason=\"wait_unseen\"} 0\n",
        "swaplock_windows_rejected_total{reason=\"malformed\"} 0\n",
        "swaplock_windows_rejected_total{reason=\"storage\"} 0\n",
        "swaplock_windows_total{result=\"rejected\"} 0\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("unspecified")));
  snapshot.rejected["storage"] = 3;
  snapshot.state.losses[LossReason::kWaitUnseen] = 4;
  text = Render(snapshot);
  for (const char* line :
       {"swaplock_events_lost_total{reason=\"wait_unseen\"} 4\n",
        "swaplock_windows_rejected_total{reason=\"malformed\"} 0\n",
        "swaplock_windows_rejected_total{reason=\"storage\"} 3\n",
        "swaplock_windows_total{result=\"rejected\"} 3\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

// The waits per operation are those of hosts whose waits are measured.
TEST(ExporterTest, OperationsWithoutMeasuredWaitsStayApart) {
  Window blind = MakeWindow("b", 1);
  blind.cells[0].wait_tier = Tier::kUnspecified;
  const std::string text = Render(SnapshotOf({MakeWindow("a", 1), blind}));
  const std::string other = absl::StrReplaceAll(
      kWrite, {{"wait_tier=\"contention\"", "wait_tier=\"unspecified\""}});
  for (const std::string& line :
       {absl::StrCat("swaplock_acquisitions_total", kWrite, "} 3\n"),
        absl::StrCat("swaplock_acquisitions_total", other, "} 3\n"),
        absl::StrCat("swaplock_contended_total", kWrite, "} 1\n")}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text,
              Not(HasSubstr(absl::StrCat("swaplock_contended_total", other))));
}

TEST(ExporterTest, LongestIsForgottenAfterADay) {
  const FleetSnapshot snapshot = SnapshotOf({MakeWindow("a", 1)});
  EXPECT_THAT(Render(snapshot, kNow + absl::Hours(23)),
              HasSubstr(absl::StrCat("swaplock_longest_hold_seconds", kWrite,
                                     "} 0.012\n")));
  const std::string later = Render(snapshot, kNow + absl::Hours(25));
  EXPECT_THAT(later, HasSubstr(absl::StrCat("swaplock_longest_hold_seconds",
                                            kWrite, "} 0\n")));
  EXPECT_THAT(later, Not(HasSubstr("swaplock_longest_hold_runnable")));
}

TEST(ExporterTest, HostileTextStaysInsideItsLabel) {
  Window window = MakeWindow("a", 1);
  window.cells.resize(1);
  window.cells[0].key.algorithm = "z\"} 1\nevil{le=\"\\x";
  const std::string text = Render(SnapshotOf({window}));
  EXPECT_THAT(text, HasSubstr("algorithm=\"z\\\"} 1\\nevil{le=\\\"\\\\x\""));
  EXPECT_THAT(text, Not(HasSubstr("\nevil")));
}

TEST(ExporterTest, KernelsBeyondTheFirstEightAreOther) {
  std::vector<Window> windows;
  windows.reserve(10);
  for (int i = 0; i < 10; ++i) {
    windows.push_back(
        MakeWindow(absl::StrCat("h", i), 1, absl::StrCat("6.", i, ".0")));
  }
  const std::string text = Render(SnapshotOf(windows));
  EXPECT_THAT(text, HasSubstr("kernel=\"6.9.0\""));
  EXPECT_THAT(text, HasSubstr("kernel=\"6.2.0\""));
  EXPECT_THAT(text, Not(HasSubstr("kernel=\"6.1.0\"")));
  EXPECT_THAT(text, HasSubstr("swaplock_acquisitions_total{kernel=\"other\","
                              "preempt=\"lazy\",subsystem=\"zram\","
                              "op=\"write\",role=\"stream\","
                              "mode=\"exclusive\",algorithm=\"zstd\","
                              "tier=\"exact\",wait_tier=\"contention\"} 6\n"));
}

TEST(ExporterTest, VerdictsStandBetweenCellsAndHosts) {
  const std::string text =
      Render(SnapshotOf({MakeWindow("a", 1, "6.12.57"), MakeWindow("b", 1)}));
  EXPECT_LT(text.find("swaplock_cell_info"), text.find("swaplock_verdict{"));
  EXPECT_LT(text.find("swaplock_selftest_trusted{"),
            text.find("swaplock_hosts{"));
}

}  // namespace
}  // namespace swaplock
