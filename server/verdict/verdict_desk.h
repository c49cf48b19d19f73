// Where faces read verdicts and act on them. The server's VerdictEngine is one;
// a test may make another.
//
// Thread-safe.
#ifndef SWAPLOCK_SERVER_VERDICT_VERDICT_DESK_H_
#define SWAPLOCK_SERVER_VERDICT_VERDICT_DESK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/verdict/verdict_book.h"

namespace swaplock {

// What any two kernels that the ledger has hosts of look like now.
struct PairComparison {
  KernelPair pair;
  bool ended = false;
  uint64_t hosts_upgraded = 0;
  uint64_t hosts_waiting = 0;
  uint64_t controls = 0;
  int64_t first_day = 0;
  int64_t last_day = 0;
  std::vector<VerdictRecord> verdicts;  // not stored, without ids
  std::string remark;  // why there are none; one sentence, or empty
};

class VerdictDesk {
 public:
  virtual ~VerdictDesk() = default;

  // Never null. From memory, at once.
  virtual std::shared_ptr<const VerdictBook> Book() const = 0;

  // Every version of a verdict that is kept, newest first, as it was (without
  // marks). NotFound when there is no such id. Reads the disk.
  virtual absl::StatusOr<std::vector<StoredVerdict>> History(uint64_t id) = 0;

  // Each is durable, and in the book, when it returns. NotFound when there is
  // no such id; InvalidArgument, in one sentence, for a suppression without
  // reason, in the past or of more than 365 days, and for texts above 1,000
  // bytes.
  virtual absl::Status Acknowledge(uint64_t id, const std::string& by,
                                   const std::string& reason) = 0;
  virtual absl::Status Suppress(uint64_t id, const std::string& by,
                                const std::string& reason,
                                absl::Time until) = 0;
  // Takes the mark away.
  virtual absl::Status Reopen(uint64_t id, const std::string& by) = 0;

  // Judges two kernels as of the last whole day. Seconds with many hosts: not
  // on a thread that others wait for. NotFound when no host ran one of them;
  // Unavailable while another comparison runs.
  virtual absl::StatusOr<PairComparison> Compare(const KernelPair& pair) = 0;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_VERDICT_DESK_H_
