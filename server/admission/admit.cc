#include "server/admission/admit.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/plain_text.h"

namespace swaplock {
namespace {

constexpr size_t kMaxCells = 512;
constexpr size_t kMaxTopHolds = 64;
constexpr size_t kMaxActors = 32;  // preemptors or waiters of a hold
constexpr size_t kMaxFrames = 64;  // of a stack
constexpr size_t kMaxProbes = 256;
constexpr size_t kMaxSentences = 64;
constexpr size_t kMaxLabels = 32;
constexpr size_t kMaxContext = 1024;

// 2^50 ns are 13 days, so thousands of such windows fit a signed 64-bit sum.
constexpr uint64_t kMaxNumber = uint64_t{1} << 50;
constexpr uint64_t kMaxKeyNumber = uint64_t{1} << 62;
constexpr uint32_t kMaxCpus = 8192;  // NR_CPUS of the kernel's largest builds

using Checked = std::optional<Refusal>;

Checked CheckText(absl::string_view field, absl::string_view text,
                  size_t max_bytes) {
  if (text.size() <= max_bytes && IsPlainText(text)) return std::nullopt;
  return Refusal{RejectReason::kBadText,
                 absl::StrCat(field, " is not plain UTF-8 text of at most ",
                              max_bytes, " bytes")};
}

Checked CheckNumber(absl::string_view field, uint64_t value,
                    uint64_t max = kMaxNumber) {
  if (value <= max) return std::nullopt;
  return Refusal{RejectReason::kImplausible,
                 absl::StrCat(field, " is ", value, ", more than ", max)};
}

Checked CheckSize(absl::string_view field, size_t size, size_t max) {
  if (size <= max) return std::nullopt;
  return Refusal{
      RejectReason::kTooMany,
      absl::StrCat("it has ", size, " ", field, ", more than ", max)};
}

// The first refusal of several checks.
Checked FirstOf(std::initializer_list<Checked> checks) {
  for (const Checked& check : checks) {
    if (check.has_value()) return check;
  }
  return std::nullopt;
}

Checked CheckKernel(absl::string_view release) {
  const auto allowed = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           absl::string_view("._+~-").find(c) != absl::string_view::npos;
  };
  if (!release.empty() && release.size() <= 64 &&
      std::all_of(release.begin(), release.end(), allowed)) {
    return std::nullopt;
  }
  return Refusal{RejectReason::kBadKernel,
                 "kernel_release is not 1 to 64 letters, digits or ._+~-"};
}

Checked CheckEnvironment(const Environment& e) {
  Checked refusal = FirstOf({
      CheckKernel(e.kernel_release),
      CheckText("kernel_version", e.kernel_version, 256),
      CheckText("kernel_build_id", e.kernel_build_id, 128),
      CheckText("architecture", e.architecture, 32),
      CheckText("preempt", e.preempt, 16),
      CheckText("agent_version", e.agent_version, 64),
      CheckText("swap_backend", e.swap_backend, 32),
      CheckNumber("memory_bytes", e.memory_bytes, kMaxKeyNumber),
      CheckSize("labels", e.labels.size(), kMaxLabels),
  });
  for (const auto& [name, value] : e.labels) {
    if (refusal.has_value()) break;
    refusal = FirstOf({CheckText("a label's name", name, 64),
                       CheckText("a label's value", value, 256)});
  }
  return refusal;
}

Checked CheckCoverage(const Coverage& coverage) {
  Checked refusal =
      FirstOf({CheckSize("probes", coverage.probes.size(), kMaxProbes),
               CheckSize("sentences of what it cannot measure",
                         coverage.not_measured.size(), kMaxSentences)});
  for (const Probe& probe : coverage.probes) {
    if (refusal.has_value()) break;
    refusal = FirstOf({CheckText("a probe's name", probe.name, 128),
                       CheckText("a probe's reason", probe.reason, 512)});
  }
  for (const std::string& sentence : coverage.not_measured) {
    if (refusal.has_value()) break;
    refusal = CheckText("not_measured", sentence, 512);
  }
  return refusal;
}

// The buckets say between what the sum must lie; twice as far is let pass, for
// a copy that was taken while a value was being added.
Checked CheckSum(absl::string_view field, const Distribution& d) {
  double least = 0;
  double most = 0;
  for (int i = Histogram::kUnderflowIndex; i <= Histogram::kOverflowIndex;
       ++i) {
    if (d.buckets.bucket(i) == 0) continue;
    const auto count = static_cast<double>(d.buckets.bucket(i));
    least += count * Histogram::LowerBoundNs(i);
    most += count * Histogram::UpperBoundNs(i);
  }
  const auto sum = static_cast<double>(d.sum_ns);
  if (sum <= 2 * most && sum >= least / 2) return std::nullopt;
  return Refusal{RejectReason::kImplausible,
                 absl::StrCat(field, " has a sum of ", d.sum_ns,
                              " ns, which its buckets cannot have")};
}

Checked CheckDistribution(absl::string_view field, const Distribution& d) {
  return FirstOf({CheckNumber(field, d.Count()), CheckNumber(field, d.sum_ns),
                  CheckNumber(field, d.max_ns), CheckSum(field, d)});
}

// More often than this nobody takes a lock: 100 ns a time on every CPU.
constexpr double kMostPerCpuSecond = 1e7;

Checked CheckRate(const Window& window, const Cell& cell) {
  if (window.environment.cpus == 0) return std::nullopt;  // it did not say
  const double seconds =
      static_cast<double>(window.end_boottime_ns - window.start_boottime_ns) /
      1e9;
  const double most =
      std::max(1.0, seconds) * window.environment.cpus * kMostPerCpuSecond;
  const uint64_t times = std::max(
      {cell.acquisitions, cell.contended, cell.wait.Count(), cell.hold.Count(),
       cell.runnable.Count(), cell.blocked.Count(), cell.latency.Count()});
  if (static_cast<double>(times) <= most) return std::nullopt;
  return Refusal{
      RejectReason::kImplausible,
      absl::StrCat("a cell counts ", times, " times in ", seconds, " s on ",
                   window.environment.cpus, " CPUs, more than one in 100 ns")};
}

// What the runnable part is made of, with `preempted` holding `throttled`.
// Numbers of up to kMaxNumber do not overflow.
Checked CheckSplit(absl::string_view what, uint64_t runnable,
                   uint64_t preempted, uint64_t woken, uint64_t throttled) {
  Checked refusal =
      FirstOf({CheckNumber(absl::StrCat(what, "preempted_ns"), preempted),
               CheckNumber(absl::StrCat(what, "woken_ns"), woken),
               CheckNumber(absl::StrCat(what, "throttled_ns"), throttled)});
  if (refusal.has_value()) return refusal;
  if (preempted + woken > runnable) {
    return Refusal{
        RejectReason::kImplausible,
        absl::StrCat(what, "preempted_ns ", preempted, " and woken_ns ", woken,
                     " exceed the runnable part, ", runnable)};
  }
  if (throttled > preempted) {
    return Refusal{RejectReason::kImplausible,
                   absl::StrCat(what, "throttled_ns ", throttled,
                                " exceeds preempted_ns ", preempted)};
  }
  return std::nullopt;
}

// Latency is measured in cells of its own: /metrics makes their series without
// role and mode.
Checked CheckOperation(const Cell& c) {
  if (c.latency_tier == Tier::kUnspecified) {
    if (c.latency.Count() == 0) return std::nullopt;
    return Refusal{RejectReason::kImplausible,
                   absl::StrCat("latency has ", c.latency.Count(),
                                " values, but no tier")};
  }
  if (c.key.role == Role::kUnspecified && c.key.mode == Mode::kUnspecified &&
      c.hold_tier == Tier::kUnspecified && c.wait_tier == Tier::kUnspecified) {
    return std::nullopt;
  }
  return Refusal{RejectReason::kImplausible,
                 "latency is in a cell of a lock, not of an operation"};
}

Checked CheckCell(const Cell& c) {
  return FirstOf({
      CheckText("device", c.key.device, 32),
      CheckText("algorithm", c.key.algorithm, 32),
      CheckNumber("acquisitions", c.acquisitions),
      CheckNumber("contended", c.contended),
      CheckDistribution("wait", c.wait),
      CheckDistribution("hold", c.hold),
      CheckDistribution("runnable", c.runnable),
      CheckDistribution("blocked", c.blocked),
      CheckNumber("on_cpu_ns", c.on_cpu_ns),
      CheckNumber("unknown_ns", c.unknown_ns),
      CheckNumber("waits_owner_running", c.waits_owner_running),
      CheckNumber("waits_owner_runnable", c.waits_owner_runnable),
      CheckNumber("waits_owner_blocked", c.waits_owner_blocked),
      CheckNumber("wait_owner_runnable_ns", c.wait_owner_runnable_ns),
      CheckNumber("inversions", c.inversions),
      CheckSplit("", c.runnable.sum_ns, c.preempted_ns, c.woken_ns,
                 c.throttled_ns),
      CheckNumber("migrations", c.migrations),
      CheckDistribution("latency", c.latency),
      CheckOperation(c),
  });
}

Checked CheckHold(const Hold& hold) {
  Checked refusal = FirstOf({
      CheckText("comm", hold.comm, 32),
      CheckText("cgroup", hold.cgroup, 4096),
      CheckNumber("a hold", hold.hold_ns),
      CheckNumber("a hold's wait", hold.wait_ns),
      CheckSplit("a hold's ", hold.runnable_ns, hold.preempted_ns,
                 hold.woken_ns, hold.throttled_ns),
      CheckNumber("a hold's stall_ns", hold.stall_ns),
      CheckNumber("a hold's inversion_ns", hold.inversion_ns),
  });
  for (const auto* actors : {&hold.preemptors, &hold.waiters}) {
    if (refusal.has_value()) break;
    refusal = CheckSize("preemptors or waiters of a hold", actors->size(),
                        kMaxActors);
    for (const Actor& actor : *actors) {
      if (refusal.has_value()) break;
      refusal = FirstOf({CheckText("comm", actor.comm, 32),
                         CheckNumber("an actor's ns", actor.ns)});
    }
  }
  for (const auto* stack : {&hold.release_stack, &hold.switch_stack}) {
    if (refusal.has_value()) break;
    refusal = CheckSize("frames of a stack", stack->size(), kMaxFrames);
    for (const std::string& frame : *stack) {
      if (refusal.has_value()) break;
      refusal = CheckText("a frame", frame, 256);
    }
  }
  return refusal;
}

Checked CheckContext(const Context& context) {
  Checked refusal = CheckSize(
      "names in its context",
      context.counters.size() + context.gauges.size() + context.facts.size(),
      kMaxContext);
  for (const auto* numbers : {&context.counters, &context.gauges}) {
    for (const auto& [name, value] : *numbers) {
      if (refusal.has_value()) break;
      refusal = FirstOf(
          {CheckText("a name in the context", name, 128),
           CheckNumber("a number in the context", value, kMaxKeyNumber)});
    }
  }
  for (const auto& [name, value] : context.facts) {
    if (refusal.has_value()) break;
    refusal = FirstOf({CheckText("a name in the context", name, 128),
                       CheckText("a fact in the context", value, 256)});
  }
  return refusal;
}

}  // namespace

absl::string_view Name(RejectReason reason) {
  switch (reason) {
    case RejectReason::kMalformed:
      return "malformed";
    case RejectReason::kWrongHost:
      return "wrong_host";
    case RejectReason::kBadKernel:
      return "bad_kernel_release";
    case RejectReason::kBadText:
      return "bad_text";
    case RejectReason::kTooMany:
      return "too_many";
    case RejectReason::kImplausible:
      return "implausible";
    case RejectReason::kTooFast:
      return "too_fast";
    case RejectReason::kBusy:
      return "busy";
    case RejectReason::kStorage:
      return "storage";
  }
  return "malformed";
}

std::optional<Refusal> RefuseHost(absl::string_view host_id) {
  if (host_id.empty()) {
    return Refusal{RejectReason::kBadText, "host_id is empty"};
  }
  return CheckText("host_id", host_id, 128);
}

std::optional<Refusal> Refuse(const Window& window, absl::string_view host_id) {
  if (window.key.host_id != host_id) {
    return Refusal{RejectReason::kWrongHost,
                   "its host_id is not the one its stream said hello with"};
  }
  Checked refusal = FirstOf({
      CheckNumber("epoch", window.key.epoch, kMaxKeyNumber),
      CheckNumber("seq", window.key.seq, kMaxKeyNumber),
      CheckNumber("agent_cpu_ns", window.overhead.agent_cpu_ns),
      CheckEnvironment(window.environment),
      CheckCoverage(window.coverage),
      CheckContext(window.context),
      CheckSize("cells", window.cells.size(), kMaxCells),
      CheckSize("top holds", window.top_holds.size(), kMaxTopHolds),
      CheckSize("holds in progress", window.holds_in_progress.size(),
                kMaxTopHolds),
  });
  // FromProto has checked that the end is after the start.
  if (!refusal.has_value() && window.environment.cpus > kMaxCpus) {
    refusal = Refusal{RejectReason::kImplausible,
                      absl::StrCat("cpus is ", window.environment.cpus)};
  }
  for (const auto& [reason, events] : window.losses) {
    if (refusal.has_value()) break;
    refusal = CheckNumber("losses", events);
  }
  for (const Cell& cell : window.cells) {
    if (refusal.has_value()) break;
    refusal = FirstOf({CheckCell(cell), CheckRate(window, cell)});
  }
  for (const auto* holds : {&window.top_holds, &window.holds_in_progress}) {
    for (const Hold& hold : *holds) {
      if (refusal.has_value()) break;
      refusal = CheckHold(hold);
    }
  }
  return refusal;
}

}  // namespace swaplock
