#include "server/web/verdict_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/testing.h"
#include "server/verdict/verdict_testing.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

FleetSnapshot SnapshotOf(const Window& window) {
  FleetSnapshot snapshot;
  Merge(window, {}, TestBookTime(), &snapshot.state);
  return snapshot;
}

TEST(VerdictsPageTest, ListsThePairsWithTheirSentences) {
  const std::string page = RenderVerdictsPage(TestBook(), TestBookTime());
  for (const char* part :
       {"<h2>6.12.57 -&gt; 6.18.15: incident 1, open since 2026-01-13</h2>",
        "<a href=\"/verdict?id=1\">1 regression</a>",
        "<td>2.13 (1.61 to 2.72)</td>",
        "suppressed by ops until 2026-01-22 12:00 UTC: known codec change",
        "2.13 times as many waits over 10 ms per operation",
        "2 more hosts should stay.", "no: above twice nominal",
        "1 of 2 outcomes are above twice that"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_LT(page.find("id=1\""), page.find("id=5\""));
}

TEST(VerdictsPageTest, WithoutVerdictsItSaysWhy) {
  VerdictBook book;
  book.remark = "No two kernels have hosts.";
  const std::string page = RenderVerdictsPage(book, TestBookTime());
  EXPECT_THAT(page, HasSubstr("None yet."));
  EXPECT_THAT(page, HasSubstr("No two kernels have hosts."));
  EXPECT_THAT(page, HasSubstr("No self-test was made yet."));
}

TEST(VerdictPageTest, HasTheEvidenceAndTheHolds) {
  const FleetSnapshot snapshot = SnapshotOf(MakeWindow("web-17", 1, "6.18.15"));
  const std::string page =
      RenderVerdictPage(TestBook(), snapshot, "1", TestBookTime());
  for (const char* part :
       {"<h1>Verdict 1: regression, zram read</h1>",
        "<strong>6.18.15 (together with preempt: none -&gt; lazy) is worse",
        "<td>changed with it</td>", "<td>local_lock -&gt; mutex</td>",
        "<h2>Gates</h2>", "<h2>Strata</h2>", "Leaving out any one host",
        "<td>cpus: 8, tier: web</td>", "<td>web-17</td>",
        "none over 10 ms: under 0.33 % of host-days",
        "<a href=\"/host?id=web-17\">web-17</a>", ">12.0ms</a></td>"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
}

TEST(VerdictPageTest, WhatIsNoVerdictHasNoPage) {
  for (const char* id : {"", "0", "7", "-1", "1x", "99999999999999999999"}) {
    EXPECT_EQ(RenderVerdictPage(TestBook(), {}, id, TestBookTime()), "") << id;
  }
}

TEST(VerdictPageTest, HostileTextIsText) {
  const std::string evil = "<script>alert('x')</script>\"&";
  VerdictBook book = TestBook();
  StoredVerdict& v = book.verdicts[0];
  VerdictRecord& r = v.record;
  r.kernel_new = r.kernel_base = r.sentence = r.reason = evil;
  r.findings = r.builds_after = r.co_changes = {evil};
  r.lock_model_new = evil;
  r.gates = {{evil, true, evil}};
  r.strata[0].name = evil;
  r.top_hosts[0].host_id = evil;
  r.quantiles[1].treated.missing = evil;
  r.longest_controls->share_bound = 0;
  r.longest_controls->missing = evil;
  v.went_away = v.silent_because = v.mark.by = v.mark.reason = evil;
  v.mark.state = VerdictState::kSuppressed;
  book.remark = evil;
  book.pairs[0].chosen_because = evil;
  book.pairs[0].holdback[0].stratum = evil;
  book.self_test.kernel_release = evil;
  Window window = MakeWindow("a", 1);
  FleetSnapshot snapshot = SnapshotOf(window);
  for (TopHold& top : snapshot.state.top_holds) {
    top.host_id = top.kernel_release = evil;
  }
  for (const std::string& page :
       {RenderVerdictPage(book, snapshot, "1", TestBookTime()),
        RenderVerdictsPage(book, TestBookTime())}) {
    EXPECT_THAT(page, Not(HasSubstr("<script>")));
    EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
  }
}

}  // namespace
}  // namespace swaplock
