#include "agent/delivery/delivery_meter.h"

#include <gtest/gtest.h>

namespace swaplock {
namespace {

TEST(DeliveryMeterTest, WhatWaitsIsAsItIsAndTheRestSinceTheCallBefore) {
  DeliveryMeter meter;
  Spool::Stats spool;
  Uplink::Stats uplink;
  spool.pending = 3;
  spool.merged = 10;
  spool.refused = 1;
  uplink.streams = 4;
  Delivery delivery = meter.Take(spool, uplink);
  EXPECT_EQ(delivery.waiting, 3u);
  EXPECT_EQ(delivery.merged, 10u);
  EXPECT_EQ(delivery.lost, 1u);
  EXPECT_EQ(delivery.streams, 4u);
  spool.merged = 12;
  uplink.in_doubt = 1;
  delivery = meter.Take(spool, uplink);
  EXPECT_EQ(delivery.waiting, 3u);
  EXPECT_EQ(delivery.merged, 2u);
  EXPECT_EQ(delivery.lost, 0u);
  EXPECT_EQ(delivery.streams, 0u);
  EXPECT_EQ(delivery.in_doubt, 1u);
}

}  // namespace
}  // namespace swaplock
