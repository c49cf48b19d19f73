#include "server/fleet/delivery_totals.h"

#include <gtest/gtest.h>

#include "common/testing.h"

namespace swaplock {
namespace {

Window Said(const std::string& host, uint64_t waiting, uint64_t merged) {
  Window window = MakeWindow(host, 1);
  Delivery delivery;
  delivery.waiting = waiting;
  delivery.waiting_bytes = 100 * waiting;
  delivery.only_in_memory = waiting / 2;
  delivery.merged = merged;
  delivery.streams = 1;
  window.overhead.delivery = delivery;
  return window;
}

TEST(DeliveryTotalsTest, EventsAddUpAndWhatWaitsIsWhatEachHostSaidLast) {
  DeliveryTotals totals;
  totals.Take(MakeWindow("c", 1), true);  // says nothing of it
  totals.Take(Said("a", 10, 3), true);
  totals.Take(Said("b", 4, 0), true);
  EXPECT_EQ(totals.all().waiting, 14u);
  EXPECT_EQ(totals.all().waiting_bytes, 1400u);
  EXPECT_EQ(totals.all().only_in_memory, 7u);
  totals.Take(Said("a", 2, 1), true);
  EXPECT_EQ(totals.all().waiting, 6u);
  EXPECT_EQ(totals.all().merged, 4u);
  EXPECT_EQ(totals.all().streams, 3u);
  // One that came late has events and no news.
  totals.Take(Said("a", 50, 1), false);
  EXPECT_EQ(totals.all().waiting, 6u);
  EXPECT_EQ(totals.all().merged, 5u);
  totals.Take(Said("a", 0, 0), true);
  totals.Take(Said("b", 0, 0), true);
  EXPECT_EQ(totals.all().waiting, 0u);
  EXPECT_EQ(totals.all().only_in_memory, 0u);
}

TEST(DeliveryTotalsTest, WhatCannotBeIsBounded) {
  DeliveryTotals totals;
  Window window = Said("a", UINT64_MAX, UINT64_MAX);
  window.overhead.delivery->only_in_memory = UINT64_MAX;
  totals.Take(window, true);
  totals.Take(Said("b", 3, 1), true);
  EXPECT_EQ(totals.all().waiting, 1'000'000'003u);
  EXPECT_LE(totals.all().only_in_memory, totals.all().waiting);
  EXPECT_EQ(totals.all().merged, 1'000'000'001u);
  totals.Take(Said("a", 0, 0), true);
  EXPECT_EQ(totals.all().waiting, 3u);
}

}  // namespace
}  // namespace swaplock
