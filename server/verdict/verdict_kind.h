// The kinds of verdict.
#ifndef SWAPLOCK_SERVER_VERDICT_VERDICT_KIND_H_
#define SWAPLOCK_SERVER_VERDICT_VERDICT_KIND_H_

#include "absl/strings/string_view.h"

namespace swaplock {

// The numbers of proto/query.proto (server/query.cc asserts it).
enum class VerdictKind {
  kUnspecified = 0,
  kRegression = 1,
  kImprovement = 2,
  kNoMaterialChange = 3,
  kMixed = 4,
  kSuspect = 5,
  kInconclusive = 6,
  kNotComparable = 7,
  kDataQuality = 8,
};

// "regression", "not_comparable" ...
absl::string_view Name(VerdictKind kind);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_VERDICT_KIND_H_
