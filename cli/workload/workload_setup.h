// What a workload sets up on a host and takes back: settings in files of
// /proc and /sys, a zram device of its own, swap behind zswap. Needs root.
//
// Errors are Unavailable, with one sentence of what is missing or refused and
// what to do. Not thread-safe.
#ifndef SWAPLOCK_CLI_WORKLOAD_WORKLOAD_SETUP_H_
#define SWAPLOCK_CLI_WORKLOAD_WORKLOAD_SETUP_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cli/workload/workload_options.h"

namespace swaplock {

// Steps back, in the opposite order of the steps.
class Undo {
 public:
  Undo() = default;
  ~Undo() { (void)Run(); }
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;

  void Add(std::function<absl::Status()> step) {
    steps_.push_back(std::move(step));
  }
  // Every step, whatever became of those before; the first error. Then there
  // are none.
  absl::Status Run();

 private:
  std::vector<std::function<absl::Status()>> steps_;
};

// The text of a small file without the line's end; NotFound if it is not there,
// Unavailable if it cannot be read.
absl::StatusOr<std::string> ReadSetting(const std::string& path);

// Writes `value`; `undo` writes what was there before.
absl::Status ChangeSetting(const std::string& path, absl::string_view value,
                           Undo* undo);

// "lzo-rle" of "lzo [lzo-rle] lz4"; the whole text without brackets.
std::string Chosen(absl::string_view choices);

// A descriptor that is closed when it goes.
class OwnedFd {
 public:
  explicit OwnedFd(int fd = -1) : fd_(fd) {}
  ~OwnedFd();
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  void Close();

 private:
  int fd_;
};

struct ZramForRun {
  std::string name;    // "zram3"
  std::string codec;   // that it compresses with
  uint64_t bytes = 0;  // that the run uses, from the start of the device
};

// A new device, or the one that the options name if nobody else uses it; holds
// it open until `undo`, which also removes a new one.
absl::StatusOr<ZramForRun> PrepareZram(const WorkloadOptions& options,
                                       Undo* undo);

struct ZswapForRun {
  std::string codec;
};

// Checks that there is swap behind zswap with nothing read ahead and room for
// the buffers; with `options.setup` makes it so first. `root` stands before
// every path: "" or a folder of a test.
absl::StatusOr<ZswapForRun> PrepareZswap(const WorkloadOptions& options,
                                         Undo* undo,
                                         const std::string& root = "");

// A counter of /proc/vmstat or a figure of /proc/meminfo (kB), given the file's
// text; 0 if it is not there.
uint64_t Figure(absl::string_view text, absl::string_view name);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_WORKLOAD_WORKLOAD_SETUP_H_
