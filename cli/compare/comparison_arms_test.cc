#include "cli/compare/comparison_arms.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "cli/compare/comparison_testing.h"

namespace swaplock {
namespace {

std::vector<RecordedRun> BothKernels() {
  std::vector<RecordedRun> runs = QuietRuns();
  for (RecordedRun& run : InvertedRuns()) runs.push_back(std::move(run));
  for (RecordedRun& run : runs) {
    run.begin.variant =
        run.begin.environment.kernel_release == "6.12.90" ? "plain" : "patched";
    run.begin.labels["series"] = run.begin.variant == "plain" ? "0" : "1";
  }
  return runs;
}

size_t Selected(const std::vector<RecordedRun>& runs,
                absl::string_view selector) {
  const absl::StatusOr<Runs> chosen = SelectRuns(runs, selector);
  return chosen.ok() ? chosen->size() : 0;
}

TEST(ArmsTest, SelectsByVariantKernelAndLabel) {
  std::vector<RecordedRun> runs = BothKernels();
  runs[0].begin.environment.kernel_release = "6.120.1";
  runs[0].begin.labels["seed"] = "7";
  EXPECT_EQ(Selected(runs, ""), 10u);
  EXPECT_EQ(Selected(runs, "plain"), 5u);
  EXPECT_EQ(Selected(runs, "6.12"), 4u);
  EXPECT_EQ(Selected(runs, "6.18.15"), 5u);
  EXPECT_EQ(Selected(runs, "kernel=6.12"), 4u);
  EXPECT_EQ(Selected(runs, "variant=patched"), 5u);
  EXPECT_EQ(Selected(runs, "series=1"), 5u);
  EXPECT_EQ(Selected(runs, "seed=7"), 1u);
  EXPECT_EQ(Selected(runs, "run=zram-inversion"), 10u);
}

TEST(ArmsTest, ASelectorOfNothingSaysWhatThereIs) {
  const std::vector<RecordedRun> runs = BothKernels();
  const absl::StatusOr<Runs> chosen = SelectRuns(runs, "pached");
  ASSERT_FALSE(chosen.ok());
  EXPECT_EQ(chosen.status().message(),
            "no run is of \"pached\": there are kernels 6.12.90, 6.18.15, "
            "variants patched, plain, labels series=0, series=1");
}

TEST(ArmsTest, PairsByNameInTheOrderOfTheirBegins) {
  std::vector<RecordedRun> base = QuietRuns();
  std::vector<RecordedRun> newer = InvertedRuns();
  std::reverse(newer.begin(), newer.end());
  base.push_back(base[0]);
  base.back().begin.name = "zswap-inversion";
  const absl::StatusOr<std::vector<Arms>> arms =
      PairRuns(PointersTo(base), PointersTo(newer));
  ASSERT_TRUE(arms.ok()) << arms.status();
  ASSERT_EQ(arms->size(), 1u);
  EXPECT_EQ((*arms)[0].base.size(), 5u);
  EXPECT_EQ((*arms)[0].newer[0]->begin.repetition, 1u);
  EXPECT_EQ((*arms)[0].remarks,
            std::vector<std::string>{"zswap-inversion is in base only"});
}

TEST(ArmsTest, OneNameEachIsPairedWhateverItIs) {
  const std::vector<RecordedRun> base = QuietRuns();
  std::vector<RecordedRun> newer = InvertedRuns();
  for (RecordedRun& run : newer) run.begin.name = "other";
  const absl::StatusOr<std::vector<Arms>> arms =
      PairRuns(PointersTo(base), PointersTo(newer));
  ASSERT_TRUE(arms.ok()) << arms.status();
  EXPECT_EQ((*arms)[0].remarks,
            std::vector<std::string>{"the base runs are named zram-inversion, "
                                     "the new ones other"});
}

TEST(ArmsTest, ASideOfSeveralVariantsAsksToChoose) {
  const std::vector<RecordedRun> both = BothKernels();
  const std::vector<RecordedRun> newer = InvertedRuns();
  const absl::StatusOr<std::vector<Arms>> arms =
      PairRuns(PointersTo(both), PointersTo(newer));
  EXPECT_EQ(arms.status().message(),
            "the base runs of zram-inversion are of patched and plain: choose "
            "with --base");
}

TEST(ArmsTest, WindowsWithoutACommandArePairedAcrossHosts) {
  std::vector<RecordedRun> base = QuietRuns();
  std::vector<RecordedRun> newer = InvertedRuns();
  for (auto* runs : {&base, &newer}) {
    for (RecordedRun& run : *runs) {
      run.begin.command.clear();
      run.begin.name = run.begin.host_id;
      run.end.reset();
    }
  }
  const absl::StatusOr<std::vector<Arms>> arms =
      PairRuns(PointersTo(base), PointersTo(newer));
  ASSERT_TRUE(arms.ok()) << arms.status();
  EXPECT_EQ((*arms)[0].name, "");
  std::vector<std::string> remarks;
  EXPECT_EQ(Usable((*arms)[0].base, &remarks).size(), 5u);
  EXPECT_TRUE(remarks.empty());
}

}  // namespace
}  // namespace swaplock
