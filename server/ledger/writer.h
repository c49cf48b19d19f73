// The one thread that writes the ledger. It takes all windows that wait, up to
// a batch, commits them together, tells the fleet, then each sender: many
// windows share one sync of the disk, and nobody is told before it.
//
// Submit is thread-safe. `ledger` and `fleet` outlive the writer.
#ifndef SWAPLOCK_SERVER_LEDGER_WRITER_H_
#define SWAPLOCK_SERVER_LEDGER_WRITER_H_

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "common/clock.h"
#include "common/window.h"
#include "server/admission/cardinality.h"
#include "server/fleet/fleet.h"
#include "server/ledger/ledger.h"

namespace swaplock {

class Writer {
 public:
  // Called once, on the writer's thread: what became of the window. After an
  // error nothing of it is stored.
  using Done = std::function<void(const absl::StatusOr<Outcome>&)>;

  static constexpr size_t kMaxWaiting = 1024;  // windows
  static constexpr size_t kMaxWaitingBytes = 64 << 20;
  static constexpr size_t kMaxBatch = 64;

  Writer(Ledger* ledger, Fleet* fleet, Clock clock,
         const CardinalityLimits& limits = {});
  // Commits what waits, then ends the thread.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // False, and `done` is not called, when the queue is full. `bytes`: of the
  // window's message.
  bool Submit(Window window, size_t bytes, Done done);

  // Whether the last commit succeeded; true before the first.
  bool can_commit() const { return can_commit_; }

 private:
  struct Waiting {
    Window window;
    size_t bytes = 0;
    Done done;
  };

  void Run();
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopping_ || !waiting_.empty();
  }
  // Up to kMaxBatch; none when the writer is to end.
  std::vector<Waiting> TakeBatch();
  void Commit(std::vector<Waiting> batch);

  Ledger* const ledger_;
  Fleet* const fleet_;
  const Clock clock_;
  Cardinality cardinality_;  // the thread's
  std::atomic<bool> can_commit_ = true;
  absl::Mutex mutex_;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  size_t waiting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_LEDGER_WRITER_H_
