#include "server/steering/steering.h"

#include <gtest/gtest.h>

#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

class Heard : public Steering::Line {
 public:
  void Say(std::vector<v1::ServerMessage> notices) override {
    std::move(notices.begin(), notices.end(), std::back_inserter(all));
  }
  std::vector<v1::ServerMessage> all;
};

v1::Settings Every(uint32_t interval_ms, uint32_t lease_ms = 0) {
  v1::Settings out;
  out.set_interval_ms(interval_ms);
  out.set_lease_ms(lease_ms);
  return out;
}

class SteeringTest : public ::testing::Test {
 protected:
  SteeringTest() : steering_(MakeClock()) {}
  Clock MakeClock() {
    Clock clock;
    clock.boottime_ns = [this] { return now_ns_; };
    return clock;
  }
  std::shared_ptr<Heard> Open(const std::string& host) {
    auto line = std::make_shared<Heard>();
    steering_.Opened(host, line);
    return line;
  }

  uint64_t now_ns_ = 1'000'000'000;
  Steering steering_;
};

TEST_F(SteeringTest, WithoutSettingsHostsAreToldNothing) {
  EXPECT_TRUE(Open("a")->all.empty());
}

TEST_F(SteeringTest, AllAreToldWhenTheyComeAndWhenItChanges) {
  const auto early = Open("a");
  steering_.SetForAll(Every(5'000));
  const auto late = Open("b");
  for (const auto& line : {early, late}) {
    ASSERT_EQ(line->all.size(), 1u);
    EXPECT_EQ(line->all[0].settings().interval_ms(), 5'000u);
    EXPECT_EQ(line->all[0].settings().lease_ms(), 0u);
  }
  steering_.Closed("a", early.get());
  steering_.SetForAll(Every(6'000));
  EXPECT_EQ(early->all.size(), 1u);
  EXPECT_EQ(late->all.size(), 2u);
}

TEST_F(SteeringTest, ADeepDiveIsOfOneHostAndLastsAcrossStreams) {
  v1::Settings all = Every(10'000);
  all.set_top_k(8);
  steering_.SetForAll(all);
  const auto a = Open("a");
  const auto b = Open("b");
  const auto told = steering_.DeepDive("a", Every(100, 60'000));
  ASSERT_TRUE(told.ok());
  EXPECT_EQ(*told, 1u);
  EXPECT_EQ(b->all.size(), 1u);
  // What is for all first: it would end the lease.
  ASSERT_EQ(a->all.size(), 3u);
  EXPECT_EQ(a->all[1].settings().lease_ms(), 0u);
  EXPECT_EQ(a->all[2].settings().interval_ms(), 100u);
  EXPECT_EQ(a->all[2].settings().top_k(), 8u);
  EXPECT_EQ(a->all[2].settings().lease_ms(), 60'000u);

  now_ns_ += 20'000'000'000;
  const auto again = Open("a");
  ASSERT_EQ(again->all.size(), 2u);
  EXPECT_EQ(again->all[1].settings().lease_ms(), 40'000u);
  now_ns_ += 40'000'000'000;
  EXPECT_EQ(Open("a")->all.size(), 1u);
}

TEST_F(SteeringTest, EndingADeepDiveSaysWhatIsForAll) {
  const auto a = Open("a");
  ASSERT_TRUE(steering_.DeepDive("a", Every(100, 60'000)).ok());
  ASSERT_TRUE(steering_.DeepDive("a", {}).ok());
  ASSERT_EQ(a->all.size(), 2u);
  EXPECT_EQ(a->all[1].settings().interval_ms(), 0u);
  EXPECT_EQ(a->all[1].settings().lease_ms(), 0u);
  EXPECT_TRUE(Open("a")->all.empty());
}

TEST_F(SteeringTest, ThereAreOnlySoManyDeepDivesAtOnce) {
  for (size_t i = 0; i < Steering::kMaxDeepDives; ++i) {
    ASSERT_TRUE(steering_.DeepDive(absl::StrCat(i), Every(100, 1'000)).ok());
  }
  EXPECT_TRUE(steering_.DeepDive("0", Every(200, 1'000)).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(
      steering_.DeepDive("x", Every(100, 1'000)).status()));
  now_ns_ += 1'000'000'000;
  EXPECT_TRUE(steering_.DeepDive("x", Every(100, 1'000)).ok());
}

TEST_F(SteeringTest, WhatNoAgentCouldDoIsRefused) {
  v1::Settings many = Every(0);
  many.set_top_k(65);
  for (const v1::Settings& wrong :
       {Every(99), Every(3'600'001), Every(0, 3'600'001), many}) {
    EXPECT_TRUE(
        absl::IsInvalidArgument(steering_.DeepDive("a", wrong).status()))
        << wrong.ShortDebugString();
  }
}

TEST_F(SteeringTest, ManyReconnectOverALongerTime) {
  EXPECT_EQ(steering_.ReconnectAll(2), absl::Seconds(1));
  std::vector<std::shared_ptr<Heard>> lines;
  lines.reserve(10);
  for (int i = 0; i < 10; ++i) lines.push_back(Open(absl::StrCat(i)));
  EXPECT_EQ(steering_.ReconnectAll(2), absl::Seconds(5));
  for (const auto& line : lines) {
    ASSERT_EQ(line->all.size(), 1u);
    EXPECT_EQ(line->all[0].reconnect().within_ms(), 5'000u);
  }
  EXPECT_EQ(steering_.ReconnectAll(1e-6), absl::Hours(1));
}

}  // namespace
}  // namespace swaplock
