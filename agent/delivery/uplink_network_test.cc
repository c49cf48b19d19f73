// The uplink over a network that loses, delays and reorders packets: a network
// name space of this process, whose loopback the kernel makes worse (tc netem).
#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>

#include <cstdio>
#include <memory>

#include "agent/delivery/fake_server.h"
#include "agent/delivery/uplink.h"
#include "common/testing.h"

namespace swaplock {
namespace {

// What is missing, or null.
const char* MakeNetworkWorse() {
  if (unshare(CLONE_NEWNET) != 0) return "only root can make a name space";
  if (system("ip link set lo up 2>/dev/null") != 0) {
    return "there is no ip, of Debian's package iproute2";
  }
  if (system("tc qdisc add dev lo root netem delay 250ms 20ms loss 5% "
             "reorder 25% 2>/dev/null") != 0) {
    return "this kernel has no netem (sch_netem), or there is no tc";
  }
  return nullptr;
}

TEST(UplinkNetworkTest, LossDelayAndReorderingChangeNoTotal) {
  if (const char* missing = MakeNetworkWorse()) {
    std::printf("SKIPPED: %s\n", missing);
    return;
  }
  FakeServer server;
  server.Start();
  const std::unique_ptr<Spool> spool = *Spool::Open({});
  constexpr uint64_t kWindows = 6;
  for (uint64_t seq = 1; seq <= kWindows; ++seq) {
    ASSERT_TRUE(spool->Append(MakeWindow("host-a", seq)).ok());
  }
  Uplink::Options options;
  options.servers = {server.Address()};
  options.identity = MakeWindow("host-a", 1).key;
  Uplink uplink(options, spool.get());
  EXPECT_TRUE(uplink.Drain(absl::Minutes(2)));
  EXPECT_EQ(server.acquisitions(), 3 * kWindows);
}

}  // namespace
}  // namespace swaplock
