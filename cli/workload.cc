#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "cli/subcommands.h"
#include "cli/workload/workload_options.h"
#include "cli/workload/workload_roles.h"
#include "cli/workload/workload_setup.h"
#include "cli/workload/workload_tasks.h"
#include "cli/workload/workload_text.h"
#include "common/command_line.h"
#include "common/run.h"

ABSL_FLAG(int, workers, -1,
          "low-priority tasks, at nice 10 (zswap) or 19 (zram); -1: two a CPU, "
          "with zswap at least 4");
ABSL_FLAG(int, hogs, -1, "tasks that only burn CPU, at nice 0; -1: one a CPU");
ABSL_FLAG(int, readers, -1,
          "high-priority tasks, at nice -19, whose reads are timed; -1: one a "
          "CPU");
ABSL_FLAG(absl::Duration, duration, absl::Seconds(12), "how long they run");
ABSL_FLAG(absl::Duration, pause, absl::Milliseconds(1),
          "a reader sleeps about so long before each read; 0 leaves no CPU to "
          "others");
ABSL_FLAG(uint64_t, seed, 1, "what data and order of accesses depend on");
ABSL_FLAG(double, ratio, 2, "how much smaller a codec can make the data");
ABSL_FLAG(int, mib, 0,
          "zswap: each task's buffer; zram: the device's size; 0: 16");
ABSL_FLAG(std::string, codec, "",
          "zstd, lz4, lzo-rle, ...: of the device or, with --setup, of zswap; "
          "empty: what the kernel takes by itself");
ABSL_FLAG(absl::Duration, slow_holder, absl::ZeroDuration(),
          "positive control: from time to time the first worker is moved to a "
          "CPU that a real-time task keeps busy so long, lock and all");
ABSL_FLAG(std::string, low, "",
          "zram: what workers do, write or read; empty: write");
ABSL_FLAG(int, block_kib, 0, "zram: size of a reader's read; 0: 4");
ABSL_FLAG(int, low_block_kib, 0,
          "zram: size of a worker's write or read; 0: 256");
ABSL_FLAG(std::string, device, "",
          "zram: use zramN, which is set up already, and overwrite its first "
          "--mib; empty: one of its own, removed at the end");
ABSL_FLAG(bool, setup, false,
          "zswap: make swap on --swap_device, switch zswap on and read-ahead "
          "off for the run; for a lab, not for a host with work to do");
ABSL_FLAG(std::string, swap_device, "",
          "zswap: the RAM disk that --setup overwrites; empty: /dev/ram0");

namespace swaplock {
namespace {

WorkloadOptions Given(WorkloadKind kind) {
  WorkloadOptions options;
  options.kind = kind;
  options.workers = absl::GetFlag(FLAGS_workers);
  options.hogs = absl::GetFlag(FLAGS_hogs);
  options.readers = absl::GetFlag(FLAGS_readers);
  options.duration = absl::GetFlag(FLAGS_duration);
  options.pause = absl::GetFlag(FLAGS_pause);
  options.seed = absl::GetFlag(FLAGS_seed);
  options.ratio = absl::GetFlag(FLAGS_ratio);
  options.mib = absl::GetFlag(FLAGS_mib);
  options.codec = absl::GetFlag(FLAGS_codec);
  options.slow_holder = absl::GetFlag(FLAGS_slow_holder);
  options.low = absl::GetFlag(FLAGS_low);
  options.block_kib = absl::GetFlag(FLAGS_block_kib);
  options.low_block_kib = absl::GetFlag(FLAGS_low_block_kib);
  options.device = absl::GetFlag(FLAGS_device);
  options.setup = absl::GetFlag(FLAGS_setup);
  options.swap_device = absl::GetFlag(FLAGS_swap_device);
  return options;
}

// That this process may use.
int Cpus() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 1;
  return CPU_COUNT(&allowed);
}

struct Ran {
  TaskOutcome outcome;
  std::string codec;
};

absl::StatusOr<Ran> RunZram(const WorkloadOptions& options, Undo* undo,
                            StopSignals& signals) {
  const absl::StatusOr<ZramForRun> zram = PrepareZram(options, undo);
  if (!zram.ok()) return zram.status();
  absl::Status status = FillZram(options, *zram, signals);
  if (!status.ok()) return status;
  absl::StatusOr<TaskOutcome> outcome =
      RunTasks(ZramRoles(options, *zram), options.duration, signals);
  if (!outcome.ok()) return outcome.status();
  return Ran{*std::move(outcome), zram->codec};
}

// Pages that zswap has stored since the boot; kernels count them so since 6.1.
uint64_t StoredPages() {
  const absl::StatusOr<std::string> text = ReadSetting("/proc/vmstat");
  return text.ok() ? Figure(*text, "zswpout") : 0;
}

absl::StatusOr<Ran> RunZswap(const WorkloadOptions& options, Undo* undo,
                             StopSignals& signals) {
  const absl::StatusOr<ZswapForRun> zswap = PrepareZswap(options, undo);
  if (!zswap.ok()) return zswap.status();
  const uint64_t before = StoredPages();
  absl::StatusOr<TaskOutcome> outcome =
      RunTasks(ZswapRoles(options), options.duration, signals);
  if (!outcome.ok()) return outcome.status();
  if (StoredPages() == before && outcome->signal == 0) {
    return absl::UnavailableError(
        "no page went through zswap: is its pool full, or another zswap.* "
        "parameter in the way?");
  }
  return Ran{*std::move(outcome), zswap->codec};
}

absl::Status WriteResult(const RunResult& result) {
  const char* const path = getenv(kResultFileVariable);
  if (path == nullptr || *path == '\0') return absl::OkStatus();
  std::ofstream file(path, std::ios::trunc);
  file << ResultJson(result);
  file.close();
  if (file) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write the result to ",
                                             path, ": ", std::strerror(errno)));
}

int Unavailable(WorkloadKind kind, const absl::Status& status) {
  std::fprintf(stderr, "swaplock workload %s: %s\n", Name(kind),
               std::string(status.message()).c_str());
  return kExitUnavailable;
}

int Run(WorkloadOptions options) {
  const WorkloadKind kind = options.kind;
  const int cpus = Cpus();
  FillDefaults(cpus, &options);
  if (options.slow_holder > absl::ZeroDuration() && cpus < 2) {
    return Unavailable(kind,
                       absl::UnavailableError("--slow_holder needs two CPUs"));
  }
  // Before anything is set up, so that all of it is undone.
  StopSignals signals;
  Undo undo;
  const absl::StatusOr<Ran> ran = kind == WorkloadKind::kZswapInversion
                                      ? RunZswap(options, &undo, signals)
                                      : RunZram(options, &undo, signals);
  const absl::Status undone = undo.Run();
  if (!ran.ok()) {
    if (!undone.ok()) Unavailable(kind, undone);
    return Unavailable(kind, ran.status());
  }
  RunResult result;
  result.measurements = ran->outcome.measurements;
  result.facts = WorkloadFacts(options, ran->codec, cpus);
  if (ran->outcome.signal != 0) {
    result.facts["ended_by"] = absl::StrCat("signal ", ran->outcome.signal);
  }
  if (absl::GetFlag(FLAGS_output) == "json") {
    std::fputs(ResultJson(result).c_str(), stdout);
  } else {
    std::fputs(WorkloadText(result.facts, ran->outcome).c_str(), stdout);
  }
  std::fflush(stdout);
  const absl::Status written = WriteResult(result);
  if (!written.ok()) return Unavailable(kind, written);
  if (!undone.ok()) return Unavailable(kind, undone);
  // As a shell says of a command that a signal ended.
  return ran->outcome.signal == 0 ? 0 : 128 + ran->outcome.signal;
}

}  // namespace

int Workload(const Words& words) {
  constexpr absl::string_view kSubcommand = "workload";
  if (words.words.size() != 1 || words.dashes) {
    return UsageError(kSubcommand,
                      "it takes one word, zswap-inversion or zram-inversion");
  }
  for (const WorkloadKind kind :
       {WorkloadKind::kZswapInversion, WorkloadKind::kZramInversion}) {
    if (words.words[0] != Name(kind)) continue;
    const WorkloadOptions options = Given(kind);
    const absl::Status status = CheckGiven(options);
    if (!status.ok()) return UsageError(kSubcommand, status.message());
    return Run(options);
  }
  return UsageError(kSubcommand, absl::StrCat("there is no workload \"",
                                              words.words[0], "\""));
}

}  // namespace swaplock
