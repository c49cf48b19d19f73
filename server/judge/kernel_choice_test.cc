#include "server/judge/kernel_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kToday = 20'000;

class Boots {
 public:
  // `hosts` hosts run each of `kernels` for ten days, the last one until now.
  Boots& Add(int hosts, const std::vector<std::string>& kernels,
             int64_t until = kToday) {
    for (int i = 0; i < hosts; ++i) {
      const std::string id = absl::StrCat("h", ++last_);
      for (size_t k = 0; k < kernels.size(); ++k) {
        HostBoot boot;
        boot.host_id = id;
        boot.kernel_release = kernels[k];
        boot.day = until - 10 * static_cast<int64_t>(kernels.size() - k);
        boot.last_day = boot.day + 10;
        boots_.push_back(boot);
      }
    }
    return *this;
  }

  std::vector<std::string> Chosen(const PairRules& rules = {}) const {
    std::vector<std::string> out;
    for (const ChosenPair& c : ChoosePairs(boots_, kToday, rules, "other")) {
      out.push_back(absl::StrCat(c.pair.base, " ", c.pair.newer));
      EXPECT_NE(c.because, "");
    }
    return out;
  }
  const std::vector<HostBoot>& get() const { return boots_; }

 private:
  int last_ = 0;
  std::vector<HostBoot> boots_;
};

TEST(KernelChoiceTest, CohortsAreTheKernelsThatManyHostsRunNow) {
  Boots boots;
  boots.Add(3, {"6.1", "6.18"}).Add(8, {"6.12", "6.18"}).Add(9, {"6.1"});
  boots.Add(20, {"other"}).Add(30, {"5.10"}, kToday - 1).Add(7, {"6.6"});
  const auto chosen = ChooseCohorts(boots.get(), kToday, 8, "other");
  ASSERT_EQ(chosen.size(), 2u);
  EXPECT_EQ(chosen[0].pair.base, "6.18");
  EXPECT_EQ(chosen[0].pair.newer, "6.18");
  EXPECT_EQ(chosen[1].pair.newer, "6.1");
  EXPECT_THAT(ChooseCohorts(boots.get(), kToday, 12, "other"), IsEmpty());
}

TEST(KernelChoiceTest, AKernelIsComparedWithTheOneMostOfItsHostsRanBefore) {
  Boots boots;
  boots.Add(3, {"6.1", "6.18"}).Add(5, {"6.12", "6.18"}).Add(9, {"6.1"});
  EXPECT_THAT(boots.Chosen(), ElementsAre("6.12 6.18", "6.1 6.12"));
  const auto chosen = ChoosePairs(boots.get(), kToday, {}, "other");
  EXPECT_EQ(chosen[0].because, "5 of its hosts ran the base before");
  EXPECT_EQ(chosen[0].upgraded, 5u);
  EXPECT_THAT(chosen[1].because, HasSubstr("nobody saw"));
}

TEST(KernelChoiceTest, AWayBackIsAPairToo) {
  Boots boots;
  boots.Add(4, {"6.12", "6.18", "6.12"});
  EXPECT_THAT(boots.Chosen(), ElementsAre("6.12 6.18"));
  boots.Add(2, {"6.18", "6.12"});
  EXPECT_THAT(boots.Chosen(), ElementsAre("6.12 6.18", "6.18 6.12"));
}

TEST(KernelChoiceTest, OneKernelIsNoPairAndTooManyAreNone) {
  Boots boots;
  boots.Add(4, {"6.12"});
  EXPECT_THAT(boots.Chosen(), IsEmpty());
  boots.Add(4, {"6.12", "other"}).Add(4, {"other", "6.12"});
  EXPECT_THAT(boots.Chosen(), IsEmpty());
}

TEST(KernelChoiceTest, OldRolloutsAreOver) {
  Boots boots;
  boots.Add(4, {"6.1", "6.12"}, kToday - kJudgedDays);
  EXPECT_THAT(boots.Chosen(), IsEmpty());
}

TEST(KernelChoiceTest, TheBaselineIsComparedWithAll) {
  Boots boots;
  boots.Add(4, {"6.1", "6.12", "6.18"});
  PairRules rules;
  rules.baseline = "6.1";
  rules.ends["6.18"] = kToday + 5;
  EXPECT_THAT(boots.Chosen(rules),
              ElementsAre("6.1 6.12", "6.12 6.18", "6.1 6.18"));
  for (const auto& c : ChoosePairs(boots.get(), kToday, rules, "other")) {
    EXPECT_EQ(c.planned_end.has_value(), c.pair.newer == "6.18");
  }
  rules.baseline = "nobody has it";
  EXPECT_THAT(boots.Chosen(rules), ElementsAre("6.1 6.12", "6.12 6.18"));
}

TEST(KernelChoiceTest, OnlyListedPairsAreComparedIfThereIsAList) {
  Boots boots;
  boots.Add(4, {"6.1", "6.12", "6.18"});
  PairRules rules;
  rules.only = {{"6.1", "6.18"}, {"6.1", "nobody has it"}};
  EXPECT_THAT(boots.Chosen(rules), ElementsAre("6.1 6.18"));
  rules.baseline = "6.12";
  EXPECT_THAT(boots.Chosen(rules),
              ElementsAre("6.12 6.18", "6.1 6.18", "6.12 6.1"));
}

TEST(KernelChoiceTest, TheKernelOfMostHostsIsTheOneTheyRunNow) {
  Boots boots;
  boots.Add(3, {"6.12", "6.18"}).Add(2, {"6.12"});
  EXPECT_EQ(MostPrevalent(boots.get(), kToday, "other"), "6.18");
  EXPECT_EQ(MostPrevalent(boots.get(), kToday + 1, "other"), "");
}

}  // namespace
}  // namespace swaplock
