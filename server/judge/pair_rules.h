// What an operator says of the kernels to compare: a file of lines
//
//   # comment
//   baseline 6.12.57+deb13-amd64
//   pair 6.12.57+deb13-amd64 6.18.15-amd64
//   end 6.18.15-amd64 2026-12-24
//
// baseline: every kernel is compared with it too. pair: only pairs that are
// listed are compared, old before new, besides those with the baseline. end:
// the day (UTC) on which the rollout of that kernel is to be judged for good,
// instead of when its hosts have been watched for long enough.
#ifndef SWAPLOCK_SERVER_JUDGE_PAIR_RULES_H_
#define SWAPLOCK_SERVER_JUDGE_PAIR_RULES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/verdict/kernel_pairs.h"

namespace swaplock {

struct PairRules {
  std::string baseline;                 // empty: none
  std::vector<KernelPair> only;         // empty: all
  std::map<std::string, int64_t> ends;  // by new kernel, days since 1970 UTC
};

// InvalidArgument, in one sentence with the line's number.
absl::StatusOr<PairRules> ParsePairRules(absl::string_view text);

// The rules of the file; none when `path` is empty. The sentence names the
// file.
absl::StatusOr<PairRules> ReadPairRules(const std::string& path);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_JUDGE_PAIR_RULES_H_
