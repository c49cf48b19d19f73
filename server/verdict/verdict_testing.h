// A book of verdicts and a desk for tests of what shows them: small, and with
// everything in it. Test code only.
#ifndef SWAPLOCK_SERVER_VERDICT_VERDICT_TESTING_H_
#define SWAPLOCK_SERVER_VERDICT_VERDICT_TESTING_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/verdict/verdict_book.h"
#include "server/verdict/verdict_desk.h"

namespace swaplock {

// 2026-01-15 12:00 UTC.
absl::Time TestBookTime();

// Two pairs. 6.12.57 -> 6.18.15: 1, a regression of zram reads that alerts,
// with every kind of evidence; 2, a suppressed regression of zswap loads; 3,
// inconclusive; 4, not comparable. 6.18.15 -> 6.18.16: 5, an improvement; 6, no
// material change. Incident 1 is open, of the first pair; the self-test found
// one outcome broken.
VerdictBook TestBook();

// Keeps what it is told in memory. By default with TestBook() in it.
class FakeDesk : public VerdictDesk {
 public:
  explicit FakeDesk(VerdictBook book = TestBook());

  std::shared_ptr<const VerdictBook> Book() const override;
  // One version: the one that the book has.
  absl::StatusOr<std::vector<StoredVerdict>> History(uint64_t id) override;
  absl::Status Acknowledge(uint64_t id, const std::string& by,
                           const std::string& reason) override;
  absl::Status Suppress(uint64_t id, const std::string& by,
                        const std::string& reason, absl::Time until) override;
  absl::Status Reopen(uint64_t id, const std::string& by) override;
  // The verdicts of the pair in the book; NotFound without any.
  absl::StatusOr<PairComparison> Compare(const KernelPair& pair) override;

 private:
  absl::Status Mark(uint64_t id, VerdictMark mark);

  mutable absl::Mutex mutex_;
  std::shared_ptr<const VerdictBook> book_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_VERDICT_TESTING_H_
