// What the evidence says of two kernel builds and one operation.
//
// Outcome: waits over 10 ms per million operations. The unit is the host, never
// the wait: thousands of waits on one bad host are one host. Hosts of the newer
// build are compared with other hosts of the base build (parallel groups) by an
// exact rank test; the effect is the Hodges-Lehmann ratio of their rates with a
// 90 % interval, and counts only beyond a margin of 10 %.
//
// A host's rate is K/E + 1/(2 * mean E), not (K + 1/2)/E: the latter falls for
// a host without waits when it merely does more operations, so throughput would
// read as improvement. This way such hosts tie.
//
// A host that ran both builds counts once in each group. That makes the groups
// alike, so the test rejects less often than it may, never more.
//
// Operations of a host are the acquisitions of the role that was taken most
// often: an operation takes each of its locks about once.
//
// Pure: the same rows and rules give the same verdicts.
#ifndef SWAPLOCK_SERVER_VERDICT_VERDICTS_H_
#define SWAPLOCK_SERVER_VERDICT_VERDICTS_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/cell.h"
#include "server/verdict/host_cell.h"
#include "server/verdict/verdict_kind.h"

namespace swaplock {

inline constexpr absl::string_view kWaitsOver10ms =
    "waits_over_10ms_per_million";

struct VerdictRules {
  uint64_t min_operations = 100'000;  // of a host, or it is left out
  uint64_t min_hosts = 8;             // per build
  uint64_t min_events = 20;           // in the build that has more
  uint64_t min_event_hosts = 5;       // that these come from
  double margin = 1.10;
  double alpha = 0.05;  // false discovery rate over a pair's operations
  double tail = 0.05;   // outside the interval on either side
};

struct Verdict {
  std::string kernel_base;
  std::string kernel_new;
  Subsystem subsystem = Subsystem::kUnspecified;
  Operation operation = Operation::kUnspecified;
  std::string outcome = std::string(kWaitsOver10ms);
  VerdictKind kind = VerdictKind::kUnspecified;
  std::string sentence;     // the verdict in words
  std::string reason;       // why it is not more certain; empty if it is
  uint64_t hosts_base = 0;  // that the verdict rests on
  uint64_t hosts_new = 0;
  // NaN when no test was made. p is as tested; the kind is decided by p after
  // Benjamini-Hochberg over all tested operations of the pair.
  double p_value = std::numeric_limits<double>::quiet_NaN();
  bool p_exact = false;
  double ratio = std::numeric_limits<double>::quiet_NaN();  // new over base
  double ratio_lower = std::numeric_limits<double>::quiet_NaN();
  double ratio_upper = std::numeric_limits<double>::quiet_NaN();
  double smallest_p = 1;  // that these numbers of hosts could give
};

// Verdicts for every kernel build against the one before it and every
// (subsystem, operation) that either counted; by pair, then by operation.
std::vector<Verdict> Judge(const std::vector<HostCell>& cells,
                           const VerdictRules& rules);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_VERDICTS_H_
