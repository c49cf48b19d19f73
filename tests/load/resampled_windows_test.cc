// Windows of real kernels, resampled into fleets: what is said of 6.12, 6.18
// and their modes of preemption. docs/VERDICTS.md has the table.
#include "server/replay/resampled_windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <string>

#include "server/admission/admit.h"
#include "tests/load/ledger_verdicts.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;

RecordedKernel Recorded(const std::string& name) {
  auto kernel =
      ReadRecordedKernel("server/replay/recordings/" + name + ".slk", name);
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_GE(kernel->windows.size(), 40u);
  return *kernel;
}

RolloutVerdicts Judge(const std::string& base, const std::string& renewed) {
  RecordedKernel before = Recorded(base);
  RecordedKernel after = Recorded(renewed);
  if (base == renewed) after.name += "-again";
  const std::vector<Window> windows =
      ResampledWindows(before, after, ResampledRollout(), 1);
  for (size_t i = 0; i < windows.size(); i += 50) {
    const auto refusal = Refuse(windows[i], windows[i].key.host_id);
    EXPECT_FALSE(refusal.has_value()) << refusal->sentence;
  }
  std::string directory = ::testing::TempDir() + "/resampled-XXXXXX";
  EXPECT_NE(mkdtemp(directory.data()), nullptr);
  auto verdicts =
      VerdictsThroughLedger(windows, directory, before.name, after.name);
  EXPECT_TRUE(verdicts.ok()) << verdicts.status();
  return *std::move(verdicts);
}

const VerdictRecord& Waits(const RolloutVerdicts& verdicts, Operation operation,
                           VerdictOutcome outcome) {
  const auto it =
      std::find_if(verdicts.verdicts.begin(), verdicts.verdicts.end(),
                   [&](const VerdictRecord& r) {
                     return r.operation == operation && r.outcome == outcome;
                   });
  EXPECT_NE(it, verdicts.verdicts.end());
  return *it;
}

TEST(ResampledWindowsTest, From612To618LazyReadsAreWorseForTheRunnablePart) {
  const RolloutVerdicts verdicts = Judge("6.12-voluntary", "6.18-lazy");
  const VerdictRecord& reads =
      Waits(verdicts, Operation::kRead, VerdictOutcome::kWaitsOver10ms);
  EXPECT_EQ(reads.kind, VerdictKind::kRegression) << reads.sentence;
  EXPECT_EQ(reads.lock_model_base, "preempt_off");
  EXPECT_EQ(reads.lock_model_new, "mutex");
  EXPECT_EQ(reads.runnable_share_before, 0);
  EXPECT_THAT(reads.sentence, HasSubstr("went from none to"));
  EXPECT_GT(reads.runnable_share_after, 0.5);
  EXPECT_THAT(reads.sentence,
              HasSubstr("Cause: holders of the lock were runnable"));
  const VerdictRecord& holders =
      Waits(verdicts, Operation::kWrite, VerdictOutcome::kRunnable);
  EXPECT_EQ(holders.kind, VerdictKind::kRegression) << holders.sentence;
}

TEST(ResampledWindowsTest, TheSameKernelIsNotFlagged) {
  for (const VerdictRecord& r : Judge("6.18-lazy", "6.18-lazy").verdicts) {
    EXPECT_NE(r.kind, VerdictKind::kRegression) << r.sentence;
    EXPECT_NE(r.kind, VerdictKind::kImprovement) << r.sentence;
    EXPECT_NE(r.kind, VerdictKind::kMixed) << r.sentence;
  }
}

TEST(ResampledWindowsTest, FromLazyToNoneReadsAreBetter) {
  const RolloutVerdicts verdicts = Judge("6.18-lazy", "6.18-none");
  const VerdictRecord& reads =
      Waits(verdicts, Operation::kRead, VerdictOutcome::kWaitsOver10ms);
  EXPECT_EQ(reads.kind, VerdictKind::kImprovement) << reads.sentence;
  EXPECT_THAT(reads.sentence,
              HasSubstr("Cause: holders of the lock were runnable"));
}

}  // namespace
}  // namespace swaplock
