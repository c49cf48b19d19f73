// A spool's disk in memory, with every fault that a disk can have: calls that
// fail, writes that stop half-way, power that goes. Test code only.
//
// FaultyDisk is what the spool holds; the bytes and the faults are in a Platter
// that outlives it.
#ifndef SWAPLOCK_AGENT_DELIVERY_FAULTY_DISK_H_
#define SWAPLOCK_AGENT_DELIVERY_FAULTY_DISK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "agent/delivery/spool_disk.h"

namespace swaplock {

enum class DiskCall { kRead, kWrite, kSync };

struct Platter {
  explicit Platter(uint64_t size) : cached(size, '\0'), durable(cached) {}

  // What reading gives, and what a power failure leaves.
  std::string cached;
  std::string durable;

  // Asked before each call, with its number counted from 0; not OK: the call
  // fails so. A write that fails has written its first `torn` bytes.
  std::function<absl::Status(DiskCall, uint64_t)> fault;
  size_t torn = 0;
  // As kernels do: what a sync that failed should have written is never
  // written.
  bool failed_sync_drops = false;
  uint64_t calls = 0;

  // The power fails: of what was written since the last sync, any part may have
  // reached the disk, in pieces of `piece` bytes.
  void LosePower(std::mt19937_64* random, size_t piece);

  // To give to the spool.
  OpenSpoolDisk Opener();

 private:
  friend class FaultyDisk;
  struct Unsynced {
    size_t offset = 0;
    std::string bytes;
  };
  std::vector<Unsynced> unsynced_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_DELIVERY_FAULTY_DISK_H_
