#include "common/window_table.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "common/testing.h"

namespace swaplock {
namespace {

std::vector<std::string> Words(absl::string_view line) {
  return absl::StrSplit(line, ' ', absl::SkipEmpty());
}

// The words of a table's row; 0 is its titles.
std::vector<std::string> Row(absl::string_view table, size_t index) {
  const std::vector<std::string> lines = absl::StrSplit(table, '\n');
  return Words(lines.at(index));
}

TEST(CellTableTest, ShowsEveryNumberOfAnExactCell) {
  const std::string table = CellTable({MakeWindow("host-a", 1).cells[0]});
  EXPECT_EQ(Row(table, 1),
            (std::vector<std::string>{
                "zram", "zram0", "write", "stream", "zstd", "mutex",
                "exact/contention", "3", "1", "20.0ms", "20.0ms", "1", "13.1ms",
                "12.0ms", "1", "3.10ms", "10.0ms", "0", "0"}))
      << table;
}

TEST(CellTableTest, ASharedLockIsNotTheOneHeldAlone) {
  Cell cell = MakeWindow("host-a", 1).cells[0];
  cell.key.mode = Mode::kShared;
  const std::vector<std::string> row = Row(CellTable({cell}), 1);
  EXPECT_EQ(row[3], "stream");
  EXPECT_EQ(row[4], "shared");
}

TEST(CellTableTest, WhatTheTierCannotSeeIsADash) {
  Cell cell = MakeWindow("host-a", 1).cells[0];
  const auto numbers = [&cell] {
    const std::vector<std::string> row = Row(CellTable({cell}), 1);
    return std::vector<std::string>(row.begin() + 7, row.end());
  };
  cell.hold_tier = Tier::kOwnerProbe;
  EXPECT_EQ(numbers(),
            (std::vector<std::string>{"-", "1", "20.0ms", "20.0ms", "1", "-",
                                      "-", "-", "-", "10.0ms", "0", "-"}));
  cell.hold_tier = Tier::kContention;
  EXPECT_EQ(numbers(),
            (std::vector<std::string>{"-", "1", "20.0ms", "20.0ms", "1", "-",
                                      "-", "-", "-", "-", "-", "-"}));
  cell.hold_tier = Tier::kExact;
  cell.wait_tier = Tier::kUnspecified;
  EXPECT_EQ(numbers(), (std::vector<std::string>{
                           "3", "-", "-", "-", "-", "13.1ms", "12.0ms", "1",
                           "3.10ms", "10.0ms", "0", "0"}));
}

TEST(CellTableTest, ShowsWhatTheRunnablePartIsMadeOf) {
  Cell cell = MakeWindow("host-a", 1).cells[0];
  const auto titles = [&cell] { return Row(CellTable({cell}), 0); };
  // A runnable part of which nothing was seen leaves its columns out.
  EXPECT_FALSE(absl::StrContains(CellTable({cell}), "preempted"));
  cell.preempted_ns = 7'000'000;
  cell.woken_ns = 2'000'000;
  cell.throttled_ns = 500'000;
  cell.migrations = 4;
  const std::vector<std::string> row = Row(CellTable({cell}), 1);
  EXPECT_EQ(std::vector<std::string>(row.end() - 7, row.end()),
            (std::vector<std::string>{"10.0ms", "7.00ms", "2.00ms", "500us",
                                      "0", "0", "4"}));
  // Beside a cell that has them, one that was not measured reads "-".
  Cell other = MakeWindow("host-a", 1).cells[0];
  other.hold_tier = Tier::kOwnerProbe;
  const std::vector<std::string> blind = Row(CellTable({cell, other}), 2);
  EXPECT_EQ(std::vector<std::string>(blind.end() - 7, blind.end()),
            (std::vector<std::string>{"10.0ms", "-", "-", "-", "0", "-", "-"}));
  EXPECT_EQ(titles().back(), "migrations");
}

Cell LoadCell(LockModel lock_model) {
  Cell cell;
  cell.key.subsystem = Subsystem::kZswap;
  cell.key.operation = Operation::kLoad;
  cell.key.algorithm = "lzo";
  cell.lock_model = lock_model;
  cell.latency_tier = Tier::kExact;
  return cell;
}

TEST(OperationTableTest, TellsLockFreeFromNotMeasured) {
  Cell lock_free = LoadCell(LockModel::kNone);
  lock_free.latency.Add(1'000);
  lock_free.latency.Add(3'000'000);
  const std::string table =
      OperationTable({MakeWindow("host-a", 1).cells[0], lock_free,
                      LoadCell(LockModel::kUnspecified)});
  EXPECT_EQ(Row(table, 1),
            (std::vector<std::string>{"zswap", "load", "lzo", "lock-free",
                                      "exact", "2", "1.50ms", "3.00ms",
                                      "3.00ms", "1", "0", "0"}));
  EXPECT_EQ(Row(table, 2),
            (std::vector<std::string>{"zswap", "load", "lzo", "-", "exact", "0",
                                      "-", "-", "-", "0", "0", "0"}));
  EXPECT_FALSE(absl::StrContains(table, "zram")) << table;
  EXPECT_EQ(OperationTable(MakeWindow("host-a", 1).cells), "");
}

TEST(CellTableTest, OperationsAreNoLocks) {
  EXPECT_EQ(CellTable({LoadCell(LockModel::kMutex)}), "");
  Window window = MakeWindow("host-a", 1);
  window.cells.push_back(LoadCell(LockModel::kMutex));
  EXPECT_TRUE(absl::StrContains(WindowText(window), "  operations\n"));
}

TEST(TablesTest, FitTheWidthTheyAreGiven) {
  Window window = MakeWindow("host-a", 1);
  window.cells[0].preempted_ns = 7'000'000;
  window.cells.push_back(LoadCell(LockModel::kMutex));
  for (const size_t width : {80, 100, 140, 200}) {
    for (const std::string& table :
         {CellTable(window.cells, "  ", width),
          OperationTable(window.cells, "  ", width)}) {
      for (const absl::string_view line : absl::StrSplit(table, '\n')) {
        EXPECT_LE(line.size(), width) << table;
      }
    }
  }
}

TEST(HoldExplanationTest, LongLinesGoOnInTheNext) {
  Hold hold;
  hold.cgroup = std::string(50, 'g');
  for (int i = 0; i < 10; ++i) hold.switch_stack.push_back("function_name");
  const std::vector<std::string> lines =
      absl::StrSplit(HoldExplanation(hold, "  ", 40), '\n', absl::SkipEmpty());
  EXPECT_EQ(lines[0], "  cgroup:");
  EXPECT_EQ(lines[1], "    " + hold.cgroup);
  EXPECT_EQ(lines[2], "  switched out in: function_name <");
  EXPECT_EQ(lines[3], "    function_name < function_name <");
  for (size_t i = 2; i < lines.size(); ++i) EXPECT_LE(lines[i].size(), 40u);
  EXPECT_EQ(absl::StrSplit(HoldExplanation(hold, "  "), '\n', absl::SkipEmpty())
                .begin()
                ->substr(0, 12),
            "  cgroup: gg");
}

TEST(HoldTableTest, NamesLockAndHolder) {
  const Window window = MakeWindow("host-a", 1);
  const std::string table = HoldTable(window.top_holds, window.cells);
  EXPECT_TRUE(absl::StrContains(table, "zram0 write stream")) << table;
  EXPECT_TRUE(absl::StrContains(table, "writer[77] other nice 10")) << table;
  EXPECT_EQ(HoldTable({}, {}), "");
}

TEST(WindowTextTest, SaysWhatWasLost) {
  const std::string text = WindowText(MakeWindow("host-a", 1));
  EXPECT_TRUE(absl::StrContains(text, "lost: recursion 1")) << text;
}

TEST(ContextTextTest, HasItsUnits) {
  Context context;
  context.counters = {{"cpu/steal_ms", 20},
                      {"psi/memory/some_us", 1500},
                      {"sched/run_delay_ns", 0},
                      {"vmstat/zswpin", 7}};
  context.gauges = {{"mem/free_bytes", 3 << 20},
                    {"psi/memory/some_avg10_ppm", 123400}};
  context.facts = {{"zswap/compressor", "zs\ntd"}};
  EXPECT_EQ(ContextText(context),
            "  context, grew by: cpu/steal 20.0ms, psi/memory/some 1.50ms, "
            "vmstat/zswpin 7\n"
            "  context, now: mem/free 3.0 MiB, psi/memory/some_avg10 12.34%\n"
            "  context, facts: zswap/compressor zs?td\n");
  EXPECT_EQ(ContextText({}), "");
}

TEST(ContextTextTest, LongListsGoOnInTheNextLine) {
  Context context;
  for (int i = 100; i < 140; ++i) {
    context.gauges["gauge" + std::to_string(i)] = 1;
  }
  const std::vector<std::string> lines =
      absl::StrSplit(ContextText(context), '\n', absl::SkipEmpty());
  ASSERT_GT(lines.size(), 2u);
  for (const std::string& line : lines) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_TRUE(absl::StartsWith(lines[1], "    gauge")) << lines[1];
}

TEST(CoverageTextTest, GroupsProbesByStateAndReason) {
  Coverage coverage;
  coverage.probes = {
      {"fexit/b", ProbeState::kRefused, "EPERM\n", 0, 0, 0},
      {"fentry/a", ProbeState::kRefused, "EPERM\n", 0, 0, 0},
      {"tp_btf/c", ProbeState::kAttached, "", 0, 0, 0},
      {"fentry/d", ProbeState::kRefused, "ENOMEM", 0, 0, 0},
  };
  coverage.not_measured = {"zswap: holds"};
  EXPECT_EQ(CoverageText(coverage, ">"),
            ">probes attached: tp_btf/c\n"
            ">probes refused: fentry/d: ENOMEM\n"
            ">probes refused: fexit/b, fentry/a: EPERM?\n"
            ">not measured: zswap: holds\n");
}

TEST(WindowJsonTest, IsOneLineWithTheSchemasNames) {
  const std::string json = WindowJson(MakeWindow("host-a", 7)).value();
  EXPECT_FALSE(absl::StrContains(json, "\n"));
  EXPECT_TRUE(absl::StrContains(json, "\"host_id\":\"host-a\"")) << json;
  EXPECT_TRUE(absl::StrContains(json, "\"seq\":\"7\"")) << json;
}

}  // namespace
}  // namespace swaplock
