// Which kernels are compared with which: each with the one that most of its
// hosts ran before it, and with the baseline that an operator pinned.
//
// Pure.
#ifndef SWAPLOCK_SERVER_JUDGE_KERNEL_CHOICE_H_
#define SWAPLOCK_SERVER_JUDGE_KERNEL_CHOICE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/judge/pair_rules.h"
#include "server/verdict/evidence.h"
#include "server/verdict/kernel_pairs.h"

namespace swaplock {

struct ChosenPair {
  KernelPair pair;
  std::string because;                 // one clause
  std::optional<int64_t> planned_end;  // day since 1970 UTC
  uint64_t upgraded = 0;               // hosts that went from one to the other
};

// Kernels that no host booted for the first time within this time are no longer
// judged: their hosts' days begin to leave the ledger.
inline constexpr int64_t kJudgedDays = 45;
inline constexpr size_t kMaxPairs = 16;

// Of the kernels that hosts booted in the kJudgedDays days up to `today`: pairs
// with most upgraded hosts first, at most kMaxPairs. `other` is the name of
// kernels that are too many, which compares nothing.
//
// A kernel whose hosts nobody saw before is compared with the older one (by
// common/kernel_release) that most hosts run: different hosts, parallel groups.
std::vector<ChosenPair> ChoosePairs(const std::vector<HostBoot>& boots,
                                    int64_t today, const PairRules& rules,
                                    const std::string& other);

// Kernels whose hosts are looked at over time (Design D), each as a pair with
// itself: those that at least `min_hosts` hosts ran on the last day, most hosts
// first, at most kMaxCohorts.
inline constexpr size_t kMaxCohorts = 3;
std::vector<ChosenPair> ChooseCohorts(const std::vector<HostBoot>& boots,
                                      int64_t today, uint64_t min_hosts,
                                      const std::string& other);

// The kernel that most hosts ran on the last day, by their windows; empty when
// none did. It is what a self-test is made on.
std::string MostPrevalent(const std::vector<HostBoot>& boots, int64_t today,
                          const std::string& other);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_JUDGE_KERNEL_CHOICE_H_
