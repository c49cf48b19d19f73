#include "agent/capture/bpf_source.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/capture/device_cells.h"
#include "agent/capture/hold_sampler.h"
#include "agent/capture/host_locks.h"
#include "agent/capture/kernel_names.h"
#include "agent/capture/kernel_symbols.h"
#include "agent/capture/lock_catalog.h"
#include "agent/capture/probe_trial.h"
#include "agent/capture/timing_budget.h"
#include "agent/capture/top_holds.h"
#include "agent/capture/window_builder.h"
#include "agent/capture/window_span.h"
#include "agent/host/context.h"
#include "agent/host/environment.h"
#include "common/log.h"

namespace swaplock {
namespace {

// How often zram devices and modules are looked at, and the ring is drained.
constexpr absl::Duration kTick = absl::Seconds(1);

// Memory for cells stays below 6 MiB for all CPUs together, but never below
// what two devices need (with split streams: one).
int CellsPerCpu(const Plan& plan, int cpus) {
  const int fit = static_cast<int>((6 << 20) / sizeof(sl_cell)) / cpus;
  return std::clamp(fit,
                    FirstDeviceCell(plan) +
                        (plan.SplitStreams() ? 1 : 2) * DeviceCells(plan, 1),
                    64);
}

bool Exists(const char* path) {
  struct stat s;
  return stat(path, &s) == 0;
}

class BpfSource : public WindowSource {
 public:
  BpfSource(const BpfSourceOptions& options, const StopEvent& stop)
      : options_(options),
        stop_(stop),
        interval_(options.interval),
        top_(options.top_k, &names_),
        locks_(options.probe_zram_devices, &builder_) {}

  // Loads what this kernel takes; afterwards windows can be made either way.
  void Start() {
    BeginWindow();
    Load();
  }

  absl::StatusOr<Window> Next() override {
    if (finished_) return absl::OutOfRangeError("stopped");
    bool changed = false;
    bool stopped = false;
    for (;;) {
      const absl::Duration elapsed = absl::Nanoseconds(static_cast<int64_t>(
          ReadClocks().boottime_ns - span_.start().boottime_ns));
      if (elapsed >= interval_) break;
      const CutEvent* const cut = options_.cut;
      stopped = stop_.WaitFor(std::min(kTick, interval_ - elapsed),
                              cut == nullptr ? -1 : cut->fd());
      Drain();
      modules_changed_ = btf_zram_ != Exists("/sys/kernel/btf/zram") ||
                         btf_zsmalloc_ != Exists("/sys/kernel/btf/zsmalloc");
      changed = locks_.Changed() || modules_changed_;
      const bool asked = cut != nullptr && cut->Take();
      if (stopped || changed || asked) break;
    }
    Window window = EndWindow();
    finished_ = stopped;
    if (stopped) return window;
    if (modules_changed_) {
      Load();
    } else if (changed) {
      locks_.Find();
    }
    return window;
  }

  void Apply(const SourceSettings& settings) override {
    interval_ = settings.interval > absl::ZeroDuration() ? settings.interval
                                                         : options_.interval;
    top_.set_top_k(settings.top_k > 0 ? settings.top_k : options_.top_k);
    top_hold_ns_ = settings.top_hold_ns;
  }

 private:
  void Load() {
    modules_changed_ = false;
    names_.ForgetFunctions();
    locks_.Restart(nullptr, {}, 0, nullptr);
    sampler_.reset();
    builder_.Restart();
    btf_zram_ = Exists("/sys/kernel/btf/zram");
    btf_zsmalloc_ = Exists("/sys/kernel/btf/zsmalloc");
    symbols_ = ReadKernelSymbols();
    MakePlanAndLoad();
    failure_.clear();
    if (!symbols_.has_btf) {
      failure_ =
          "this kernel has no type information (/sys/kernel/btf/vmlinux), so "
          "no BPF program can be loaded: nothing is measured";
    } else if (plan_.attachments.empty()) {
      failure_ = "the kernel takes none of the probes: nothing is measured";
      for (const Probe& probe : plan_.probes) {
        if (probe.state == ProbeState::kRefused) {
          failure_ = absl::StrCat(probe.reason, ": nothing is measured");
        }
      }
    } else if (!load_status_.ok()) {
      failure_ = absl::StrCat(load_status_.message(), ": nothing is measured");
    }
    if (!failure_.empty()) Log(LogLevel::kWarning, failure_);
    kernel_window_ = 1;
    locks_.Restart(&symbols_, plan_, cells_per_cpu_, sampler_.get());
    if (sampler_ == nullptr) return;
    const auto calibration = sampler_->Calibrate();
    calibration_ = calibration.ok() ? *calibration : HoldSampler::Calibration();
    budget_.emplace(options_.cpu_budget, calibration_.cost_ns);
    stats_before_.clear();
    losses_before_ = sampler_->ReadLosses();
    names_.SetAsk([this](uint64_t address) {
      return sampler_ == nullptr ? "" : sampler_->FunctionName(address);
    });
    // Locks first, so that no hold is counted before its device has a name.
    locks_.Find();
    BeginWindow();
    locks_.Attach();
  }

  // Trial probes are empty programs, so what a kernel takes of ours is known
  // only by loading them. If it refuses one, the plan is made once more without
  // it, and may find another way.
  void MakePlanAndLoad() {
    ProbeTrial trial(symbols_);
    std::map<std::pair<ProbeKind, std::string>, std::string> refused;
    for (const bool last : {false, true}) {
      plan_ =
          MakePlan(symbols_, [&](ProbeKind kind, const std::string& target) {
            // fexit goes with fentry: one mechanism.
            const absl::string_view capability =
                kind == ProbeKind::kFexit ? "fentry" : Name(kind);
            if (Without(capability)) {
              return absl::PermissionDeniedError(absl::StrCat(
                  "the agent was told to do without ", capability));
            }
            const auto known = refused.find({kind, target});
            return known == refused.end()
                       ? trial.Try(kind, target)
                       : absl::FailedPreconditionError(known->second);
          });
      load_status_ = absl::OkStatus();
      if (plan_.attachments.empty()) return;
      const int cpus =
          std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)));
      cells_per_cpu_ = CellsPerCpu(plan_, cpus);
      absl::StatusOr<std::unique_ptr<HoldSampler>> sampler =
          HoldSampler::Load(symbols_, plan_, cells_per_cpu_);
      load_status_ = sampler.status();
      if (!sampler.ok()) return;
      sampler_ = *std::move(sampler);
      if (sampler_->refused().empty() || last) return;
      for (const auto& [program, reason] : sampler_->refused()) {
        for (const Attachment& a : plan_.attachments) {
          if (a.program != program) continue;
          // The planner asks about kprobes for both.
          const ProbeKind kind =
              a.kind == ProbeKind::kKretprobe ? ProbeKind::kKprobe : a.kind;
          refused[{kind, a.target}] = reason;
        }
      }
      sampler_.reset();
    }
  }

  bool Without(absl::string_view capability) const {
    return std::find(options_.without.begin(), options_.without.end(),
                     capability) != options_.without.end();
  }

  void BeginWindow() {
    span_.Begin(ReadClocks());
    context_.Restart();
  }

  void Drain() {
    if (sampler_ == nullptr) return;
    sampler_->DrainTop([this](const sl_top_hold& h) { top_.AddHold(h); },
                       [this](const sl_top_wait& w) { top_.AddWait(w); });
  }

  Window EndWindow() {
    Window window;
    window.key = {options_.host_id, options_.boot_id, options_.epoch, ++seq_};
    std::map<int, sl_cell> totals;
    std::map<int, sl_dist> latencies;
    const uint32_t ended = kernel_window_;
    if (sampler_ != nullptr) {
      sampler_->SetWindow(++kernel_window_);
      for (const auto& [index, meaning] : builder_.meanings()) {
        totals[index] = sampler_->ReadCell(index, ended);
      }
      for (const auto& [index, meaning] : builder_.latency_meanings()) {
        latencies[index] = sampler_->ReadLatency(index, ended);
      }
    }
    // Here the window ends and the next begins; what follows may take a while.
    const uint64_t began_monotonic_ns = span_.start().monotonic_ns;
    span_.End(ReadClocks(), &window);
    if (sampler_ != nullptr) {
      Drain();
      std::map<int, uint32_t> index_of;
      window.cells = builder_.TakeCells(totals, &index_of);
      for (Cell& cell : builder_.TakeOperations(latencies)) {
        window.cells.push_back(std::move(cell));
      }
      window.top_holds = top_.Take(ended, began_monotonic_ns, index_of);
      while (!window.top_holds.empty() &&
             window.top_holds.back().hold_ns < top_hold_ns_) {
        window.top_holds.pop_back();
      }
      window.holds_in_progress = top_.InProgress(
          sampler_->ReadHoldsInProgress(), began_monotonic_ns, index_of);
      const std::vector<uint64_t> losses = sampler_->ReadLosses();
      for (size_t i = 1; i < losses.size(); ++i) {
        const uint64_t lost = losses[i] - losses_before_[i];
        if (lost > 0) window.losses[static_cast<LossReason>(i)] += lost;
      }
      losses_before_ = losses;
    }
    window.environment = ReadEnvironment();
    window.environment.agent_version = options_.agent_version;
    window.environment.labels = options_.labels;
    window.coverage = TakeCoverage(&window.losses);
    window.context = context_.Take();
    const OwnUsage usage = ReadOwnUsage();
    window.overhead.agent_cpu_ns = usage.cpu_ns - usage_before_.cpu_ns;
    usage_before_ = usage;
    window.overhead.rss_bytes = usage.rss_bytes;
    if (sampler_ != nullptr) {
      window.overhead.map_bytes = sampler_->map_bytes();
      window.overhead.null_hold_ns = calibration_.hold_ns;
      window.overhead.timing_cost_ns = calibration_.cost_ns;
      window.overhead.timing_shift = budget_->shift();
      KeepWithinBudget(window.cells,
                       window.end_boottime_ns - window.start_boottime_ns);
    }
    return window;
  }

  void KeepWithinBudget(const std::vector<Cell>& cells, uint64_t elapsed_ns) {
    uint64_t holds = 0;
    for (const Cell& cell : cells) holds += cell.acquisitions;
    budget_->Observe(holds, elapsed_ns);
    sampler_->SetTimingShift(budget_->shift());
  }

  Coverage TakeCoverage(std::map<LossReason, uint64_t>* losses) {
    Coverage out;
    std::map<std::string, Probe> probes;
    const Plan& plan = locks_.plan();
    for (const Probe& probe : plan.probes) {
      probes[probe.name] = probe;
      if (sampler_ == nullptr && probe.state == ProbeState::kAttached) {
        probes[probe.name].state = ProbeState::kRefused;
        probes[probe.name].reason = failure_;
      }
    }
    if (sampler_ != nullptr) {
      std::map<std::string, std::string> probe_of;  // by program
      for (const Attachment& a : plan.attachments) {
        probe_of[a.program] = a.Probe();
      }
      for (const auto& [program, reason] : sampler_->refused()) {
        const auto name = probe_of.find(program);
        if (name == probe_of.end()) continue;
        probes[name->second].state = ProbeState::kRefused;
        probes[name->second].reason = reason;
        out.not_measured.push_back(
            absl::StrCat("what ", name->second, " sees: ", reason, "."));
      }
      for (const HoldSampler::ProgramStats& now :
           sampler_->ReadProgramStats()) {
        // The task iterator runs when asked and is no probe.
        if (probe_of.count(now.program) == 0) continue;
        HoldSampler::ProgramStats& before = stats_before_[now.program];
        Probe& probe = probes[probe_of[now.program]];
        const uint64_t misses = now.misses - before.misses;
        probe.runs += now.runs - before.runs;
        probe.run_time_ns += now.run_time_ns - before.run_time_ns;
        probe.misses += misses;
        if (misses > 0) (*losses)[LossReason::kRecursion] += misses;
        before = now;
      }
    }
    for (auto& [name, probe] : probes) out.probes.push_back(std::move(probe));
    if (!failure_.empty()) {
      out.not_measured.push_back(absl::StrCat(failure_, "."));
    } else {
      out.not_measured.insert(out.not_measured.end(), plan.not_measured.begin(),
                              plan.not_measured.end());
      for (std::string& text : locks_.NotMeasured()) {
        out.not_measured.push_back(std::move(text));
      }
    }
    out.fingerprint = Fingerprint(out.probes, TierCells());
    return out;
  }

  // One cell per lock with what the plan says of it: the part of the coverage
  // that does not depend on which devices exist.
  std::vector<Cell> TierCells() const {
    const Plan& plan = locks_.plan();
    std::vector<Cell> cells(3);
    cells[0].key.subsystem = Subsystem::kZram;
    cells[0].lock_model = plan.zram_model;
    cells[0].hold_tier = plan.zram_hold;
    cells[0].wait_tier = plan.wait;
    cells[1].key.subsystem = Subsystem::kZswap;
    cells[1].lock_model = plan.zswap_model;
    cells[1].hold_tier = plan.zswap_hold;
    cells[1].wait_tier = plan.wait;
    cells[2].key.subsystem = Subsystem::kZsmalloc;
    cells[2].lock_model = plan.pool_model;
    cells[2].wait_tier = plan.wait;
    return cells;
  }

  const BpfSourceOptions options_;
  const StopEvent& stop_;
  absl::Duration interval_;
  uint64_t top_hold_ns_ = 0;
  WindowBuilder builder_;
  KernelNames names_;
  TopHolds top_;
  ContextTracker context_;
  KernelSymbols symbols_;
  Plan plan_;                             // what the kernel takes
  std::unique_ptr<HoldSampler> sampler_;  // null: nothing can be measured
  HostLocks locks_;
  HoldSampler::Calibration calibration_;
  std::optional<TimingBudget> budget_;  // set when sampler_ is
  int cells_per_cpu_ = 0;
  absl::Status load_status_;
  std::string failure_;  // why sampler_ is null
  bool btf_zram_ = false;
  bool btf_zsmalloc_ = false;
  bool modules_changed_ = false;

  uint32_t kernel_window_ = 1;
  uint64_t seq_ = 0;
  bool finished_ = false;
  WindowSpan span_;
  OwnUsage usage_before_;
  std::vector<uint64_t> losses_before_;
  std::map<std::string, HoldSampler::ProgramStats> stats_before_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<WindowSource>> MakeBpfSource(
    const BpfSourceOptions& options, const StopEvent& stop) {
  auto source = std::make_unique<BpfSource>(options, stop);
  source->Start();
  return source;
}

}  // namespace swaplock
