#include "agent/capture/probe_trial.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

// r0 = 0; exit
constexpr bpf_insn kReturnZero[] = {
    {BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0},
    {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
};

absl::Status Refused(ProbeKind kind, const std::string& target,
                     const char* step, int error) {
  const std::string what = absl::StrCat(
      step, " ", Name(kind), "/", target, ": ",
      strerrorname_np(error) == nullptr ? "error" : strerrorname_np(error));
  if (error == EPERM || error == EACCES) {
    const std::string why = WhyNotPermitted();
    return absl::PermissionDeniedError(
        why.empty() ? what : absl::StrCat(what, " (", why, ")"));
  }
  return absl::FailedPreconditionError(what);
}

}  // namespace

ProbeTrial::ProbeTrial(const KernelSymbols& symbols) : symbols_(symbols) {}

ProbeTrial::~ProbeTrial() {
  for (const auto& [module, fd] : btf_descriptors_) {
    if (fd > 0) close(fd);
  }
}

int ProbeTrial::BtfDescriptor(const std::string& module) {
  if (module.empty()) return 0;
  const auto known = btf_descriptors_.find(module);
  if (known != btf_descriptors_.end()) return known->second;
  int& result = btf_descriptors_[module];
  result = -1;
  for (uint32_t id = 0; bpf_btf_get_next_id(id, &id) == 0;) {
    const int fd = bpf_btf_get_fd_by_id(id);
    if (fd < 0) continue;
    char name[64] = "";
    bpf_btf_info info = {};
    info.name = reinterpret_cast<uintptr_t>(name);
    info.name_len = sizeof(name);
    uint32_t length = sizeof(info);
    if (bpf_obj_get_info_by_fd(fd, &info, &length) == 0 && info.kernel_btf &&
        module == name) {
      result = fd;
      break;
    }
    close(fd);
  }
  return result;
}

absl::Status ProbeTrial::TryKprobe(const std::string& target) {
  const ProbeKind kind = ProbeKind::kKprobe;
  uint32_t type = 0;
  std::ifstream type_file("/sys/bus/event_source/devices/kprobe/type");
  if (!(type_file >> type)) {
    return absl::UnavailableError(
        "this kernel has no kprobes for perf "
        "(/sys/bus/event_source/devices/kprobe)");
  }
  const int program =
      bpf_prog_load(BPF_PROG_TYPE_KPROBE, "swaplock_trial", "GPL", kReturnZero,
                    sizeof(kReturnZero) / sizeof(kReturnZero[0]), nullptr);
  if (program < 0) return Refused(kind, target, "load", -program);
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = type;
  attributes.config1 = reinterpret_cast<uintptr_t>(target.c_str());
  const int event = static_cast<int>(syscall(SYS_perf_event_open, &attributes,
                                             -1, 0, -1, PERF_FLAG_FD_CLOEXEC));
  int error = event < 0 ? errno : 0;
  if (error == 0 && ioctl(event, PERF_EVENT_IOC_SET_BPF, program) != 0) {
    error = errno;
  }
  if (event >= 0) close(event);
  close(program);
  if (error != 0) return Refused(kind, target, "attach", error);
  return absl::OkStatus();
}

absl::Status ProbeTrial::Try(ProbeKind kind, const std::string& target) {
  if (kind == ProbeKind::kKprobe || kind == ProbeKind::kKretprobe) {
    return TryKprobe(target);  // what takes the one takes the other
  }
  LIBBPF_OPTS(bpf_prog_load_opts, options);
  if (kind == ProbeKind::kTracepoint) {
    const int id = libbpf_find_vmlinux_btf_id(target.c_str(), BPF_TRACE_RAW_TP);
    if (id < 0) return Refused(kind, target, "find", -id);
    options.expected_attach_type = BPF_TRACE_RAW_TP;
    options.attach_btf_id = static_cast<uint32_t>(id);
  } else {
    const auto function = symbols_.functions.find(target);
    if (function == symbols_.functions.end()) {
      return Refused(kind, target, "find", ENOENT);
    }
    const int descriptor = BtfDescriptor(function->second.module);
    if (descriptor < 0) return Refused(kind, target, "find BTF of", ENOENT);
    options.expected_attach_type =
        kind == ProbeKind::kFentry ? BPF_TRACE_FENTRY : BPF_TRACE_FEXIT;
    options.attach_btf_id = function->second.btf_id;
    options.attach_btf_obj_fd = static_cast<uint32_t>(descriptor);
  }
  const int program =
      bpf_prog_load(BPF_PROG_TYPE_TRACING, "swaplock_trial", "GPL", kReturnZero,
                    sizeof(kReturnZero) / sizeof(kReturnZero[0]), &options);
  if (program < 0) return Refused(kind, target, "load", -program);
  const int link = bpf_raw_tracepoint_open(nullptr, program);
  const int error = link < 0 ? -link : 0;
  if (link >= 0) close(link);
  close(program);
  if (error != 0) return Refused(kind, target, "attach", error);
  return absl::OkStatus();
}

std::string WhyNotPermitted() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (syscall(SYS_capget, &header, data) == 0) {
    const uint64_t effective =
        data[0].effective | (static_cast<uint64_t>(data[1].effective) << 32);
    const auto has = [effective](int capability) {
      return (effective >> capability & 1) != 0;
    };
    if (!has(CAP_SYS_ADMIN) && (!has(CAP_BPF) || !has(CAP_PERFMON))) {
      return "this process lacks CAP_BPF and CAP_PERFMON: run it as root";
    }
  }
  std::string line;
  std::ifstream lockdown("/sys/kernel/security/lockdown");
  if (!lockdown.is_open()) {
    return "this process may use BPF; a kernel lockdown is likely, but "
           "securityfs is not mounted to tell";
  }
  if (std::getline(lockdown, line) && !absl::StrContains(line, "[none]")) {
    return absl::StrCat("kernel lockdown is ", line);
  }
  return "";
}

}  // namespace swaplock
