// All verdicts as they stand, with what people said of them, the incidents, and
// what the engine found out about itself: what faces show.
//
// Plain values. A book does not change once it is made; faces share one.
#ifndef SWAPLOCK_SERVER_VERDICT_VERDICT_BOOK_H_
#define SWAPLOCK_SERVER_VERDICT_VERDICT_BOOK_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/verdict/kernel_pairs.h"
#include "server/verdict/matched_pairs.h"
#include "server/verdict/self_test.h"
#include "server/verdict/verdict_record.h"

namespace swaplock {

enum class VerdictState {
  kNew,           // nobody said anything of it
  kAcknowledged,  // somebody looks after it: no alert until the kind changes
  kSuppressed,    // no alert until `until`, whatever it says
};

// "new", "acknowledged", "suppressed".
absl::string_view Name(VerdictState state);

// What a person said of a verdict. It never changes the evidence.
struct VerdictMark {
  VerdictState state = VerdictState::kNew;
  std::string by;      // who; as they called themselves
  std::string reason;  // never empty when suppressed
  absl::Time at;
  absl::Time until = absl::InfiniteFuture();  // of a suppression
};

// One subject (kernel pair, operation, outcome) as it was last judged.
struct StoredVerdict {
  uint64_t id = 0;  // of the subject, the same over all evaluations; from 1
  uint64_t version = 0;     // from 1; one more whenever the record changed
  int engine = 0;           // kVerdictEngine of then
  uint64_t evaluation = 0;  // that made this version
  VerdictRecord record;
  // Whole days of rows that it rests on, since 1970 UTC.
  int64_t first_day = 0;
  int64_t last_day = 0;
  absl::Time first_judged;  // of this subject
  absl::Time since;         // when it began to be of this kind
  absl::Time judged;        // last; the version is as old or older
  VerdictMark mark;         // kNew once a suppression has expired
  uint64_t incident = 0;    // 0: none
  // A regression, improvement or mixed verdict that was there before and that
  // the last days no longer show; empty otherwise.
  std::string went_away;  // one sentence
  // Whether it may alert: a regression or mixed verdict that is not marked, has
  // not gone away, and whose outcome the self-test trusts.
  bool alerts = false;
  std::string silent_because;  // one clause, when it does not although it flags
};

// One per kernel pair that has flagged a regression or a mixed verdict.
struct Incident {
  uint64_t id = 0;  // from 1
  KernelPair pair;
  absl::Time opened;
  absl::Time closed = absl::InfiniteFuture();  // in the past: it is over
  std::vector<uint64_t> verdicts;              // ids that belong to it, now
  std::string sentence;                        // of the worst of them
};

// A kernel pair as it was last judged.
struct JudgedPair {
  KernelPair pair;
  std::string chosen_because;  // one clause: "predecessor of most hosts" ...
  bool ended = false;          // the after-windows of all upgraded hosts closed
  uint64_t look = 0;           // fixed looks begun, this one included
  uint64_t hosts_upgraded = 0;
  uint64_t hosts_waiting = 0;  // whose after-window is open
  uint64_t controls = 0;
  int64_t last_day = 0;
  absl::Time judged;
  std::vector<Holdback> holdback;
};

// What the engine found on hosts that kept their kernel; see self_test.h.
struct SelfTestReport {
  std::string kernel_release;  // of the hosts
  uint64_t hosts = 0;
  uint64_t splits = 0;  // asked for
  int64_t last_day = 0;
  absl::Time made;
  std::string missing;  // why it could not be made; empty if it was
  std::vector<SelfTestResult> false_alarms;
  double spike = 0;  // the ratio that `power` was measured at
  std::vector<SelfTestResult> power;
};

struct VerdictBook {
  std::vector<StoredVerdict> verdicts;  // by pair, operation, outcome
  std::vector<Incident> incidents;      // newest first; closed ones of 90 days
  std::vector<JudgedPair> pairs;
  SelfTestReport self_test;  // the newest; `made` is InfinitePast without one
  absl::Time judged = absl::InfinitePast();  // last evaluation of any pair
  // Why no verdict is there, or why evaluations fail; one sentence, or empty.
  std::string remark;
};

// Of the id; null if there is none.
const StoredVerdict* FindVerdict(const VerdictBook& book, uint64_t id);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_VERDICT_BOOK_H_
