// Verdicts as people read them: those that fit a question, by kernel pair, the
// worst first.
#ifndef SWAPLOCK_SERVER_VERDICT_VERDICT_LISTING_H_
#define SWAPLOCK_SERVER_VERDICT_VERDICT_LISTING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/cell.h"
#include "server/verdict/kernel_pairs.h"
#include "server/verdict/verdict_book.h"

namespace swaplock {

// What is empty or unspecified does not choose.
struct VerdictFilter {
  std::string kernel_base;
  std::string kernel_new;
  std::string kernel;  // on either side
  std::vector<VerdictKind> kinds;
  Subsystem subsystem = Subsystem::kUnspecified;
  Operation operation = Operation::kUnspecified;
  std::vector<VerdictState> states;
  uint64_t incident = 0;
};

bool Fits(const StoredVerdict& verdict, const VerdictFilter& filter);

// The book with only the verdicts that fit.
VerdictBook Chosen(const VerdictBook& book, const VerdictFilter& filter);

// Regressions, then mixed, suspect, unclear and better ones; of one kind first
// those that alert, then those whose ratio is surely higher.
bool ComesFirst(const VerdictRecord& a, const VerdictRecord& b);
bool ComesFirst(const StoredVerdict& a, const StoredVerdict& b);

struct PairListing {
  KernelPair pair;
  const Incident* incident = nullptr;  // the open one; null without
  const JudgedPair* judged = nullptr;  // null if it is not judged any more
  std::vector<const StoredVerdict*> verdicts;  // worst first, at least one
};

// Every pair that has a verdict in the book; the one with the worst first. The
// pointers are into `book`.
std::vector<PairListing> ListByPair(const VerdictBook& book);

// A regression that has not gone away: what an exit status of 1 means.
bool IsRegression(const StoredVerdict& verdict);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_VERDICT_LISTING_H_
