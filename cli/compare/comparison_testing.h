// Runs for tests of comparisons: small, the same on every call, with numbers
// that can be counted by hand. Test code only.
#ifndef SWAPLOCK_CLI_COMPARE_COMPARISON_TESTING_H_
#define SWAPLOCK_CLI_COMPARE_COMPARISON_TESTING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cli/compare/comparison_arms.h"
#include "cli/report/recorded_run.h"
#include "common/window.h"

namespace swaplock {

// What one run of a test comes to.
struct TestRun {
  std::string name = "zram-inversion";
  std::string variant;
  std::string kernel = "6.12.90";
  uint32_t repetition = 1;
  uint64_t reads = 10'000;          // of 100 us each
  uint64_t slow_reads = 0;          // of 20 ms each, besides
  uint64_t slowest_ns = 5'000'000;  // one more read
  LockModel model = LockModel::kMutex;
  Role read_role = Role::kStream;
  uint64_t hold_runnable_ns = 0;  // of each of the 100 holds of a write
};

// A run of 12 s: what the command measured ("high_priority_read"), zram's reads
// and writes as operations of 120 us, and their locks: 100 holds each, 3 us on
// CPU; a read waits behind each tenth of the writes' for as long as it lasts.
RecordedRun MakeRun(const TestRun& what);

// The begin, one window and the end of that run, as a recorder writes them.
RunBegin BeginOf(const TestRun& what);
Window WindowOf(const TestRun& what);
RunEnd EndOf(const TestRun& what);

// `slowest_ms` has one value per repetition.
std::vector<RecordedRun> MakeRuns(TestRun what,
                                  const std::vector<double>& slowest_ms);

Runs PointersTo(const std::vector<RecordedRun>& runs);

// Mail 000's story: on the old kernel preemption is off in a hold; on the new
// one writers are preempted in theirs, and readers wait. Five runs each.
std::vector<RecordedRun> QuietRuns();
std::vector<RecordedRun> InvertedRuns();

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_COMPARE_COMPARISON_TESTING_H_
