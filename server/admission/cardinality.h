// How many kernels and cells there may be, whatever hosts call them. A window
// that would bring one too many is counted under a name for all such, or leaves
// that cell out; either is counted.
//
// Applied before the ledger, so that memory, file and metrics agree. What a
// duplicate or a failed commit would have brought stays reserved.
//
// Belongs to the writer's thread.
#ifndef SWAPLOCK_SERVER_ADMISSION_CARDINALITY_H_
#define SWAPLOCK_SERVER_ADMISSION_CARDINALITY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "common/window.h"
#include "server/fleet/fleet_state.h"

namespace swaplock {

// What takes the numbers of names that are too many: of a kernel (its cohort,
// which no verdict is about) and of an algorithm.
inline constexpr char kOtherName[] = "other";

struct CardinalityLimits {
  size_t cohorts = 256;
  size_t kernels_of_host_per_day = 4;
  size_t cells_of_cohort = 256;
  size_t cells = 8'192;  // of all cohorts
};

// Since start.
struct Overflow {
  uint64_t kernels = 0;     // windows whose kernel became kOtherName
  uint64_t algorithms = 0;  // cells whose algorithm did
  uint64_t cells = 0;       // cells left out: their numbers are lost
};

class Cardinality {
 public:
  Cardinality(const FleetState& loaded, const CardinalityLimits& limits);

  void Fit(Window* window, absl::Time now);

  const Overflow& overflow() const { return overflow_; }

 private:
  bool FitKernel(const Window& window, absl::Time now);
  bool FitCell(const CohortKey& cohort, Cell* cell);
  bool HasRoom(const std::set<CohortCellKey>& cells) const {
    return cells.size() < limits_.cells_of_cohort && cells_ < limits_.cells;
  }

  const CardinalityLimits limits_;
  std::map<CohortKey, std::set<CohortCellKey>> cohorts_;
  size_t cells_ = 0;
  int64_t day_ = 0;
  std::map<std::string, std::set<CohortKey>> kernels_today_;  // by host
  Overflow overflow_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_ADMISSION_CARDINALITY_H_
