// What judges kernels by the ledger's evidence, on a schedule, and keeps what
// it found: after each whole day every kernel pair, and once more where late
// windows changed the rows; then the self-test.
//
// RunDue is called by one thread of the server's, which may take minutes; faces
// read the book meanwhile. Nothing here runs on a thread that takes windows.
//
// Thread-safe.
#ifndef SWAPLOCK_SERVER_JUDGE_VERDICT_ENGINE_H_
#define SWAPLOCK_SERVER_JUDGE_VERDICT_ENGINE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/judge/evaluation.h"
#include "server/judge/kernel_choice.h"
#include "server/judge/pair_rules.h"
#include "server/judge/verdict_life.h"
#include "server/judge/verdict_store.h"
#include "server/verdict/verdict_desk.h"

namespace swaplock {

struct VerdictOptions {
  RolloutRules rules;
  std::string pairs_file;  // see pair_rules.h; read again at each look
  // A day (UTC) is judged so long after its end: hosts send late what they
  // could not send.
  absl::Duration close_delay = absl::Hours(1);
  // Between looks at the same day, for windows that came later still.
  absl::Duration look_interval = absl::Hours(1);
  // Of the self-test, per night; 0: none.
  uint64_t self_test_splits = 200;
  double self_test_spike = 1.5;
};

// Where the engine gets what it needs from.
struct VerdictSources {
  std::function<absl::StatusOr<std::unique_ptr<EvidenceReader>>()> evidence;
  VerdictStore* store = nullptr;  // outlives the engine
  std::function<absl::Time()> now;
  // Hosts that are set aside: what they say is no evidence.
  std::function<std::set<std::string>()> hosts_aside;
  std::string other_kernel;  // the name of kernels that are too many
};

class VerdictEngine : public VerdictDesk {
 public:
  VerdictEngine(VerdictSources sources, VerdictOptions options)
      : sources_(std::move(sources)), options_(std::move(options)) {}

  // First: loads what was found before. The sentence of an error says what
  // failed: the store, or the file of pairs.
  absl::Status Load();

  // Judges what is due; else only looks at what the time changes (suppressions
  // that expire). An error says what could not be read or stored; the next call
  // tries again.
  absl::Status RunDue();
  // Makes a running RunDue end soon, and later ones at once.
  void Stop() { stopping_ = true; }

  // The last whole day (since 1970 UTC) that is judged now.
  int64_t ClosedDay() const;

  // Makes an evaluation that is stored again from the evidence of now: the same
  // records, unless rows_hash says that the rows are others.
  absl::StatusOr<Evaluated> Again(uint64_t evaluation);

  std::shared_ptr<const VerdictBook> Book() const override;
  absl::StatusOr<std::vector<StoredVerdict>> History(uint64_t id) override;
  absl::Status Acknowledge(uint64_t id, const std::string& by,
                           const std::string& reason) override;
  absl::Status Suppress(uint64_t id, const std::string& by,
                        const std::string& reason, absl::Time until) override;
  absl::Status Reopen(uint64_t id, const std::string& by) override;
  absl::StatusOr<PairComparison> Compare(const KernelPair& pair) override;

 private:
  bool IsDue(int64_t today) ABSL_EXCLUSIVE_LOCKS_REQUIRED(running_);
  absl::Status JudgePairs(EvidenceReader* reader, int64_t today)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(running_);
  absl::Status JudgePair(EvidenceReader* reader, const ChosenPair& chosen,
                         int64_t today) ABSL_EXCLUSIVE_LOCKS_REQUIRED(running_);
  absl::Status TestItself(std::unique_ptr<EvidenceReader> reader, int64_t today)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(running_);
  absl::Status Mark(uint64_t id, VerdictMark mark);
  // Applies `step` to a copy of the book, stores what it changed, and shows it.
  absl::Status Change(const std::function<VerdictChanges(VerdictBook*)>& step);

  const VerdictSources sources_;
  const VerdictOptions options_;
  std::atomic<bool> stopping_ = false;

  absl::Mutex running_;  // one RunDue at a time
  PairRules pair_rules_ ABSL_GUARDED_BY(running_);
  std::string remark_ ABSL_GUARDED_BY(running_);
  int64_t looked_for_day_ ABSL_GUARDED_BY(running_) = 0;
  absl::Time looked_at_ ABSL_GUARDED_BY(running_) = absl::InfinitePast();
  uint64_t last_evaluation_ ABSL_GUARDED_BY(running_) = 0;
  // By pair: of its last evaluation, stored or not.
  std::map<std::pair<std::string, std::string>, uint64_t> rows_
      ABSL_GUARDED_BY(running_);
  std::atomic<bool> comparing_ = false;

  absl::Mutex changing_;  // one Change at a time; taken before book_mutex_
  mutable absl::Mutex book_mutex_;
  std::shared_ptr<const VerdictBook> book_ ABSL_GUARDED_BY(book_mutex_) =
      std::make_shared<VerdictBook>();
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_JUDGE_VERDICT_ENGINE_H_
