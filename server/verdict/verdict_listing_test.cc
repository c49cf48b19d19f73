#include "server/verdict/verdict_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/verdict/verdict_testing.h"

namespace swaplock {
namespace {

using ::testing::ElementsAre;

std::vector<uint64_t> Ids(const std::vector<PairListing>& listings) {
  std::vector<uint64_t> out;
  for (const PairListing& listing : listings) {
    for (const StoredVerdict* verdict : listing.verdicts) {
      out.push_back(verdict->id);
    }
  }
  return out;
}

std::vector<uint64_t> IdsOf(const VerdictFilter& filter) {
  return Ids(ListByPair(Chosen(TestBook(), filter)));
}

TEST(VerdictListingTest, TheWorstPairAndVerdictComeFirst) {
  VerdictBook book = TestBook();
  std::swap(book.verdicts[0], book.verdicts[5]);
  const std::vector<PairListing> listings = ListByPair(book);
  EXPECT_THAT(Ids(listings), ElementsAre(1, 2, 3, 4, 5, 6));
  ASSERT_EQ(listings.size(), 2);
  EXPECT_EQ(listings[0].incident, &book.incidents[0]);
  EXPECT_EQ(listings[0].judged, &book.pairs[0]);
  EXPECT_EQ(listings[1].incident, nullptr);
  EXPECT_EQ(listings[1].judged, &book.pairs[1]);
}

TEST(VerdictListingTest, WhatAlertsComesBeforeALargerRatioThatDoesNot) {
  VerdictBook book = TestBook();
  book.verdicts[1].record.effect = {9, 8, 10};
  EXPECT_THAT(Ids(ListByPair(book)), ElementsAre(1, 2, 3, 4, 5, 6));
  book.verdicts[1].alerts = true;
  EXPECT_THAT(Ids(ListByPair(book)), ElementsAre(2, 1, 3, 4, 5, 6));
}

TEST(VerdictListingTest, AClosedIncidentIsNotShownAsOpen) {
  VerdictBook book = TestBook();
  book.incidents[0].closed = TestBookTime();
  EXPECT_EQ(ListByPair(book)[0].incident, nullptr);
}

TEST(VerdictListingTest, Filters) {
  VerdictFilter filter;
  EXPECT_THAT(IdsOf(filter), ElementsAre(1, 2, 3, 4, 5, 6));
  filter.kernel = "6.18.15";
  EXPECT_THAT(IdsOf(filter), ElementsAre(1, 2, 3, 4, 5, 6));
  filter.kernel = "6.18.16";
  EXPECT_THAT(IdsOf(filter), ElementsAre(5, 6));
  filter = {};
  filter.kernel_base = "6.12.57";
  filter.kernel_new = "6.18.15";
  filter.subsystem = Subsystem::kZram;
  EXPECT_THAT(IdsOf(filter), ElementsAre(1, 3, 4));
  filter.operation = Operation::kWrite;
  EXPECT_THAT(IdsOf(filter), ElementsAre(3));
  filter = {};
  filter.kinds = {VerdictKind::kRegression, VerdictKind::kImprovement};
  EXPECT_THAT(IdsOf(filter), ElementsAre(1, 2, 5));
  filter.states = {VerdictState::kSuppressed};
  EXPECT_THAT(IdsOf(filter), ElementsAre(2));
  filter = {};
  filter.incident = 1;
  EXPECT_THAT(IdsOf(filter), ElementsAre(1, 2));
  filter.kernel = "5.15";
  EXPECT_THAT(IdsOf(filter), ElementsAre());
}

TEST(VerdictListingTest, ARegressionThatWentAwayIsNoneAnyMore) {
  VerdictBook book = TestBook();
  EXPECT_TRUE(IsRegression(book.verdicts[0]));
  EXPECT_FALSE(IsRegression(book.verdicts[2]));
  book.verdicts[0].went_away = "The last days no longer show it.";
  EXPECT_FALSE(IsRegression(book.verdicts[0]));
}

}  // namespace
}  // namespace swaplock
