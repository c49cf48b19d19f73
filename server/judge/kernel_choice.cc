#include "server/judge/kernel_choice.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/kernel_release.h"

namespace swaplock {
namespace {

struct Kernel {
  std::set<std::string> hosts;
  // By the kernel that hosts ran before their first boot into this one.
  std::map<std::string, uint64_t> predecessors;
  int64_t last_boot = 0;  // of a host that had not run it before
};

std::map<std::string, Kernel> KernelsOf(const std::vector<HostBoot>& boots,
                                        int64_t today,
                                        const std::string& other) {
  std::map<std::string, std::vector<const HostBoot*>> hosts;
  for (const HostBoot& boot : boots) {
    if (boot.day <= today) hosts[boot.host_id].push_back(&boot);
  }
  std::map<std::string, Kernel> kernels;
  for (auto& [id, own] : hosts) {
    std::stable_sort(
        own.begin(), own.end(),
        [](const HostBoot* a, const HostBoot* b) { return a->day < b->day; });
    std::set<std::string> seen;
    for (size_t i = 0; i < own.size(); ++i) {
      const std::string& release = own[i]->kernel_release;
      if (release.empty() || release == other) continue;
      Kernel& kernel = kernels[release];
      kernel.hosts.insert(id);
      if (!seen.insert(release).second) continue;
      kernel.last_boot = std::max(kernel.last_boot, own[i]->day);
      if (i == 0) continue;
      const std::string& before = own[i - 1]->kernel_release;
      if (!before.empty() && before != other && before != release) {
        ++kernel.predecessors[before];
      }
    }
  }
  return kernels;
}

// Hosts that were upgraded from one to the other.
uint64_t UpgradedOf(const std::map<std::string, Kernel>& kernels,
                    const KernelPair& pair) {
  const auto kernel = kernels.find(pair.newer);
  if (kernel == kernels.end()) return 0;
  const auto it = kernel->second.predecessors.find(pair.base);
  return it == kernel->second.predecessors.end() ? 0 : it->second;
}

// Hosts by the kernel that they ran on the last day, by their windows.
std::map<std::string, uint64_t> HostsOn(int64_t today,
                                        const std::vector<HostBoot>& boots,
                                        const std::string& other) {
  std::map<std::string, uint64_t> hosts;
  for (const HostBoot& boot : boots) {
    if (boot.last_day >= today && boot.kernel_release != other) {
      ++hosts[boot.kernel_release];
    }
  }
  return hosts;
}

}  // namespace

std::vector<ChosenPair> ChoosePairs(const std::vector<HostBoot>& boots,
                                    int64_t today, const PairRules& rules,
                                    const std::string& other) {
  const std::map<std::string, Kernel> kernels = KernelsOf(boots, today, other);
  std::map<std::pair<std::string, std::string>, std::string> reasons;
  const auto add = [&](const std::string& base, const std::string& newer,
                       std::string because) {
    if (base.empty() || base == newer) return;
    reasons.emplace(std::make_pair(base, newer), std::move(because));
  };
  for (const auto& [release, kernel] : kernels) {
    if (kernel.last_boot < today - kJudgedDays) continue;
    if (kernels.count(rules.baseline) > 0) {
      add(rules.baseline, release, "the base is the pinned baseline");
    }
    if (!rules.only.empty()) continue;
    const std::string* before = nullptr;
    uint64_t most = 0;
    for (const auto& [predecessor, count] : kernel.predecessors) {
      const bool newer =
          before == nullptr || count > most ||
          (count == most && CompareKernelReleases(predecessor, *before) > 0);
      if (!newer) continue;
      before = &predecessor;
      most = count;
    }
    if (before != nullptr) {
      add(*before, release,
          absl::StrCat(most, " of its hosts ran the base before"));
      continue;
    }
    size_t prevalent = 0;
    for (const auto& [candidate, base] : kernels) {
      if (CompareKernelReleases(candidate, release) < 0 &&
          base.hosts.size() >= std::max<size_t>(prevalent, 1)) {
        before = &candidate;
        prevalent = base.hosts.size();
      }
    }
    if (before != nullptr) {
      add(*before, release,
          absl::StrCat("the base is the older kernel of most hosts, and nobody "
                       "saw what this one's ran before"));
    }
  }
  for (const KernelPair& pair : rules.only) {
    if (kernels.count(pair.base) > 0 && kernels.count(pair.newer) > 0) {
      add(pair.base, pair.newer, "the pair is configured");
    }
  }
  std::vector<ChosenPair> out;
  for (auto& [pair, because] : reasons) {
    ChosenPair chosen;
    chosen.pair = {pair.first, pair.second};
    chosen.because = std::move(because);
    chosen.upgraded = UpgradedOf(kernels, chosen.pair);
    const auto end = rules.ends.find(pair.second);
    if (end != rules.ends.end()) chosen.planned_end = end->second;
    out.push_back(std::move(chosen));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const ChosenPair& a, const ChosenPair& b) {
                     return a.upgraded > b.upgraded;
                   });
  if (out.size() > kMaxPairs) out.resize(kMaxPairs);
  return out;
}

std::vector<ChosenPair> ChooseCohorts(const std::vector<HostBoot>& boots,
                                      int64_t today, uint64_t min_hosts,
                                      const std::string& other) {
  std::vector<ChosenPair> out;
  for (const auto& [release, hosts] : HostsOn(today, boots, other)) {
    if (hosts < min_hosts) continue;
    ChosenPair chosen;
    chosen.pair = {release, release};
    chosen.because = absl::StrCat(hosts, " hosts run it: they over time");
    chosen.upgraded = hosts;
    out.push_back(std::move(chosen));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const ChosenPair& a, const ChosenPair& b) {
                     return a.upgraded > b.upgraded;
                   });
  if (out.size() > kMaxCohorts) out.resize(kMaxCohorts);
  return out;
}

std::string MostPrevalent(const std::vector<HostBoot>& boots, int64_t today,
                          const std::string& other) {
  std::string out;
  uint64_t most = 0;
  for (const auto& [release, count] : HostsOn(today, boots, other)) {
    if (count > most) {
      out = release;
      most = count;
    }
  }
  return out;
}

}  // namespace swaplock
