// The agent's outbox: windows wait here until the server has acknowledged them.
// Only an acknowledgement (or the server's word that it will never take a
// window) deletes; a crash or a restart does not.
//
// With a folder every window is on disk before Append() returns. When the disk
// refuses, the spool goes on in memory within the same bound, says so, and
// writes what it owes as soon as the disk takes it again. Without a folder it
// is in memory only.
//
// When full, the oldest two windows that may be merged (agent/merged_window)
// become one: time resolution is lost, counts are not. A window that may have
// been sent is never merged, or the server would count it twice. The caller
// keeps to one rule for that: it sends Oldest(), and nothing else before that
// one is acknowledged.
//
// Thread-safe. Append() and Acknowledge() wait for the disk.
#ifndef SWAPLOCK_AGENT_SPOOL_H_
#define SWAPLOCK_AGENT_SPOOL_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "agent/spool_file.h"
#include "common/window.h"

namespace swaplock {

class Spool {
 public:
  struct Options {
    std::string folder;  // empty: memory only
    // Bound of the file. Half of it is for waiting windows, the other half lets
    // acknowledged ones lie until it is worth writing the file anew; for that
    // moment up to half as much lies beside it.
    uint64_t max_bytes = 32 << 20;
  };

  struct Stats {
    uint64_t pending = 0;         // windows waiting now
    uint64_t pending_bytes = 0;   // and their bytes
    uint64_t only_in_memory = 0;  // of them, not on disk though there is one
    uint64_t recovered = 0;       // pending when the spool was opened
    uint64_t merged = 0;          // windows that went into another one
    uint64_t refused = 0;         // Append() failed: lost
    uint64_t damaged = 0;         // records or tails that could not be read
  };

  // Recovers what an earlier life left. FailedPrecondition while another
  // process uses the folder.
  static absl::StatusOr<std::unique_ptr<Spool>> Open(const Options& options);

  // Keeps the window. A window that waits already, alone or merged into
  // another, is kept once. ResourceExhausted when the spool is full of windows
  // that may not be merged.
  absl::Status Append(const Window& window);

  // The same for a window that may have been sent in an earlier life.
  absl::Status AppendInDoubt(const Window& window);

  // The window to send next; NotFound when none waits.
  absl::StatusOr<Window> Oldest();

  // Forgets the window with this key for good; nothing if there is none.
  void Acknowledge(const WindowKey& key);

  bool Empty() const;
  Stats stats() const;

 private:
  struct Entry {
    WindowKey key;
    uint64_t windows = 1;  // that it stands for
    uint64_t bytes = 0;
    SpoolFile::Record record;
    bool on_disk = false;
    std::string payload;  // empty when on disk
  };

  explicit Spool(const Options& options) : options_(options) {}

  static bool Covers(const Entry& entry, const WindowKey& key);
  void Recover(const SpoolFile::Record& record, absl::string_view payload)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Keep(const Window& window, bool in_doubt);
  bool MergeOldestPair() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Puts `merged` in place of the entries at `index` and after it, both on disk
  // or both not. False, with nothing changed, if that is no gain or the disk
  // refuses.
  bool ReplacePair(size_t index, const Window& merged)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Window> Read(const Entry& entry) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Writes entries that are in memory only, oldest first, while the disk takes
  // them.
  void WriteOwed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status MakeRoomInFile(uint64_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MarkGone(const Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Remove(size_t index) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  mutable absl::Mutex mutex_;
  std::unique_ptr<SpoolFile> file_ ABSL_GUARDED_BY(mutex_);
  std::deque<Entry> entries_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_order_ ABSL_GUARDED_BY(mutex_) = 1;
  Stats stats_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_SPOOL_H_
