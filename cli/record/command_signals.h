// What happens to a command and to its recorder by signals: its end is seen at
// once and ends the window, and a request to stop (SIGINT, SIGTERM, SIGHUP) is
// passed on to it. A second request kills it. What the terminal's Ctrl-C sends
// reaches the command by itself and is not passed on.
//
// One at a time: the handlers are the process's. Handlers run on any thread.
#ifndef SWAPLOCK_CLI_RECORD_COMMAND_SIGNALS_H_
#define SWAPLOCK_CLI_RECORD_COMMAND_SIGNALS_H_

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "agent/cut_event.h"

namespace swaplock {

class CommandSignals {
 public:
  // Sooner than `patience` after the first one, a request is taken for the
  // same: timeout(1) sends each twice, to its child and to the group. `cut`
  // outlives the object.
  explicit CommandSignals(const CutEvent& cut,
                          absl::Duration patience = absl::Milliseconds(500));
  ~CommandSignals();
  CommandSignals(const CommandSignals&) = delete;
  CommandSignals& operator=(const CommandSignals&) = delete;

  // The command that the signals are for; before it begins. Without one (0),
  // the second request ends this process.
  void Attend(pid_t command);

  // When the command ended (CLOCK_BOOTTIME, ns); 0: it has not.
  uint64_t ended_boottime_ns() const;

  // The first request to stop since the object was made, 0: none.
  int stop_signal() const;

 private:
  std::vector<std::pair<int, struct sigaction>> before_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_RECORD_COMMAND_SIGNALS_H_
