// A folder on a file system of its own that can be filled. Test code only.
//
// It is mounted in a name space of this process and of those it starts, so that
// nothing is left behind, however the test ends.
#ifndef SWAPLOCK_TESTS_END_TO_END_SMALL_DISK_H_
#define SWAPLOCK_TESTS_END_TO_END_SMALL_DISK_H_

#include <cstdint>
#include <string>

namespace swaplock {

// Whether this process may mount, which takes root. Call it before any thread
// begins.
bool CanMountSmallDisks();

class SmallDisk {
 public:
  // Makes the folder, and mounts `bytes` of memory there.
  SmallDisk(const std::string& folder, uint64_t bytes);

  void Fill() const;   // until not a byte is free
  void Clear() const;  // what Fill() took

 private:
  const std::string ballast_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_END_TO_END_SMALL_DISK_H_
