#include "server/verdict/host_boots.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace swaplock {

void SortByDay(HostBoots* boots) {
  std::stable_sort(
      boots->begin(), boots->end(),
      [](const HostBoot& a, const HostBoot& b) { return a.day < b.day; });
}

const std::string& BuildOf(const HostBoot& boot) {
  return boot.kernel_build.empty() ? boot.kernel_release : boot.kernel_build;
}

std::set<std::string> ChangedFacts(const HostBoot& before,
                                   const HostBoot& after) {
  std::set<std::string> names;
  for (const HostBoot* boot : {&before, &after}) {
    for (const auto& [name, value] : boot->facts) names.insert(name);
  }
  std::set<std::string> changes;
  for (const std::string& name : names) {
    const auto value = [&](const HostBoot& boot) -> std::string {
      const auto it = boot.facts.find(name);
      return it == boot.facts.end() ? "unknown" : it->second;
    };
    if (value(before) == value(after)) continue;
    changes.insert(
        absl::StrCat(name, ": ", value(before), " -> ", value(after)));
  }
  return changes;
}

}  // namespace swaplock
