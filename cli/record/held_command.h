// A command that is forked early and held until it is told to begin: it has the
// privileges, signals and descriptors that the caller had then, whatever the
// caller gives up in between.
//
// Not thread-safe; fork while the process has one thread.
#ifndef SWAPLOCK_CLI_RECORD_HELD_COMMAND_H_
#define SWAPLOCK_CLI_RECORD_HELD_COMMAND_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace swaplock {

// What a shell exits with for such a command.
inline constexpr int kExitNotFound = 127;
inline constexpr int kExitNotExecutable = 126;

// kExitNotFound for NotFound, else kExitNotExecutable.
int ExitStatusOfStart(const absl::Status& status);

// Whether execvp(3) would find an executable file of this name: NotFound or
// PermissionDenied with a sentence if not.
absl::Status FindCommand(const std::string& name);

class HeldCommand {
 public:
  // One for each of `environments`, which are "NAME=value" texts that its
  // environment has beside the caller's.
  static absl::StatusOr<std::vector<std::unique_ptr<HeldCommand>>> Fork(
      const std::vector<std::string>& words,
      const std::vector<std::vector<std::string>>& environments);
  // One that still runs is killed, one that is held never begins.
  ~HeldCommand();
  HeldCommand(const HeldCommand&) = delete;
  HeldCommand& operator=(const HeldCommand&) = delete;

  pid_t pid() const { return pid_; }

  // Lets it begin. NotFound, PermissionDenied or what else execvp(3) said when
  // it could not; it has ended then.
  absl::Status Start();

  // Whether it has ended, without waiting for it.
  bool Ended();
  // Returns when it has.
  void Wait();

  // Once it has ended: its exit status, or 0 if a signal ended it; and that
  // signal, or 0.
  uint32_t exit_status() const;
  uint32_t signal() const;

 private:
  HeldCommand(std::string name, pid_t pid, int go_fd, int failed_fd)
      : name_(std::move(name)),
        pid_(pid),
        go_fd_(go_fd),
        failed_fd_(failed_fd) {}
  bool Reap(int options);

  const std::string name_;
  const pid_t pid_;
  int go_fd_;      // writing lets it begin; closing makes it end
  int failed_fd_;  // errno of execvp(3), or nothing when it has begun
  bool ended_ = false;
  int wait_status_ = 0;  // of waitpid(2)
};

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_RECORD_HELD_COMMAND_H_
