// The agent's outbox: windows wait here until the server has acknowledged them.
// Only an acknowledgement (or the server's word that it will never take a
// window) deletes; a crash or a restart does not.
//
// With a folder every window is on disk before Append() returns. When the disk
// refuses, the spool goes on in memory within the same bound, says so, and
// writes what it owes as soon as the disk takes it again. Without a folder it
// is in memory only.
//
// When full, the two oldest windows that may be merged (agent/merged_window)
// become one: time resolution is lost, counts are not. As long as possible no
// merged window is longer than an hour, which is how the server keeps maxima.
//
// Nothing is counted twice, because a window that may have been sent is never
// merged, and that it may have been is on disk before NextToSend() hands it
// out. A window for which the disk refuses that is held back until it takes it;
// those that are only in memory pass it.
//
// Thread-safe. Append(), NextToSend() and Acknowledge() wait for the disk.
#ifndef SWAPLOCK_AGENT_DELIVERY_SPOOL_H_
#define SWAPLOCK_AGENT_DELIVERY_SPOOL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "agent/delivery/spool_disk.h"
#include "agent/delivery/spool_file.h"
#include "common/window.h"

namespace swaplock {

class Spool {
 public:
  struct Options {
    std::string folder;  // empty: memory only
    // Of the file, when it is made: one that is there keeps its size. Windows
    // may fill three quarters of it; the rest is for moving them about.
    uint64_t max_bytes = 32 << 20;
    OpenSpoolDisk open_disk;  // for tests; empty: the folder's
  };

  struct Stats {
    uint64_t pending = 0;         // windows waiting now
    uint64_t pending_bytes = 0;   // and their bytes
    uint64_t only_in_memory = 0;  // of them, not on disk though there is one
    uint64_t in_doubt = 0;        // of them, may have been sent
    // Since the spool was opened.
    uint64_t recovered = 0;    // windows that an earlier life left
    uint64_t merged = 0;       // windows that went into another one
    uint64_t refused = 0;      // Append() failed: lost
    uint64_t damaged = 0;      // places that could not be read
    uint64_t disk_errors = 0;  // times that the disk refused
    uint64_t held = 0;         // times that a window was passed by another
  };

  // A window on its way.
  struct Parcel {
    Window window;
    // Another server than the one that it is for may have it already.
    bool in_doubt = false;
  };

  // Recovers what an earlier life left. FailedPrecondition while another
  // process uses the folder; a disk that fails is no error.
  static absl::StatusOr<std::unique_ptr<Spool>> Open(const Options& options);

  // Keeps the window. A window that waits already, alone or merged into
  // another, is kept once. ResourceExhausted when the spool is full of windows
  // that may not be merged.
  absl::Status Append(const Window& window);

  // The same for a window that may have been sent in an earlier life. While
  // there is a disk that cannot be read it is kept apart and not sent: it may
  // be there, and merged.
  absl::Status AppendInDoubt(const Window& window);

  // The key of the window that waits longest; nothing when none waits.
  std::optional<WindowKey> Oldest() const;

  // The window of this host to send next to the server of this number (not 0
  // and not SpoolFile::kAnyServer). From now on it may have been sent there.
  // NotFound when none waits; FailedPrecondition when it is another host's
  // turn; Unavailable when the disk holds back what waits.
  absl::StatusOr<Parcel> NextToSend(absl::string_view host_id, uint64_t server);

  // Where the window that waits longest may have been sent; 0: nowhere.
  uint64_t OldestSentTo() const;

  // Forgets the window with this key for good; nothing if there is none.
  void Acknowledge(const WindowKey& key);

  bool Empty() const;
  Stats stats() const;

 private:
  struct Entry {
    WindowKey key;
    uint64_t windows = 1;    // that it stands for
    uint64_t length_ns = 0;  // of the window
    uint64_t bytes = 0;
    uint64_t order = 0;    // they ascend
    uint64_t sent_to = 0;  // 0: not sent
    bool on_disk = false;
    // A write of it, or of one that it is merged into, failed but may have
    // reached the disk.
    bool unsettled = false;
    std::string payload;  // empty when on disk

    bool MayBeOnDisk() const { return on_disk || unsettled; }
  };

  explicit Spool(const Options& options) : options_(options) {}

  static bool Covers(const Entry& entry, const WindowKey& key);
  static Entry EntryOf(const Window& window, uint64_t bytes);
  uint64_t Capacity() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Tries to have a file, and recovers what is in it.
  absl::Status OpenFile() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Recover(uint64_t order, bool may_be_sent, absl::string_view payload,
               std::deque<Entry>* recovered, std::vector<uint64_t>* left_out)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasDisk() const {
    return options_.open_disk || !options_.folder.empty();
  }
  absl::Status Keep(const Window& window, bool in_doubt)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MergePair(uint64_t longest_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Puts `merged` in place of the entries at `index` and after it, both on disk
  // or both not. False, with nothing changed, if that is no gain or the disk
  // refuses.
  bool ReplacePair(size_t index, const Window& merged)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Window> Read(const Entry& entry) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes it known that the entry may have been sent to `server`.
  absl::Status MarkSent(Entry* entry, uint64_t server)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Writes entries that are in memory only, oldest first, while the disk takes
  // them.
  void WriteOwed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Settles the file after a write that failed.
  absl::Status Settle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteDisk(const absl::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Remove(size_t index) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  mutable absl::Mutex mutex_;
  std::unique_ptr<SpoolFile> file_ ABSL_GUARDED_BY(mutex_);
  std::deque<Entry> entries_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_order_ ABSL_GUARDED_BY(mutex_) = 1;
  // What AppendInDoubt() was given before there was a file.
  std::optional<Window> kept_apart_ ABSL_GUARDED_BY(mutex_);
  bool disk_fails_ ABSL_GUARDED_BY(mutex_) = false;
  Stats stats_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_DELIVERY_SPOOL_H_
