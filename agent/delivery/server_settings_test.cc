#include "agent/delivery/server_settings.h"

#include <gtest/gtest.h>

namespace swaplock {
namespace {

using std::chrono::seconds;

const ServerSettings::Instant kStart{seconds(1'000)};

v1::Settings Message(uint32_t interval_ms, uint32_t top_k, uint32_t lease_ms) {
  v1::Settings message;
  message.set_interval_ms(interval_ms);
  message.set_top_k(top_k);
  message.set_lease_ms(lease_ms);
  return message;
}

TEST(ServerSettingsTest, NothingAskedLeavesEverything) {
  const SourceSettings settings = ServerSettings().At(kStart);
  EXPECT_EQ(settings.interval, absl::ZeroDuration());
  EXPECT_EQ(settings.top_k, 0);
  EXPECT_EQ(settings.top_hold_ns, 0u);
}

TEST(ServerSettingsTest, ALeaseEndsByItselfAndLeavesWhatWasBefore) {
  ServerSettings settings;
  settings.Take(Message(30'000, 8, 0), kStart);
  settings.Take(Message(1'000, 64, 60'000), kStart);
  EXPECT_EQ(settings.At(kStart + seconds(59)).interval, absl::Seconds(1));
  EXPECT_EQ(settings.At(kStart + seconds(59)).top_k, 64);
  EXPECT_EQ(settings.At(kStart + seconds(60)).interval, absl::Seconds(30));
  EXPECT_EQ(settings.At(kStart + seconds(60)).top_k, 8);
}

TEST(ServerSettingsTest, SettingsWithoutALeaseEndOne) {
  ServerSettings settings;
  settings.Take(Message(1'000, 64, 60'000), kStart);
  settings.Take(Message(0, 0, 0), kStart + seconds(1));
  EXPECT_EQ(settings.At(kStart + seconds(1)).top_k, 0);
}

TEST(ServerSettingsTest, NumbersAreBroughtIntoTheirRange) {
  ServerSettings settings;
  settings.Take(Message(1, 1'000'000, 0), kStart);
  EXPECT_EQ(settings.At(kStart).interval, absl::Milliseconds(100));
  EXPECT_EQ(settings.At(kStart).top_k, 64);
  settings.Take(Message(~0u, ~0u, ~0u), kStart);
  EXPECT_EQ(settings.At(kStart).interval, absl::Hours(1));
  EXPECT_EQ(settings.At(kStart + seconds(3'599)).top_k, 64);
  EXPECT_EQ(settings.At(kStart + seconds(3'600)).interval,
            absl::Milliseconds(100));
}

}  // namespace
}  // namespace swaplock
