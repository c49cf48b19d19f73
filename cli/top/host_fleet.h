// One host's windows as a fleet of one, for what shows fleets. Plain value; not
// thread-safe.
#ifndef SWAPLOCK_CLI_TOP_HOST_FLEET_H_
#define SWAPLOCK_CLI_TOP_HOST_FLEET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/window.h"
#include "proto/query.pb.h"

namespace swaplock {

class HostFleet {
 public:
  // Longest holds kept.
  static constexpr size_t kHolds = 50;

  // Adds what the window counted; its holds in progress, environment and
  // coverage replace those before.
  void Take(const Window& window);

  // Sums since the first window. Devices are not merged: there is one host.
  v1::Fleet ToFleet() const;

 private:
  struct Long {
    Hold hold;
    CellKey key;
    uint64_t end_unix_ns = 0;
  };

  std::vector<Cell> cells_;
  std::vector<Long> longest_;  // longest first
  Window last_;
  uint64_t windows_ = 0;
};

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_TOP_HOST_FLEET_H_
