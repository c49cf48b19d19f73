// The life of a verdict: what a new evaluation, a self-test, a person and the
// time that passes make of the book.
//
// Pure: each step changes the book and says what is to be stored of it.
#ifndef SWAPLOCK_SERVER_JUDGE_VERDICT_LIFE_H_
#define SWAPLOCK_SERVER_JUDGE_VERDICT_LIFE_H_

#include "absl/time/time.h"
#include "server/judge/evaluation.h"
#include "server/judge/verdict_store.h"
#include "server/verdict/verdict_book.h"

namespace swaplock {

// The book as it was stored; Refresh() adds the rest.
VerdictBook Restored(const StoredBook& stored);

// Puts an evaluation (with its id and time) into the book. A verdict whose
// record changed gets a new version; one whose kind changed is no longer
// acknowledged. The evaluation is among the changes when a version came of it.
VerdictChanges TakeEvaluation(const Evaluated& evaluated, VerdictBook* book);

VerdictChanges TakeSelfTest(const SelfTestReport& report, absl::Time now,
                            VerdictBook* book);

// Marks a verdict that is in the book.
VerdictChanges TakeMark(uint64_t id, const VerdictMark& mark, absl::Time now,
                        VerdictBook* book);

// What follows from the rest: expired suppressions, who alerts and who does not
// and why, incidents that open and close. Nothing changed when the changes are
// empty.
VerdictChanges Refresh(absl::Time now, VerdictBook* book);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_JUDGE_VERDICT_LIFE_H_
