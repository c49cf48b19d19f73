#include "agent/doctor.h"

#include <errno.h>
#include <string.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace swaplock {
namespace {

constexpr absl::string_view kStream = "zram stream";
constexpr absl::string_view kZswap = "zswap";

constexpr absl::string_view kReport =
    "no remedy is known; report it with the output of swaplock doctor "
    "--output=json";

// What MakePlan says of all function hooks after the first that was refused.
constexpr absl::string_view kAsForTheFirst =
    "the kernel refuses function hooks, as for ";

// Hold programs end in this on the way out of a lock, so that their runs are
// holds: "zram_put", "zswap_release_load_k". doctor_test checks it against the
// plans of all recorded kernels.
bool ReleasesLock(absl::string_view program) {
  return absl::StrContains(program, "_put") ||
         absl::StrContains(program, "_release_");
}

bool NobodyCanWait(LockModel model) { return model == LockModel::kPreemptOff; }

std::string Measured(LockModel model, Tier hold, Tier wait) {
  std::string holds;
  switch (hold) {
    case Tier::kExact:
      holds = "every hold and its parts";
      break;
    case Tier::kBracket:
      holds =
          "every hold and its parts, from the first to the last function "
          "called inside the lock";
      break;
    case Tier::kOwnerProbe:
      holds = "its owners' off-CPU intervals, not every hold";
      break;
    case Tier::kContention:
    case Tier::kUnspecified:
      break;
  }
  const bool waits = wait == Tier::kContention;
  if (NobodyCanWait(model)) {
    return holds.empty() ? "nothing"
                         : absl::StrCat(holds, "; nobody can wait for it");
  }
  if (holds.empty()) return waits ? "waits only" : "nothing";
  return absl::StrCat(holds, waits ? "; waits" : "; no waits");
}

class Doctor {
 public:
  explicit Doctor(const DoctorInput& input)
      : input_(input), facts_(input.facts), plan_(input.plan) {}

  DoctorReport Examine() && {
    report_.host = facts_;
    Types();
    Probes();
    Locks();
    NotMeasured();
    Privileges();
    Costs();
    Problems();
    Judge();
    return std::move(report_);
  }

 private:
  bool Has(absl::string_view capability) const {
    return facts_.capabilities.count(std::string(capability)) > 0;
  }
  bool Admin() const { return !facts_.user_namespace && Has("CAP_SYS_ADMIN"); }
  // CAP_SYS_ADMIN stands for both since they were split off it, in 5.8.
  bool MayUseBpf() const {
    return Admin() ||
           (!facts_.user_namespace && Has("CAP_BPF") && Has("CAP_PERFMON"));
  }
  std::string Config(absl::string_view option) const {
    const auto it = facts_.config.find(std::string(option));
    return it == facts_.config.end() ? "" : it->second;
  }
  bool NotBuilt(absl::string_view option) const {
    return Config(option) == "n";
  }
  bool LockdownOn() const {
    return !facts_.lockdown.empty() && facts_.lockdown != "none";
  }
  // Whether all programs are out: then no plan's tier is true.
  bool Unloadable() const { return !input_.load_failure.empty(); }

  bool KnowsType(absl::string_view beginning) const {
    return std::any_of(
        input_.symbols.members.begin(), input_.symbols.members.end(),
        [&](const auto& m) { return absl::StartsWith(m.first, beginning); });
  }
  std::string BtfOf(absl::string_view module,
                    absl::string_view type_beginning) const {
    if (input_.symbols.modules.count(std::string(module)) > 0) return "module";
    return KnowsType(type_beginning) ? "vmlinux" : "";
  }

  void Types() {
    report_.btf_vmlinux = input_.symbols.has_btf;
    report_.btf_zram = BtfOf("zram", "zcomp");
    report_.btf_zsmalloc = BtfOf("zsmalloc", "size_class.");
  }

  bool HasZram() const {
    return facts_.zram_loaded || !report_.btf_zram.empty();
  }
  bool HasZswap() const {
    return facts_.zswap_present || KnowsType("crypto_acomp_ctx.mutex") ||
           input_.symbols.HasFunction("zswap_store") ||
           input_.symbols.HasFunction("zswap_frontswap_store");
  }

  void Probes() {
    report_.probes = plan_.probes;
    for (const auto& [program, reason] : input_.refused_programs) {
      for (const Attachment& a : plan_.attachments) {
        if (a.program == program) Refuse(a.Probe(), reason);
      }
    }
    if (!Unloadable()) return;
    for (Probe& probe : report_.probes) {
      if (probe.state == ProbeState::kAttached) {
        Refuse(probe.name, input_.load_failure);
      }
    }
  }

  void Refuse(const std::string& name, const std::string& reason) {
    for (Probe& probe : report_.probes) {
      if (probe.name != name) continue;
      probe.state = ProbeState::kRefused;
      probe.reason = reason;
    }
  }

  void AddLock(absl::string_view name, LockModel model, Tier hold,
               bool holds_wanted) {
    LockReport lock;
    lock.name = std::string(name);
    lock.model = model;
    lock.hold = Unloadable() ? Tier::kUnspecified : hold;
    const bool waits = !Unloadable() && !NobodyCanWait(model);
    lock.wait = waits ? plan_.wait : Tier::kUnspecified;
    lock.measured = Measured(model, lock.hold, lock.wait);
    lock.complete = (!holds_wanted || CountsHolds(lock.hold)) &&
                    (NobodyCanWait(model) || lock.wait != Tier::kUnspecified) &&
                    (!holds_wanted || input_.refused_programs.empty());
    report_.locks.push_back(std::move(lock));
  }

  void Locks() {
    if (HasZram()) AddLock(kStream, plan_.zram_model, plan_.zram_hold, true);
    if (HasZswap()) AddLock(kZswap, plan_.zswap_model, plan_.zswap_hold, true);
    // zsmalloc's are spinlocks, whose holders are not off their CPU: only
    // waits are asked for.
    if (plan_.size_class_model != LockModel::kUnspecified) {
      AddLock("zsmalloc size class", plan_.size_class_model, Tier::kUnspecified,
              false);
    }
    if (plan_.pool_model != LockModel::kUnspecified) {
      AddLock("zsmalloc pool", plan_.pool_model, Tier::kUnspecified, false);
    }
  }

  void NotMeasured() {
    report_.not_measured = plan_.not_measured;
    for (const auto& [program, reason] : input_.refused_programs) {
      report_.not_measured.push_back(
          absl::StrCat("what ", program, " sees: ", reason, "."));
    }
    if (Unloadable()) {
      report_.not_measured = {absl::StrCat(input_.load_failure, ".")};
    }
  }

  void AddNeed(absl::string_view what, std::vector<std::string> capabilities,
               bool held, absl::string_view note) {
    report_.needs.push_back(
        {std::string(what), std::move(capabilities), held, std::string(note)});
  }

  void Privileges() {
    for (const std::string& name : DoctorCapabilities()) {
      report_.capabilities.emplace_back(name, Has(name));
    }
    // kernel/bpf/syscall.c: bpf_prog_load() asks for CAP_BPF and, for tracing
    // programs, CAP_PERFMON; bpf_btf_get_fd_by_id() for CAP_SYS_ADMIN, and
    // without the type information of a module none of its functions can be
    // named to the kernel.
    const std::vector<std::string> bpf = {"CAP_BPF", "CAP_PERFMON"};
    AddNeed("owner_probe, contention", bpf, MayUseBpf(),
            "CAP_SYS_ADMIN stands for both");
    AddNeed("exact, bracket: functions of the kernel proper", bpf, MayUseBpf(),
            "CAP_SYS_ADMIN stands for both");
    AddNeed("exact: functions of zram as a module",
            {"CAP_BPF", "CAP_PERFMON", "CAP_SYS_ADMIN"}, Admin(),
            "only CAP_SYS_ADMIN may open a module's type information");
    const bool may_read = Has("CAP_DAC_READ_SEARCH") || facts_.uid == 0;
    AddNeed("which zram device a lock belongs to", {"CAP_DAC_READ_SEARCH"},
            may_read, "or permission to read /dev/zramN");
    AddNeed("names of functions in stacks; zswap's lock by owner_probe",
            {"CAP_SYSLOG"}, facts_.kernel_addresses,
            "to read addresses in /proc/kallsyms");
    AddNeed("cgroups of holders", {"CAP_DAC_READ_SEARCH"},
            Has("CAP_DAC_READ_SEARCH"), "open_by_handle_at(2)");
  }

  // What a process with all capabilities would get if the kernel took every
  // hook that its symbols promise.
  std::string AtBest() const {
    const Plan best = MakePlan(
        input_.symbols,
        [](ProbeKind, const std::string&) { return absl::OkStatus(); });
    std::vector<std::string> locks;
    if (HasZram() && best.zram_hold != Tier::kUnspecified) {
      locks.push_back(absl::StrCat(kStream, " ", Name(best.zram_hold)));
    }
    if (HasZswap() && best.zswap_hold != Tier::kUnspecified) {
      locks.push_back(absl::StrCat(kZswap, " ", Name(best.zswap_hold)));
    }
    return absl::StrJoin(locks, ", ");
  }

  void LockCosts(absl::string_view lock, absl::string_view beginning,
                 Tier hold) {
    LockCost cost;
    cost.lock = std::string(lock);
    uint64_t holds = 0;
    uint64_t run_time_ns = 0;
    for (const Attachment& a : plan_.attachments) {
      const auto running = input_.running.find(a.program);
      if (!absl::StartsWith(a.program, beginning) ||
          running == input_.running.end()) {
        continue;
      }
      run_time_ns += running->second.run_time_ns;
      if (ReleasesLock(a.program)) holds += running->second.runs;
    }
    if (!CountsHolds(hold)) {
      cost.derivation =
          hold == Tier::kOwnerProbe
              ? "not measured: no program runs when the lock is taken or "
                "released; each context switch and wake-up of the host runs one"
              : "not measured: no program runs when the lock is taken or "
                "released";
    } else if (holds > 0) {
      cost.ns_per_hold =
          static_cast<double>(run_time_ns) / static_cast<double>(holds);
      cost.derivation = absl::StrCat(
          "run time of its programs here, ", run_time_ns, " ns, / ", holds,
          " holds; without the trampolines that call them");
    } else if (input_.clock.has_value() && input_.clock->in_bpf) {
      cost.ns_per_hold = 2 * input_.clock->ns;
      cost.at_least = true;
      cost.derivation = absl::StrFormat(
          "two clock reads, 2 x %.1f ns; the rest of the programs is measured "
          "where an agent runs and kernel.bpf_stats_enabled is 1",
          input_.clock->ns);
    } else {
      cost.derivation = "not measured: this process may run no BPF program";
    }
    report_.costs.push_back(std::move(cost));
  }

  void Costs() {
    report_.clock = input_.clock;
    for (const auto& [program, cost] : input_.running) {
      if (cost.runs > 0) report_.programs.emplace_back(program, cost);
    }
    for (const LockReport& lock : report_.locks) {
      if (lock.name == kStream) LockCosts(kStream, "zram_", lock.hold);
      if (lock.name == kZswap) LockCosts(kZswap, "zswap_", lock.hold);
    }
  }

  void Add(bool costs_holds, std::string what, absl::string_view remedy) {
    report_.problems.push_back(
        {std::move(what), std::string(remedy), costs_holds});
  }

  void Problems() {
    Btf();
    if (input_.symbols.has_btf && !MayUseBpf()) {
      MissingCapabilities();
    } else if (input_.symbols.has_btf) {
      if (Unloadable()) Add(true, input_.load_failure, kReport);
      for (const auto& [program, reason] : input_.refused_programs) {
        Add(true, absl::StrCat("the kernel refuses ", program, ": ", reason),
            kReport);
      }
      FunctionHooks();
      Kprobes();
      Waits();
      RunDelay();
    }
    Zram();
    Zswap();
    Details();
    std::stable_partition(report_.problems.begin(), report_.problems.end(),
                          [](const Problem& p) { return p.costs_holds; });
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
          Config("CONFIG_DEBUG_INFO_BTF") == "y"
              ? "mount sysfs: this kernel is built with CONFIG_DEBUG_INFO_BTF=y"
              : "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y");
    }
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
      if (!Has(name)) missing.emplace_back(name);
    }
    const std::string best = AtBest();
    const std::string promise =
        best.empty() ? ""
                     : absl::StrCat(
                           "; what this kernel then takes is seen by asking it "
                           "again, at best: ",
                           best);
    Add(true,
        absl::StrCat("this process lacks ", absl::StrJoin(missing, " and ")),
        absl::StrCat(
            facts_.uid == 0
                ? "let root keep it: a container or service manager took it"
                : "run it as root, or with these capabilities",
            promise));
  }

  bool SomeHoldsMissing() const {
    return std::any_of(report_.locks.begin(), report_.locks.end(),
                       [](const LockReport& lock) {
                         return (lock.name == kStream || lock.name == kZswap) &&
                                !CountsHolds(lock.hold);
                       });
  }

  void FunctionHooks() {
    // By reason, what was refused for it: the first one's is the kernel's own.
    std::vector<std::pair<std::string, std::vector<std::string>>> refused;
    for (const Probe& probe : plan_.probes) {
      if (probe.state != ProbeState::kRefused ||
          (!absl::StartsWith(probe.name, "fentry/") &&
           !absl::StartsWith(probe.name, "fexit/")) ||
          absl::StartsWith(probe.reason, kAsForTheFirst)) {
        continue;
      }
      const auto known =
          std::find_if(refused.begin(), refused.end(),
                       [&](const auto& r) { return r.first == probe.reason; });
      if (known == refused.end()) {
        refused.push_back({probe.reason, {probe.name}});
      } else {
        known->second.push_back(probe.name);
      }
    }
    const bool costs = SomeHoldsMissing();
    for (const auto& [reason, probes] : refused) {
      if (absl::StrContains(reason, "find BTF of") && !Admin()) {
        Add(costs,
            absl::StrCat("without CAP_SYS_ADMIN this process may not open the "
                         "type information of a module, so ",
                         absl::StrJoin(probes, ", "), " cannot be attached"),
            "run it as root, or with CAP_SYS_ADMIN");
      } else if (absl::StrContains(reason, "EPERM") ||
                 absl::StrContains(reason, "EACCES")) {
        NotPermitted(costs, absl::StrJoin(probes, ", "), reason);
      } else {
        Add(costs, absl::StrCat("a function hook is refused: ", reason),
            kReport);
      }
    }
  }

  void NotPermitted(bool costs, const std::string& probes,
                    const std::string& reason) {
    const std::string what =
        absl::StrCat("the kernel refuses function hooks (", probes, ")");
    const MountFacts* securityfs = facts_.Mount("securityfs");
    if (LockdownOn()) {
      Add(costs,
          absl::StrCat(what, " and is locked down (", facts_.lockdown, ")"),
          "boot it without a lockdown (no lockdown= on its command line; with "
          "Secure Boot many distributions switch one on): it cannot be lifted "
          "while the kernel runs");
    } else if (facts_.lockdown.empty() && securityfs != nullptr &&
               !securityfs->InPlace()) {
      Add(costs,
          absl::StrCat(what,
                       " with a permission error; whether it is locked down "
                       "cannot be told, because securityfs is not mounted"),
          "as root, mount -t securityfs securityfs /sys/kernel/security, then "
          "run swaplock doctor again");
    } else {
      Add(costs,
          absl::StrCat(what, " although it is not locked down: ", reason),
          "see which security module forbids it: cat /sys/kernel/security/lsm");
    }
  }

  void Kprobes() {
    if (facts_.kprobes) return;
    const std::string what =
        NotBuilt("CONFIG_KPROBES")
            ? "the kernel is built without kprobes (CONFIG_KPROBES)"
            : "the kernel offers no kprobes to perf "
              "(/sys/bus/event_source/devices/kprobe is not there)";
    const bool costs = SomeHoldsMissing();
    Add(costs,
        absl::StrCat(what, costs ? ", so functions cannot be hooked that way"
                                 : ", so events of a task may be lost, and are "
                                   "counted, while another is preempted in a "
                                   "hook"),
        "boot a kernel built with CONFIG_KPROBES=y and CONFIG_KPROBE_EVENTS=y");
  }

  void Waits() {
    if (Unloadable() || plan_.wait != Tier::kUnspecified) return;
    if (input_.symbols.tracepoints.count("contention_begin") == 0) {
      Add(true, "the kernel has no lock contention tracepoints: no waits",
          "boot a kernel of 5.19 or newer");
      return;
    }
    for (const Probe& probe : plan_.probes) {
      if (probe.state == ProbeState::kRefused &&
          absl::StartsWith(probe.name, "tp_btf/contention_")) {
        Add(true, absl::StrCat("no waits: ", probe.reason), kReport);
        return;
      }
    }
  }

  void RunDelay() {
    if (KnowsType("task_struct.sched_info")) return;
    Add(true,
        "the kernel does not count how long tasks wait for a CPU "
        "(CONFIG_SCHED_INFO)",
        "boot a kernel built with CONFIG_SCHEDSTATS=y or "
        "CONFIG_TASK_DELAY_ACCT=y");
  }

  void Zram() {
    if (!HasZram() && !HasZswap()) {
      Add(true, "neither zram nor zswap is here: there is no lock to measure",
          NotBuilt("CONFIG_ZRAM")
              ? "boot a kernel built with CONFIG_ZRAM or CONFIG_ZSWAP"
              : "modprobe zram, or boot a kernel built with CONFIG_ZSWAP=y");
      return;
    }
    if (!HasZram()) {
      if (NotBuilt("CONFIG_ZRAM")) return;
      Add(false, "the zram module is not loaded, so zram has no locks yet",
          "modprobe zram, if this host is to use it; a running agent notices");
      return;
    }
    if (report_.btf_zram.empty() && input_.symbols.has_btf) {
      Add(true,
          "zram is loaded and carries no type information (BTF), so none of "
          "its functions can be hooked",
          "use the zram module of this very kernel, built with "
          "CONFIG_DEBUG_INFO_BTF_MODULES=y");
    }
    if (!MayUseBpf()) return;
    for (const ZramDeviceFacts& d : facts_.zram_devices) {
      if (d.device.disksize_bytes == 0 || d.read_error == 0) continue;
      Add(true,
          absl::StrCat("/dev/", d.device.name, " cannot be read (",
                       strerrordesc_np(d.read_error),
                       "), so its locks are not found: its holds belong to no "
                       "device, and its waits are not seen"),
          d.read_error == ENOENT
              ? "make the device node appear; in a container, mount the "
                "host's /dev"
              : "run it as root, or with CAP_DAC_READ_SEARCH");
    }
  }

  void Zswap() {
    if (HasZswap() && facts_.zswap_enabled.has_value() &&
        !*facts_.zswap_enabled) {
      Add(false, "zswap is off, so its lock is not used",
          "echo Y >/sys/module/zswap/parameters/enabled, if this host is to "
          "use it");
    }
  }

  void Details() {
    if (facts_.environment.preempt.empty()) {
      const MountFacts* debugfs = facts_.Mount("debugfs");
      const bool mounted = debugfs != nullptr && debugfs->InPlace();
      if (mounted && facts_.uid == 0 && LockdownOn()) {
        Add(false,
            "the preemption mode is not known: the lockdown forbids reading "
            "debugfs",
            "name it on the kernel's command line (preempt=)");
      } else {
        Add(false, "the preemption mode is not known",
            mounted ? "run it as root: only root may read debugfs"
                    : "as root, mount -t debugfs debugfs /sys/kernel/debug");
      }
    }
    if (!facts_.kernel_addresses) {
      Add(false,
          "/proc/kallsyms hides addresses: stacks have no names, and zswap's "
          "lock cannot be learned by owner_probe",
          facts_.kptr_restrict == 2 && Has("CAP_SYSLOG")
              ? "sysctl kernel.kptr_restrict=1"
              : "run it as root, or with CAP_SYSLOG");
    }
    if (!facts_.psi) {
      Add(false, "windows say nothing of pressure: PSI is off",
          NotBuilt("CONFIG_PSI") ? "boot a kernel built with CONFIG_PSI=y"
                                 : "boot with psi=1 on the command line");
    }
    const MountFacts* cgroup = facts_.Mount("cgroup2");
    if (cgroup != nullptr && !cgroup->InPlace()) {
      Add(false,
          absl::StrCat("holders have no cgroup: cgroup2 is ",
                       cgroup->path.empty()
                           ? "not mounted"
                           : absl::StrCat("mounted at ", cgroup->path, ", not"),
                       " at ", cgroup->expected),
          "boot with systemd.unified_cgroup_hierarchy=1 where systemd mounts "
          "it, else mount it there");
    }
  }

  void Judge() {
    std::vector<std::string> full;
    std::vector<std::string> less;
    bool something = false;
    for (const LockReport& lock : report_.locks) {
      const bool any =
          lock.hold != Tier::kUnspecified || lock.wait != Tier::kUnspecified;
      something |= any;
      if (lock.complete) {
        full.push_back(lock.name);
      } else {
        less.push_back(absl::StrCat(lock.name, " (", lock.measured, ")"));
      }
    }
    if (!something) {
      report_.verdict = DoctorVerdict::kNothing;
      report_.summary = absl::StrCat(
          "nothing can be measured here",
          report_.problems.empty() ? "" : absl::StrCat(": ", FirstProblem()));
    } else if (less.empty()) {
      report_.verdict = DoctorVerdict::kHolds;
      report_.summary =
          absl::StrCat("holds are measured here: ", absl::StrJoin(full, ", "));
    } else {
      report_.verdict = DoctorVerdict::kPart;
      report_.summary = absl::StrCat("only part can be measured here: ",
                                     absl::StrJoin(less, "; "));
    }
  }

  const std::string& FirstProblem() const {
    return report_.problems.front().what;
  }

  const DoctorInput& input_;
  const HostFacts& facts_;
  const Plan& plan_;
  DoctorReport report_;
};

}  // namespace

const MountFacts* HostFacts::Mount(absl::string_view type) const {
  for (const MountFacts& mount : mounts) {
    if (mount.type == type) return &mount;
  }
  return nullptr;
}

int DoctorReport::ExitStatus() const {
  switch (verdict) {
    case DoctorVerdict::kHolds:
      return 0;
    case DoctorVerdict::kPart:
      return 1;
    case DoctorVerdict::kNothing:
      break;
  }
  return 69;
}

const std::vector<std::string>& DoctorCapabilities() {
  static const auto* const names =
      new std::vector<std::string>{"CAP_BPF", "CAP_PERFMON", "CAP_SYS_ADMIN",
                                   "CAP_SYSLOG", "CAP_DAC_READ_SEARCH"};
  return *names;
}

DoctorReport MakeDoctorReport(const DoctorInput& input) {
  return Doctor(input).Examine();
}

}  // namespace swaplock
