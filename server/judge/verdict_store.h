// Where verdicts are kept for good. The ledger has one.
//
// Ids are given by the VerdictEngine, which is its only writer. Thread-safe.
#ifndef SWAPLOCK_SERVER_JUDGE_VERDICT_STORE_H_
#define SWAPLOCK_SERVER_JUDGE_VERDICT_STORE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/judge/evaluation.h"
#include "server/verdict/verdict_book.h"

namespace swaplock {

struct StoredBook {
  VerdictBook book;  // without what follows from the time: see verdict_life.h
  std::vector<Evaluation> evaluations;  // the newest one of each kernel pair
  uint64_t last_evaluation = 0;         // the largest id given so far
};

// What one step changed, stored all or not at all.
struct VerdictChanges {
  std::optional<Evaluation> evaluation;
  std::vector<StoredVerdict> verdicts;  // as they are now
  std::set<uint64_t> new_versions;      // ids of those with a new record
  std::vector<Incident> incidents;      // as they are now
  std::optional<SelfTestReport> self_test;
};

class VerdictStore {
 public:
  virtual ~VerdictStore() = default;

  virtual absl::StatusOr<StoredBook> LoadVerdicts() = 0;
  // Durable when it returns.
  virtual absl::Status Write(const VerdictChanges& changes) = 0;
  // All versions of a verdict that are kept, newest first, without marks.
  virtual absl::StatusOr<std::vector<StoredVerdict>> Versions(uint64_t id) = 0;
  // NotFound when it is not kept.
  virtual absl::StatusOr<Evaluation> EvaluationOf(uint64_t id) = 0;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_JUDGE_VERDICT_STORE_H_
