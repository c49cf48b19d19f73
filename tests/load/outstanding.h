// How many have not yet done what they were told.
//
// Thread-safe.
#ifndef SWAPLOCK_TESTS_LOAD_OUTSTANDING_H_
#define SWAPLOCK_TESTS_LOAD_OUTSTANDING_H_

#include <cstddef>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace swaplock {

class Outstanding {
 public:
  void Add(size_t count) {
    absl::MutexLock lock(&mutex_);
    count_ += count;
  }
  void Done() {
    absl::MutexLock lock(&mutex_);
    --count_;
  }
  // How many are left when all are done or the time is up.
  size_t Wait(absl::Duration timeout) {
    absl::MutexLock lock(&mutex_);
    mutex_.AwaitWithTimeout(
        absl::Condition(
            +[](size_t* count) { return *count == 0; }, &count_),
        timeout);
    return count_;
  }

 private:
  absl::Mutex mutex_;
  size_t count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_OUTSTANDING_H_
