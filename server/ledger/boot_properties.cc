#include "server/ledger/boot_properties.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

constexpr char kCpuFamilyFact[] = "cpu/family";

std::string CpusBucket(uint32_t cpus) {
  return cpus == 0    ? ""
         : cpus <= 8  ? "up to 8"
         : cpus <= 64 ? "up to 64"
                      : "more than 64";
}

std::string FactOf(const Facts& facts, const std::string& name) {
  const auto it = facts.find(name);
  return it == facts.end() ? "" : it->second;
}

// Of zswap and of every zram device.
std::string CompressorOf(const Environment& environment, const Facts& facts) {
  std::string out;
  if (absl::StrContains(environment.swap_backend, "zswap")) {
    out = FactOf(facts, "zswap/compressor");
  }
  for (const auto& [name, value] : facts) {
    if (!absl::StartsWith(name, "zram/") ||
        !absl::EndsWith(name, "/algorithms")) {
      continue;
    }
    absl::StrAppend(&out, out.empty() ? "" : " ", value);
  }
  return out;
}

}  // namespace

StrataKeys StrataKeysOf(const Environment& environment, const Facts& facts) {
  StrataKeys keys;
  const auto set = [&keys](const char* name, std::string value) {
    if (!value.empty()) keys[name] = std::move(value);
  };
  set("cpus", CpusBucket(environment.cpus));
  set("architecture", environment.architecture);
  set("backend", environment.swap_backend);
  set("compressor", CompressorOf(environment, facts));
  set("preempt", environment.preempt);
  if (!environment.kernel_version.empty()) {
    set("preempt_rt",
        absl::StrContains(environment.kernel_version, "PREEMPT_RT") ? "yes"
                                                                    : "no");
  }
  set("sched_ext", FactOf(facts, "sched_ext/ops"));
  if (environment.page_cluster >= 0) {
    set("page_cluster", absl::StrCat(environment.page_cluster));
  }
  for (const char* const name : kStrataKeys) {
    const auto label = environment.labels.find(name);
    if (label != environment.labels.end() && std::string(name) != "uptime") {
      keys.emplace(name, label->second);
    }
  }
  // A label may divide CPUs more usefully than their numbers do.
  if (keys.count("cpu_family") == 0) {
    set("cpu_family", FactOf(facts, kCpuFamilyFact));
  }
  return keys;
}

Facts ChangeableFacts(const Environment& environment, const Facts& facts) {
  Facts out = facts;
  out.erase(kCpuFamilyFact);  // a key of the host
  const auto set = [&out](const char* name, std::string value) {
    if (!value.empty()) out[name] = std::move(value);
  };
  set("host/preempt", environment.preempt);
  set("host/swap_backend", environment.swap_backend);
  set("host/agent_version", environment.agent_version);
  if (environment.cpus > 0) set("host/cpus", absl::StrCat(environment.cpus));
  if (environment.page_cluster >= 0) {
    set("sysctl/vm/page-cluster", absl::StrCat(environment.page_cluster));
  }
  for (const auto& [name, value] : environment.labels) {
    out[absl::StrCat("label/", name)] = value;
  }
  return out;
}

}  // namespace swaplock
