// Every printed form of a report against texts in the tree. After a wanted
// change of form:
//   SWAPLOCK_WRITE_TESTDATA=$PWD/cli/report/testdata
//   bazel-bin/cli/report/report_test
// writes them anew.
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/report/recorded_run.h"
#include "cli/report/report_export.h"
#include "cli/report/report_text.h"
#include "common/record_file.h"
#include "common/testing.h"

namespace swaplock {
namespace {

constexpr uint64_t kMs = 1'000'000;

void ExpectSaved(absl::string_view name, const std::string& text) {
  if (const char* folder = std::getenv("SWAPLOCK_WRITE_TESTDATA")) {
    std::ofstream(absl::StrCat(folder, "/", name)) << text;
    return;
  }
  std::ostringstream saved;
  saved << std::ifstream(absl::StrCat("cli/report/testdata/", name)).rdbuf();
  EXPECT_EQ(saved.str(), text) << name;
}

std::string Path(absl::string_view name) {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  return absl::StrCat(testing::TempDir(), "/", test->name(), "_", name, ".slk");
}

Recordings Read(const std::vector<Record>& records) {
  const std::string path = Path("run");
  std::remove(path.c_str());
  absl::StatusOr<std::unique_ptr<RecordWriter>> writer =
      RecordWriter::Open(path);
  EXPECT_TRUE(writer.ok()) << writer.status();
  for (const Record& record : records) {
    const absl::Status status = std::visit(
        [&writer](const auto& what) { return (*writer)->Append(what); },
        record);
    EXPECT_TRUE(status.ok()) << status;
  }
  writer->reset();
  absl::StatusOr<Recordings> recordings = ReadRecordings({path});
  EXPECT_TRUE(recordings.ok()) << recordings.status();
  for (RecordedRun& run : recordings->runs) run.files = {"run.slk"};
  return *std::move(recordings);
}

Cell Reads(int slow) {
  Cell cell = MakeCell(Subsystem::kZram, Operation::kRead, Role::kUnspecified);
  cell.key.mode = Mode::kUnspecified;
  cell.hold_tier = Tier::kUnspecified;
  cell.wait_tier = Tier::kUnspecified;
  cell.latency_tier = Tier::kExact;
  for (int i = 0; i < 2'000; ++i) {
    cell.latency.Add(20'000 + 10 * static_cast<uint64_t>(i));
  }
  for (int i = 1; i <= slow; ++i) {
    cell.latency.Add(static_cast<uint64_t>(i) * 15 * kMs);
  }
  return cell;
}

Hold LongHold(uint64_t runnable_ms) {
  Hold hold;
  hold.on_cpu_ns = 9 * kMs;
  hold.runnable_ns = runnable_ms * kMs;
  hold.hold_ns = hold.on_cpu_ns + hold.runnable_ns;
  hold.preempted_ns = hold.runnable_ns;
  hold.pid = 207;
  hold.tgid = 207;
  hold.comm = "fio";
  hold.nice = 19;
  hold.preemptions = 1;
  hold.preemptors = {{210, "hog", 0, 0, runnable_ms * kMs, false}};
  hold.waiters = {{209, "reader", -19, 0, runnable_ms * kMs / 2, true}};
  hold.stall_ns = runnable_ms * kMs;
  hold.inversion_ns = runnable_ms * kMs / 2;
  hold.switch_stack = {"__schedule", "preempt_schedule_irq",
                       "asm_sysvec_apic_timer_interrupt",
                       "ZSTD_CCtx_init_compressStream2"};
  return hold;
}

// One stream for both directions, whose holder is preempted.
Window PlainWindow(uint64_t seq, int slow) {
  Window window = MakeWindow("guest-1", seq, "7.3.4+deb13-amd64");
  window.environment.kernel_build_id =
      "0123456789abcdef0123456789abcdef01234567";
  window.environment.kernel_version =
      "#1 SMP PREEMPT_DYNAMIC Debian 7.3.4-1 (2026-10-05)";
  window.environment.preempt = "full";
  window.coverage = {};
  window.losses.clear();
  window.cells.clear();
  Cell write = MakeCell(Subsystem::kZram, Operation::kWrite, Role::kStream);
  for (int i = 0; i < 1'200; ++i) AddHold(&write, 80'000);
  for (int i = 0; i < slow; ++i) {
    const uint64_t ns = 30 * kMs * static_cast<uint64_t>(i + 1);
    AddHold(&write, 9 * kMs, ns);
    write.preempted_ns += ns;
  }
  Cell read = MakeCell(Subsystem::kZram, Operation::kRead, Role::kStream);
  for (int i = 0; i < 2'000; ++i) AddHold(&read, 12'000);
  for (int i = 1; i <= slow; ++i) {
    AddHold(&read, 12'000, 0, 0, static_cast<uint64_t>(i) * 14 * kMs);
    ++read.inversions;
    read.wait_owner_runnable_ns += static_cast<uint64_t>(i) * 13 * kMs;
  }
  window.cells = {write, read, Reads(slow)};
  window.top_holds = {LongHold(30 * static_cast<uint64_t>(slow))};
  window.overhead.rss_bytes = 12 << 20;
  window.overhead.null_hold_ns = 310;
  return window;
}

// Streams of their own, reads shared where they may be.
Window PatchedWindow(uint64_t seq) {
  Window window = PlainWindow(seq, 0);
  window.top_holds.clear();
  Cell write =
      MakeCell(Subsystem::kZram, Operation::kWrite, Role::kCompressStream);
  write.lock_model = LockModel::kSplitMutex;
  for (int i = 0; i < 1'200; ++i) AddHold(&write, 80'000);
  Cell shared =
      MakeCell(Subsystem::kZram, Operation::kRead, Role::kDecompressStream);
  shared.lock_model = LockModel::kRwsemShared;
  shared.key.mode = Mode::kShared;
  for (int i = 0; i < 3'000; ++i) AddHold(&shared, 12'000);
  Cell alone =
      MakeCell(Subsystem::kZram, Operation::kRead, Role::kDecompressStream);
  alone.lock_model = LockModel::kRwsemExclusive;
  for (int i = 0; i < 1'000; ++i) AddHold(&alone, 12'000);
  window.cells = {write, shared, alone, Reads(0)};
  return window;
}

std::vector<Record> RecordsOf(absl::string_view variant, uint32_t repetition,
                              const Window& window, uint64_t slowest_ms) {
  RunBegin begin;
  begin.id = absl::StrCat(variant, repetition);
  begin.name = "zram-inversion";
  begin.variant = std::string(variant);
  begin.repetition = repetition;
  begin.command = {"swaplock", "workload", "zram-inversion", "--seconds=8"};
  begin.host_id = window.key.host_id;
  begin.boot_id = window.key.boot_id;
  begin.environment = window.environment;
  begin.begin_boottime_ns = window.start_boottime_ns + 1'000 * kMs;
  begin.begin_unix_ns = kTestUnixNs;
  RunEnd end;
  end.run_id = begin.id;
  end.end_boottime_ns = begin.begin_boottime_ns + 8'200 * kMs;
  Measurement reads;
  reads.name = "high_priority_read";
  reads.threads = 2;
  reads.nice = -19;
  for (uint64_t i = 0; i < 1'000; ++i) reads.Add(60'000 + 20 * i);
  reads.Add(slowest_ms * kMs);
  end.result.measurements = {reads};
  end.result.facts = {{"seconds", "8"},
                      {"workers", "4"},
                      {"workers_nice", "19"},
                      {"hogs", "2"},
                      {"hogs_nice", "0"},
                      {"readers", "2"},
                      {"readers_nice", "-19"},
                      {"codec", "zstd"},
                      {"seed", absl::StrCat(repetition)}};
  return {begin, window, end};
}

std::vector<Record> PlainRuns() {
  std::vector<Record> records;
  for (uint32_t i = 1; i <= 5; ++i) {
    const int slow = static_cast<int>(i) * 3;
    for (const Record& record :
         RecordsOf("plain", i, PlainWindow(i, slow), uint64_t{40} * i)) {
      records.push_back(record);
    }
  }
  return records;
}

std::vector<Record> PlainAndPatchedRuns() {
  std::vector<Record> records = PlainRuns();
  for (uint32_t i = 1; i <= 5; ++i) {
    for (const Record& record :
         RecordsOf("patched", i, PatchedWindow(5 + i), i)) {
      records.push_back(record);
    }
  }
  return records;
}

// A host that refuses function hooks.
Window TracepointsWindow() {
  Window window = MakeWindow("phone", 1, "6.12.9-android16");
  window.environment.architecture = "aarch64";
  window.environment.page_cluster = -1;
  window.environment.preempt = "";
  window.environment.swap_backend = "";
  Cell stream =
      MakeCell(Subsystem::kZram, Operation::kUnspecified, Role::kStream);
  stream.hold_tier = Tier::kOwnerProbe;
  stream.contended = 2;
  stream.wait.Add(3 * kMs);
  stream.wait.Add(20 * kMs);
  stream.runnable.Add(19 * kMs);
  Cell pool =
      MakeCell(Subsystem::kZsmalloc, Operation::kUnspecified, Role::kSizeClass);
  pool.lock_model = LockModel::kSpinlock;
  pool.hold_tier = Tier::kUnspecified;
  pool.key.algorithm = "";
  for (int i = 0; i < 500; ++i) pool.wait.Add(700);
  pool.contended = 500;
  window.cells = {stream, pool};
  window.top_holds.clear();
  window.holds_in_progress = {LongHold(200)};
  window.holds_in_progress[0].waiters.clear();
  window.coverage.not_measured = {
      "zram stream lock: acquisitions, hold time, on-CPU time and the "
      "operations' latency, because load fexit/zcomp_stream_get: EPERM; its "
      "owners' off-CPU intervals are found by tracepoints."};
  return window;
}

// No line is longer, and nothing is but ASCII.
void ExpectMail(const std::string& text) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    EXPECT_LE(line.size(), kMailWidth) << line;
    for (const char c : line) {
      EXPECT_TRUE(c >= 0x20 && c < 0x7f) << line;
    }
  }
}

TEST(ReportTest, OneRun) {
  const Recordings runs = Read(RecordsOf("plain", 1, PlainWindow(1, 3), 40));
  ExpectSaved("report_one.txt", ReportText(runs, {}));
}

TEST(ReportTest, Repetitions) {
  ExpectSaved("report_repetitions.txt", ReportText(Read(PlainRuns()), {}));
}

TEST(ReportTest, EachRunByItself) {
  ReportForm form;
  form.each = true;
  form.holds = 0;
  const std::string text = ReportText(Read(PlainRuns()), form);
  for (int i = 1; i <= 5; ++i) {
    EXPECT_TRUE(absl::StrContains(
        text, absl::StrCat("zram-inversion, plain, run ", i, "\n")));
  }
  EXPECT_FALSE(absl::StrContains(text, "median"));
  EXPECT_FALSE(absl::StrContains(text, "longest holds"));
}

TEST(ReportTest, SaysInHowManyRunsALockWasSeen) {
  Recordings runs = Read(PlainRuns());
  auto& cells = runs.runs[0].cells;
  cells.erase(cells.begin(), std::prev(cells.end()));
  const std::string text = ReportText(runs, {});
  EXPECT_TRUE(absl::StrContains(text, "4 of 5 runs")) << text;
}

TEST(ReportTest, MailOfOneGroup) {
  ReportForm form;
  form.width = kMailWidth;
  form.mail = true;
  form.holds = 1;
  const std::string text = ReportText(Read(PlainRuns()), form);
  ExpectMail(text);
  ExpectSaved("report_mail.txt", text);
}

TEST(ReportTest, MailOfTwoVariants) {
  ReportForm form;
  form.width = kMailWidth;
  form.mail = true;
  form.holds = 1;
  const std::string text = ReportText(Read(PlainAndPatchedRuns()), form);
  ExpectMail(text);
  ExpectSaved("report_mail_variants.txt", text);
}

TEST(ReportTest, WhatWasNotMeasured) {
  const std::string text = ReportText(Read({TracepointsWindow()}), {});
  ExpectSaved("report_tracepoints.txt", text);
}

TEST(ReportTest, Json) {
  const absl::StatusOr<std::string> json =
      ReportJson(Read(RecordsOf("plain", 1, PlainWindow(1, 3), 40)), 1);
  ASSERT_TRUE(json.ok()) << json.status();
  ExpectSaved("report_one.json", *json);
}

TEST(ReportTest, Csv) {
  ExpectSaved("report_one.csv",
              ReportCsv(Read(RecordsOf("plain", 1, PlainWindow(1, 3), 40))));
}

TEST(ReportTest, TroubleOfEachKindIsSaidAndTheRestReported) {
  std::vector<Record> failed = RecordsOf("a", 1, PlainWindow(1, 1), 40);
  std::get<RunEnd>(failed[2]).exit_status = 3;
  std::vector<Record> killed = RecordsOf("b", 1, PlainWindow(2, 1), 40);
  std::get<RunEnd>(killed[2]).signal = 9;
  std::vector<Record> missing = RecordsOf("c", 1, PlainWindow(3, 1), 40);
  std::get<RunEnd>(missing[2]).error = "start nothing: No such file";
  std::get<RunEnd>(missing[2]).result = {};
  missing.erase(missing.begin() + 1);
  const std::vector<Record> cut = RecordsOf("d", 1, PlainWindow(4, 1), 40);
  std::vector<Record> all = failed;
  all.insert(all.end(), killed.begin(), killed.end());
  all.insert(all.end(), missing.begin(), missing.end());
  all.insert(all.end(), cut.begin(), cut.begin() + 2);
  const Recordings recordings = Read(all);
  const std::string text = ReportText(recordings, {});
  for (const absl::string_view sentence :
       {"  note      its command failed (exit status 3)\n",
        "  note      its command failed (ended by signal 9)\n",
        "  note      start nothing: No such file; nothing was measured: ",
        "There is no window, so nothing is known of the locks.\n",
        "  note      it was cut short: its end was not recorded\n"}) {
    EXPECT_TRUE(absl::StrContains(text, sentence)) << sentence << text;
  }
  EXPECT_TRUE(ReportJson(recordings, 3).ok());
  EXPECT_TRUE(absl::StrContains(ReportCsv(recordings), ",d,1,"));
}

TEST(ReportTest, NothingWasSeen) {
  Window window = MakeWindow("a", 1);
  window.cells.clear();
  window.top_holds.clear();
  const std::string text = ReportText(Read({window}), {});
  EXPECT_TRUE(absl::StrContains(text, "no hold and no wait was seen")) << text;
}

TEST(ReportTest, RemarksComeFirst) {
  Recordings recordings = Read({MakeWindow("a", 1)});
  recordings.remarks = {"run.slk ends in the middle of a record"};
  EXPECT_TRUE(absl::StartsWith(ReportText(recordings, {}),
                               "note: run.slk ends in the middle"));
}

TEST(ReportTest, HostileTextsAreHarmlessInEveryForm) {
  const std::string hostile =
      "\x1b[2J\xc2\x9b"
      "31m,\"\n\xe2\x82\xac" +
      std::string(100'000, 'x');
  std::vector<Record> records = RecordsOf(hostile, 1, PlainWindow(1, 2), 40);
  auto& begin = std::get<RunBegin>(records[0]);
  begin.name = hostile;
  begin.command = {hostile};
  begin.labels[hostile] = hostile;
  auto& window = std::get<Window>(records[1]);
  window.top_holds[0].comm = hostile;
  window.top_holds[0].switch_stack = {hostile};
  window.cells[0].key.device = hostile;
  window.coverage.not_measured = {hostile};
  auto& end = std::get<RunEnd>(records[2]);
  end.result.measurements[0].name = hostile;
  end.result.facts[hostile] = hostile;
  const Recordings recordings = Read(records);
  ReportForm mail;
  mail.width = kMailWidth;
  mail.mail = true;
  const absl::StatusOr<std::string> json = ReportJson(recordings, 3);
  ASSERT_TRUE(json.ok()) << json.status();
  for (const std::string& text :
       {ReportText(recordings, {}), ReportText(recordings, mail), *json,
        ReportCsv(recordings)}) {
    EXPECT_FALSE(absl::StrContains(text, "\x1b"));
    EXPECT_FALSE(absl::StrContains(text, "\xc2\x9b"));
    EXPECT_LT(text.size(), 200'000);
  }
}

// Whatever the width, every number is in some table, and at the widest in one.
TEST(ReportTest, ANarrowTerminalGetsMoreTables) {
  const Recordings runs = Read(PlainRuns());
  ReportForm narrow;
  narrow.width = 50;
  ReportForm wide;
  wide.width = 400;
  const auto models = [](const std::string& text) {
    return std::vector<std::string>(absl::StrSplit(text, "  model")).size();
  };
  EXPECT_EQ(models(ReportText(runs, wide)), 2);
  EXPECT_EQ(models(ReportText(runs, narrow)), 3);
}

}  // namespace
}  // namespace swaplock
