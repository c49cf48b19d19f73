// The durable store of everything hosts sent: the keys of their windows, what
// each host counted per day, its boots, every cohort's cells, the longest
// holds.
//
// The interface says what, never how: sqlite_ledger.h keeps it in one file of
// one server; a database shared by several servers fits behind it as well,
// since all it needs is one transaction per batch and sums that add up.
//
// Threads: Commit from one thread at a time; the readers from any thread, also
// while Commit runs.
#ifndef SWAPLOCK_SERVER_LEDGER_LEDGER_H_
#define SWAPLOCK_SERVER_LEDGER_LEDGER_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/window.h"
#include "server/admission/quarantine_store.h"
#include "server/fleet/fleet_state.h"
#include "server/judge/verdict_store.h"
#include "server/verdict/evidence.h"

namespace swaplock {

class Ledger {
 public:
  virtual ~Ledger() = default;

  // Stores the windows' keys and numbers in one transaction and returns when
  // they are durable: one outcome per window, in order. A window whose sequence
  // number is known, alone or as part of a merged window, also from earlier in
  // `windows`, is a duplicate and adds nothing; so is a merged one of whose
  // numbers any is known.
  //
  // After an error nothing of the batch is stored, and the same batch may be
  // committed again. The error says whether that can help: Unavailable (disk
  // full, I/O) or Internal.
  virtual absl::StatusOr<std::vector<Outcome>> Commit(
      const std::vector<Window>& windows, absl::Time now) = 0;

  // Everything committed so far, as merging every window would have made it.
  virtual absl::StatusOr<FleetState> Load(absl::Time now) = 0;

  // The evidence for verdicts, as of now.
  virtual absl::StatusOr<std::unique_ptr<EvidenceReader>> OpenEvidence() = 0;
  // The verdicts that were made of it. As long as the ledger lives.
  virtual VerdictStore* verdicts() = 0;
  // The hosts that are set aside. Likewise.
  virtual QuarantineStore* quarantine() = 0;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_LEDGER_LEDGER_H_
