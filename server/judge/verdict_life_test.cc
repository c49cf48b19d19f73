#include "server/judge/verdict_life.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace swaplock {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const absl::Time kStart = absl::FromUnixSeconds(1'768'478'400);

VerdictRecord Record(VerdictKind kind, double ratio = 2,
                     VerdictOutcome outcome = VerdictOutcome::kWaitsOver10ms) {
  VerdictRecord record;
  record.kernel_base = "6.12.57";
  record.kernel_new = "6.18.15";
  record.subsystem = Subsystem::kZram;
  record.operation = Operation::kRead;
  record.outcome = outcome;
  record.kind = kind;
  record.effect.ratio = ratio;
  record.sentence = "It is so.";
  return record;
}

class VerdictLifeTest : public ::testing::Test {
 protected:
  VerdictLifeTest() { book_.self_test.made = absl::InfinitePast(); }

  // One look, a day after the one before.
  VerdictChanges Look(const std::vector<VerdictRecord>& records,
                      const std::string& went_away = "") {
    Evaluated evaluated;
    evaluated.evaluation.id = ++evaluations_;
    evaluated.evaluation.input.pair = {"6.12.57", "6.18.15"};
    evaluated.evaluation.judged = now_ += absl::Hours(24);
    evaluated.records = records;
    if (!went_away.empty()) {
      evaluated.went_away[SubjectOf(records[0])] = went_away;
    }
    return TakeEvaluation(evaluated, &book_);
  }
  VerdictChanges Mark(VerdictState state,
                      absl::Time until = absl::InfiniteFuture()) {
    VerdictMark mark;
    mark.state = state;
    mark.by = "ann";
    mark.reason = "known";
    mark.until = until;
    return TakeMark(1, mark, now_, &book_);
  }
  const StoredVerdict& first() const { return book_.verdicts.at(0); }

  VerdictBook book_;
  absl::Time now_ = kStart;
  uint64_t evaluations_ = 0;
};

TEST_F(VerdictLifeTest, ARecordThatChangedIsANewVersion) {
  VerdictChanges changes = Look({Record(VerdictKind::kInconclusive)});
  EXPECT_EQ(first().id, 1u);
  EXPECT_EQ(first().version, 1u);
  EXPECT_TRUE(changes.evaluation.has_value());
  EXPECT_THAT(changes.new_versions, ElementsAre(1));
  const absl::Time since = first().since;

  changes = Look({Record(VerdictKind::kInconclusive)});
  EXPECT_EQ(first().version, 1u);
  EXPECT_EQ(first().evaluation, 1u);
  EXPECT_FALSE(changes.evaluation.has_value());
  EXPECT_EQ(first().since, since);
  EXPECT_EQ(first().judged, now_);

  changes = Look({Record(VerdictKind::kInconclusive, 3)});
  EXPECT_EQ(first().version, 2u);
  EXPECT_EQ(first().evaluation, 3u);
  EXPECT_EQ(first().since, since);
  Look({Record(VerdictKind::kRegression, 3)});
  EXPECT_EQ(first().version, 3u);
  EXPECT_EQ(first().since, now_);
  EXPECT_EQ(first().first_judged, since);
}

TEST_F(VerdictLifeTest, ARegressionAlertsUntilSomebodyLooksAfterIt) {
  Look({Record(VerdictKind::kImprovement)});
  EXPECT_FALSE(first().alerts);
  EXPECT_EQ(first().silent_because, "");
  Look({Record(VerdictKind::kRegression)});
  EXPECT_TRUE(first().alerts);
  Mark(VerdictState::kAcknowledged);
  EXPECT_FALSE(first().alerts);
  EXPECT_EQ(first().silent_because, "acknowledged by ann");
  // More of the same is known.
  Look({Record(VerdictKind::kRegression, 3)});
  EXPECT_EQ(first().mark.state, VerdictState::kAcknowledged);
  // Another kind is news.
  Look({Record(VerdictKind::kMixed)});
  EXPECT_EQ(first().mark.state, VerdictState::kNew);
  EXPECT_TRUE(first().alerts);
}

TEST_F(VerdictLifeTest, ASuppressionEndsByItself) {
  Look({Record(VerdictKind::kRegression)});
  Mark(VerdictState::kSuppressed, now_ + absl::Hours(30));
  EXPECT_EQ(first().silent_because, "suppressed by ann: known");
  EXPECT_EQ(first().incident, 0u);
  Look({Record(VerdictKind::kMixed)});  // whatever it says
  EXPECT_FALSE(first().alerts);
  VerdictChanges changes = Refresh(now_ + absl::Hours(5), &book_);
  EXPECT_TRUE(changes.verdicts.empty());
  changes = Refresh(now_ + absl::Hours(6), &book_);
  EXPECT_EQ(changes.verdicts.size(), 1u);
  EXPECT_EQ(first().mark.state, VerdictState::kNew);
  EXPECT_TRUE(first().alerts);
}

TEST_F(VerdictLifeTest, OneIncidentPerPairHasAllItsVerdicts) {
  Look({Record(VerdictKind::kRegression, 2),
        Record(VerdictKind::kMixed, 5, VerdictOutcome::kContended),
        Record(VerdictKind::kSuspect, 9, VerdictOutcome::kRunnable)});
  ASSERT_EQ(book_.incidents.size(), 1u);
  EXPECT_EQ(book_.incidents[0].id, 1u);
  EXPECT_EQ(book_.incidents[0].opened, now_);
  EXPECT_EQ(book_.incidents[0].closed, absl::InfiniteFuture());
  EXPECT_EQ(book_.incidents[0].verdicts.size(), 2u);
  for (const StoredVerdict& verdict : book_.verdicts) {
    EXPECT_EQ(verdict.incident,
              verdict.record.kind == VerdictKind::kSuspect ? 0u : 1u);
  }
  // The same one goes on while one of them is there.
  Look({Record(VerdictKind::kRegression, 2),
        Record(VerdictKind::kNoMaterialChange, 1, VerdictOutcome::kContended)});
  ASSERT_EQ(book_.incidents.size(), 1u);
  EXPECT_EQ(book_.incidents[0].verdicts.size(), 1u);
  const VerdictChanges changes = Look({Record(VerdictKind::kInconclusive)});
  EXPECT_EQ(book_.incidents[0].closed, now_);
  EXPECT_EQ(changes.incidents.size(), 1u);
  // The next one is another.
  Look({Record(VerdictKind::kRegression)});
  ASSERT_EQ(book_.incidents.size(), 2u);
  EXPECT_EQ(book_.incidents[0].id, 2u);
  EXPECT_EQ(first().incident, 2u);
}

TEST_F(VerdictLifeTest, WhatWentAwayIsSilentAndItsIncidentOver) {
  Look({Record(VerdictKind::kRegression)});
  Look({Record(VerdictKind::kRegression)}, "It is no longer seen.");
  EXPECT_EQ(first().went_away, "It is no longer seen.");
  EXPECT_EQ(first().silent_because, "it went away");
  EXPECT_EQ(first().record.kind, VerdictKind::kRegression);
  EXPECT_EQ(book_.incidents[0].closed, now_);
  Look({Record(VerdictKind::kRegression)});
  EXPECT_TRUE(first().alerts);
  EXPECT_EQ(first().incident, 2u);
}

TEST_F(VerdictLifeTest, AnOutcomeThatFailsTheSelfTestDoesNotAlert) {
  SelfTestReport report;
  report.made = now_;
  SelfTestResult result;
  result.operation = {Subsystem::kZram, Operation::kRead};
  result.outcome = VerdictOutcome::kWaitsOver10ms;
  result.splits = 200;
  result.rejected = 50;
  result.broken = true;
  report.false_alarms = {result};
  const VerdictChanges changes = TakeSelfTest(report, now_, &book_);
  EXPECT_TRUE(changes.self_test.has_value());
  Look({Record(VerdictKind::kRegression),
        Record(VerdictKind::kRegression, 2, VerdictOutcome::kContended)});
  EXPECT_FALSE(first().alerts);
  EXPECT_THAT(first().silent_because, HasSubstr("50 of 200"));
  EXPECT_TRUE(book_.verdicts[1].alerts);
  report.false_alarms[0].broken = false;
  TakeSelfTest(report, now_, &book_);
  EXPECT_TRUE(first().alerts);
}

TEST_F(VerdictLifeTest, WhatWasStoredComesBack) {
  Look({Record(VerdictKind::kRegression)});
  StoredBook stored;
  stored.book = book_;
  stored.book.pairs.clear();
  Evaluation evaluation;
  evaluation.input.pair = {"6.12.57", "6.18.15"};
  evaluation.hosts_upgraded = 7;
  stored.evaluations = {evaluation};
  VerdictBook restored = Restored(stored);
  restored.verdicts[0].alerts = false;
  Refresh(now_, &restored);
  EXPECT_TRUE(restored.verdicts[0].alerts);
  EXPECT_EQ(restored.incidents.size(), 1u);
  ASSERT_EQ(restored.pairs.size(), 1u);
  EXPECT_EQ(restored.pairs[0].hosts_upgraded, 7u);
}

}  // namespace
}  // namespace swaplock
