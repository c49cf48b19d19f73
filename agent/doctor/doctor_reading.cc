#include "agent/doctor/doctor_reading.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "agent/capture/hold_sampler.h"
#include "agent/capture/probe_trial.h"
#include "agent/host/host_file.h"
#include "agent/host/kernel_config.h"

namespace swaplock {
namespace {

// include/linux/proc_ns.h: PROC_USER_INIT_INO.
constexpr absl::string_view kInitialUserNamespace = "user:[4026531837]";

constexpr std::pair<const char*, int> kCapabilities[] = {
    {"CAP_BPF", CAP_BPF},
    {"CAP_PERFMON", CAP_PERFMON},
    {"CAP_SYS_ADMIN", CAP_SYS_ADMIN},
    {"CAP_SYSLOG", CAP_SYSLOG},
    {"CAP_DAC_READ_SEARCH", CAP_DAC_READ_SEARCH},
};

// Where context, environment and names are read from.
constexpr std::pair<const char*, const char*> kMounts[] = {
    {"cgroup2", "/sys/fs/cgroup"},
    {"debugfs", "/sys/kernel/debug"},
    {"securityfs", "/sys/kernel/security"},
    {"tracefs", "/sys/kernel/tracing"},
};

bool Exists(absl::string_view root, absl::string_view path) {
  struct stat s;
  return stat(absl::StrCat(root, path).c_str(), &s) == 0;
}

// errno of opening it as the agent does, to read one sector; 0: it can be.
int ReadError(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return errno;
  close(fd);
  return 0;
}

// Of the first function in it: data symbols of CPU 0 have the address 0.
bool ShowsAddresses(const std::string& kallsyms) {
  std::ifstream in(kallsyms);
  for (std::string line; std::getline(in, line);) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
    uint64_t address = 0;
    if (words.size() < 3 || (words[1] != "T" && words[1] != "t")) continue;
    return absl::SimpleHexAtoi(words[0], &address) && address != 0;
  }
  return false;
}

std::vector<MountFacts> ReadMounts(absl::string_view root) {
  std::vector<MountFacts> out;
  const std::string text = ReadHostFile(root, "/proc/self/mounts");
  for (const auto& [type, expected] : kMounts) {
    MountFacts mount;
    mount.type = type;
    mount.expected = expected;
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
      if (words.size() < 3 || words[2] != type) continue;
      if (mount.path.empty() || words[1] == expected) {
        mount.path = std::string(words[1]);
      }
    }
    out.push_back(std::move(mount));
  }
  return out;
}

uint64_t MonotonicNs() {
  timespec t = {};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(t.tv_nsec);
}

constexpr int kTries = 5;

// Mean time of a run of a program that reads the clock `reads` times, the
// shortest of some tries; 0 when it cannot be run. A socket filter: needs no
// more than CAP_BPF, and its test run repeats.
uint32_t TestRunNs(int reads, int repeat) {
  std::vector<bpf_insn> code(
      static_cast<size_t>(reads),
      {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ktime_get_ns});
  code.push_back({BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0});
  code.push_back({BPF_JMP | BPF_EXIT, 0, 0, 0, 0});
  const int program =
      bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "swaplock_clock", "GPL",
                    code.data(), code.size(), nullptr);
  if (program < 0) return 0;
  std::array<char, 64> packet = {};
  uint32_t shortest = 0;
  for (int i = 0; i < kTries; ++i) {
    LIBBPF_OPTS(bpf_test_run_opts, run);
    run.data_in = packet.data();
    run.data_size_in = packet.size();
    run.repeat = repeat;
    if (bpf_prog_test_run_opts(program, &run) != 0) break;
    if (shortest == 0 || run.duration < shortest) shortest = run.duration;
  }
  close(program);
  return shortest;
}

std::optional<ClockCost> BpfClockCost() {
  constexpr int kReads = 128;
  constexpr int kRepeat = 1000;
  const uint32_t with = TestRunNs(kReads, kRepeat);
  const uint32_t without = TestRunNs(0, kRepeat);
  // A run without reads may well last less than a nanosecond.
  if (with == 0 || with <= without) return std::nullopt;
  ClockCost out;
  out.ns = static_cast<double>(with - without) / kReads;
  out.in_bpf = true;
  out.how = absl::StrFormat(
      "bpf_ktime_get_ns() in a BPF program, the fastest of %d test runs of %d "
      "reads",
      kTries, kReads * kRepeat);
  return out;
}

ClockCost UserClockCost() {
  constexpr int kReads = 10'000;
  uint64_t shortest = std::numeric_limits<uint64_t>::max();
  for (int i = 0; i < kTries; ++i) {
    const uint64_t begin = MonotonicNs();
    for (int j = 0; j < kReads - 1; ++j) MonotonicNs();
    shortest = std::min(shortest, MonotonicNs() - begin);
  }
  ClockCost out;
  out.ns = static_cast<double>(shortest) / kReads;
  out.how = absl::StrFormat(
      "clock_gettime(CLOCK_MONOTONIC) in user space, the fastest of %d runs of "
      "%d reads, because no BPF program may be run; programs may need longer "
      "or less",
      kTries, kReads);
  return out;
}

// What the kernel counted of programs of the plan that run now, if it counts
// and this process may look (CAP_SYS_ADMIN). Several agents add up.
std::map<std::string, ProgramCost> RunningPrograms(const Plan& plan) {
  std::map<std::string, ProgramCost> out;
  for (uint32_t id = 0; bpf_prog_get_next_id(id, &id) == 0;) {
    const int fd = bpf_prog_get_fd_by_id(id);
    if (fd < 0) continue;
    bpf_prog_info info = {};
    uint32_t length = sizeof(info);
    if (bpf_obj_get_info_by_fd(fd, &info, &length) == 0 && info.run_cnt > 0) {
      for (const Attachment& a : plan.attachments) {
        // The kernel keeps the first 15 characters of a name; what begins
        // alike is counted once.
        if (a.program.substr(0, BPF_OBJ_NAME_LEN - 1) != info.name) continue;
        out[a.program].runs += info.run_cnt;
        out[a.program].run_time_ns += info.run_time_ns;
        break;
      }
    }
    close(fd);
  }
  return out;
}

}  // namespace

std::set<std::string> EffectiveCapabilities(absl::string_view status) {
  std::set<std::string> out;
  for (absl::string_view line : absl::StrSplit(status, '\n')) {
    uint64_t bits = 0;
    if (!absl::ConsumePrefix(&line, "CapEff:") ||
        !absl::SimpleHexAtoi(absl::StripAsciiWhitespace(line), &bits)) {
      continue;
    }
    for (const auto& [name, bit] : kCapabilities) {
      if ((bits >> bit & 1) != 0) out.insert(name);
    }
  }
  return out;
}

std::string LockdownMode(absl::string_view text) {
  for (const char* mode : {"none", "integrity", "confidentiality"}) {
    if (absl::StrContains(text, absl::StrCat("[", mode, "]"))) return mode;
  }
  return "";
}

HostFacts ReadHostFacts(absl::string_view root) {
  HostFacts out;
  out.environment = ReadEnvironment(root);
  out.config = ReadKernelConfig(root);
  out.lockdown =
      LockdownMode(ReadHostValue(root, "/sys/kernel/security/lockdown"));
  out.uid = geteuid();
  std::array<char, 64> target = {};
  const ssize_t length =
      readlink(absl::StrCat(root, "/proc/self/ns/user").c_str(), target.data(),
               target.size());
  out.user_namespace =
      length > 0 &&
      absl::string_view(target.data(), static_cast<size_t>(length)) !=
          kInitialUserNamespace;
  out.capabilities =
      EffectiveCapabilities(ReadHostFile(root, "/proc/self/status"));
  out.btf_file = Exists(root, "/sys/kernel/btf/vmlinux");
  out.kprobes = Exists(root, "/sys/bus/event_source/devices/kprobe/type");
  int number = 0;
  if (absl::SimpleAtoi(
          ReadHostValue(root, "/proc/sys/kernel/bpf_stats_enabled"), &number)) {
    out.bpf_stats = number != 0;
  }
  if (absl::SimpleAtoi(ReadHostValue(root, "/proc/sys/kernel/kptr_restrict"),
                       &number)) {
    out.kptr_restrict = number;
  }
  if (absl::SimpleAtoi(
          ReadHostValue(root, "/proc/sys/kernel/perf_event_paranoid"),
          &number)) {
    out.perf_event_paranoid = number;
  }
  out.kernel_addresses = ShowsAddresses(absl::StrCat(root, "/proc/kallsyms"));
  // With psi=0 the files are there and cannot be opened.
  out.psi = !ReadHostValue(root, "/proc/pressure/cpu").empty();
  rlimit limit = {};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
      limit.rlim_cur != RLIM_INFINITY) {
    out.memory_lock_bytes = limit.rlim_cur;
  }
  out.mounts = ReadMounts(root);
  out.zram_loaded = Exists(root, "/sys/class/zram-control") ||
                    Exists(root, "/sys/module/zram");
  for (ZramDevice& device : ReadZramDevices(root)) {
    // One that is not set up is left alone: while it is open, nobody can
    // remove it.
    const int error = device.disksize_bytes == 0
                          ? 0
                          : ReadError(absl::StrCat(root, "/dev/", device.name));
    // It may have been removed meanwhile.
    if (error != 0 && !Exists(root, absl::StrCat("/sys/block/", device.name))) {
      continue;
    }
    out.zram_devices.push_back({std::move(device), error});
  }
  out.zswap_present = Exists(root, "/sys/module/zswap");
  const std::string enabled =
      ReadHostValue(root, "/sys/module/zswap/parameters/enabled");
  if (!enabled.empty()) out.zswap_enabled = enabled == "Y";
  out.zswap_compressor = ZswapAlgorithm(root);
  return out;
}

DoctorInput ReadDoctorInput() {
  libbpf_set_print(nullptr);
  DoctorInput out;
  out.facts = ReadHostFacts();
  out.symbols = ReadKernelSymbols();
  {
    ProbeTrial trial(out.symbols);
    out.plan =
        MakePlan(out.symbols, [&](ProbeKind kind, const std::string& target) {
          return trial.Try(kind, target);
        });
  }
  if (!out.plan.attachments.empty()) {
    // A kernel may take a program that does nothing and not the real one.
    constexpr int kCellsPerCpu = 64;
    const auto sampler = HoldSampler::Load(out.symbols, out.plan, kCellsPerCpu);
    if (sampler.ok()) {
      out.refused_programs = (*sampler)->refused();
      const auto calibration = (*sampler)->Calibrate();
      if (calibration.ok() && calibration->cost_ns > 0) {
        out.hold_cost_ns = calibration->cost_ns;
      }
    } else {
      out.load_failure = std::string(sampler.status().message());
    }
  }
  out.running = RunningPrograms(out.plan);
  out.clock = BpfClockCost();
  if (!out.clock.has_value()) out.clock = UserClockCost();
  return out;
}

}  // namespace swaplock
