#include "agent/doctor/doctor.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "agent/doctor/doctor_diagnosis.h"

namespace swaplock {
namespace {

constexpr absl::string_view kStream = "zram stream";
constexpr absl::string_view kReadStream = "zram read stream";
constexpr absl::string_view kZswap = "zswap";

// Programs that run once per hold, by their names; doctor_test checks them
// against the plans of all recorded kernels. zram's run when a stream is put.
// Those inside zswap's lock sit on functions that zram calls, too; the ones
// around an operation do not.
bool RunsOncePerHold(absl::string_view lock, absl::string_view program) {
  if (lock == kStream) return absl::StrContains(program, "_put");
  return absl::StrContains(program, "_store_begin") ||
         absl::StrContains(program, "_load_begin");
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
    report_.btf_vmlinux = input_.symbols.has_btf;
    report_.btf_zram = BtfOf("zram", "zcomp");
    report_.btf_zsmalloc = BtfOf("zsmalloc", "size_class.");
    Probes();
    Locks();
    NotMeasured();
    Privileges();
    Costs();
    report_.problems = Diagnose(input_, report_.locks);
    Judge();
    return std::move(report_);
  }

 private:
  std::string BtfOf(absl::string_view module,
                    absl::string_view type_beginning) const {
    if (input_.symbols.modules.count(std::string(module)) > 0) return "module";
    return input_.KnowsType(type_beginning) ? "vmlinux" : "";
  }

  // Whether all programs are out: then no plan's tier is true.
  bool Unloadable() const { return !input_.load_failure.empty(); }

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

  void AddLock(absl::string_view name, LockModel model, Tier hold, Tier latency,
               bool holds_wanted, bool found) {
    LockReport lock;
    lock.name = std::string(name);
    lock.model = model;
    lock.holds_wanted = holds_wanted;
    if (!Unloadable()) {
      // The owner probe looks at locks, hooks only at who calls.
      lock.hold = found || CountsHolds(hold) ? hold : Tier::kUnspecified;
      lock.latency = latency;
      if (found && !NobodyCanWait(model)) lock.wait = plan_.wait;
    }
    lock.measured = Measured(model, lock.hold, lock.wait);
    const bool all_programs = std::none_of(
        input_.refused_programs.begin(), input_.refused_programs.end(),
        [&](const auto& refused) { return input_.CostsHolds(refused.first); });
    const bool holds = CountsHolds(lock.hold) && all_programs;
    lock.complete = (!holds_wanted || holds) &&
                    (NobodyCanWait(model) || lock.wait != Tier::kUnspecified);
    report_.locks.push_back(std::move(lock));
  }

  void Locks() {
    const bool found = facts_.UnreadableDevice() == nullptr;
    if (input_.HasZram()) {
      AddLock(kStream, plan_.zram_model, plan_.zram_hold, plan_.zram_latency,
              true, found);
      if (plan_.SplitStreams()) {
        AddLock(kReadStream,
                plan_.zram_shared_model == LockModel::kUnspecified
                    ? plan_.zram_exclusive_model
                    : plan_.zram_shared_model,
                plan_.zram_hold, plan_.zram_latency, true, found);
      }
    }
    if (input_.HasZswap()) {
      AddLock(kZswap, plan_.zswap_model, plan_.zswap_hold, plan_.zswap_latency,
              true, CountsHolds(plan_.zswap_hold) || facts_.kernel_addresses);
    }
    // Those of zram's pools; zswap's pool is not found.
    if (plan_.size_class_model != LockModel::kUnspecified) {
      AddLock("zsmalloc size class", plan_.size_class_model, Tier::kUnspecified,
              Tier::kUnspecified, false, found);
    }
    if (plan_.pool_model != LockModel::kUnspecified) {
      AddLock("zsmalloc pool", plan_.pool_model, Tier::kUnspecified,
              Tier::kUnspecified, false, found);
    }
  }

  void NotMeasured() {
    if (Unloadable()) {
      report_.not_measured = {absl::StrCat(input_.load_failure, ".")};
      return;
    }
    report_.not_measured = plan_.not_measured;
    for (const auto& [program, reason] : input_.refused_programs) {
      report_.not_measured.push_back(
          absl::StrCat("what ", program, " sees: ", reason, "."));
    }
    if (const ZramDeviceFacts* device = facts_.UnreadableDevice()) {
      report_.not_measured.push_back(
          absl::StrCat("waits on the locks of ", device->device.name,
                       ", because it cannot be read to find them."));
    }
  }

  void AddNeed(absl::string_view what, std::vector<std::string> capabilities,
               bool held, absl::string_view note) {
    report_.needs.push_back(
        {std::string(what), std::move(capabilities), held, std::string(note)});
  }

  // kernel/bpf/syscall.c: bpf_prog_load() asks for CAP_BPF and, for tracing
  // programs, CAP_PERFMON; bpf_btf_get_fd_by_id() for CAP_SYS_ADMIN, and
  // without the type information of a module none of its functions can be
  // named to the kernel. Seen so on 6.18 with these capabilities alone.
  void Privileges() {
    for (const std::string& name : DoctorCapabilities()) {
      report_.capabilities.emplace_back(name, facts_.Has(name));
    }
    const std::vector<std::string> bpf = {"CAP_BPF", "CAP_PERFMON"};
    const bool may_use_bpf = facts_.MayUseBpf();
    const bool may_read = facts_.Has("CAP_DAC_READ_SEARCH") || facts_.uid == 0;
    AddNeed("owner_probe, contention", bpf, may_use_bpf,
            "or CAP_SYS_ADMIN alone");
    AddNeed("exact, bracket: functions of the kernel proper", bpf, may_use_bpf,
            "or CAP_SYS_ADMIN alone");
    AddNeed("exact: functions of zram as a module", {"CAP_SYS_ADMIN"},
            facts_.Admin(), "to open a module's type information");
    AddNeed("bracket: the same by kprobes", bpf, facts_.MayUseKprobes(),
            "CAP_SYS_ADMIN where kernel.perf_event_paranoid is above 2");
    AddNeed("waits; which zram device a hold belongs to",
            {"CAP_DAC_READ_SEARCH"}, may_read,
            "or permission to read /dev/zramN");
    AddNeed("names of functions in stacks; zswap's lock by owner_probe",
            {"CAP_SYSLOG"}, facts_.kernel_addresses,
            "for addresses in /proc/kallsyms");
    AddNeed("cgroups of holders", {"CAP_DAC_READ_SEARCH"},
            facts_.Has("CAP_DAC_READ_SEARCH"), "for open_by_handle_at(2)");
  }

  void Costs() {
    report_.clock = input_.clock;
    for (const auto& [program, cost] : input_.running) {
      if (cost.runs > 0) report_.programs.emplace_back(program, cost);
    }
    for (const LockReport& lock : report_.locks) {
      if (lock.name == kStream || lock.name == kZswap) {
        report_.costs.push_back(CostOf(lock));
      }
    }
  }

  LockCost CostOf(const LockReport& lock) const {
    LockCost cost;
    cost.lock = lock.name;
    if (!CountsHolds(lock.hold)) {
      cost.derivation = absl::StrCat(
          "not measured: no program runs when the lock is taken or released",
          lock.hold == Tier::kOwnerProbe
              ? "; each context switch and wake-up of the host runs one"
              : "");
      return cost;
    }
    const absl::string_view beginning =
        lock.name == kStream ? "zram_" : "zswap_";
    ProgramCost all;
    uint64_t holds = 0;
    uint64_t zram_holds = 0;
    for (const auto& [program, running] : input_.running) {
      if (RunsOncePerHold(kStream, program)) zram_holds += running.runs;
      if (!absl::StartsWith(program, beginning)) continue;
      all.run_time_ns += running.run_time_ns;
      if (RunsOncePerHold(lock.name, program)) holds += running.runs;
    }
    if (holds > 0 && (lock.name == kStream || zram_holds == 0)) {
      cost.ns_per_hold =
          static_cast<double>(all.run_time_ns) / static_cast<double>(holds);
      cost.derivation = absl::StrCat(
          "run time of its programs here, ", all.run_time_ns, " ns, / ", holds,
          " holds; without the trampolines that call them");
      return cost;
    }
    const absl::string_view more =
        holds > 0 ? "; more is not known apart from what the same programs "
                    "cost zram"
                  : "; more is known where an agent runs, the lock is used "
                    "and kernel.bpf_stats_enabled is 1";
    cost.at_least = true;
    if (input_.hold_cost_ns.has_value()) {
      cost.ns_per_hold = input_.hold_cost_ns;
      cost.derivation = absl::StrCat(
          "the programs' code at acquisition and release, median of test runs "
          "on a lock of its own; without the trampolines that call it and "
          "without the other hooks of an operation",
          more);
    } else if (input_.clock.has_value() && input_.clock->in_bpf) {
      cost.ns_per_hold = 2 * input_.clock->ns;
      cost.derivation = absl::StrFormat("two clock reads, 2 x %.1f ns%s",
                                        input_.clock->ns, more);
    } else {
      cost.at_least = false;
      cost.derivation = "not measured: this process may run no BPF program";
    }
    return cost;
  }

  void Judge() {
    std::vector<std::string> full;
    std::vector<std::string> less;
    bool something = false;
    for (const LockReport& lock : report_.locks) {
      something |=
          lock.hold != Tier::kUnspecified || lock.wait != Tier::kUnspecified;
      if (lock.complete) {
        full.push_back(lock.name);
      } else {
        less.push_back(absl::StrCat(lock.name, " (", lock.measured, ")"));
      }
    }
    if (!something) {
      report_.verdict = DoctorVerdict::kNothing;
      report_.summary =
          absl::StrCat("nothing can be measured here",
                       report_.problems.empty()
                           ? ""
                           : absl::StrCat(": ", report_.problems.front().what));
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

  const DoctorInput& input_;
  const HostFacts& facts_;
  const Plan& plan_;
  DoctorReport report_;
};

}  // namespace

bool DoctorInput::KnowsType(absl::string_view beginning) const {
  return std::any_of(
      symbols.members.begin(), symbols.members.end(),
      [&](const auto& m) { return absl::StartsWith(m.first, beginning); });
}

bool DoctorInput::CostsHolds(absl::string_view program) const {
  // The last two find locks.
  return plan.Attaches(program) || program == "peek" || program == "cpu_offset";
}

bool DoctorInput::HasZram() const {
  return facts.zram_loaded || KnowsType("zcomp");
}

bool DoctorInput::HasZswap() const {
  return facts.zswap_present || symbols.HasFunction("zswap_store") ||
         symbols.HasFunction("zswap_frontswap_store");
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
