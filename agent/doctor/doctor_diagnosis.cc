#include "agent/doctor/doctor_diagnosis.h"

#include <errno.h>
#include <string.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace swaplock {
namespace {

constexpr absl::string_view kReport =
    "no remedy is known; report it with the output of swaplock doctor "
    "--output=json";

// What MakePlan says of all function hooks after the first that was refused.
constexpr absl::string_view kAsForTheFirst =
    "the kernel refuses function hooks, as for ";

// What the kernel said of a module's function when its type information could
// not be opened.
constexpr absl::string_view kNoModuleTypes = "find BTF of ";

bool NotPermitted(absl::string_view reason) {
  return absl::StrContains(reason, "EPERM") ||
         absl::StrContains(reason, "EACCES");
}

class Diagnosis {
 public:
  Diagnosis(const DoctorInput& input, const std::vector<LockReport>& locks)
      : input_(input),
        facts_(input.facts),
        holds_missing_(
            std::any_of(locks.begin(), locks.end(), [](const LockReport& l) {
              return l.holds_wanted && !CountsHolds(l.hold);
            })) {}

  std::vector<Problem> Find() && {
    Btf();
    if (input_.symbols.has_btf && !facts_.MayUseBpf()) {
      // What the kernel would refuse a process that may is not known.
      MissingCapabilities();
    } else if (input_.symbols.has_btf) {
      Programs();
      FunctionHooks();
      Kprobes();
      Waits();
      RunDelay();
      Devices();
    }
    Modules();
    Zswap();
    PreemptMode();
    Addresses();
    Pressure();
    Cgroups();
    std::stable_partition(problems_.begin(), problems_.end(),
                          [](const Problem& p) { return p.costs_holds; });
    return std::move(problems_);
  }

 private:
  void Add(bool costs_holds, std::string what, absl::string_view remedy) {
    problems_.push_back({std::move(what), std::string(remedy), costs_holds});
  }

  void Btf() {
    if (input_.symbols.has_btf) return;
    if (facts_.btf_file) {
      Add(true,
          "the kernel's type information (/sys/kernel/btf/vmlinux) is there "
          "and cannot be read",
          "make it readable to this process");
    } else {
      Add(true,
          "the kernel has no type information (/sys/kernel/btf/vmlinux is not "
          "there), so no program can be loaded",
          facts_.Built("CONFIG_DEBUG_INFO_BTF")
              ? "mount sysfs: this kernel is built with CONFIG_DEBUG_INFO_BTF=y"
              : "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y");
    }
  }

  // What a process with all capabilities gets if the kernel takes every hook
  // that its symbols promise.
  std::string AtBest() const {
    const Plan best = MakePlan(
        input_.symbols,
        [](ProbeKind, const std::string&) { return absl::OkStatus(); });
    std::vector<std::string> locks;
    if (input_.HasZram() && best.zram_hold != Tier::kUnspecified) {
      locks.push_back(absl::StrCat("zram stream ", Name(best.zram_hold)));
    }
    if (input_.HasZswap() && best.zswap_hold != Tier::kUnspecified) {
      locks.push_back(absl::StrCat("zswap ", Name(best.zswap_hold)));
    }
    return absl::StrJoin(locks, ", ");
  }

  void MissingCapabilities() {
    if (facts_.user_namespace) {
      Add(true,
          "this process runs in a user namespace, where its capabilities do "
          "not count for BPF",
          "run it in the initial user namespace");
      return;
    }
    std::vector<std::string> missing;
    for (const char* name : {"CAP_BPF", "CAP_PERFMON"}) {
      if (!facts_.Has(name)) missing.emplace_back(name);
    }
    const std::string best = AtBest();
    Add(true,
        absl::StrCat("this process lacks ", absl::StrJoin(missing, " and ")),
        absl::StrCat(
            facts_.uid == 0
                ? "let root keep it, a container or service manager took it"
                : "run it as root, or with these capabilities",
            best.empty()
                ? ""
                : absl::StrCat("; this kernel promises, at best: ", best)));
  }

  void Programs() {
    if (!input_.load_failure.empty()) {
      Add(true, input_.load_failure, kReport);
    }
    for (const auto& [program, reason] : input_.refused_programs) {
      Add(input_.CostsHolds(program),
          absl::StrCat("the kernel refuses ", program, ": ", reason), kReport);
    }
  }

  // By what the kernel said, the hooks it said it of; those of which it was not
  // asked are left out.
  using Refusals =
      std::vector<std::pair<std::string, std::vector<std::string>>>;
  Refusals Refused(const std::vector<absl::string_view>& kinds) const {
    Refusals out;
    for (const Probe& probe : input_.plan.probes) {
      const bool of_kind =
          std::any_of(kinds.begin(), kinds.end(), [&](absl::string_view kind) {
            return absl::StartsWith(probe.name, absl::StrCat(kind, "/"));
          });
      if (probe.state != ProbeState::kRefused || !of_kind ||
          absl::StartsWith(probe.reason, kAsForTheFirst)) {
        continue;
      }
      const std::string reason = absl::StartsWith(probe.reason, kNoModuleTypes)
                                     ? std::string(kNoModuleTypes)
                                     : probe.reason;
      const auto known =
          std::find_if(out.begin(), out.end(),
                       [&](const auto& r) { return r.first == reason; });
      if (known == out.end()) {
        out.push_back({reason, {probe.name}});
      } else {
        known->second.push_back(probe.name);
      }
    }
    return out;
  }

  void FunctionHooks() {
    for (const auto& [reason, probes] : Refused({"fentry", "fexit"})) {
      const std::string names = absl::StrJoin(probes, ", ");
      if (reason == kNoModuleTypes && !facts_.Admin()) {
        Add(holds_missing_,
            absl::StrCat("without CAP_SYS_ADMIN this process may not open the "
                         "type information of a module, so it cannot attach ",
                         names),
            "run it as root, or with CAP_SYS_ADMIN");
      } else if (reason == kNoModuleTypes) {
        Add(holds_missing_,
            absl::StrCat("the kernel does not hand out the type information of "
                         "a module, so that this cannot be attached: ",
                         names),
            kReport);
      } else if (NotPermitted(reason)) {
        FunctionHooksNotPermitted(names, reason);
      } else {
        Add(holds_missing_,
            absl::StrCat("a function hook is refused: ", reason), kReport);
      }
    }
  }

  void FunctionHooksNotPermitted(const std::string& names,
                                 const std::string& reason) {
    const std::string what =
        absl::StrCat("the kernel refuses function hooks (", names, ")");
    const MountFacts* securityfs = facts_.Mount("securityfs");
    if (facts_.LockdownOn()) {
      Add(holds_missing_,
          absl::StrCat(what, " and is locked down (", facts_.lockdown, ")"),
          "boot it without a lockdown (no lockdown= on its command line; with "
          "Secure Boot many distributions switch one on): it cannot be lifted "
          "while the kernel runs");
    } else if (facts_.lockdown.empty() && securityfs != nullptr &&
               !securityfs->InPlace()) {
      Add(holds_missing_,
          absl::StrCat(what,
                       " with a permission error; whether it is locked down "
                       "cannot be told, because securityfs is not mounted"),
          "as root, mount -t securityfs securityfs /sys/kernel/security, then "
          "run swaplock doctor again");
    } else {
      Add(holds_missing_,
          absl::StrCat(what, " although no lockdown is seen: ", reason),
          "see which security modules there are: cat /sys/kernel/security/lsm");
    }
  }

  void Kprobes() {
    const absl::string_view effect =
        holds_missing_ ? ", so functions cannot be hooked that way"
                       : ", so events of a task may be lost, and are counted, "
                         "while another is preempted in a hook";
    if (!facts_.kprobes) {
      Add(holds_missing_,
          absl::StrCat(
              facts_.NotBuilt("CONFIG_KPROBES")
                  ? "the kernel is built without kprobes (CONFIG_KPROBES)"
                  : "the kernel offers no kprobes to perf "
                    "(/sys/bus/event_source/devices/kprobe is not there)",
              effect),
          "boot a kernel built with CONFIG_KPROBES=y and "
          "CONFIG_KPROBE_EVENTS=y");
      return;
    }
    for (const auto& [reason, probes] : Refused({"kprobe", "kretprobe"})) {
      const std::string what = absl::StrCat("a kprobe is refused: ", reason);
      const bool permission = NotPermitted(reason);
      if (permission && !facts_.MayUseKprobes()) {
        Add(holds_missing_,
            absl::StrCat("kprobes need CAP_SYS_ADMIN here, because "
                         "kernel.perf_event_paranoid is ",
                         *facts_.perf_event_paranoid, effect),
            "run it as root or with CAP_SYS_ADMIN, or, as root, sysctl "
            "kernel.perf_event_paranoid=2");
      } else if (permission && facts_.LockdownOn()) {
        Add(holds_missing_,
            absl::StrCat("the kernel refuses kprobes and is locked down (",
                         facts_.lockdown, ")", effect),
            "boot it without a lockdown");
      } else {
        Add(holds_missing_, what, kReport);
      }
    }
  }

  void Waits() {
    if (!input_.load_failure.empty() ||
        input_.plan.wait != Tier::kUnspecified) {
      return;
    }
    if (input_.symbols.tracepoints.count("contention_begin") == 0) {
      Add(true, "the kernel has no lock contention tracepoints: no waits",
          "boot a kernel of 5.19 or newer");
      return;
    }
    for (const auto& [reason, probes] : Refused({"tp_btf"})) {
      Add(true, absl::StrCat("no waits: ", reason), kReport);
    }
  }

  void RunDelay() {
    if (input_.KnowsType("task_struct.sched_info")) return;
    Add(true,
        "the kernel does not count how long tasks wait for a CPU "
        "(CONFIG_SCHED_INFO)",
        "boot a kernel built with CONFIG_SCHEDSTATS=y or "
        "CONFIG_TASK_DELAY_ACCT=y");
  }

  void Devices() {
    for (const ZramDeviceFacts& d : facts_.zram_devices) {
      if (!d.SetUp() || d.read_error == 0) continue;
      Add(true,
          absl::StrCat("/dev/", d.device.name, " cannot be read (",
                       strerrordesc_np(d.read_error),
                       "), so its locks are not found: no waits, and its holds "
                       "belong to no device"),
          d.read_error == ENOENT
              ? "make the device node appear; in a container, mount the "
                "host's /dev"
              : "run it as root, or with CAP_DAC_READ_SEARCH");
    }
  }

  void Modules() {
    if (!input_.HasZram() && !input_.HasZswap()) {
      Add(true, "neither zram nor zswap is here: there is no lock to measure",
          facts_.NotBuilt("CONFIG_ZRAM")
              ? "boot a kernel built with CONFIG_ZRAM or CONFIG_ZSWAP"
              : "modprobe zram, or boot a kernel built with CONFIG_ZSWAP=y");
    } else if (!input_.HasZram() && !facts_.NotBuilt("CONFIG_ZRAM")) {
      Add(false, "the zram module is not loaded, so zram has no locks yet",
          "modprobe zram, if this host is to use it; a running agent notices");
    } else if (input_.HasZram() && input_.symbols.has_btf &&
               !input_.KnowsType("zcomp")) {
      Add(true,
          "zram is loaded and carries no type information (BTF), so none of "
          "its functions can be hooked",
          "use the zram module of this very kernel, built with "
          "CONFIG_DEBUG_INFO_BTF_MODULES=y");
    }
  }

  void Zswap() {
    if (input_.HasZswap() && !facts_.zswap_enabled.value_or(true)) {
      Add(false, "zswap is off, so its lock is not used",
          "if this host is to use it, as root, echo Y "
          ">/sys/module/zswap/parameters/enabled");
    }
  }

  void PreemptMode() {
    if (!facts_.environment.preempt.empty()) return;
    const MountFacts* debugfs = facts_.Mount("debugfs");
    if (debugfs == nullptr || !debugfs->InPlace()) {
      Add(false, "the preemption mode is not known: debugfs is not mounted",
          "as root, mount -t debugfs debugfs /sys/kernel/debug");
    } else if (facts_.uid != 0) {
      Add(false, "the preemption mode is not known: only root may read debugfs",
          "run it as root");
    } else if (facts_.LockdownOn()) {
      Add(false,
          "the preemption mode is not known: the lockdown forbids reading "
          "debugfs",
          "name it on the kernel's command line (preempt=)");
    } else {
      Add(false,
          "the preemption mode is not known: /sys/kernel/debug/sched/preempt "
          "is not there",
          "none is needed: this kernel cannot change it while it runs");
    }
  }

  void Addresses() {
    if (facts_.kernel_addresses) return;
    const bool needed = input_.plan.zswap_hold == Tier::kOwnerProbe;
    Add(needed,
        absl::StrCat(
            "/proc/kallsyms hides addresses: stacks have no names",
            needed ? ", and the owner_probe cannot find zswap's lock" : ""),
        facts_.kptr_restrict == 2 && facts_.Has("CAP_SYSLOG")
            ? "as root, sysctl kernel.kptr_restrict=1"
            : "run it as root, or with CAP_SYSLOG");
  }

  void Pressure() {
    if (facts_.psi) return;
    Add(false, "windows say nothing of pressure: PSI is off",
        facts_.NotBuilt("CONFIG_PSI") ? "boot a kernel built with CONFIG_PSI=y"
                                      : "boot with psi=1 on the command line");
  }

  void Cgroups() {
    const MountFacts* cgroup = facts_.Mount("cgroup2");
    if (cgroup == nullptr || cgroup->InPlace()) return;
    Add(false,
        absl::StrCat("holders have no cgroup: cgroup2 is ",
                     cgroup->path.empty()
                         ? "not mounted"
                         : absl::StrCat("mounted at ", cgroup->path, ", not"),
                     " at ", cgroup->expected),
        "boot with systemd.unified_cgroup_hierarchy=1 where systemd mounts "
        "it, else mount it there");
  }

  const DoctorInput& input_;
  const HostFacts& facts_;
  // Whether some lock's holds are not counted; else what is refused costs none.
  const bool holds_missing_;
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<Problem> Diagnose(const DoctorInput& input,
                              const std::vector<LockReport>& locks) {
  return Diagnosis(input, locks).Find();
}

}  // namespace swaplock
