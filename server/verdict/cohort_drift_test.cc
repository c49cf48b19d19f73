#include "server/verdict/cohort_drift.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/verdict/seeded_random.h"

namespace swaplock {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kToday = 20'500;
constexpr char kKernel[] = "6.18.15";

class Cohort : public EvidenceReader {
 public:
  absl::StatusOr<std::vector<HostBoot>> Boots() override {
    std::vector<HostBoot> out;
    for (const auto& [id, history] : hosts_) {
      out.insert(out.end(), history.boots.begin(), history.boots.end());
    }
    return out;
  }
  absl::StatusOr<HostHistory> Host(const std::string& host_id,
                                   int64_t /*first_day*/,
                                   int64_t /*last_day*/) override {
    return hosts_[host_id];
  }

  void AddBoot(const std::string& host, int64_t day, const std::string& build,
               std::map<std::string, std::string> facts = {}) {
    std::vector<HostBoot>& boots = hosts_[host].boots;
    if (!boots.empty()) boots.back().last_day = day - 1;
    HostBoot boot;
    boot.host_id = host;
    boot.kernel_release = kKernel;
    boot.kernel_build = build;
    boot.day = day;
    boot.last_day = kToday;
    boot.facts = std::move(facts);
    boots.push_back(std::move(boot));
  }

  void AddDay(const std::string& host, int64_t day, uint64_t long_waits) {
    HostDay measured;
    measured.host_id = host;
    measured.kernel_release = kKernel;
    measured.day = day;
    measured.hours = 24;
    hosts_[host].days.push_back(measured);
    HostDayCell cell;
    cell.host_id = host;
    cell.kernel_release = kKernel;
    cell.day = day;
    cell.subsystem = Subsystem::kZram;
    cell.operation = Operation::kRead;
    cell.role = Role::kStream;
    cell.lock_model = LockModel::kMutex;
    cell.hold_tier = cell.wait_tier = Tier::kExact;
    cell.acquisitions = 1'000'000;
    cell.waits_over_10ms = long_waits;
    hosts_[host].cells.push_back(cell);
  }

  // `hosts` over 42 days: about 30 waits a day, times `factor(day)`, each host
  // about a rate of its own.
  static Cohort Of(int hosts, uint64_t seed,
                   const std::function<double(int64_t)>& factor) {
    Cohort out;
    SeededRandom random(seed);
    for (int i = 0; i < hosts; ++i) {
      const std::string host = absl::StrCat("h", i);
      out.AddBoot(host, kToday - 100, "a");
      const double own = std::exp(2 * (random.Uniform() - 0.5));
      for (int64_t day = kToday - 41; day <= kToday; ++day) {
        const double noise = std::exp(0.8 * (random.Uniform() - 0.5));
        out.AddDay(host, day,
                   static_cast<uint64_t>(30 * own * noise * factor(day)));
      }
    }
    return out;
  }

 private:
  std::map<std::string, HostHistory> hosts_;
};

CohortDrift Judge(Cohort* cohort) {
  absl::StatusOr<CohortDrift> drift =
      JudgeCohort(cohort, kKernel, kToday, {}, {});
  EXPECT_TRUE(drift.ok()) << drift.status();
  return *std::move(drift);
}

double Steady(int64_t /*day*/) { return 1; }

TEST(CohortDriftTest, AChangeOfLevelIsASuspicion) {
  Cohort cohort = Cohort::Of(
      20, 1, [](int64_t day) { return day >= kToday - 12 ? 2.0 : 1.0; });
  const CohortDrift drift = Judge(&cohort);
  EXPECT_EQ(drift.hosts, 20u);
  EXPECT_EQ(drift.first_day, kToday - 41);
  ASSERT_EQ(drift.records.size(), 1u);
  const VerdictRecord& r = drift.records[0];
  EXPECT_EQ(r.kind, VerdictKind::kSuspect);
  EXPECT_EQ(r.design, Design::kChangePoint);
  EXPECT_EQ(r.outcome, VerdictOutcome::kWaitsOver10ms);
  EXPECT_NEAR(r.effect.ratio, 2, 0.25);
  EXPECT_GT(r.effect.lower, 1.5);
  ASSERT_TRUE(r.change.has_value());
  EXPECT_EQ(r.change->day, kToday - 12);
  EXPECT_LE(r.p_worse, 0.001);
  EXPECT_EQ(r.p_better, 1);
  EXPECT_THAT(r.sentence,
              HasSubstr("On 6.18.15 zram read changed about 2026-"));
  EXPECT_THAT(r.sentence, HasSubstr("cannot be told apart."));
}

TEST(CohortDriftTest, FewerIsAChangeToo) {
  Cohort cohort = Cohort::Of(
      20, 1, [](int64_t day) { return day >= kToday - 20 ? 0.4 : 1.0; });
  const CohortDrift drift = Judge(&cohort);
  ASSERT_EQ(drift.records.size(), 1u);
  EXPECT_LT(drift.records[0].effect.upper, 0.6);
  EXPECT_LE(drift.records[0].p_better, 0.001);
}

// Days of hosts that differ by chance, 40 fleets.
TEST(CohortDriftTest, SteadyHostsAreNoSuspicion) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Cohort cohort = Cohort::Of(12, seed, Steady);
    const CohortDrift drift = Judge(&cohort);
    ASSERT_EQ(drift.records.size(), 1u);
    EXPECT_EQ(drift.records[0].kind, VerdictKind::kInconclusive) << seed;
  }
}

// One day on which all hosts did something else.
TEST(CohortDriftTest, ASpikeIsNoSuspicion) {
  Cohort cohort = Cohort::Of(
      20, 3, [](int64_t day) { return day == kToday - 10 ? 8.0 : 1.0; });
  EXPECT_EQ(Judge(&cohort).records[0].kind, VerdictKind::kInconclusive);
}

// Ten hosts with ten times the rate leave, others come: no host changed.
TEST(CohortDriftTest, HostsThatComeAndGoMoveNothing) {
  Cohort cohort = Cohort::Of(20, 5, Steady);
  Cohort mixed = cohort;
  for (int i = 0; i < 10; ++i) {
    const std::string host = absl::StrCat("busy", i);
    mixed.AddBoot(host, kToday - 100, "a");
    for (int64_t day = kToday - 41; day <= kToday - 5; ++day) {
      mixed.AddDay(host, day, 300);
    }
  }
  EXPECT_EQ(Judge(&mixed).records[0].kind, VerdictKind::kInconclusive);
}

TEST(CohortDriftTest, AnotherBuildOfTheReleaseIsNamed) {
  Cohort cohort = Cohort::Of(
      20, 7, [](int64_t day) { return day >= kToday - 14 ? 3.0 : 1.0; });
  for (int i = 0; i < 20; ++i) {
    cohort.AddBoot(absl::StrCat("h", i), kToday - 15, "b",
                   {{"sysctl/vm/swappiness", "100"}});
  }
  const CohortDrift drift = Judge(&cohort);
  ASSERT_EQ(drift.records.size(), 1u);
  const VerdictRecord& r = drift.records[0];
  EXPECT_EQ(r.kind, VerdictKind::kSuspect);
  EXPECT_THAT(r.builds_before, ElementsAre("a"));
  EXPECT_THAT(r.builds_after, Contains("b"));
  EXPECT_THAT(r.co_changes,
              ElementsAre("sysctl/vm/swappiness: unknown -> 100"));
  EXPECT_THAT(r.findings, ElementsAre("20 of 20 hosts rebooted about then."));
}

TEST(CohortDriftTest, TooFewHostsOrDaysSayNothing) {
  Cohort few = Cohort::Of(7, 1, Steady);
  EXPECT_THAT(Judge(&few).records, IsEmpty());
  Cohort none;
  EXPECT_EQ(Judge(&none).hosts, 0u);
  Cohort no_events = Cohort::Of(20, 1, [](int64_t) { return 0.0; });
  EXPECT_THAT(Judge(&no_events).records, IsEmpty());
}

TEST(CohortDriftTest, TheSameRowsGiveTheSameAndOthersAnotherHash) {
  Cohort cohort = Cohort::Of(20, 1, Steady);
  const CohortDrift first = Judge(&cohort);
  const CohortDrift again = Judge(&cohort);
  EXPECT_EQ(first.rows_hash, again.rows_hash);
  EXPECT_EQ(first.records[0].sentence, again.records[0].sentence);
  Cohort other = Cohort::Of(20, 2, Steady);
  EXPECT_NE(Judge(&other).rows_hash, first.rows_hash);
}

}  // namespace
}  // namespace swaplock
