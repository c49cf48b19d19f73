// What `swaplock workload` is asked to do: which of the two inversions, with
// how many tasks, for how long, on what. Checked here, before anything is
// touched.
//
// Plain values; not thread-safe.
#ifndef SWAPLOCK_CLI_WORKLOAD_WORKLOAD_OPTIONS_H_
#define SWAPLOCK_CLI_WORKLOAD_WORKLOAD_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace swaplock {

enum class WorkloadKind {
  kZswapInversion,  // pages through zswap
  kZramInversion,   // blocks of a zram device
};

struct WorkloadOptions {
  WorkloadKind kind = WorkloadKind::kZramInversion;
  int workers = -1;  // low-priority tasks; -1: as DefaultsByCpus says
  int hogs = -1;     // tasks at nice 0 that only burn CPU
  int readers = -1;  // high-priority tasks
  absl::Duration duration = absl::Seconds(12);
  // A reader sleeps about so long before each read. Without it readers at
  // nice -19 leave nobody else a CPU to be preempted on.
  absl::Duration pause = absl::Milliseconds(1);
  uint64_t seed = 1;
  double ratio = 2;   // of a page's size to what is random in it
  int mib = 0;        // zswap: each task's buffer; zram: the device. 0: 16
  std::string codec;  // "": as the kernel has it
  // Above 0: from time to time the first worker is moved to a CPU that a
  // real-time task keeps busy so long, wherever it is: a positive control.
  absl::Duration slow_holder = absl::ZeroDuration();

  // kZramInversion only.
  std::string low;        // what workers do: "write" or "read"; "": write
  int block_kib = 0;      // of a reader's read; 0: 4
  int low_block_kib = 0;  // of a worker's write or read; 0: 256
  std::string device;     // "zramN"; "": one of its own

  // kZswapInversion only.
  bool setup = false;       // make the swap and switch zswap on, for the run
  std::string swap_device;  // "/dev/ramN" for `setup`; "": /dev/ram0

  bool LowReads() const { return low == "read"; }
};

// InvalidArgument, with a sentence that names the flag, for a value that is out
// of its range or does not go with the kind.
absl::Status CheckGiven(const WorkloadOptions& options);

// Fills in what was not given, by the number of CPUs: two workers (with zswap
// at least four), a hog and a reader for each, as in the tests that the kernel
// lists saw.
void FillDefaults(int cpus, WorkloadOptions* options);

// "zswap-inversion"
const char* Name(WorkloadKind kind);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_WORKLOAD_WORKLOAD_OPTIONS_H_
