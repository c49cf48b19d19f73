#include "server/verdict/verdicts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/verdict/kernel_pairs.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;

constexpr char kBase[] = "6.12.57";
constexpr char kNewer[] = "6.18.15";

HostCell Row(int host, const std::string& kernel, uint64_t operations,
             uint64_t waits) {
  HostCell cell;
  cell.host_id = absl::StrCat(kernel, "-host-", host);
  cell.kernel_release = kernel;
  cell.key = {Subsystem::kZram,
              Operation::kRead,
              Role::kStream,
              Mode::kExclusive,
              "",
              "zstd"};
  cell.lock_model = LockModel::kMutex;
  cell.hold_tier = Tier::kExact;
  cell.wait_tier = Tier::kContention;
  cell.acquisitions = operations;
  cell.waits_over_10ms = waits;
  return cell;
}

// `hosts` per build; the newer one's rates are about `ratio` times the base's.
std::vector<HostCell> Fleet(int hosts, double ratio) {
  std::vector<HostCell> cells;
  for (int i = 0; i < hosts; ++i) {
    const double base = 100.0 + 7 * i;
    cells.push_back(Row(i, kBase, 1'000'000, static_cast<uint64_t>(base)));
    cells.push_back(
        Row(i, kNewer, 1'000'000, static_cast<uint64_t>(base * ratio)));
  }
  return cells;
}

Verdict Only(const std::vector<HostCell>& cells, VerdictRules rules = {}) {
  const std::vector<Verdict> verdicts = Judge(cells, rules);
  EXPECT_EQ(verdicts.size(), 1u);
  return verdicts.empty() ? Verdict() : verdicts[0];
}

TEST(VerdictsTest, ManyTimesTheWaitsIsARegression) {
  const Verdict v = Only(Fleet(10, 3));
  EXPECT_EQ(v.kind, VerdictKind::kRegression) << v.sentence;
  EXPECT_NEAR(v.ratio, 3, 0.2);
  EXPECT_GT(v.ratio_lower, 1.1);
  EXPECT_LE(v.p_value, 0.001);
  EXPECT_TRUE(v.p_exact);
  EXPECT_EQ(v.hosts_base, 10u);
  EXPECT_EQ(v.hosts_new, 10u);
  EXPECT_EQ(v.reason, "");
  EXPECT_THAT(v.sentence, HasSubstr("6.18.15 is worse than 6.12.57 for zram "
                                    "read: "));
}

TEST(VerdictsTest, AThirdOfTheWaitsIsAnImprovement) {
  const Verdict v = Only(Fleet(10, 1.0 / 3));
  EXPECT_EQ(v.kind, VerdictKind::kImprovement) << v.sentence;
  EXPECT_LT(v.ratio_upper, 1 / 1.1);
}

TEST(VerdictsTest, EqualRatesAreNeverFlagged) {
  const Verdict v = Only(Fleet(20, 1));
  EXPECT_EQ(v.kind, VerdictKind::kInconclusive) << v.sentence;
  EXPECT_GT(v.p_value, 0.9);
}

TEST(VerdictsTest, TightlyEqualRatesAreNoMaterialChange) {
  std::vector<HostCell> cells;
  for (int i = 0; i < 20; ++i) {
    cells.push_back(Row(i, kBase, 1'000'000, 10'000 + i * 11));
    cells.push_back(Row(i, kNewer, 1'000'000, 10'000 + i * 13));
  }
  const Verdict v = Only(cells);
  EXPECT_EQ(v.kind, VerdictKind::kNoMaterialChange) << v.sentence;
}

// Significant, yet within the margin: no alarm.
TEST(VerdictsTest, ASmallCertainDifferenceIsNotARegression) {
  std::vector<HostCell> cells;
  for (int i = 0; i < 12; ++i) {
    cells.push_back(Row(i, kBase, 1'000'000, 10'000 + i));
    cells.push_back(Row(i, kNewer, 1'000'000, 10'500 + i));
  }
  const Verdict v = Only(cells);
  EXPECT_LT(v.p_value, 0.001);
  EXPECT_EQ(v.kind, VerdictKind::kNoMaterialChange) << v.sentence;
}

TEST(VerdictsTest, SevenHostsAreTooFew) {
  std::vector<HostCell> cells = Fleet(8, 3);
  EXPECT_EQ(Only(cells).kind, VerdictKind::kRegression);
  cells.pop_back();
  const Verdict v = Only(cells);
  EXPECT_EQ(v.kind, VerdictKind::kInconclusive);
  EXPECT_EQ(v.reason,
            "8 hosts on 6.12.57 and 7 on 6.18.15 have at least 100000 "
            "operations, and 8 of each are needed");
  EXPECT_TRUE(std::isnan(v.p_value));
  EXPECT_TRUE(std::isnan(v.ratio));
}

TEST(VerdictsTest, HostsWithFewOperationsDoNotCount) {
  std::vector<HostCell> cells = Fleet(8, 3);
  cells[0].acquisitions = 99'999;
  EXPECT_EQ(Only(cells).kind, VerdictKind::kInconclusive);
  VerdictRules rules;
  rules.min_operations = 99'999;
  EXPECT_NE(Only(cells, rules).kind, VerdictKind::kInconclusive);
}

TEST(VerdictsTest, FewEventsOrFromFewHostsAreTooLittle) {
  std::vector<HostCell> cells = Fleet(10, 1);
  for (HostCell& cell : cells) {
    cell.waits_over_10ms = cell.kernel_release == kNewer ? 2 : 0;
  }
  EXPECT_EQ(Only(cells).kind, VerdictKind::kRegression);
  cells.back().waits_over_10ms = 1;
  EXPECT_EQ(Only(cells).kind, VerdictKind::kInconclusive);
  // A million waits, but all on four hosts.
  int hosts = 0;
  for (HostCell& cell : cells) {
    cell.waits_over_10ms =
        cell.kernel_release == kNewer && hosts++ < 4 ? 1'000'000 : 0;
  }
  const Verdict v = Only(cells);
  EXPECT_EQ(v.kind, VerdictKind::kInconclusive);
  EXPECT_THAT(v.reason, HasSubstr("from 4 hosts"));
}

TEST(VerdictsTest, OneCrazyHostChangesNothing) {
  std::vector<HostCell> cells = Fleet(12, 1);
  cells.back().waits_over_10ms = 1'000'000'000;
  EXPECT_EQ(Only(cells).kind, VerdictKind::kInconclusive);
}

TEST(VerdictsTest, HostsThatCannotCountOperationsAreNotCompared) {
  std::vector<HostCell> cells = Fleet(10, 3);
  for (HostCell& cell : cells) {
    if (cell.kernel_release == kNewer) cell.hold_tier = Tier::kOwnerProbe;
  }
  const Verdict v = Only(cells);
  EXPECT_EQ(v.kind, VerdictKind::kNotComparable);
  EXPECT_EQ(v.reason,
            "10 of 10 hosts on 6.12.57 and 0 of 10 on 6.18.15 count this "
            "operation and its waits in the same way");
}

TEST(VerdictsTest, DifferentWaitTiersAreNotCompared) {
  std::vector<HostCell> cells = Fleet(10, 3);
  for (HostCell& cell : cells) {
    if (cell.kernel_release == kNewer) cell.wait_tier = Tier::kExact;
  }
  EXPECT_EQ(Only(cells).kind, VerdictKind::kNotComparable);
}

TEST(VerdictsTest, OneHostThatMeasuresOtherwiseIsLeftOut) {
  std::vector<HostCell> cells = Fleet(10, 3);
  cells[0].wait_tier = Tier::kUnspecified;
  const Verdict v = Only(cells);
  EXPECT_EQ(v.kind, VerdictKind::kRegression);
  EXPECT_EQ(v.hosts_base, 9u);
}

// 6.12 turned preemption off: nobody could wait, which is known, not missing.
TEST(VerdictsTest, ALockThatCannotBeWaitedForComparesWithOneThatCan) {
  std::vector<HostCell> cells = Fleet(10, 1);
  for (HostCell& cell : cells) {
    if (cell.kernel_release != kBase) continue;
    cell.lock_model = LockModel::kPreemptOff;
    cell.wait_tier = Tier::kUnspecified;
    cell.waits_over_10ms = 0;
  }
  const Verdict v = Only(cells);
  EXPECT_EQ(v.kind, VerdictKind::kRegression) << v.sentence;
}

// log((K + 1/2) / E) would call this an improvement: no host waited, the new
// kernel merely did more.
TEST(VerdictsTest, MoreOperationsWithoutWaitsAreNoImprovement) {
  std::vector<HostCell> cells;
  for (int i = 0; i < 12; ++i) {
    const uint64_t waits = i < 6 ? 10 : 0;
    cells.push_back(Row(i, kBase, 1'000'000, waits));
    cells.push_back(Row(i, kNewer, 5'600'000, waits * 56 / 10));
  }
  const Verdict v = Only(cells);
  EXPECT_EQ(v.kind, VerdictKind::kNoMaterialChange) << v.sentence;
  EXPECT_NEAR(v.ratio, 1, 0.01);
}

TEST(VerdictsTest, RolesOfAnOperationAreNotAddedUpAsOperations) {
  std::vector<HostCell> cells = Fleet(10, 1);
  // The newer kernel pins its stream as well: twice the acquisitions, but no
  // more operations.
  std::vector<HostCell> pins;
  for (const HostCell& cell : cells) {
    if (cell.kernel_release != kNewer) continue;
    pins.push_back(cell);
    pins.back().key.role = Role::kPin;
    pins.back().waits_over_10ms = 0;
  }
  cells.insert(cells.end(), pins.begin(), pins.end());
  EXPECT_NEAR(Only(cells).ratio, 1, 0.01);
}

TEST(VerdictsTest, EveryBuildIsJudgedAgainstTheOneBefore) {
  std::vector<HostCell> cells = Fleet(3, 1);
  cells.push_back(Row(1, "6.1.0-10-amd64", 1, 0));
  cells.push_back(Row(1, "6.1.0-9-amd64", 1, 0));
  cells.push_back(Row(1, "", 1, 0));
  const std::vector<Verdict> verdicts = Judge(cells, {});
  ASSERT_EQ(verdicts.size(), 3u);
  EXPECT_EQ(verdicts[0].kernel_base, "6.1.0-9-amd64");
  EXPECT_EQ(verdicts[0].kernel_new, "6.1.0-10-amd64");
  EXPECT_EQ(verdicts[2].kernel_base, kBase);
  EXPECT_EQ(verdicts[2].kernel_new, kNewer);
  EXPECT_TRUE(Judge({}, {}).empty());
}

// Simulated fleets on which nothing changed but, in the second case, the
// throughput: flags must stay below the nominal 5 %, both directions together.
TEST(VerdictsTest, FalseAlarmsStayBelowNominal) {
  for (const double throughput : {1.0, 5.6}) {
    std::mt19937_64 random(2026);
    std::lognormal_distribution<double> host_rate(0, 1);
    int flagged = 0;
    int rejected = 0;
    constexpr int kRounds = 400;
    for (int round = 0; round < kRounds; ++round) {
      std::vector<HostCell> cells;
      for (int i = 0; i < 20; ++i) {
        for (const std::string kernel : {kBase, kNewer}) {
          const double operations =
              200'000 * (kernel == kNewer ? throughput : 1.0);
          std::poisson_distribution<uint64_t> waits(host_rate(random) * 2e-5 *
                                                    operations);
          cells.push_back(
              Row(i, kernel, static_cast<uint64_t>(operations), waits(random)));
        }
      }
      const Verdict v = Only(cells);
      flagged += v.kind == VerdictKind::kRegression ||
                 v.kind == VerdictKind::kImprovement;
      rejected += v.p_value <= 0.05;
    }
    EXPECT_LE(flagged, kRounds * 5 / 100) << "throughput x" << throughput;
    EXPECT_LE(rejected, kRounds * 8 / 100) << "throughput x" << throughput;
    RecordProperty("rejected_x" + std::to_string(throughput), rejected);
  }
}

}  // namespace
}  // namespace swaplock
