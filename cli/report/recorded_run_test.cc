#include "cli/report/recorded_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/record_file.h"
#include "common/testing.h"

namespace swaplock {
namespace {

std::string Path(absl::string_view name) {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  return absl::StrCat(testing::TempDir(), "/", test->name(), "_", name, ".slk");
}

std::string Write(absl::string_view name, const std::vector<Record>& records) {
  std::string path = Path(name);
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
  return path;
}

std::string Bytes(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

void SetBytes(const std::string& path, absl::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

RunBegin MakeBegin(absl::string_view id, const Window& first) {
  RunBegin begin;
  begin.id = std::string(id);
  begin.name = "zram-inversion";
  begin.repetition = 1;
  begin.command = {"sleep", "1"};
  begin.host_id = first.key.host_id;
  begin.boot_id = first.key.boot_id;
  begin.environment = first.environment;
  begin.begin_boottime_ns = first.start_boottime_ns + 1'000'000'000;
  return begin;
}

RunEnd MakeEnd(absl::string_view id, const Window& last) {
  RunEnd end;
  end.run_id = std::string(id);
  end.end_boottime_ns = last.end_boottime_ns - 1'000'000'000;
  return end;
}

Recordings Read(const std::vector<std::string>& paths) {
  absl::StatusOr<Recordings> recordings = ReadRecordings(paths);
  EXPECT_TRUE(recordings.ok()) << recordings.status();
  return recordings.ok() ? *std::move(recordings) : Recordings();
}

// All that a reader can see of a run but which files it was in.
std::string Said(const RecordedRun& run) {
  std::string out = absl::StrCat(
      ToProto(run.begin).DebugString(),
      run.end.has_value() ? ToProto(*run.end).DebugString() : "cut short",
      run.windows, " ", run.missing_windows, " ", run.measured_ns, " ",
      run.coverage_changed, " ", run.agent_cpu_ns, " ", run.agent_rss_bytes,
      " ", run.timing_shift, " ", run.null_hold_ns, "\n");
  for (const auto& [key, cell] : run.cells) {
    absl::StrAppend(&out, ToProto(cell).DebugString());
  }
  for (const auto* holds : {&run.longest, &run.in_progress}) {
    for (const RecordedHold& hold : *holds) {
      absl::StrAppend(&out, ToProto(hold.key).DebugString(),
                      ToProto(hold.hold).DebugString(), hold.end_unix_ns);
    }
  }
  absl::StrAppend(&out, ToProto(run.coverage).DebugString());
  for (const auto& [reason, events] : run.losses) {
    absl::StrAppend(&out, Name(reason), " ", events, "\n");
  }
  for (const auto& [name, value] : run.context.counters) {
    absl::StrAppend(&out, name, " ", value, "\n");
  }
  for (const auto& [name, value] : run.context.gauges) {
    absl::StrAppend(&out, name, " ", value, "\n");
  }
  for (const auto& [name, value] : run.context.facts) {
    absl::StrAppend(&out, name, " ", value, "\n");
  }
  return out;
}

TEST(RecordedRunTest, MergesTheWindowsBetweenBeginAndEnd) {
  const Window before = MakeWindow("a", 1);
  const Window first = MakeWindow("a", 2);
  const Window second = MakeWindow("a", 3);
  const Window other_host = MakeWindow("b", 1);
  const Window after = MakeWindow("a", 4);
  const Recordings read =
      Read({Write("one", {before, MakeBegin("01", first), first, other_host,
                          second, MakeEnd("01", second), after})});
  ASSERT_EQ(read.runs.size(), 3);
  EXPECT_TRUE(read.remarks.empty());

  EXPECT_FALSE(read.runs[0].HasCommand());
  EXPECT_FALSE(read.runs[0].CutShort());
  EXPECT_EQ(read.runs[0].begin.name, "a");
  EXPECT_EQ(read.runs[0].begin.environment.kernel_release, "6.18.15");
  EXPECT_EQ(read.runs[0].windows, 2);  // before and after
  EXPECT_EQ(read.runs[0].missing_windows, 2);
  EXPECT_EQ(read.runs[0].duration_ns(), 2 * kTestWindowNs);
  EXPECT_EQ(read.runs[0].begin.begin_unix_ns, kTestUnixNs);

  const RecordedRun& run = read.runs[1];
  EXPECT_TRUE(run.HasCommand());
  EXPECT_FALSE(run.CutShort());
  EXPECT_EQ(run.windows, 2);
  EXPECT_EQ(run.missing_windows, 0);
  EXPECT_EQ(run.measured_ns, 2 * kTestWindowNs);
  EXPECT_EQ(run.duration_ns(), 2 * kTestWindowNs - 2'000'000'000);
  ASSERT_EQ(run.cells.size(), 2);
  const Cell& write = run.cells.at(first.cells[0].key);
  EXPECT_EQ(write.acquisitions, 6);
  EXPECT_EQ(write.hold.max_ns, 12'000'000);
  ASSERT_EQ(run.longest.size(), 2);
  EXPECT_EQ(run.longest[0].key.operation, Operation::kWrite);
  EXPECT_EQ(run.losses.at(LossReason::kRecursion), 2);
  EXPECT_EQ(run.agent_cpu_ns, 60'000'000);
  EXPECT_EQ(run.coverage.not_measured.size(), 1);
  EXPECT_FALSE(run.coverage_changed);

  EXPECT_EQ(read.runs[2].begin.name, "b");
}

TEST(RecordedRunTest, CountsAWindowThatSeveralFilesHaveOnce) {
  const Window first = MakeWindow("a", 1);
  const Window second = MakeWindow("a", 2);
  const std::vector<Record> records = {MakeBegin("01", first), first, second,
                                       MakeEnd("01", second)};
  const std::string one = Write("one", records);
  const std::string copy = Write("copy", records);
  const Recordings once = Read({one});
  const Recordings twice = Read({one, copy});
  ASSERT_EQ(once.runs.size(), 1);
  ASSERT_EQ(twice.runs.size(), 1);
  EXPECT_EQ(Said(once.runs[0]), Said(twice.runs[0]));
  EXPECT_EQ(twice.runs[0].files, (std::vector<std::string>{one, copy}));
}

// However its windows lie in files, a run is the same.
TEST(RecordedRunTest, FilesInAnyOrderReadAsOne) {
  std::mt19937 random(4);  // the same numbers everywhere
  std::vector<Window> windows;
  for (uint64_t seq = 1; seq <= 24; ++seq) {
    Window window = MakeWindow("a", seq);
    for (int i = 0; i < 10; ++i) {
      const uint64_t ns = 1'000 + random() % 100'000'000;
      AddHold(&window.cells[i % 2], ns, random() % ns, random() % 2 * ns,
              random() % 3 * ns);
      Hold hold = window.top_holds[0];
      hold.on_cpu_ns = ns;
      hold.hold_ns = ns + hold.runnable_ns;
      window.top_holds.push_back(hold);
    }
    std::sort(
        window.top_holds.begin(), window.top_holds.end(),
        [](const Hold& x, const Hold& y) { return x.hold_ns > y.hold_ns; });
    window.holds_in_progress = {window.top_holds[seq % 5]};
    window.context.complete = seq % 7 == 1;
    window.context.counters["vmstat/pswpin"] = random() % 50;
    window.context.gauges["mem/free_bytes"] = random();
    window.context.facts[absl::StrCat("fact", seq % 3)] = absl::StrCat(seq);
    window.overhead.rss_bytes = random();
    windows.push_back(window);
  }
  RunBegin begin = MakeBegin("01", windows[0]);
  begin.environment = {};  // then the first window says it
  const RunEnd end = MakeEnd("01", windows.back());
  std::vector<Record> all = {begin};
  all.insert(all.end(), windows.begin(), windows.end());
  all.emplace_back(end);
  const Recordings whole = Read({Write("whole", all)});
  ASSERT_EQ(whole.runs.size(), 1);
  ASSERT_EQ(whole.runs[0].longest.size(), kLongestKept);

  for (int round = 0; round < 20; ++round) {
    const size_t files = 1 + random() % 4;
    std::vector<std::vector<Record>> parts(files, {begin});
    std::vector<Window> shuffled = windows;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    for (const Window& window : shuffled) {
      parts[random() % files].emplace_back(window);
      // A window may be in more than one.
      if (random() % 4 == 0) parts[random() % files].emplace_back(window);
    }
    parts[random() % files].emplace_back(end);
    std::vector<std::string> paths;
    for (size_t i = 0; i < files; ++i) {
      paths.push_back(Write(absl::StrCat("part", i), parts[i]));
    }
    const Recordings split = Read(paths);
    ASSERT_EQ(split.runs.size(), 1);
    EXPECT_EQ(Said(split.runs[0]), Said(whole.runs[0])) << "round " << round;
  }
}

TEST(RecordedRunTest, ARunWithoutEndWasCutShort) {
  const Window first = MakeWindow("a", 1);
  const Window later = MakeWindow("a", 2);
  const std::string path =
      Write("cut", {MakeBegin("01", first), first, MakeBegin("02", later),
                    later, MakeEnd("02", later)});
  const Recordings read = Read({path});
  ASSERT_EQ(read.runs.size(), 2);
  EXPECT_TRUE(read.runs[0].CutShort());
  EXPECT_EQ(read.runs[0].windows, 1);
  EXPECT_EQ(read.runs[0].duration_ns(), kTestWindowNs);
  EXPECT_FALSE(read.runs[1].CutShort());
  EXPECT_EQ(read.runs[1].windows, 1);
}

TEST(RecordedRunTest, ARunMayHaveNoWindows) {
  const Window window = MakeWindow("a", 1);
  RunEnd end = MakeEnd("01", window);
  end.error = "start nothing: No such file or directory";
  const Recordings read = Read({Write("none", {MakeBegin("01", window), end})});
  ASSERT_EQ(read.runs.size(), 1);
  EXPECT_EQ(read.runs[0].windows, 0);
  ASSERT_TRUE(read.runs[0].end.has_value());
  EXPECT_EQ(read.runs[0].end->error, end.error);
}

TEST(RecordedRunTest, CountsGapsBetweenWindows) {
  Window merged = MakeWindow("a", 9);
  merged.merged = 3;  // 7, 8 and 9
  Window restarted = MakeWindow("a", 1);
  restarted.key.epoch = 2;
  const Recordings read = Read({Write(
      "gaps", {MakeWindow("a", 2), MakeWindow("a", 4), merged, restarted})});
  ASSERT_EQ(read.runs.size(), 1);
  EXPECT_EQ(read.runs[0].missing_windows, 1 + 2);
}

TEST(RecordedRunTest, SaysWhenCoverageChanged) {
  Window second = MakeWindow("a", 2);
  second.coverage.fingerprint += 1;
  second.coverage.not_measured = {"everything"};
  const Recordings read =
      Read({Write("changed", {second, MakeWindow("a", 1)})});
  ASSERT_EQ(read.runs.size(), 1);
  EXPECT_TRUE(read.runs[0].coverage_changed);
  EXPECT_EQ(read.runs[0].coverage.not_measured, second.coverage.not_measured);
}

TEST(RecordedRunTest, RemarksATornTailAndUsesTheRest) {
  const std::string path =
      Write("torn", {MakeWindow("a", 1), MakeWindow("a", 2)});
  const std::string bytes = Bytes(path);
  SetBytes(path, bytes.substr(0, bytes.size() - 1));
  const Recordings read = Read({path});
  ASSERT_EQ(read.runs.size(), 1);
  EXPECT_EQ(read.runs[0].windows, 1);
  ASSERT_EQ(read.remarks.size(), 1);
  EXPECT_TRUE(absl::StrContains(read.remarks[0], "in the middle of a record"))
      << read.remarks[0];
}

TEST(RecordedRunTest, RemarksDamageAndUsesWhatStandsBefore) {
  const std::string path =
      Write("damaged", {MakeWindow("a", 1), MakeWindow("a", 2)});
  std::string bytes = Bytes(path);
  bytes.back() ^= 1;
  SetBytes(path, bytes);
  const Recordings read = Read({path});
  ASSERT_EQ(read.runs.size(), 1);
  EXPECT_EQ(read.runs[0].windows, 1);
  ASSERT_EQ(read.remarks.size(), 1);
  EXPECT_TRUE(absl::StrContains(read.remarks[0], "fails its checksum"));
  EXPECT_TRUE(absl::StrContains(read.remarks[0], "the 1 record before it"));
}

TEST(RecordedRunTest, RemarksAnEndWithoutBegin) {
  const Recordings read =
      Read({Write("end", {MakeEnd("0123", MakeWindow("a", 1))})});
  EXPECT_TRUE(read.runs.empty());
  ASSERT_EQ(read.remarks.size(), 1);
  EXPECT_TRUE(absl::StrContains(read.remarks[0], "0123 without its begin"));
}

TEST(RecordedRunTest, AnEmptyFileHasNoRuns) {
  const std::string path = Path("empty");
  SetBytes(path, "");
  const Recordings read = Read({path});
  EXPECT_TRUE(read.runs.empty());
  ASSERT_EQ(read.remarks.size(), 1);
  EXPECT_TRUE(absl::StrContains(read.remarks[0], "is empty"));
}

TEST(RecordedRunTest, FailsForWhatIsNoUsableFile) {
  EXPECT_EQ(ReadRecordings({Path("missing")}).status().code(),
            absl::StatusCode::kNotFound);
  const std::string foreign = Path("foreign");
  SetBytes(foreign, "PK\3\4 something else");
  EXPECT_EQ(ReadRecordings({foreign}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  const std::string newer = Path("newer");
  SetBytes(newer, "swaplk9\n");
  EXPECT_EQ(ReadRecordings({newer}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  const std::string damaged = Write("damaged", {MakeWindow("a", 1)});
  std::string bytes = Bytes(damaged);
  bytes.back() ^= 1;
  SetBytes(damaged, bytes);
  EXPECT_EQ(ReadRecordings({damaged}).status().code(),
            absl::StatusCode::kDataLoss);
}

// No byte of a file, whatever it becomes, makes the reader fall over.
TEST(RecordedRunTest, SurvivesEveryFlippedBit) {
  Window window;
  window.key = {"a", std::string(16, 'b'), 1, 1};
  window.end_boottime_ns = 1;
  const std::string path = Write(
      "flipped", {MakeBegin("01", window), window, MakeEnd("01", window)});
  const std::string whole = Bytes(path);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << (i % 8)));
    SetBytes(path, bytes);
    const absl::StatusOr<Recordings> read = ReadRecordings({path});
    EXPECT_TRUE(!read.ok() || !read->remarks.empty()) << "byte " << i;
  }
}

}  // namespace
}  // namespace swaplock
