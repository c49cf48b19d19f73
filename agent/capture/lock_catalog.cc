#include "agent/capture/lock_catalog.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/capture/hook_rows.h"

namespace swaplock {
namespace {

class Planner {
 public:
  Planner(const KernelSymbols& symbols, const TryAttach& try_attach)
      : symbols_(symbols), try_attach_(try_attach) {}

  // Plans all rows of one lock. True if every required one can be attached;
  // otherwise none of them is.
  bool TakeGroup(const std::vector<std::vector<HookRow>>& groups) {
    std::vector<Attachment> taken;
    bool complete = true;
    for (const std::vector<HookRow>& rows : groups) {
      for (const HookRow& row : rows) {
        if (row.told != nullptr && row.told(taken)) continue;
        std::optional<Attachment> a = Choose(row);
        if (a.has_value()) {
          taken.push_back(*std::move(a));
        } else if (row.need == HookRow::kRequired) {
          complete = false;
        }
      }
    }
    if (complete && !Complete(taken)) complete = false;
    if (complete) {
      for (Attachment& a : taken) plan_.attachments.push_back(std::move(a));
    } else {
      for (const Attachment& a : taken) {
        Say(a.Probe(), ProbeState::kNotNeeded,
            "another hook of the same lock is missing");
      }
    }
    return complete;
  }

  bool TakeTracepoints(
      const std::vector<std::pair<const char*, const char*>>& programs) {
    std::vector<HookRow> rows;
    rows.reserve(programs.size());
    for (const auto& [program, tracepoint] : programs) {
      rows.push_back({program,
                      ProbeKind::kTracepoint,
                      {tracepoint},
                      HookRow::kRequired,
                      HookRow::kTrampolineOnly});
    }
    return TakeGroup({rows});
  }

  // What refused the first required probe, in words.
  const std::string& why() const { return why_; }
  void ForgetWhy() { why_.clear(); }

  Plan Finish() {
    for (const auto& [name, probe] : probes_) plan_.probes.push_back(probe);
    return std::move(plan_);
  }
  Plan& plan() { return plan_; }

 private:
  // By kprobe, a stream is known to be got by the work that follows, so that
  // work must be seen.
  bool Complete(const std::vector<Attachment>& taken) {
    const auto has = [&taken](absl::string_view program) {
      return Attaches(taken, program);
    };
    if (!has("zram_get_k") && !has("zram_read_get_k")) return true;
    if ((has("zram_compress") || has("zram_compress_k")) &&
        (has("zram_decompress") || has("zram_decompress_k"))) {
      return true;
    }
    if (why_.empty()) {
      why_ = "kprobes alone need zcomp_compress and zcomp_decompress";
    }
    return false;
  }

  // One program on the first of the row's functions that takes it.
  std::optional<Attachment> ChooseKind(const HookRow& row, ProbeKind kind,
                                       const std::string& program) {
    for (const char* target : row.candidates) {
      const bool exists = kind == ProbeKind::kTracepoint
                              ? symbols_.tracepoints.count(target) > 0
                              : symbols_.HasFunction(target);
      if (!exists) continue;
      Attachment a{program, kind, target};
      const absl::Status status = Try(kind, target);
      if (status.ok()) {
        Say(a.Probe(), ProbeState::kAttached, "");
        return a;
      }
      Say(a.Probe(), ProbeState::kRefused, status.message());
      if (row.need == HookRow::kRequired && why_.empty()) {
        why_ = std::string(status.message());
      }
    }
    return std::nullopt;
  }

  std::optional<Attachment> Choose(const HookRow& row) {
    const std::string twin = absl::StrCat(row.program, "_k");
    if (row.prefer == HookRow::kKprobe) {
      if (auto a = ChooseKind(row, row.TwinKind(), twin)) return a;
    }
    if (auto a = ChooseKind(row, row.kind, row.program)) return a;
    if (row.prefer == HookRow::kTrampoline) {
      if (auto a = ChooseKind(row, row.TwinKind(), twin)) return a;
    }
    if (std::none_of(
            row.candidates.begin(), row.candidates.end(),
            [&](const char* target) {
              return probes_.count(
                         Attachment{row.program, row.kind, target}.Probe()) > 0;
            })) {
      const std::string what = absl::StrJoin(row.candidates, ", ");
      const std::string reason =
          symbols_.has_btf
              ? absl::StrCat("this kernel has no ", what)
              : std::string("this kernel has no type information (BTF)");
      Say(Attachment{row.program, row.kind, row.candidates[0]}.Probe(),
          ProbeState::kAbsent, reason);
      if (row.need == HookRow::kRequired && why_.empty()) why_ = reason;
    }
    return std::nullopt;
  }

  absl::Status Try(ProbeKind kind, const std::string& target) {
    const bool function =
        kind == ProbeKind::kFentry || kind == ProbeKind::kFexit;
    if (kind == ProbeKind::kKretprobe) kind = ProbeKind::kKprobe;
    if (kind == ProbeKind::kKprobe && !kprobes_refused_.ok()) {
      return kprobes_refused_;
    }
    if (function && !functions_refused_.ok()) return functions_refused_;
    absl::Status& known = tried_[{kind, target}];
    if (asked_.insert({kind, target}).second) {
      known = try_attach_(kind, target);
    }
    if (kind == ProbeKind::kKprobe &&
        (absl::IsPermissionDenied(known) || absl::IsUnavailable(known))) {
      kprobes_refused_ = known;
    }
    if (function && absl::IsPermissionDenied(known)) {
      functions_refused_ = absl::PermissionDeniedError(
          absl::StrCat("the kernel refuses function hooks, as for ", Name(kind),
                       "/", target));
    }
    return known;
  }

  void Say(const std::string& name, ProbeState state,
           absl::string_view reason) {
    Probe& probe = probes_[name];
    probe.name = name;
    probe.state = state;
    probe.reason = std::string(reason);
  }

  const KernelSymbols& symbols_;
  const TryAttach& try_attach_;
  Plan plan_;
  std::map<std::string, Probe> probes_;
  std::map<std::pair<ProbeKind, std::string>, absl::Status> tried_;
  std::set<std::pair<ProbeKind, std::string>> asked_;
  absl::Status functions_refused_;
  absl::Status kprobes_refused_;
  std::string why_;
};

LockModel ModelOf(const KernelMember* member) {
  if (member == nullptr) return LockModel::kUnspecified;
  const absl::string_view type = member->type;
  if (type == "struct mutex" || type == "struct mutex *") {
    return LockModel::kMutex;
  }
  if (type == "spinlock_t" || type == "struct spinlock") {
    return LockModel::kSpinlock;
  }
  if (type == "rwlock_t") return LockModel::kRwlock;
  return LockModel::kUnspecified;
}

// The kinds of the zram stream's lock, from its types.
void StreamModels(const KernelSymbols& symbols, Plan* plan) {
  if (const KernelMember* lock = symbols.Member("zcomp_strm.lock")) {
    plan->zram_model = ModelOf(lock);
    if (lock->type == "local_lock_t") {
      // Without PREEMPT_RT a local_lock is preempt_disable() and has no size
      // (include/linux/local_lock_internal.h), so the next member lies at its
      // own offset.
      const KernelMember* buffer = symbols.Member("zcomp_strm.buffer");
      plan->zram_model =
          buffer != nullptr && buffer->offset_bytes > lock->offset_bytes
              ? LockModel::kLocalLock
              : LockModel::kPreemptOff;
    }
    return;
  }
  const KernelMember* writing = symbols.Member("zcomp_cstrm.lock");
  const KernelMember* reading = symbols.Member("zcomp_dstrm.lock");
  if (writing == nullptr || reading == nullptr) return;
  if (writing->type == "struct mutex") {
    plan->zram_model = LockModel::kSplitMutex;
  }
  if (reading->type == "struct mutex") {
    plan->zram_exclusive_model = LockModel::kSplitMutex;
  } else if (reading->type == "struct rw_semaphore" &&
             ReadingStreamSharedBy(symbols).how != SL_SHARED_NEVER) {
    plan->zram_exclusive_model = LockModel::kRwsemExclusive;
    plan->zram_shared_model = LockModel::kRwsemShared;
  }
}

}  // namespace

SharedBy ReadingStreamSharedBy(const KernelSymbols& symbols) {
  if (const KernelMember* flag = symbols.Member("zcomp_dstrm.excl_locked")) {
    return {SL_SHARED_BY_FLAG, flag->offset_bytes};
  }
  if (const KernelMember* lock = symbols.Member("zcomp_dstrm.excl_lock")) {
    return {SL_SHARED_BY_EXCL_LOCK, lock->offset_bytes};
  }
  return {};
}

Plan MakePlan(const KernelSymbols& symbols, const TryAttach& try_attach) {
  Planner planner(symbols, try_attach);
  Plan& plan = planner.plan();

  // Lock models come from the types alone.
  StreamModels(symbols, &plan);
  plan.zswap_model = ModelOf(symbols.Member("crypto_acomp_ctx.mutex"));
  if (symbols.Member("crypto_acomp_ctx.decomp") != nullptr) {
    plan.zswap_model = LockModel::kSplitMutex;
    plan.zswap_lock_free_loads = true;
  }
  plan.size_class_model = ModelOf(symbols.Member("size_class.lock"));
  plan.pool_model = ModelOf(symbols.Member("zs_pool.lock"));
  if (plan.pool_model == LockModel::kUnspecified) {
    plan.pool_model = ModelOf(symbols.Member("zs_pool.migrate_lock"));
  }

  const bool waits =
      planner.TakeTracepoints({{"contention_begin", "contention_begin"},
                               {"contention_end", "contention_end"}});
  if (waits) {
    plan.wait = Tier::kContention;
  } else {
    plan.not_measured.push_back(absl::StrCat("waits: ", planner.why(), "."));
  }

  const bool zram_loaded = plan.zram_model != LockModel::kUnspecified;
  planner.ForgetWhy();
  if (planner.TakeGroup({ZramRows(), plan.SplitStreams()
                                         ? ZramReadRows()
                                         : ZramOneStreamRows()})) {
    plan.zram_hold =
        plan.Attaches("zram_get_k") ? Tier::kBracket : Tier::kExact;
  }
  const std::string zram_why = planner.why();
  planner.ForgetWhy();
  if (zram_loaded && planner.TakeGroup({ZramLatencyRows()})) {
    plan.zram_latency = Tier::kExact;
  }
  const std::string zram_latency_why = planner.why();
  planner.ForgetWhy();
  const bool new_loads = symbols.HasFunction("zswap_decompress");
  if (planner.TakeGroup({ZswapStoreRows(),
                         new_loads ? ZswapLoadRows() : OldZswapLoadRows()})) {
    plan.zswap_hold = Tier::kBracket;
    // A kretprobe does not see every exit.
    if (plan.Attaches("zswap_store_end") && plan.Attaches("zswap_load_end")) {
      plan.zswap_latency = Tier::kExact;
    }
  }
  const std::string zswap_why = planner.why();
  planner.ForgetWhy();

  const bool hooks =
      CountsHolds(plan.zram_hold) || CountsHolds(plan.zswap_hold);
  if (hooks && !planner.TakeTracepoints({{"switch_hook", "sched_switch"}})) {
    plan.not_measured.push_back(absl::StrCat(
        "the blocked part of holds that slept (it is \"unknown\"): ",
        planner.why(), "."));
  }
  planner.ForgetWhy();

  // Where hold hooks are refused, tracepoints still find every preempted or
  // blocked owner of a mutex.
  const auto owned = [](Tier hold, LockModel model) {
    return hold == Tier::kUnspecified &&
           (model == LockModel::kMutex || model == LockModel::kSplitMutex);
  };
  const bool zram_owner = owned(plan.zram_hold, plan.zram_model);
  const bool zswap_owner = owned(plan.zswap_hold, plan.zswap_model);
  if ((zram_owner || zswap_owner) &&
      planner.TakeTracepoints({{"owner_switch", "sched_switch"},
                               {"owner_wakeup", "sched_wakeup"}})) {
    if (zram_owner) plan.zram_hold = Tier::kOwnerProbe;
    if (zswap_owner) plan.zswap_hold = Tier::kOwnerProbe;
  }

  const auto explain = [&plan](absl::string_view lock, Tier tier,
                               absl::string_view why) {
    if (CountsHolds(tier)) return;
    plan.not_measured.push_back(absl::StrCat(
        lock,
        ": acquisitions, hold time, on-CPU time and the operations' "
        "latency, because ",
        why,
        tier == Tier::kOwnerProbe
            ? "; its owners' off-CPU intervals are found by tracepoints."
            : "."));
  };
  if (zram_loaded) {
    explain("zram stream lock", plan.zram_hold, zram_why);
    if (plan.zram_hold == Tier::kOwnerProbe &&
        plan.zram_shared_model != LockModel::kUnspecified) {
      plan.not_measured.push_back(
          "zram's streams for reads: a semaphore that several hold names no "
          "owner, so tracepoints see only who waits for it.");
    }
    if (CountsHolds(plan.zram_hold) &&
        plan.zram_latency == Tier::kUnspecified) {
      plan.not_measured.push_back(
          absl::StrCat("zram: latency of whole operations, because ",
                       zram_latency_why, "."));
    }
  } else {
    plan.not_measured.push_back(
        "zram: its module is not loaded, or carries no type information "
        "(BTF); it is looked for again at each window.");
  }
  explain("zswap lock", plan.zswap_hold, zswap_why);
  if (plan.zswap_latency == Tier::kUnspecified &&
      CountsHolds(plan.zswap_hold)) {
    plan.not_measured.push_back(
        "zswap: latency of whole operations, because a kretprobe does not see "
        "every exit.");
  }

  if (planner.TakeTracepoints({{"disk_seen", "block_bio_queue"}})) {
    // Attached only for the moment in which the agent reads a sector.
  }
  return planner.Finish();
}

}  // namespace swaplock
