// A window as text for people: what `swaplock-agent --print` writes and what
// the command line's tables are made of.
//
// A number that the cell's tier cannot see reads "-", never 0.
#ifndef SWAPLOCK_COMMON_WINDOW_TABLE_H_
#define SWAPLOCK_COMMON_WINDOW_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/context.h"
#include "common/window.h"

namespace swaplock {

// "mutex"; "lock-free" where the operation takes no lock, "-" if not known.
std::string ModelName(LockModel model);

// One line per cell of a lock: the lock, how it was measured, acquisitions,
// contended acquisitions, waits, holds and the parts of the holds; sums, maxima
// and how many lasted more than 10 ms. `max_width` is in characters, 0 for no
// limit: columns that matter less are left out until the table fits. Empty when
// all cells are of operations.
std::string CellTable(const std::vector<Cell>& cells,
                      absl::string_view indent = "", size_t max_width = 0);

// One line per cell of an operation: which lock it takes here, how many there
// were, mean, 99th percentile, maximum, and how many took more than 1, 10 and
// 100 ms. Empty when there is no such cell.
std::string OperationTable(const std::vector<Cell>& cells,
                           absl::string_view indent = "", size_t max_width = 0);

// One line per hold with its parts and its holder. `cells` are those that
// Hold::cell points into. `origins`, when given, is a text per hold that says
// where it was. Empty when there are no holds.
std::string HoldTable(const std::vector<Hold>& holds,
                      const std::vector<Cell>& cells,
                      absl::string_view indent = "",
                      const std::vector<std::string>& origins = {},
                      size_t max_width = 0);

// "zram write stream"; with the device when there is one.
std::string LockName(const CellKey& key);

// The holder as "comm[pid] other nice 10" or "comm[pid] fifo".
std::string HolderName(const Hold& hold);

// Why a hold was long, as far as it is known, one line per fact: parts of its
// runnable part, who ran instead, who waited, cgroup, stacks. "" if nothing is.
// Lines longer than `max_width`, unless that is 0, go on in the next.
std::string HoldExplanation(const Hold& hold, absl::string_view indent,
                            size_t max_width = 0);

// Probes by state and by the reason for which they were refused, and the
// sentences on what is not measured; each line begins with `indent`.
std::string CoverageText(const Coverage& coverage,
                         absl::string_view indent = "");

// A number of a context by the unit that its name ends in, which is then left
// out: {"mem/free_bytes", 3 << 20} reads {"mem/free", "3.0 MiB"}.
std::pair<std::string, std::string> ReadableNumber(absl::string_view name,
                                                   uint64_t value);

// What the context says, in lines of about 100 columns: counters that grew,
// gauges and facts, each where there are any.
std::string ContextText(const Context& context);

// All of the window but its coverage, which seldom changes.
std::string WindowText(const Window& window);

// The window as one line of JSON, in the protocol buffers' mapping of
// proto/window.proto with its field names; fields that are 0 are left out.
// InvalidArgument if a text in it is not UTF-8.
absl::StatusOr<std::string> WindowJson(const Window& window);

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_WINDOW_TABLE_H_
