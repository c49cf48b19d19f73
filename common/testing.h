// Windows for tests: valid by construction, the same on every run, small
// enough to count by hand. Test code only.
#ifndef SWAPLOCK_COMMON_TESTING_H_
#define SWAPLOCK_COMMON_TESTING_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "common/cell.h"
#include "common/window.h"

namespace swaplock {

// The wall clock at which window 0 of every host ends: 2026-01-15 12:00 UTC.
// Window `seq` ends 10 s * seq later.
inline constexpr uint64_t kTestUnixNs = 1'768'478'400'000'000'000;
inline constexpr uint64_t kTestWindowNs = 10'000'000'000;

// An empty cell that counts every hold (hold tier exact, wait tier contention,
// lock model mutex) of zram0 with zstd, taken exclusively.
Cell MakeCell(Subsystem subsystem, Operation operation, Role role);

// Counts one acquisition whose hold has these parts. `wait_ns` above 0 makes it
// a contended one that waited so long for a running owner.
void AddHold(Cell* cell, uint64_t on_cpu_ns, uint64_t runnable_ns = 0,
             uint64_t blocked_ns = 0, uint64_t wait_ns = 0);

// A window of `host` (whose boot id follows from its name) in epoch 1 with two
// cells. zram write, role stream: 3 acquisitions with holds of 1 ms on CPU
// exactly, 12 ms (2 on CPU, 10 runnable) and 0.1 ms, and one wait of 20 ms.
// zram read, role stream: 2 acquisitions with holds of 50 us. One top hold, the
// one of 12 ms. One event lost for kRecursion. Two probes, one of them refused,
// and the sentence that says so.
Window MakeWindow(absl::string_view host, uint64_t seq,
                  absl::string_view kernel = "6.18.15");

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_TESTING_H_
