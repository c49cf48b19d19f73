#include "cli/compare/comparison_testing.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/testing.h"

namespace swaplock {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kLengthNs = 12 * kSecondNs;

Environment EnvironmentOf(const TestRun& what) {
  Environment environment;
  environment.kernel_release = what.kernel;
  environment.kernel_version =
      absl::StrCat("#1 SMP PREEMPT_DYNAMIC Debian ", what.kernel, "-1");
  environment.architecture = "x86_64";
  environment.cpus = 2;
  environment.memory_bytes = uint64_t{1} << 30;
  environment.preempt = "full";
  environment.page_cluster = 0;
  environment.agent_version = "test";
  environment.swap_backend = "zram";
  return environment;
}

Cell OperationCell(Operation operation, LockModel model) {
  Cell cell;
  cell.key = {Subsystem::kZram,   operation, Role::kUnspecified,
              Mode::kUnspecified, "zram0",   "zstd"};
  cell.lock_model = model;
  cell.latency_tier = Tier::kExact;
  for (int i = 0; i < 100; ++i) cell.latency.Add(120'000);
  return cell;
}

}  // namespace

RunBegin BeginOf(const TestRun& what) {
  RunBegin begin;
  uint32_t side = 0;
  for (const char c : absl::StrCat(what.name, what.variant, what.kernel)) {
    side = side * 31 + static_cast<unsigned char>(c);
  }
  begin.id = absl::StrFormat("%08x%08x", side, what.repetition);
  begin.name = what.name;
  begin.variant = what.variant;
  begin.repetition = what.repetition;
  begin.command = {"swaplock", "workload", what.name};
  const Window window = MakeWindow(what.kernel, 1, what.kernel);
  begin.host_id = "lab";
  begin.boot_id = window.key.boot_id;
  begin.environment = EnvironmentOf(what);
  begin.begin_boottime_ns = 20 * kSecondNs * what.repetition;
  begin.begin_unix_ns = kTestUnixNs + 20 * kSecondNs * what.repetition;
  return begin;
}

Window WindowOf(const TestRun& what) {
  Window window;
  const RunBegin begin = BeginOf(what);
  window.key = {begin.host_id, begin.boot_id, 1, what.repetition};
  window.start_boottime_ns = begin.begin_boottime_ns;
  window.end_boottime_ns = begin.begin_boottime_ns + kLengthNs;
  window.end_unix_ns = begin.begin_unix_ns + kLengthNs;
  window.environment = begin.environment;

  Cell write =
      MakeCell(Subsystem::kZram, Operation::kWrite,
               what.read_role == Role::kDecompressStream ? Role::kCompressStream
                                                         : Role::kStream);
  Cell read = MakeCell(Subsystem::kZram, Operation::kRead, what.read_role);
  write.lock_model = read.lock_model = what.model;
  for (int i = 0; i < 100; ++i) {
    AddHold(&write, 3'000, what.hold_runnable_ns);
    const bool waits = i % 10 == 0 && what.read_role == Role::kStream;
    AddHold(&read, 3'000, 0, 0, waits ? 3'000 + what.hold_runnable_ns : 0);
  }
  window.cells = {write, read, OperationCell(Operation::kWrite, what.model),
                  OperationCell(Operation::kRead, what.model)};
  if (what.hold_runnable_ns > 0) {
    Hold hold;
    hold.cell = 0;
    hold.hold_ns = 3'000 + what.hold_runnable_ns;
    hold.on_cpu_ns = 3'000;
    hold.runnable_ns = what.hold_runnable_ns;
    hold.comm = "writer";
    window.top_holds = {hold};
  }
  return window;
}

RunEnd EndOf(const TestRun& what) {
  const RunBegin begin = BeginOf(what);
  RunEnd end;
  end.run_id = begin.id;
  end.end_boottime_ns = begin.begin_boottime_ns + kLengthNs;
  end.end_unix_ns = begin.begin_unix_ns + kLengthNs;
  Measurement reads;
  reads.name = "high_priority_read";
  reads.threads = 2;
  reads.nice = -19;
  for (uint64_t i = 0; i < what.reads; ++i) reads.Add(100'000);
  for (uint64_t i = 0; i < what.slow_reads; ++i) reads.Add(20'000'000);
  reads.Add(what.slowest_ns);
  end.result.measurements = {reads};
  end.result.facts = {{"readers", "2"}, {"seconds", "12"}, {"workers", "4"}};
  return end;
}

RecordedRun MakeRun(const TestRun& what) {
  RecordedRun run;
  run.begin = BeginOf(what);
  run.end = EndOf(what);
  const Window window = WindowOf(what);
  run.windows = 1;
  run.measured_ns = window.end_boottime_ns - window.start_boottime_ns;
  for (const Cell& cell : window.cells) run.cells[cell.key] = cell;
  for (const Hold& hold : window.top_holds) {
    run.longest.push_back(
        {hold, window.cells[hold.cell].key, window.end_unix_ns});
  }
  return run;
}

std::vector<RecordedRun> MakeRuns(TestRun what,
                                  const std::vector<double>& slowest_ms) {
  std::vector<RecordedRun> runs;
  for (const double ms : slowest_ms) {
    what.slowest_ns = static_cast<uint64_t>(ms * 1e6);
    runs.push_back(MakeRun(what));
    ++what.repetition;
  }
  return runs;
}

Runs PointersTo(const std::vector<RecordedRun>& runs) {
  Runs out;
  for (const RecordedRun& run : runs) out.push_back(&run);
  return out;
}

std::vector<RecordedRun> QuietRuns() {
  TestRun what;
  what.model = LockModel::kPreemptOff;
  std::vector<RecordedRun> runs;
  for (const double ms : {4.2, 3.9, 5.1, 4.4, 4.0}) {
    what.slowest_ns = static_cast<uint64_t>(ms * 1e6);
    what.reads = 9'000 + 100 * what.repetition;
    runs.push_back(MakeRun(what));
    ++what.repetition;
  }
  return runs;
}

std::vector<RecordedRun> InvertedRuns() {
  TestRun what;
  what.kernel = "6.18.15";
  std::vector<RecordedRun> runs;
  for (const double ms : {314.0, 97.0, 2542.0, 280.0, 401.0}) {
    what.slowest_ns = static_cast<uint64_t>(ms * 1e6);
    what.slow_reads = 3 + what.repetition * 3;
    what.reads = 9'020 + 100 * what.repetition;
    what.hold_runnable_ns = 400'000 + 30'000 * what.repetition;
    runs.push_back(MakeRun(what));
    ++what.repetition;
  }
  return runs;
}

}  // namespace swaplock
