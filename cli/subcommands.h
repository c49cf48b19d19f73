// The subcommands of `swaplock`. Each has a file of its own, asks one server
// (doctor: this host's kernel; certs: nobody), writes to stdout and returns the
// exit status.
#ifndef SWAPLOCK_CLI_SUBCOMMANDS_H_
#define SWAPLOCK_CLI_SUBCOMMANDS_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/channel.h"

namespace swaplock {

struct CommandOptions {
  std::string server;
  ChannelIdentity identity;  // that the server is shown
  bool json = false;
  std::string kernel;       // top: of this kernel only; empty: all
  absl::Duration interval;  // top: between two looks
  int seconds = 0;          // top: stop after so many; 0: never
  bool once = false;        // top: one look
  bool explain = false;     // top: say of each hold why it was long
};

// The fleet, again and again: on a terminal in place, else as one text after
// the other. Stays when a server that answered before stops answering.
int Top(const CommandOptions& options);

// What the server says of kernels against each other.
int Verdicts(const CommandOptions& options);

// What can be measured on this host and what to do about the rest: 0 when holds
// are measured, 1 when only part is, kExitUnavailable when nothing is.
int Doctor(const CommandOptions& options);

// Makes certificates; `words` follow "certs". See cli/certs.h.
int Certs(const std::vector<std::string>& words);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_SUBCOMMANDS_H_
