// The subcommands of `swaplock`. Each has a file of its own with its flags,
// writes to stdout, and returns the exit status: 0 all well, 1 what
// it was to find (a regression, something unmeasured), kExitUsage,
// kExitUnavailable, kExitConfig for a file that cannot be used.
#ifndef SWAPLOCK_CLI_SUBCOMMANDS_H_
#define SWAPLOCK_CLI_SUBCOMMANDS_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/strings/string_view.h"

// Flags that several take; defined in swaplock_main.cc.
ABSL_DECLARE_FLAG(std::string, output);  // table, json or csv, once checked
ABSL_DECLARE_FLAG(int, seconds);         // at least 0
ABSL_DECLARE_FLAG(bool, lkml);           // tables for a mail

namespace swaplock {

// What the command line says beside flags.
struct Words {
  std::vector<std::string> words;  // after the subcommand, before "--"
  bool dashes = false;             // whether there was a "--"
  std::vector<std::string> after_dashes;
  std::vector<std::string> labels;           // every --label, in order
  std::set<std::string, std::less<>> flags;  // names of those that were given
};

struct Subcommand {
  absl::string_view name;
  absl::string_view arguments;  // "-o FILE [flags] -- COMMAND [ARGUMENT...]"
  absl::string_view summary;    // one line
  std::vector<absl::string_view> flags;    // the names of those that it takes
  std::vector<absl::string_view> outputs;  // of --output; the first by default
  int (*run)(const Words& words);
};

// All of them, as `swaplock --help` lists them.
const std::vector<Subcommand>& Subcommands();

// Says `message` and where to read more on stderr; returns kExitUsage.
int UsageError(absl::string_view subcommand, absl::string_view message);

// The fleet, or this host, again and again: on a terminal a full screen with
// keys, else one text after the other. Stays when a server that answered before
// stops answering.
int Top(const Words& words);

// What a server knows: kernels with their totals, hosts, the day's longest
// holds.
int Kernels(const Words& words);
int Hosts(const Words& words);
int Holds(const Words& words);
int Quarantine(const Words& words);

// What the server says of kernels against each other: 1 when a regression is
// listed. Or says what is to become of one.
int Verdicts(const Words& words);

// One verdict with everything that it rests on.
int Explain(const Words& words);

// Two kernels as a server's hosts know them: 1 when one is worse and
// --fail_on_regression was given. `swaplock compare` with --server.
int CompareKernels(const Words& words);

// Has one host measure closer for a while: kExitUsage for settings out of
// range, kExitConfig for a server that does not allow it.
int DeepDive(const Words& words);

// `quarantine release HOST`: has the server take a host's windows again. Exit
// statuses as of DeepDive.
int ReleaseHost(const Words& words);

// Runs a command while the locks are measured, into a file. Returns the
// command's own exit status if that is not 0.
int RecordCommand(const Words& words);

// One file of several.
int Merge(const Words& words);

// A record file as lines of JSON, and back.
int Convert(const Words& words);

// What can be measured on this host and what to do about the rest: 0 when holds
// are measured, 1 when only part is, kExitUnavailable when nothing is.
int Doctor(const Words& words);

// What record files say of runs: kExitConfig for a file that cannot be used.
int Report(const Words& words);

// Makes certificates for a small site: cli/certs/certs.h.
int Certs(const Words& words);

// Recorded runs on two sides: 1 when something judged got worse and
// --fail_on_regression was given; kExitConfig when they cannot be compared.
int Compare(const Words& words);

// Tasks at different priorities use zswap or zram together; prints what each
// kind felt and writes it where kResultFileVariable says. kExitUnavailable if
// something is missing or could not be undone; 128 + the signal that ended it.
int Workload(const Words& words);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_SUBCOMMANDS_H_
