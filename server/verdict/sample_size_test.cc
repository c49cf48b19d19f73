#include "server/verdict/sample_size.h"

#include <gtest/gtest.h>

#include <cmath>

namespace swaplock {
namespace {

TEST(SampleSizeTest, PlansWhatTheSimulationNeeded) {
  // Noise of 0.8 t3: a robust deviation of 0.906; 130 hosts had power 0.80.
  EXPECT_NEAR(static_cast<double>(HostsPerArmFor(1.5, 0.906, 1.10)), 131, 3);
}

TEST(SampleSizeTest, DetectableRatioIsTheInverseOfThePlan) {
  const uint64_t hosts = HostsPerArmFor(2, 0.9, 1.10);
  EXPECT_NEAR(DetectableRatio(0.9, hosts, hosts, 1.10), 2, 0.02);
}

TEST(SampleSizeTest, WhatIsUnknownIsNoNumber) {
  EXPECT_TRUE(std::isnan(DetectableRatio(0.9, 0, 10, 1.1)));
  EXPECT_TRUE(std::isnan(DetectableRatio(0, 10, 10, 1.1)));
  EXPECT_EQ(HostsPerArmFor(1.5, 0, 1.1), 0u);
}

}  // namespace
}  // namespace swaplock
