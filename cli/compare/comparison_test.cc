#include "cli/compare/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/compare/comparison_testing.h"

namespace swaplock {
namespace {

const CompareRules kRules;

Comparison CompareRuns(const std::vector<RecordedRun>& base,
                       const std::vector<RecordedRun>& newer,
                       const CompareRules& rules = kRules) {
  return Compare({"zram-inversion", PointersTo(base), PointersTo(newer), {}},
                 rules);
}

const ComparedOutcome& Find(const Comparison& comparison,
                            absl::string_view subject,
                            absl::string_view metric) {
  for (const ComparedSubject& one : comparison.subjects) {
    if (SubjectName(one.subject) != subject) continue;
    for (const ComparedOutcome& row : one.outcomes) {
      if (row.outcome.metric == metric) return row;
    }
  }
  ADD_FAILURE() << "no " << metric << " of " << subject;
  static const ComparedOutcome none;
  return none;
}

std::string Reasons(const Comparison& comparison) {
  return absl::StrJoin(comparison.grounds.refusals, "; ");
}

TEST(ComparisonTest, TellsWorseWithTheRunnablePartAsItsCause) {
  const Comparison comparison = CompareRuns(QuietRuns(), InvertedRuns());
  EXPECT_EQ(comparison.finding, Finding::kWorse) << comparison.sentence;
  EXPECT_TRUE(absl::StrContains(comparison.sentence,
                                "slowest 4.20 ms -> 314 ms (+74.8x, p = "
                                "0.0079)"))
      << comparison.sentence;
  EXPECT_TRUE(absl::StrContains(
      comparison.cause,
      "grew, 3.00 us -> 248 us on average: 100% of it runnable"))
      << comparison.cause;
}

TEST(ComparisonTest, SwappedSidesAreBetterByTheInverseWithTheSameP) {
  const Comparison there = CompareRuns(QuietRuns(), InvertedRuns());
  const Comparison back = CompareRuns(InvertedRuns(), QuietRuns());
  EXPECT_EQ(back.finding, Finding::kBetter);
  ASSERT_EQ(there.subjects.size(), back.subjects.size());
  for (size_t i = 0; i < there.subjects.size(); ++i) {
    const auto& rows = there.subjects[i].outcomes;
    const auto& others = back.subjects[i].outcomes;
    ASSERT_EQ(rows.size(), others.size());
    for (size_t k = 0; k < rows.size(); ++k) {
      SCOPED_TRACE(rows[k].outcome.metric);
      EXPECT_EQ(rows[k].base, others[k].newer);
      EXPECT_EQ(rows[k].judgement.p, others[k].judgement.p);
      EXPECT_EQ(rows[k].Verdict(), -others[k].Verdict());
      EXPECT_EQ(rows[k].judged, others[k].judged);
      if (!rows[k].judgement.ratio.has_value()) continue;
      EXPECT_NEAR(*rows[k].judgement.ratio * *others[k].judgement.ratio, 1,
                  1e-9);
    }
  }
}

TEST(ComparisonTest, RunsAgainstThemselvesShowNoDifference) {
  const Comparison comparison = CompareRuns(InvertedRuns(), InvertedRuns());
  EXPECT_EQ(comparison.finding, Finding::kNoDifference);
  EXPECT_TRUE(absl::StrContains(comparison.sentence, "seen four times in five"))
      << comparison.sentence;
  EXPECT_EQ(comparison.cause, "");
}

TEST(ComparisonTest, RunsOfOneKernelShowNoDifferenceAndWhatWouldHaveBeenSeen) {
  TestRun what;
  const std::vector<RecordedRun> a = MakeRuns(what, {4.2, 3.9, 5.1, 4.4, 4.0});
  const std::vector<RecordedRun> b = MakeRuns(what, {4.3, 4.1, 3.8, 4.9, 4.5});
  const Comparison comparison = CompareRuns(a, b);
  EXPECT_EQ(comparison.finding, Finding::kNoDifference);
  EXPECT_TRUE(absl::StrContains(comparison.sentence, "slowest 34.4%"))
      << comparison.sentence;
}

TEST(ComparisonTest, TooFewRunsSayHowManyAreNeeded) {
  std::vector<RecordedRun> base = QuietRuns();
  std::vector<RecordedRun> newer = InvertedRuns();
  base.resize(3);
  newer.resize(3);
  const Comparison comparison = CompareRuns(base, newer);
  EXPECT_EQ(comparison.finding, Finding::kNotEnoughRuns);
  EXPECT_TRUE(absl::StrContains(comparison.sentence, "fewer than 4 of each"))
      << comparison.sentence;
  EXPECT_FALSE(comparison.subjects.empty());
}

TEST(ComparisonTest, JudgesTheCommandsMeasurementsAndNothingElse) {
  const Comparison comparison = CompareRuns(QuietRuns(), InvertedRuns());
  for (const ComparedSubject& subject : comparison.subjects) {
    for (const ComparedOutcome& row : subject.outcomes) {
      EXPECT_EQ(
          row.judged,
          subject.subject.kind == Subject::Kind::kMeasurement &&
              (row.outcome.metric == kRate || row.outcome.metric == kOver10Ms ||
               row.outcome.metric == kSlowest))
          << SubjectName(subject.subject) << " " << row.outcome.metric;
    }
  }
}

TEST(ComparisonTest, WithoutMeasurementsTheOperationsAreJudged) {
  std::vector<RecordedRun> base = QuietRuns();
  std::vector<RecordedRun> newer = InvertedRuns();
  for (auto* runs : {&base, &newer}) {
    for (RecordedRun& run : *runs) run.end->result.measurements.clear();
  }
  const Comparison comparison = CompareRuns(base, newer);
  EXPECT_EQ(comparison.finding, Finding::kNoDifference) << comparison.sentence;
  EXPECT_TRUE(Find(comparison, "zram read", kOver10Ms).judged);
  EXPECT_TRUE(Find(comparison, "zram read", kSlowest).judged);
  EXPECT_FALSE(Find(comparison, "zram read", kRate).judged);
}

TEST(ComparisonTest, LocksOfDifferentModelsAreNoReferee) {
  std::vector<RecordedRun> base = QuietRuns();
  std::vector<RecordedRun> newer = InvertedRuns();
  for (auto* runs : {&base, &newer}) {
    for (RecordedRun& run : *runs) {
      run.end->result.measurements.clear();
      for (auto& [key, cell] : run.cells) {
        if (IsOperation(cell)) cell.latency = Distribution();
      }
    }
  }
  const Comparison comparison = CompareRuns(base, newer);
  EXPECT_EQ(comparison.finding, Finding::kNotComparable);
  EXPECT_TRUE(absl::StrContains(comparison.sentence, "different locks"))
      << comparison.sentence;
}

TEST(ComparisonTest, HoldsOfDifferentLocksAreShownAndNotTested) {
  const Comparison comparison = CompareRuns(QuietRuns(), InvertedRuns());
  const ComparedOutcome& hold =
      Find(comparison, "zram write lock", "hold_max_ns");
  EXPECT_EQ(hold.base.size(), 5u);
  EXPECT_EQ(hold.newer.size(), 5u);
  EXPECT_FALSE(hold.judgement.p.has_value());
  EXPECT_EQ(hold.untested,
            "holds are of different locks (preempt_off and mutex)");
  // A wait is a wait whatever it is for.
  EXPECT_TRUE(Find(comparison, "zram read lock", "wait_max_ns")
                  .judgement.p.has_value());
}

TEST(ComparisonTest, SplitStreamsAreTheReadLockOfEitherKernel) {
  TestRun split;
  split.kernel = "7.3.0";
  split.model = LockModel::kSplitMutex;
  split.read_role = Role::kDecompressStream;
  split.hold_runnable_ns = 400'000;
  const Comparison comparison =
      CompareRuns(InvertedRuns(), MakeRuns(split, {5.1, 4.2, 4.8, 4.4, 5.9}));
  EXPECT_EQ(comparison.finding, Finding::kBetter);
  const ComparedOutcome& waits =
      Find(comparison, "zram read lock", "wait_total_ns");
  EXPECT_EQ(waits.base.size(), 5u);
  EXPECT_EQ(waits.newer.size(), 5u);
  EXPECT_TRUE(absl::StrContains(comparison.cause, "100% of it runnable"))
      << comparison.cause;
}

TEST(ComparisonTest, AnOperationWithoutALockWaitsForNone) {
  TestRun what;
  what.kernel = "7.3.0";
  std::vector<RecordedRun> newer = MakeRuns(what, {5.1, 4.2, 4.8, 4.4, 5.9});
  for (RecordedRun& run : newer) {
    for (auto it = run.cells.begin(); it != run.cells.end();) {
      const bool read = it->first.operation == Operation::kRead;
      if (read && !IsOperation(it->second)) {
        it = run.cells.erase(it);
        continue;
      }
      if (read) it->second.lock_model = LockModel::kNone;
      ++it;
    }
  }
  const Comparison comparison = CompareRuns(InvertedRuns(), newer);
  const ComparedOutcome& waits =
      Find(comparison, "zram read lock", "wait_total_ns");
  EXPECT_EQ(waits.newer, std::vector<double>(5, 0));
  EXPECT_TRUE(waits.judgement.p.has_value());
  EXPECT_EQ(comparison.cause, "zram reads take no lock any more");
}

TEST(ComparisonTest, RefusesWhatIsNotComparableAndSaysWhy) {
  struct Case {
    const char* reason;
    void (*change)(RecordedRun*);
  };
  const Case cases[] = {
      {"CPUs: 2 and 8",
       [](RecordedRun* run) { run->begin.environment.cpus = 8; }},
      {"memory: from 1.0 to 4.0 GiB",
       [](RecordedRun* run) {
         run->begin.environment.memory_bytes = uint64_t{4} << 30;
       }},
      {"architecture: x86_64 and aarch64",
       [](RecordedRun* run) {
         run->begin.environment.architecture = "aarch64";
       }},
      {"vm.page-cluster: 0 and 3",
       [](RecordedRun* run) { run->begin.environment.page_cluster = 3; }},
      {"workers: 4 and 48",
       [](RecordedRun* run) { run->end->result.facts["workers"] = "48"; }},
      {"pause_us: none and 50",
       [](RecordedRun* run) { run->end->result.facts["pause_us"] = "50"; }},
      {"command: swaplock workload zram-inversion and fio x",
       [](RecordedRun* run) {
         run->begin.command = {"fio", "x"};
         run->end->result.facts.clear();
       }},
      {"codec: zstd and lz4",
       [](RecordedRun* run) {
         std::map<CellKey, Cell> cells;
         for (auto& [key, cell] : run->cells) {
           CellKey other = key;
           other.algorithm = "lz4";
           cells[other] = cell;
         }
         run->cells = cells;
       }},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.reason);
    std::vector<RecordedRun> base = QuietRuns();
    std::vector<RecordedRun> newer = InvertedRuns();
    if (absl::StartsWith(one.reason, "command")) {
      for (RecordedRun& run : base) run.end->result.facts.clear();
    }
    for (RecordedRun& run : newer) one.change(&run);
    const Comparison comparison = CompareRuns(base, newer);
    EXPECT_EQ(comparison.finding, Finding::kNotComparable);
    EXPECT_EQ(Reasons(comparison), one.reason);
    EXPECT_TRUE(comparison.subjects.empty());

    CompareRules force;
    force.force = true;
    const Comparison forced = CompareRuns(base, newer, force);
    EXPECT_EQ(forced.finding, Finding::kNotComparable);
    EXPECT_TRUE(forced.forced);
    EXPECT_FALSE(
        Find(forced, "high_priority_read", kSlowest).judgement.p.has_value());

    CompareRules differ;
    const std::string reason = one.reason;
    differ.may_differ = {reason.substr(0, reason.find(':'))};
    EXPECT_EQ(CompareRuns(base, newer, differ).finding, Finding::kWorse);
  }
}

TEST(ComparisonTest, APositiveControlMayDifferInItsSlowHolder) {
  std::vector<RecordedRun> newer = InvertedRuns();
  for (RecordedRun& run : newer) {
    run.end->result.facts["slow_holder_ms"] = "50";
    run.end->result.facts["seed"] = absl::StrCat(run.begin.repetition);
  }
  EXPECT_EQ(CompareRuns(QuietRuns(), newer).finding, Finding::kWorse);
}

TEST(ComparisonTest, RunsOfOneSideMustBeAlike) {
  std::vector<RecordedRun> newer = InvertedRuns();
  newer[2].begin.environment.cpus = 4;
  const Comparison comparison = CompareRuns(QuietRuns(), newer);
  EXPECT_EQ(Reasons(comparison),
            "CPUs: the new runs differ among themselves (2, 4)");
}

TEST(ComparisonTest, ATierOfAnotherKindIsNotTested) {
  std::vector<RecordedRun> newer = InvertedRuns();
  for (RecordedRun& run : newer) {
    for (auto& [key, cell] : run.cells) {
      if (!IsOperation(cell)) cell.hold_tier = Tier::kBracket;
      if (IsOperation(cell)) cell.latency_tier = Tier::kBracket;
    }
  }
  const Comparison comparison = CompareRuns(InvertedRuns(), newer);
  EXPECT_EQ(Find(comparison, "zram write lock", "hold_max_ns").untested,
            "holds are measured in different ways (exact and bracket)");
  EXPECT_EQ(Find(comparison, "zram read", "latency_mean_ns").untested,
            "latencies are measured in different ways (exact and bracket)");
}

TEST(ComparisonTest, RunsThatDidNotEndWellAreLeftOutAndNamed) {
  std::vector<RecordedRun> newer = InvertedRuns();
  newer[0].end->exit_status = 3;
  newer[1].end->signal = 9;
  newer[2].end.reset();
  const Comparison comparison = CompareRuns(QuietRuns(), newer);
  EXPECT_EQ(comparison.finding, Finding::kNotEnoughRuns);
  EXPECT_EQ(comparison.new_runs, 2u);
  const std::string remarks = absl::StrJoin(comparison.remarks, "\n");
  for (const char* what :
       {"zram-inversion 6.18.15 run 1 is left out: its command failed with "
        "exit status 3",
        "run 2 is left out: signal 9 ended its command",
        "run 3 is left out: it was cut short"}) {
    EXPECT_TRUE(absl::StrContains(remarks, what)) << remarks;
  }
}

TEST(ComparisonTest, NoUsableRunIsNotComparable) {
  std::vector<RecordedRun> newer = InvertedRuns();
  for (RecordedRun& run : newer) run.end->exit_status = 1;
  const Comparison comparison = CompareRuns(QuietRuns(), newer);
  EXPECT_EQ(comparison.finding, Finding::kNotComparable);
  EXPECT_TRUE(absl::StrContains(comparison.sentence, "no new run can be used"))
      << comparison.sentence;
}

TEST(ComparisonTest, ZeroOperationsAreNothingToCompare) {
  std::vector<RecordedRun> base = QuietRuns();
  std::vector<RecordedRun> newer = InvertedRuns();
  for (auto* runs : {&base, &newer}) {
    for (RecordedRun& run : *runs) {
      run.end->result.measurements[0].latency = Distribution();
      for (auto& [key, cell] : run.cells) {
        Cell empty;
        empty.key = key;
        cell = empty;
      }
    }
  }
  const Comparison comparison = CompareRuns(base, newer);
  EXPECT_EQ(comparison.finding, Finding::kNotComparable);
  EXPECT_EQ(comparison.sentence, "nothing was measured on either side");
}

TEST(ComparisonTest, ManyLossesKeepLocksFromBeingTested) {
  std::vector<RecordedRun> newer = InvertedRuns();
  newer[0].losses[LossReason::kRecursion] = 100;
  const Comparison comparison = CompareRuns(QuietRuns(), newer);
  EXPECT_EQ(comparison.finding, Finding::kWorse);
  EXPECT_TRUE(absl::StrContains(
      Find(comparison, "zram read lock", "wait_max_ns").untested, "were lost"));
}

TEST(ComparisonTest, MaximaOfRunsOfDifferentLengthsAreNotJudged) {
  std::vector<RecordedRun> newer = InvertedRuns();
  for (RecordedRun& run : newer) {
    run.end->end_boottime_ns += 12'000'000'000;
    run.end->result.facts.clear();
  }
  std::vector<RecordedRun> base = QuietRuns();
  for (RecordedRun& run : base) run.end->result.facts.clear();
  const Comparison comparison = CompareRuns(base, newer);
  EXPECT_FALSE(Find(comparison, "high_priority_read", kSlowest).judged);
  EXPECT_TRUE(Find(comparison, "high_priority_read", kRate).judged);
}

TEST(ComparisonTest, TheOrderOfRunsDoesNotMatter) {
  std::vector<RecordedRun> newer = InvertedRuns();
  std::reverse(newer.begin(), newer.end());
  const std::vector<RecordedRun> base = QuietRuns();
  const Comparison a = CompareRuns(base, InvertedRuns());
  const Comparison b = CompareRuns(base, newer);
  EXPECT_EQ(a.sentence, b.sentence);
  EXPECT_EQ(a.cause, b.cause);
}

}  // namespace
}  // namespace swaplock
