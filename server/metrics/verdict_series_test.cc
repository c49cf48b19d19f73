#include "server/metrics/verdict_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/testing.h"
#include "server/verdict/verdict_testing.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

KernelLabels Kernels(const std::vector<std::string>& releases) {
  FleetState state;
  for (const std::string& release : releases) {
    state.hosts[release].environment.kernel_release = release;
  }
  return KernelLabels(state);
}

std::string Render(const VerdictBook& book, absl::Time now = TestBookTime(),
                   const KernelLabels& kernels = Kernels({"6.12.57", "6.18.15",
                                                          "6.18.16"})) {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out,
                                         VerdictFamilies(book, kernels, now));
  return out.str();
}

constexpr char kRead[] =
    "{kernel_base=\"6.12.57\",kernel_new=\"6.18.15\",subsystem=\"zram\","
    "op=\"read\",outcome=\"waits_over_10ms_per_million\"";

TEST(VerdictSeriesTest, ShowsVerdictsWithTheirNumbers) {
  const std::string text = Render(TestBook());
  for (const std::string& line : {
           absl::StrCat("swaplock_verdict", kRead,
                        ",verdict=\"regression\"} 1\n"),
           absl::StrCat("swaplock_verdict_state", kRead, ",state=\"new\"} 1\n"),
           absl::StrCat("swaplock_verdict_alerts", kRead, "} 1\n"),
           absl::StrCat("swaplock_verdict_ratio", kRead, "} 2.13\n"),
           absl::StrCat("swaplock_verdict_ratio_lower", kRead, "} 1.61\n"),
           absl::StrCat("swaplock_verdict_ratio_upper", kRead, "} 2.72\n"),
           absl::StrCat("swaplock_verdict_p_value", kRead, "} 0.0012\n"),
           absl::StrCat("swaplock_verdict_evalue", kRead,
                        ",direction=\"worse\"} 10938.0"),
           absl::StrCat("swaplock_verdict_pairs", kRead, "} 118\n"),
           absl::StrCat("swaplock_verdict_hosts", kRead,
                        ",arm=\"not_upgraded\"} 128\n"),
           absl::StrCat("swaplock_verdict_detectable_ratio", kRead, "} 1.52\n"),
           std::string("state=\"suppressed\"} 1\n"),
           std::string(
               "swaplock_rollout_hosts{kernel_base=\"6.12.57\",kernel_new="
               "\"6.18.15\",state=\"waiting\"} 2\n"),
           std::string("swaplock_incident_opened_timestamp_seconds{kernel_base="
                       "\"6.12.57\",kernel_new=\"6.18.15\",incident=\"1\"} "
                       "1768305600\n"),
           std::string("swaplock_verdicts_judged_timestamp_seconds "
                       "1768478400\n"),
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(VerdictSeriesTest, WhatWasNotTestedHasNoNumber) {
  VerdictBook book = TestBook();
  book.verdicts = {book.verdicts[3]};  // not comparable
  const std::string text = Render(book);
  EXPECT_THAT(text, HasSubstr("verdict=\"not_comparable\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("swaplock_verdict_ratio")));
  EXPECT_THAT(text, Not(HasSubstr("swaplock_verdict_p_value")));
  EXPECT_THAT(text, Not(HasSubstr("swaplock_verdict_evalue")));
  EXPECT_THAT(text, Not(HasSubstr("Nan")));
}

TEST(VerdictSeriesTest, SelfTest) {
  const std::string contended =
      "{subsystem=\"zram\",op=\"read\",outcome=\"contended_per_million\"";
  const std::string text = Render(TestBook());
  for (const std::string& line :
       {absl::StrCat("swaplock_selftest_false_positive_ratio", contended,
                     "} 0.155\n"),
        absl::StrCat("swaplock_selftest_false_positive_ratio_lower", contended,
                     "} 0.108\n"),
        absl::StrCat("swaplock_selftest_splits", contended, "} 200\n"),
        absl::StrCat("swaplock_selftest_trusted", contended, "} 0\n"),
        absl::StrCat("swaplock_selftest_power_ratio", contended,
                     ",ratio=\"1.5\"} 0.9\n"),
        std::string("swaplock_selftest_timestamp_seconds 1768442400\n")}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  VerdictBook book = TestBook();
  book.self_test.missing = "there are too few hosts";
  EXPECT_THAT(Render(book), Not(HasSubstr("swaplock_selftest")));
}

TEST(VerdictSeriesTest, APairThatIsGoneHasNoSeries) {
  const VerdictBook book = TestBook();
  EXPECT_THAT(Render(book, TestBookTime() + absl::Hours(24 * 13)),
              HasSubstr("swaplock_verdict{"));
  EXPECT_THAT(Render(book, TestBookTime() + absl::Hours(24 * 15)),
              Not(HasSubstr("swaplock_verdict{")));
  // So has one of a kernel that is among "other".
  const std::string text =
      Render(book, TestBookTime(), Kernels({"6.18.15", "6.18.16"}));
  EXPECT_THAT(text, HasSubstr("kernel_base=\"6.18.15\""));
  EXPECT_THAT(text, Not(HasSubstr("6.12.57")));
}

TEST(VerdictSeriesTest, AClosedIncidentHasNoSeries) {
  VerdictBook book = TestBook();
  book.incidents[0].closed = TestBookTime();
  EXPECT_THAT(Render(book), Not(HasSubstr("swaplock_incident")));
}

// However many pairs a ledger has.
TEST(VerdictSeriesTest, SeriesAreBounded) {
  VerdictBook book = TestBook();
  const StoredVerdict one = book.verdicts[5];
  std::vector<std::string> releases(8);
  for (size_t i = 0; i < releases.size(); ++i) {
    releases[i] = absl::StrCat("6.", i, ".0");
  }
  for (const std::string& base : releases) {
    for (const std::string& newer : releases) {
      book.verdicts.push_back(one);
      book.verdicts.back().record.kernel_base = base;
      book.verdicts.back().record.kernel_new = newer;
    }
  }
  for (const auto& family :
       VerdictFamilies(book, Kernels(releases), TestBookTime())) {
    if (family.name != "swaplock_verdict") continue;
    EXPECT_EQ(family.metric.size(), kVerdictPairs);
  }
}

TEST(VerdictSeriesTest, AVerdictThatWentAwaySaysSo) {
  VerdictBook book = TestBook();
  book.verdicts[0].went_away = "The last days no longer show it.";
  EXPECT_THAT(Render(book),
              HasSubstr(absl::StrCat("swaplock_verdict_state", kRead,
                                     ",state=\"went_away\"} 1")));
}

}  // namespace
}  // namespace swaplock
