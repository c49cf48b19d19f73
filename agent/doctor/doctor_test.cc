#include "agent/doctor/doctor.h"

#include <errno.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/doctor/doctor_report.h"
#include "proto/doctor.pb.h"

namespace swaplock {
namespace {

KernelSymbols Recorded(const std::string& kernel) {
  std::ifstream in("agent/capture/testdata/" + kernel + ".symbols");
  EXPECT_TRUE(in.is_open()) << kernel;
  std::ostringstream text;
  text << in.rdbuf();
  const absl::StatusOr<KernelSymbols> symbols = ParseKernelSymbols(text.str());
  EXPECT_TRUE(symbols.ok()) << symbols.status();
  return *symbols;
}

absl::Status Permit(ProbeKind, const std::string&) { return absl::OkStatus(); }

// As a locked-down kernel without kprobes does.
absl::Status TracepointsOnly(ProbeKind kind, const std::string& target) {
  if (kind == ProbeKind::kTracepoint) return absl::OkStatus();
  if (kind == ProbeKind::kFentry || kind == ProbeKind::kFexit) {
    return absl::PermissionDeniedError(
        absl::StrCat("load ", Name(kind), "/", target, ": EPERM"));
  }
  return absl::UnavailableError("this kernel has no kprobes for perf");
}

absl::Status Forbid(ProbeKind kind, const std::string& target) {
  return absl::PermissionDeniedError(absl::StrCat(
      "load ", Name(kind), "/", target,
      ": EPERM (this process lacks CAP_BPF and CAP_PERFMON: run it as root)"));
}

// A host on which nothing is amiss, and zram is set up as swap.
HostFacts Healthy() {
  HostFacts facts;
  facts.environment.kernel_release = "6.18.5";
  facts.environment.architecture = "x86_64";
  facts.environment.cpus = 8;
  facts.environment.preempt = "lazy";
  facts.lockdown = "none";
  facts.capabilities = {"CAP_BPF", "CAP_PERFMON", "CAP_SYS_ADMIN", "CAP_SYSLOG",
                        "CAP_DAC_READ_SEARCH"};
  facts.btf_file = true;
  facts.kprobes = true;
  facts.bpf_stats = false;
  facts.kernel_addresses = true;
  facts.kptr_restrict = 1;
  facts.psi = true;
  facts.memory_lock_bytes = 8 << 20;
  for (const auto& [type, path] :
       {std::pair<const char*, const char*>{"cgroup2", "/sys/fs/cgroup"},
        {"debugfs", "/sys/kernel/debug"},
        {"securityfs", "/sys/kernel/security"},
        {"tracefs", "/sys/kernel/tracing"}}) {
    facts.mounts.push_back({type, path, path});
  }
  facts.zram_loaded = true;
  facts.zram_devices.push_back({{"zram0", {"zstd"}, 1 << 30}, 0});
  facts.zswap_present = true;
  facts.zswap_enabled = true;
  facts.zswap_compressor = "zstd";
  return facts;
}

DoctorInput Host(const KernelSymbols& symbols, const TryAttach& try_attach) {
  DoctorInput input;
  input.symbols = symbols;
  input.plan = MakePlan(symbols, try_attach);
  input.facts = Healthy();
  input.clock = ClockCost{20, true, "a test"};
  return input;
}

// A process of a user, on a host that is otherwise healthy.
DoctorInput Unprivileged() {
  DoctorInput input = Host(Recorded("6.18"), Forbid);
  input.facts.uid = 1000;
  input.facts.capabilities.clear();
  input.clock = ClockCost{25, false, "a test"};
  return input;
}

MountFacts* Mount(DoctorInput* input, const std::string& type) {
  for (MountFacts& mount : input->facts.mounts) {
    if (mount.type == type) return &mount;
  }
  return nullptr;
}

// zram's part of a kernel that has none of it.
void EraseZram(KernelSymbols* symbols) {
  const auto zram = [](const std::string& name) {
    return absl::StartsWith(name, "zcomp") || absl::StartsWith(name, "zram");
  };
  for (auto it = symbols->members.begin(); it != symbols->members.end();) {
    it = zram(it->first) ? symbols->members.erase(it) : std::next(it);
  }
  for (auto it = symbols->functions.begin(); it != symbols->functions.end();) {
    it = zram(it->first) || it->second.module == "zram"
             ? symbols->functions.erase(it)
             : std::next(it);
  }
  symbols->modules.erase("zram");
}

const Problem* Find(const DoctorReport& report, absl::string_view words) {
  for (const Problem& problem : report.problems) {
    if (absl::StrContains(problem.what, words)) return &problem;
  }
  return nullptr;
}

const LockReport* Lock(const DoctorReport& report, absl::string_view name) {
  for (const LockReport& lock : report.locks) {
    if (lock.name == name) return &lock;
  }
  return nullptr;
}

// The problem is there, costs what it should, and its remedy has these words.
void ExpectProblem(const DoctorReport& report, absl::string_view what,
                   bool costs_holds, absl::string_view remedy) {
  const Problem* problem = Find(report, what);
  ASSERT_NE(problem, nullptr) << what << "\n" << DoctorText(report);
  EXPECT_EQ(problem->costs_holds, costs_holds) << problem->what;
  EXPECT_TRUE(absl::StrContains(problem->remedy, remedy)) << problem->remedy;
}

class DoctorTest : public testing::TestWithParam<const char*> {};

TEST_P(DoctorTest, AHealthyHostNeedsNothing) {
  const DoctorReport report =
      MakeDoctorReport(Host(Recorded(GetParam()), Permit));
  EXPECT_EQ(report.ExitStatus(), 0) << report.summary;
  EXPECT_TRUE(report.problems.empty()) << report.problems[0].what;
  for (const char* name : {"zram stream", "zswap"}) {
    ASSERT_NE(Lock(report, name), nullptr) << name;
    EXPECT_TRUE(Lock(report, name)->complete) << name;
  }
  for (const Need& need : report.needs) EXPECT_TRUE(need.held) << need.what;
}

// The cost per hold divides by runs of programs that are known by their names.
TEST_P(DoctorTest, EveryPlanHasProgramsThatRunOncePerHold) {
  for (const auto& [lock, beginning] :
       {std::pair<const char*, const char*>{"zram stream", "zram_"},
        {"zswap", "zswap_"}}) {
    DoctorInput input = Host(Recorded(GetParam()), Permit);
    for (const Attachment& a : input.plan.attachments) {
      if (absl::StartsWith(a.program, beginning)) {
        input.running[a.program] = {10, 1000};
      }
    }
    const DoctorReport report = MakeDoctorReport(input);
    ASSERT_EQ(report.costs.size(), 2u);
    for (const LockCost& cost : report.costs) {
      if (cost.lock != lock) continue;
      ASSERT_TRUE(cost.ns_per_hold.has_value()) << cost.lock;
      EXPECT_FALSE(cost.at_least) << cost.lock;
      EXPECT_GE(*cost.ns_per_hold, 200) << cost.lock;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, DoctorTest,
                         testing::Values("6.1", "6.12", "6.18", "7.3",
                                         "7.3-patched", "7.3-zram-split"));

TEST(DoctorTest, ALockNobodyWaitsForNeedsNoWaits) {
  const DoctorReport report = MakeDoctorReport(Host(Recorded("6.12"), Permit));
  const LockReport* lock = Lock(report, "zram stream");
  ASSERT_NE(lock, nullptr);
  EXPECT_EQ(lock->model, LockModel::kPreemptOff);
  EXPECT_EQ(lock->wait, Tier::kUnspecified);
  EXPECT_TRUE(lock->complete);
  EXPECT_TRUE(absl::StrContains(lock->measured, "nobody can wait"));
}

TEST(DoctorTest, ALockdownThatRefusesFunctionHooksIsNamed) {
  DoctorInput input = Host(Recorded("6.18"), TracepointsOnly);
  input.facts.lockdown = "integrity";
  const DoctorReport report = MakeDoctorReport(input);
  EXPECT_EQ(report.ExitStatus(), 1);
  EXPECT_TRUE(absl::StrContains(report.summary, "zram stream ("));
  EXPECT_TRUE(absl::StrContains(report.summary, "zswap ("));
  EXPECT_EQ(Lock(report, "zram stream")->hold, Tier::kOwnerProbe);
  EXPECT_EQ(Lock(report, "zram stream")->wait, Tier::kContention);
  ExpectProblem(report, "locked down (integrity)", true, "without a lockdown");
  EXPECT_EQ(Find(report, "securityfs"), nullptr);
}

TEST(DoctorTest, WithoutSecurityfsTheCauseIsNotGuessed) {
  DoctorInput input = Host(Recorded("6.18"), TracepointsOnly);
  input.facts.lockdown = "";
  Mount(&input, "securityfs")->path = "";
  const DoctorReport report = MakeDoctorReport(input);
  ExpectProblem(report, "cannot be told", true, "mount -t securityfs");
  EXPECT_EQ(Find(report, "locked down ("), nullptr);
}

TEST(DoctorTest, ARefusalWithoutALockdownIsNotCalledOne) {
  const DoctorReport report =
      MakeDoctorReport(Host(Recorded("6.18"), TracepointsOnly));
  ExpectProblem(report, "although no lockdown is seen", true,
                "/sys/kernel/security/lsm");
}

// What other hooks see counts, not which were refused.
TEST(DoctorTest, ARefusedKindOfHookCostsOnlyWhatNoOtherReplaces) {
  DoctorInput input =
      Host(Recorded("6.18"), [](ProbeKind kind, const std::string& target) {
        return kind == ProbeKind::kFentry || kind == ProbeKind::kFexit
                   ? TracepointsOnly(kind, target)
                   : absl::OkStatus();
      });
  input.facts.lockdown = "integrity";
  const DoctorReport report = MakeDoctorReport(input);
  const Problem* problem = Find(report, "locked down");
  ASSERT_NE(problem, nullptr);
  const bool all = CountsHolds(Lock(report, "zram stream")->hold) &&
                   CountsHolds(Lock(report, "zswap")->hold);
  EXPECT_EQ(problem->costs_holds, !all);
  EXPECT_EQ(report.ExitStatus(), all ? 0 : 1);
}

TEST(DoctorTest, WithoutKprobesNothingIsMissingWhereFunctionsCanBeHooked) {
  DoctorInput input =
      Host(Recorded("6.18"), [](ProbeKind kind, const std::string& target) {
        return kind == ProbeKind::kFentry || kind == ProbeKind::kFexit
                   ? absl::OkStatus()
                   : TracepointsOnly(kind, target);
      });
  input.facts.kprobes = false;
  input.facts.config["CONFIG_KPROBES"] = "n";
  const DoctorReport report = MakeDoctorReport(input);
  EXPECT_EQ(report.ExitStatus(), 0);
  ExpectProblem(report, "CONFIG_KPROBES", false, "CONFIG_KPROBES=y");
}

// Another program, a live patch: one function, and nobody knows why.
TEST(DoctorTest, OneRefusedFunctionIsShownWithTheKernelsWords) {
  const DoctorReport report = MakeDoctorReport(
      Host(Recorded("6.18"), [](ProbeKind, const std::string& target) {
        return target == "zcomp_stream_put"
                   ? absl::FailedPreconditionError(
                         "attach fentry/zcomp_stream_put: EBUSY")
                   : absl::OkStatus();
      }));
  EXPECT_EQ(report.ExitStatus(), 1);
  EXPECT_TRUE(Lock(report, "zswap")->complete);
  EXPECT_FALSE(absl::StrContains(report.summary, "zswap"));
  ExpectProblem(report, "zcomp_stream_put: EBUSY", true, "report it");
}

TEST(DoctorTest, ModulesNeedSysAdmin) {
  KernelSymbols symbols = Recorded("6.18");
  const TryAttach vmlinux_only = [&symbols](ProbeKind kind,
                                            const std::string& target) {
    if (kind == ProbeKind::kTracepoint ||
        symbols.functions.at(target).module.empty()) {
      return absl::OkStatus();
    }
    return absl::FailedPreconditionError(
        absl::StrCat("find BTF of ", Name(kind), "/", target, ": ENOENT"));
  };
  DoctorInput input = Host(symbols, vmlinux_only);
  input.facts.capabilities = {"CAP_BPF", "CAP_PERFMON"};
  const DoctorReport report = MakeDoctorReport(input);
  EXPECT_EQ(report.ExitStatus(), 1);
  EXPECT_EQ(Lock(report, "zswap")->hold, Tier::kBracket);
  ExpectProblem(report, "without CAP_SYS_ADMIN", true, "CAP_SYS_ADMIN");
}

TEST(DoctorTest, WithoutBtfNothingIsMeasured) {
  DoctorInput input = Host(KernelSymbols{}, Permit);
  input.facts.btf_file = false;
  input.facts.config["CONFIG_DEBUG_INFO_BTF"] = "n";
  const DoctorReport report = MakeDoctorReport(input);
  EXPECT_EQ(report.ExitStatus(), 69);
  EXPECT_TRUE(absl::StrContains(report.summary, "no type information"));
  ExpectProblem(report, "no type information", true, "CONFIG_DEBUG_INFO_BTF=y");
  // The host has both locks even so.
  EXPECT_NE(Lock(report, "zram stream"), nullptr);
  EXPECT_NE(Lock(report, "zswap"), nullptr);
}

TEST(DoctorTest, BtfThatIsBuiltAndNotThereIsNotMounted) {
  DoctorInput input = Host(KernelSymbols{}, Permit);
  input.facts.btf_file = false;
  input.facts.config["CONFIG_DEBUG_INFO_BTF"] = "y";
  ExpectProblem(MakeDoctorReport(input), "no type information", true,
                "mount sysfs");
}

// There is nothing of zram to measure, so nothing is missing.
TEST(DoctorTest, AnUnloadedZramModuleIsNoFailure) {
  KernelSymbols symbols = Recorded("6.18");
  EraseZram(&symbols);
  DoctorInput input = Host(symbols, Permit);
  input.facts.zram_loaded = false;
  input.facts.zram_devices.clear();
  const DoctorReport report = MakeDoctorReport(input);
  EXPECT_EQ(report.ExitStatus(), 0) << report.summary;
  EXPECT_EQ(Lock(report, "zram stream"), nullptr);
  ExpectProblem(report, "zram module is not loaded", false, "modprobe zram");
  EXPECT_FALSE(report.not_measured.empty());
}

TEST(DoctorTest, AModuleWithoutTypesCostsItsHolds) {
  KernelSymbols symbols = Recorded("6.18");
  EraseZram(&symbols);
  const DoctorReport report = MakeDoctorReport(Host(symbols, Permit));
  EXPECT_EQ(report.ExitStatus(), 1);
  EXPECT_TRUE(absl::StrContains(report.summary, "zram stream ("));
  ExpectProblem(report, "zram is loaded and carries no type information", true,
                "CONFIG_DEBUG_INFO_BTF_MODULES=y");
}

TEST(DoctorTest, WithoutZramAndZswapThereIsNothingToMeasure) {
  KernelSymbols symbols = Recorded("6.18");
  EraseZram(&symbols);
  for (const char* name : {"zswap_store", "zswap_load", "zswap_decompress"}) {
    symbols.functions.erase(name);
  }
  symbols.members.erase("crypto_acomp_ctx.mutex");
  symbols.members.erase("size_class.lock");
  symbols.members.erase("zs_pool.lock");
  DoctorInput input = Host(symbols, Permit);
  input.facts.zram_loaded = false;
  input.facts.zram_devices.clear();
  input.facts.zswap_present = false;
  input.facts.zswap_enabled.reset();
  const DoctorReport report = MakeDoctorReport(input);
  EXPECT_EQ(report.ExitStatus(), 69);
  ExpectProblem(report, "neither zram nor zswap", true, "modprobe zram");
}

TEST(DoctorTest, WithoutPrivilegesItSaysWhichAndWhatTheyWouldBring) {
  const DoctorReport report = MakeDoctorReport(Unprivileged());
  EXPECT_EQ(report.ExitStatus(), 69);
  ExpectProblem(report, "lacks CAP_BPF and CAP_PERFMON", true,
                "run it as root");
  ExpectProblem(report, "lacks CAP_BPF", true,
                "at best: zram stream exact, zswap bracket");
  // What the kernel would refuse a privileged process is not known.
  EXPECT_EQ(Find(report, "locked down"), nullptr);
  EXPECT_EQ(Find(report, "no waits"), nullptr);
  ASSERT_EQ(report.costs.size(), 2u);
  EXPECT_FALSE(report.costs[0].ns_per_hold.has_value());
}

TEST(DoctorTest, RootWithoutCapabilitiesIsNotToldToBecomeRoot) {
  DoctorInput input = Unprivileged();
  input.facts.uid = 0;
  input.facts.capabilities = {"CAP_BPF"};
  const DoctorReport report = MakeDoctorReport(input);
  ExpectProblem(report, "lacks CAP_PERFMON", true, "a container");
  EXPECT_EQ(Find(report, "lacks CAP_BPF"), nullptr);
}

TEST(DoctorTest, CapabilitiesOfAUserNamespaceDoNotCount) {
  DoctorInput input = Host(Recorded("6.18"), Forbid);
  input.facts.user_namespace = true;
  const DoctorReport report = MakeDoctorReport(input);
  EXPECT_EQ(report.ExitStatus(), 69);
  ExpectProblem(report, "user namespace", true, "initial user namespace");
}

TEST(DoctorTest, OldKernelsHaveNoWaits) {
  KernelSymbols symbols = Recorded("6.1");
  symbols.tracepoints.erase("contention_begin");
  symbols.tracepoints.erase("contention_end");
  const DoctorReport report = MakeDoctorReport(Host(symbols, Permit));
  EXPECT_EQ(report.ExitStatus(), 1);
  EXPECT_TRUE(absl::StrContains(report.summary, "no waits"));
  ExpectProblem(report, "contention tracepoints", true, "5.19");
}

TEST(DoctorTest, ADeviceThatCannotBeReadHasNoWaits) {
  DoctorInput input = Host(Recorded("6.18"), Permit);
  input.facts.zram_devices[0].read_error = EACCES;
  const DoctorReport report = MakeDoctorReport(input);
  ExpectProblem(report, "/dev/zram0 cannot be read", true,
                "CAP_DAC_READ_SEARCH");
  EXPECT_EQ(report.ExitStatus(), 1);
  EXPECT_EQ(Lock(report, "zram stream")->hold, Tier::kExact);
  EXPECT_EQ(Lock(report, "zram stream")->wait, Tier::kUnspecified);
  EXPECT_TRUE(Lock(report, "zswap")->complete);
  input.facts.zram_devices[0].read_error = ENOENT;
  ExpectProblem(MakeDoctorReport(input), "/dev/zram0 cannot be read", true,
                "/dev");
  // One that is not set up has no locks.
  input.facts.zram_devices[0].device.disksize_bytes = 0;
  EXPECT_EQ(Find(MakeDoctorReport(input), "/dev/zram0"), nullptr);
}

// The owner probe compares addresses.
TEST(DoctorTest, ADeviceThatCannotBeReadHasNoOwnerProbe) {
  DoctorInput input = Host(Recorded("6.18"), TracepointsOnly);
  input.facts.zram_devices[0].read_error = EACCES;
  const DoctorReport report = MakeDoctorReport(input);
  EXPECT_EQ(Lock(report, "zram stream")->measured, "nothing");
  EXPECT_EQ(Lock(report, "zswap")->hold, Tier::kOwnerProbe);
}

TEST(DoctorTest, WithoutAddressesTheOwnerProbeDoesNotFindZswapsLock) {
  DoctorInput input = Host(Recorded("6.18"), TracepointsOnly);
  input.facts.kernel_addresses = false;
  input.facts.capabilities = {"CAP_BPF", "CAP_PERFMON"};
  const DoctorReport report = MakeDoctorReport(input);
  EXPECT_EQ(Lock(report, "zswap")->measured, "nothing");
  EXPECT_EQ(Lock(report, "zram stream")->hold, Tier::kOwnerProbe);
  ExpectProblem(report, "hides addresses", true, "CAP_SYSLOG");
}

// Debian's kernels ask more for perf than CAP_PERFMON.
TEST(DoctorTest, AParanoidPerfIsTheReasonWhyKprobesAreRefused) {
  DoctorInput input =
      Host(Recorded("6.18"), [](ProbeKind kind, const std::string& target) {
        return kind == ProbeKind::kKprobe || kind == ProbeKind::kKretprobe
                   ? absl::PermissionDeniedError(
                         absl::StrCat("attach kprobe/", target, ": EACCES"))
                   : absl::OkStatus();
      });
  input.facts.capabilities = {"CAP_BPF", "CAP_PERFMON"};
  input.facts.perf_event_paranoid = 3;
  ExpectProblem(MakeDoctorReport(input), "perf_event_paranoid is 3", false,
                "perf_event_paranoid=2");
  input.facts.perf_event_paranoid = 2;
  ExpectProblem(MakeDoctorReport(input), "a kprobe is refused", false,
                "report it");
}

TEST(DoctorTest, SplitStreamsAreTwoLocks) {
  const DoctorReport report =
      MakeDoctorReport(Host(Recorded("7.3-patched"), Permit));
  ASSERT_NE(Lock(report, "zram read stream"), nullptr);
  EXPECT_EQ(Lock(report, "zram read stream")->hold, Tier::kExact);
  EXPECT_EQ(Lock(report, "zram read stream")->model, LockModel::kRwsemShared);
  EXPECT_EQ(Lock(report, "zram stream")->model, LockModel::kSplitMutex);
}

// A program that does nothing was taken, the real one was not.
TEST(DoctorTest, ARefusedProgramIsPartOnly) {
  DoctorInput input = Host(Recorded("6.18"), Permit);
  const Attachment& first = input.plan.attachments.front();
  input.refused_programs = {{first.program, "load: EINVAL"}};
  const DoctorReport report = MakeDoctorReport(input);
  EXPECT_EQ(report.ExitStatus(), 1);
  ExpectProblem(report, first.program, true, "report it");
  const auto probe =
      std::find_if(report.probes.begin(), report.probes.end(),
                   [&](const Probe& p) { return p.name == first.Probe(); });
  ASSERT_NE(probe, report.probes.end());
  EXPECT_EQ(probe->state, ProbeState::kRefused);
  EXPECT_EQ(probe->reason, "load: EINVAL");
}

TEST(DoctorTest, AProgramThatMeasuresNoHoldMayBeRefused) {
  DoctorInput input = Host(Recorded("6.18"), Permit);
  input.refused_programs = {{"holds_now", "load: EINVAL"}};
  const DoctorReport report = MakeDoctorReport(input);
  EXPECT_EQ(report.ExitStatus(), 0);
  ExpectProblem(report, "holds_now", false, "report it");
  input.refused_programs = {{"peek", "load: EINVAL"}};
  EXPECT_EQ(MakeDoctorReport(input).ExitStatus(), 1);
}

TEST(DoctorTest, WithoutAnyProgramNothingIsMeasured) {
  DoctorInput input = Host(Recorded("6.18"), Permit);
  input.load_failure = "load the BPF programs: ENOMEM";
  const DoctorReport report = MakeDoctorReport(input);
  EXPECT_EQ(report.ExitStatus(), 69);
  EXPECT_TRUE(absl::StrContains(report.summary, "ENOMEM"));
  for (const Probe& probe : report.probes) {
    EXPECT_NE(probe.state, ProbeState::kAttached) << probe.name;
  }
}

TEST(DoctorTest, DetailsDoNotChangeTheVerdict) {
  DoctorInput input = Host(Recorded("6.18"), Permit);
  input.facts.environment.preempt = "";
  input.facts.kernel_addresses = false;
  input.facts.kptr_restrict = 2;
  input.facts.psi = false;
  input.facts.zswap_enabled = false;
  Mount(&input, "debugfs")->path = "";
  Mount(&input, "cgroup2")->path = "/sys/fs/cgroup/unified";
  const DoctorReport report = MakeDoctorReport(input);
  EXPECT_EQ(report.ExitStatus(), 0);
  ExpectProblem(report, "preemption mode", false, "mount -t debugfs");
  ExpectProblem(report, "kallsyms", false, "kptr_restrict=1");
  ExpectProblem(report, "PSI", false, "psi=1");
  ExpectProblem(report, "zswap is off", false, "parameters/enabled");
  ExpectProblem(report, "/sys/fs/cgroup/unified", false, "unified");
}

TEST(DoctorTest, ALockdownForbidsDebugfsAndNoMountHelps) {
  DoctorInput input = Host(Recorded("6.18"), Permit);
  input.facts.environment.preempt = "";
  input.facts.lockdown = "integrity";
  ExpectProblem(MakeDoctorReport(input), "preemption mode", false, "preempt=");
}

TEST(DoctorTest, ProblemsThatCostHoldsComeFirst) {
  DoctorInput input = Host(Recorded("6.18"), TracepointsOnly);
  input.facts.psi = false;
  const DoctorReport report = MakeDoctorReport(input);
  EXPECT_TRUE(std::is_partitioned(
      report.problems.begin(), report.problems.end(),
      [](const Problem& problem) { return problem.costs_holds; }));
}

TEST(DoctorTest, TwoClockReadsAreALowerBoundOfTheCost) {
  const DoctorReport report = MakeDoctorReport(Host(Recorded("6.18"), Permit));
  for (const LockCost& cost : report.costs) {
    EXPECT_EQ(cost.ns_per_hold, 40) << cost.lock;
    EXPECT_TRUE(cost.at_least);
  }
}

TEST(DoctorTest, ACalibratedHoldIsABetterBound) {
  DoctorInput input = Host(Recorded("6.18"), Permit);
  input.hold_cost_ns = 150;
  for (const LockCost& cost : MakeDoctorReport(input).costs) {
    EXPECT_EQ(cost.ns_per_hold, 150) << cost.lock;
    EXPECT_TRUE(cost.at_least);
  }
}

TEST(DoctorTest, TheKernelsCountOfRunningProgramsIsTheCost) {
  DoctorInput input = Host(Recorded("6.18"), Permit);
  input.running = {{"zram_get", {100, 20'000}}, {"zram_put", {100, 30'000}}};
  const DoctorReport report = MakeDoctorReport(input);
  ASSERT_EQ(report.costs.size(), 2u);
  EXPECT_EQ(report.costs[0].lock, "zram stream");
  EXPECT_EQ(report.costs[0].ns_per_hold, 500);
  EXPECT_FALSE(report.costs[0].at_least);
  EXPECT_TRUE(report.costs[1].at_least);  // zswap's did not run
  EXPECT_EQ(report.programs.size(), 2u);
}

// Functions inside zswap's lock are zram's, too.
TEST(DoctorTest, WhatHooksCostZramIsNotCalledTheCostOfZswap) {
  DoctorInput input = Host(Recorded("6.18"), Permit);
  input.running = {{"zswap_store_begin_k", {100, 10'000}},
                   {"zswap_acquire_store", {100, 10'000}},
                   {"zswap_release_store", {300, 30'000}}};
  EXPECT_EQ(MakeDoctorReport(input).costs[1].ns_per_hold, 500);
  EXPECT_FALSE(MakeDoctorReport(input).costs[1].at_least);
  input.running["zram_put"] = {200, 20'000};
  EXPECT_TRUE(MakeDoctorReport(input).costs[1].at_least);
}

TEST(DoctorTest, WhereNoHookRunsInTheLockNoCostIsInvented) {
  const DoctorReport report =
      MakeDoctorReport(Host(Recorded("6.18"), TracepointsOnly));
  for (const LockCost& cost : report.costs) {
    EXPECT_FALSE(cost.ns_per_hold.has_value()) << cost.lock;
    EXPECT_TRUE(absl::StrContains(cost.derivation, "not measured"));
  }
}

TEST(DoctorReportTest, TextBeginsWithTheSummaryAndHasEachProblemAndRemedy) {
  DoctorInput input = Host(Recorded("6.18"), TracepointsOnly);
  input.facts.lockdown = "integrity";
  const DoctorReport report = MakeDoctorReport(input);
  const std::string text = DoctorText(report);
  EXPECT_TRUE(absl::StartsWith(text, report.summary + "\n"));
  for (const Problem& problem : report.problems) {
    EXPECT_TRUE(absl::StrContains(
        text, absl::StrCat("  ", problem.what, "\n    -> ", problem.remedy)));
  }
  for (const std::string& sentence : report.not_measured) {
    EXPECT_TRUE(absl::StrContains(text, sentence));
  }
  for (const Probe& probe : report.probes) {
    EXPECT_TRUE(absl::StrContains(text, probe.name)) << probe.name;
  }
  EXPECT_TRUE(absl::StrContains(text, "owner_probe"));
}

TEST(DoctorReportTest, JsonIsTheMessageOfTheSchema) {
  DoctorInput input = Host(Recorded("6.18"), TracepointsOnly);
  input.facts.lockdown = "integrity";
  input.facts.config["CONFIG_KPROBES"] = "n";
  const absl::StatusOr<std::string> json = DoctorJson(MakeDoctorReport(input));
  ASSERT_TRUE(json.ok());
  v1::DoctorReport message;
  ASSERT_TRUE(
      google::protobuf::util::JsonStringToMessage(*json, &message).ok());
  EXPECT_EQ(message.verdict(), v1::DoctorReport::PART);
  EXPECT_EQ(message.exit_status(), 1u);
  ASSERT_EQ(message.locks_size(), 4);
  EXPECT_EQ(message.locks(0).hold_tier(), v1::TIER_OWNER_PROBE);
  EXPECT_EQ(message.host().lockdown(), "integrity");
  EXPECT_TRUE(message.host().has_memory_lock_bytes());
  EXPECT_EQ(message.host().kernel_config(0).name(), "CONFIG_KPROBES");
  EXPECT_EQ(message.capabilities_size(), 5);
  EXPECT_EQ(message.cost().clock_read_ns(), 20);
  EXPECT_FALSE(message.cost().locks(0).has_ns_per_hold());
}

TEST(DoctorReportTest, JsonLeavesOutWhatIsNotKnown) {
  DoctorInput input = Host(Recorded("6.18"), Permit);
  input.facts.bpf_stats.reset();
  input.facts.memory_lock_bytes.reset();
  input.clock.reset();
  const absl::StatusOr<std::string> json = DoctorJson(MakeDoctorReport(input));
  ASSERT_TRUE(json.ok());
  EXPECT_FALSE(absl::StrContains(*json, "\"bpf_stats\""));
  EXPECT_FALSE(absl::StrContains(*json, "\"memory_lock_bytes\""));
  EXPECT_FALSE(absl::StrContains(*json, "\"clock_read_ns\""));
  EXPECT_FALSE(absl::StrContains(*json, "\"ns_per_hold\""));
  // False is a statement.
  EXPECT_TRUE(absl::StrContains(*json, "\"user_namespace\": false"));
}

TEST(DoctorReportTest, HostileTextCannotBreakEither) {
  DoctorInput input = Host(Recorded("6.18"), Permit);
  input.facts.zswap_compressor = "x\x1b[2J\xff";
  const DoctorReport report = MakeDoctorReport(input);
  EXPECT_FALSE(absl::StrContains(DoctorText(report), "\x1b"));
  const absl::StatusOr<std::string> json = DoctorJson(report);
  ASSERT_TRUE(json.ok());
  EXPECT_TRUE(absl::StrContains(*json, "x?[2J?"));
}

}  // namespace
}  // namespace swaplock
