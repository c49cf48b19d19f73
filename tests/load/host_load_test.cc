// A small load: what is acknowledged is in the ledger, hosts that mean harm are
// sent away, and all of them may come back at once.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

#include "tests/load/load_run.h"

namespace swaplock {
namespace {

LoadPlan SmallPlan() {
  std::string folder = ::testing::TempDir() + "/load.XXXXXX";
  EXPECT_NE(mkdtemp(folder.data()), nullptr);
  LoadPlan plan;
  plan.folder = folder;
  plan.deaf = 1;
  plan.silent = 3;
  plan.calm = absl::Milliseconds(10);
  plan.backoff_cap = absl::Seconds(1);
  plan.patience = absl::Minutes(1);
  return plan;
}

void ExpectExact(const LoadPlan& plan) {
  const absl::StatusOr<LoadReport> report = RunLoad(plan);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->same) << report->Text();
  EXPECT_EQ(report->sent_windows, plan.hosts * plan.windows);
  EXPECT_EQ(report->counted, report->acknowledged);
  EXPECT_EQ(report->counted_again, report->acknowledged);
  // Eight windows refused, then the stream ended, and the next one too.
  uint64_t refused = 0;
  for (const auto& [reason, count] : report->poisoned.rejected) {
    refused += count;
  }
  EXPECT_EQ(refused, 8u);
  EXPECT_EQ(report->poisoned.ended.count("PERMISSION_DENIED"), 1u);
  EXPECT_EQ(report->poisoned.hints, 2u);
  EXPECT_EQ(report->scrapes_failed, 0u);
  EXPECT_EQ(report->silent_connected, plan.silent);
  EXPECT_EQ(report->exit_status, 0);
}

TEST(HostLoadTest, PlaintextHosts) { ExpectExact(SmallPlan()); }

TEST(HostLoadTest, HostsWithCertificates) {
  LoadPlan plan = SmallPlan();
  plan.tls = true;
  plan.hosts = 20;
  ExpectExact(plan);
}

}  // namespace
}  // namespace swaplock
