#include "server/web/pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing.h"
#include "server/verdict/verdict_testing.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

absl::Time EndOf(const Window& window) {
  return absl::FromUnixNanos(static_cast<int64_t>(window.end_unix_ns));
}

FleetSnapshot SnapshotOf(const std::vector<Window>& windows) {
  FleetSnapshot snapshot;
  for (const Window& window : windows) {
    Merge(window, {}, EndOf(window), &snapshot.state);
    snapshot.hosts_now.Take(window, EndOf(window));
  }
  return snapshot;
}

// All that there is of the window's first operation, and of its holds.
std::string Page(const Window& window, const std::string& operation = "") {
  const FleetSnapshot snapshot = SnapshotOf({window});
  return absl::StrCat(KernelsPage(snapshot, EndOf(window), {{"op", operation}}),
                      HoldsPage(snapshot, EndOf(window)),
                      FleetPage(snapshot, TestBook(), EndOf(window)));
}

// The cells of a row, as the page has them.
std::string Row(const std::vector<std::string>& cells) {
  std::string out;
  for (const std::string& cell : cells) {
    absl::StrAppend(&out, "<td>", cell, "</td>");
  }
  return out;
}

Cell LoadCell(LockModel lock_model) {
  Cell cell;
  cell.key.subsystem = Subsystem::kZswap;
  cell.key.operation = Operation::kLoad;
  cell.lock_model = lock_model;
  cell.latency_tier = Tier::kExact;
  return cell;
}

TEST(PageTest, AnOperationWithoutALockIsLockFree) {
  Window window = MakeWindow("a", 1);
  Cell load = LoadCell(LockModel::kNone);
  load.latency.Add(5'000);
  window.cells.push_back(load);
  const std::string page = Page(window, "zswap load");
  EXPECT_THAT(page, HasSubstr("<h2>Operations, from entry to exit</h2>"));
  EXPECT_THAT(page,
              HasSubstr(Row({"6.18.15", "lazy", "zswap load", "lock-free", "",
                             "1", "5 us", "5 us", "5 us", "0", "0", "0"})));
}

TEST(PageTest, OperationsAreThereOnlyWhereTheyAreMeasured) {
  Window window = MakeWindow("a", 1);
  EXPECT_THAT(Page(window), Not(HasSubstr("<h2>Operations")));
  window.cells.push_back(LoadCell(LockModel::kUnspecified));
  EXPECT_THAT(Page(window, "zswap load"),
              HasSubstr(Row({"zswap load", "not known", "", "0", "-", "-", "-",
                             "0", "0", "0"})));
}

TEST(PageTest, ShowsWhatTheRunnablePartIsMadeOf) {
  Window window = MakeWindow("a", 1);
  EXPECT_THAT(Page(window),
              HasSubstr(Row({"10 ms", "-", "-", "-", "0", "0", "-"})));
  window.cells[0].preempted_ns = 7'000'000;
  window.cells[0].woken_ns = 2'000'000;
  window.cells[0].migrations = 4;
  EXPECT_THAT(Page(window),
              HasSubstr(Row({"10 ms", "7 ms", "2 ms", "0", "0", "0", "4"})));
}

TEST(PageTest, HoldsInProgressAreShownUntilTheirHostIsSilent) {
  Window window = MakeWindow("a", 1);
  Hold hold;
  hold.hold_ns = hold.on_cpu_ns = 8'000'000;
  hold.comm = "stuck";
  window.holds_in_progress.push_back(hold);
  const FleetSnapshot snapshot = SnapshotOf({window});
  const std::string now = HoldsPage(snapshot, EndOf(window));
  EXPECT_THAT(now, HasSubstr("<td>stuck[0] other nice 0</td>"));
  EXPECT_THAT(now, HasSubstr("<td>now</td>"));
  const std::string later =
      HoldsPage(snapshot, EndOf(window) + absl::Minutes(1));
  EXPECT_THAT(later, Not(HasSubstr("stuck")));
  EXPECT_THAT(later, HasSubstr("None: no host said"));
}

TEST(PageTest, AHoldOpensOnItsExplanation) {
  Window window = MakeWindow("a", 1);
  Hold& hold = window.top_holds[0];
  hold.preempted_ns = 10'000'000;
  hold.preemptors = {{5, "<hog>", 0, 0, 9'000'000, false}};
  hold.waiters = {{6, "reader", -19, 0, 11'000'000, true}};
  hold.stall_ns = hold.inversion_ns = 11'000'000;
  hold.switch_stack = {"__schedule", "preempt_schedule_irq"};
  EXPECT_THAT(
      Page(window),
      HasSubstr("<details><summary>writer[77] other nice 10</summary><pre>"
                "off CPU: preempted 10.0ms\n"
                "ran instead: &lt;hog&gt;[5] nice 0 9.00ms\n"
                "waited: reader[6] nice -19 11.0ms (inversion)\n"
                "stalled: 11.0ms in all, inversion 11.0ms\n"
                "switched out in: __schedule &lt; preempt_schedule_irq\n"));
}

// Of an off-CPU interval only some parts are known.
TEST(PageTest, PartsThatATierCannotTellAreNotMeasured) {
  Window window = MakeWindow("a", 1);
  window.cells[0].hold_tier = Tier::kOwnerProbe;
  EXPECT_THAT(Page(window),
              HasSubstr("12 ms</a></td>" + Row({"-", "10 ms", "0", "-"})));
}

TEST(HoldPageTest, IsWhereTheTableLeads) {
  Window window = MakeWindow("a b", 1);
  window.top_holds[0].preemptors = {{5, "</script>", 0, 0, 9'000'000, false}};
  const FleetSnapshot snapshot = SnapshotOf({window});
  const Hold& hold = window.top_holds[0];
  const PageQuery query = {{"host", "a b"},
                           {"window", absl::StrCat(window.end_unix_ns)},
                           {"pid", absl::StrCat(hold.pid)},
                           {"ns", absl::StrCat(hold.hold_ns)}};
  EXPECT_THAT(HoldsPage(snapshot, EndOf(window)),
              HasSubstr(absl::StrCat(
                  "<a href=\"/hold?host=a%20b&amp;window=", window.end_unix_ns,
                  "&amp;pid=77&amp;ns=", hold.hold_ns, "\">12 ms</a>")));
  const std::string page = HoldPage(snapshot, EndOf(window), query);
  EXPECT_THAT(page, HasSubstr("<h1>zram0 write stream held for 12 ms</h1>"));
  EXPECT_THAT(page, HasSubstr(Row({"&lt;/script&gt;[5]", "0", "9 ms"})));
  EXPECT_THAT(page, Not(HasSubstr("</script>[5]")));
  const std::string id =
      absl::StrCat(window.end_unix_ns, "-", hold.pid, "-", hold.hold_ns);
  EXPECT_EQ(HoldPage(snapshot, EndOf(window), {{"id", id}}), page);
  EXPECT_EQ(HoldPage(snapshot, EndOf(window), {{"id", id + "-1"}}), "");
  PageQuery other = query;
  other["pid"] = "78";
  EXPECT_EQ(HoldPage(snapshot, EndOf(window), other), "");
  other["pid"] = "x";
  EXPECT_EQ(HoldPage(snapshot, EndOf(window), other), "");
  EXPECT_EQ(HoldPage(snapshot, EndOf(window) + absl::Hours(25), query), "");
}

TEST(CoveragePageTest, CountsHostsByProbeAndSentence) {
  Window window = MakeWindow("a", 1);
  const std::string page =
      CoveragePage(SnapshotOf({window, MakeWindow("b", 1)}), EndOf(window));
  EXPECT_THAT(
      page,
      HasSubstr(Row({"6.18.15", "fexit/zcomp_stream_get", "2", "0", ""})));
  EXPECT_THAT(page, HasSubstr(Row({"2",
                                   "zswap: attach fexit/zswap_store: "
                                   "EINVAL"})));
}

TEST(PipelinePageTest, NamesHostsThatAreSetAside) {
  FleetSnapshot snapshot = SnapshotOf({MakeWindow("a", 1)});
  const absl::Time now = EndOf(MakeWindow("a", 1));
  EXPECT_THAT(PipelinePage(snapshot, now), HasSubstr("None: no host sends"));
  for (int i = 0; i < Quarantine::kRefusals; ++i) {
    snapshot.quarantine.Refused("<a>", "implausible: a sum", now);
  }
  snapshot.rejected["implausible"] = 8;
  const std::string page = PipelinePage(snapshot, now);
  EXPECT_THAT(page, HasSubstr("<a href=\"/host?id=%3Ca%3E\">&lt;a&gt;</a>"));
  EXPECT_THAT(page,
              HasSubstr(Row({"8", "now", "in 1h", "implausible: a sum"})));
  EXPECT_THAT(page, HasSubstr(Row({"implausible", "8"})));
}

TEST(PageTest, HostsShowWhatTheySaidOfThemselves) {
  Window window = MakeWindow("a b", 1);
  window.context.complete = true;
  window.context.facts = {{"zram/zram0/algorithms", "zstd"},
                          {"zswap/compressor", "lzo"}};
  window.context.gauges = {{"zram/zram0/pool_bytes", 3 << 20},
                           {"zswap/pool_bytes", 1 << 20},
                           {"psi/memory/some_avg10_ppm", 123'400}};
  const std::string page = Page(window);
  EXPECT_THAT(page, HasSubstr("<td><a href=\"/host?id=a%20b\">a b</a></td>"));
  EXPECT_THAT(page, HasSubstr(Row({"6.18.15", "lazy", "zram", "lzo, zstd",
                                   "4.0 MiB", "12.34%", "not known"})));
}

TEST(HostPageTest, HasMachineContextHoldsAndProbes) {
  Window window = MakeWindow("a", 1);
  window.environment.labels["rack"] = "<7>";
  window.context.complete = true;
  window.context.gauges = {{"psi/memory/some_avg10_ppm", 123'400},
                           {"psi/cpu/some_avg10_ppm", 0}};
  const FleetSnapshot snapshot = SnapshotOf({window, MakeWindow("b", 1)});
  const std::string page = HostPage(snapshot, EndOf(window), "a");
  for (const std::string& part :
       {std::string("<h1>a</h1>"), Row({"preemption", "lazy"}),
        Row({"memory", "1024.0 MiB"}), Row({"label rack", "&lt;7&gt;"}),
        Row({"psi", "cpu/some_avg10 0.00%, memory/some_avg10 12.34%"}),
        std::string("writer[77] other nice 10"),
        Row({"probes attached: fexit/zcomp_stream_get"}),
        Row({"not measured: zswap: attach fexit/zswap_store: EINVAL"})}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(page, Not(HasSubstr("not complete")));
  EXPECT_THAT(page, Not(HasSubstr("/host?id=b")));
  EXPECT_THAT(HostPage(snapshot, EndOf(window), "b"),
              HasSubstr("The host said none"));
  EXPECT_EQ(HostPage(snapshot, EndOf(window), "c"), "");
}

}  // namespace
}  // namespace swaplock
