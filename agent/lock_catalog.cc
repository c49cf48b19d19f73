#include "agent/lock_catalog.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace swaplock {
namespace {

// A program and the functions it may go on, best first.
struct Row {
  const char* program;
  ProbeKind kind;
  std::vector<const char*> candidates;
  bool required;
  // The same as a kprobe, preferred where the kernel takes it: for functions
  // that are entered without the lock. A task that is preempted inside an
  // fentry program makes all others on its CPU lose that program's events
  // until it runs again; kprobes run with preemption off. Under the lock that
  // cannot happen: there is one holder per CPU.
  const char* kprobe = nullptr;
};

// zram since 4.7; the split into compression and decompression streams of the
// October 2026 series has other functions and is not in this table yet.
// https://docs.kernel.org/admin-guide/blockdev/zram.html names the files,
// drivers/block/zram/zcomp.c the functions.
const std::vector<Row>& ZramRows() {
  static const auto* const rows = new std::vector<Row>{
      {"zram_get", ProbeKind::kFexit, {"zcomp_stream_get"}, true},
      {"zram_put", ProbeKind::kFentry, {"zcomp_stream_put"}, true},
      {"zram_compress", ProbeKind::kFentry, {"zcomp_compress"}, false},
      {"zram_decompress", ProbeKind::kFentry, {"zcomp_decompress"}, false},
      {"zram_recompress_begin",
       ProbeKind::kFentry,
       {"recompress_store"},
       false},
      {"zram_recompress_end", ProbeKind::kFexit, {"recompress_store"}, false},
      {"zram_writeback_begin", ProbeKind::kFentry, {"writeback_store"}, false},
      {"zram_writeback_end", ProbeKind::kFexit, {"writeback_store"}, false},
  };
  return *rows;
}

// zswap's lock and unlock are inlined, so the first and the last function
// called inside the lock stand for them. mm/zswap.c: zswap_compress() and
// zswap_decompress().
const std::vector<Row>& ZswapStoreRows() {
  static const auto* const rows = new std::vector<Row>{
      {"zswap_store_begin",
       ProbeKind::kFentry,
       {"zswap_store", "zswap_frontswap_store"},
       true,
       "zswap_store_begin_k"},
      {"zswap_store_end",
       ProbeKind::kFexit,
       {"zswap_store", "zswap_frontswap_store"},
       true},
      // A function of its own since 6.16, before that inlined.
      {"zswap_acquire_store",
       ProbeKind::kFentry,
       {"crypto_acomp_compress", "scomp_acomp_compress"},
       true},
      {"zswap_release_store",
       ProbeKind::kFexit,
       {"zs_obj_write", "zpool_unmap_handle"},
       true},
  };
  return *rows;
}

// Kernels with zswap_decompress(), 6.8 on: the object is mapped inside the
// lock.
const std::vector<Row>& ZswapLoadRows() {
  static const auto* const rows = new std::vector<Row>{
      {"zswap_load_begin",
       ProbeKind::kFentry,
       {"zswap_decompress"},
       true,
       "zswap_load_begin_k"},
      {"zswap_load_end", ProbeKind::kFexit, {"zswap_decompress"}, true},
      {"zswap_acquire_load",
       ProbeKind::kFentry,
       {"zs_obj_read_sg_begin", "zs_obj_read_begin", "zpool_map_handle"},
       true},
      {"zswap_release_load",
       ProbeKind::kFexit,
       {"zs_obj_read_sg_end", "zs_obj_read_end", "scomp_acomp_decompress"},
       true},
      {"zswap_shrink_begin",
       ProbeKind::kFentry,
       {"shrink_memcg_cb"},
       false,
       "zswap_shrink_begin_k"},
      {"zswap_shrink_end", ProbeKind::kFexit, {"shrink_memcg_cb"}, false},
  };
  return *rows;
}

// 5.11 to 6.7: the object is mapped before the lock, so only the codec itself
// lies inside it.
const std::vector<Row>& OldZswapLoadRows() {
  static const auto* const rows = new std::vector<Row>{
      {"zswap_load_begin",
       ProbeKind::kFentry,
       {"zswap_load", "zswap_frontswap_load"},
       true,
       "zswap_load_begin_k"},
      {"zswap_load_end",
       ProbeKind::kFexit,
       {"zswap_load", "zswap_frontswap_load"},
       true},
      {"zswap_writeback_begin",
       ProbeKind::kFentry,
       {"zswap_writeback_entry"},
       false,
       "zswap_writeback_begin_k"},
      {"zswap_writeback_end",
       ProbeKind::kFexit,
       {"zswap_writeback_entry"},
       false},
      {"zswap_acquire_load",
       ProbeKind::kFentry,
       {"scomp_acomp_decompress"},
       true},
      {"zswap_release_load",
       ProbeKind::kFexit,
       {"scomp_acomp_decompress"},
       true},
  };
  return *rows;
}

class Planner {
 public:
  Planner(const KernelSymbols& symbols, const TryAttach& try_attach)
      : symbols_(symbols), try_attach_(try_attach) {}

  // Plans all rows of one lock. True if every required one can be attached;
  // otherwise none of them is.
  bool TakeGroup(const std::vector<std::vector<Row>>& groups) {
    std::vector<Attachment> taken;
    bool complete = true;
    for (const std::vector<Row>& rows : groups) {
      for (const Row& row : rows) {
        std::optional<Attachment> a = Choose(row);
        if (a.has_value()) {
          taken.push_back(*std::move(a));
        } else if (row.required) {
          complete = false;
        }
      }
    }
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
    std::vector<Row> rows;
    rows.reserve(programs.size());
    for (const auto& [program, tracepoint] : programs) {
      rows.push_back({program, ProbeKind::kTracepoint, {tracepoint}, true});
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
  std::optional<Attachment> Choose(const Row& row) {
    if (row.kprobe != nullptr) {
      for (const char* target : row.candidates) {
        if (!symbols_.HasFunction(target)) continue;
        Attachment a{row.kprobe, ProbeKind::kKprobe, target};
        const absl::Status status = Try(ProbeKind::kKprobe, target);
        if (status.ok()) {
          Say(a.Probe(), ProbeState::kAttached, "");
          return a;
        }
        Say(a.Probe(), ProbeState::kRefused, status.message());
      }
    }
    for (const char* target : row.candidates) {
      const bool exists = row.kind == ProbeKind::kTracepoint
                              ? symbols_.tracepoints.count(target) > 0
                              : symbols_.HasFunction(target);
      if (!exists) continue;
      Attachment a{row.program, row.kind, target};
      const absl::Status status = Try(row.kind, target);
      if (status.ok()) {
        Say(a.Probe(), ProbeState::kAttached, "");
        return a;
      }
      Say(a.Probe(), ProbeState::kRefused, status.message());
      if (row.required && why_.empty()) why_ = std::string(status.message());
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
      if (row.required && why_.empty()) why_ = reason;
    }
    return std::nullopt;
  }

  absl::Status Try(ProbeKind kind, const std::string& target) {
    const bool function =
        kind == ProbeKind::kFentry || kind == ProbeKind::kFexit;
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

}  // namespace

absl::string_view Name(ProbeKind kind) {
  switch (kind) {
    case ProbeKind::kFentry:
      return "fentry";
    case ProbeKind::kFexit:
      return "fexit";
    case ProbeKind::kKprobe:
      return "kprobe";
    case ProbeKind::kTracepoint:
      break;
  }
  return "tp_btf";
}

std::string Attachment::Probe() const {
  return absl::StrCat(Name(kind), "/", target);
}

bool Plan::Attaches(absl::string_view program) const {
  return std::any_of(attachments.begin(), attachments.end(),
                     [&](const Attachment& a) { return a.program == program; });
}

Plan MakePlan(const KernelSymbols& symbols, const TryAttach& try_attach) {
  Planner planner(symbols, try_attach);
  Plan& plan = planner.plan();

  // Lock models come from the types alone.
  const KernelMember* stream_lock = symbols.Member("zcomp_strm.lock");
  plan.zram_model = ModelOf(stream_lock);
  if (stream_lock != nullptr && stream_lock->type == "local_lock_t") {
    // Without PREEMPT_RT a local_lock is preempt_disable() and has no size
    // (include/linux/local_lock_internal.h), so the next member lies at its
    // own offset.
    const KernelMember* buffer = symbols.Member("zcomp_strm.buffer");
    plan.zram_model =
        buffer != nullptr && buffer->offset_bytes > stream_lock->offset_bytes
            ? LockModel::kLocalLock
            : LockModel::kPreemptOff;
  }
  plan.zswap_model = ModelOf(symbols.Member("crypto_acomp_ctx.mutex"));
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

  const bool zram_loaded = stream_lock != nullptr;
  planner.ForgetWhy();
  if (planner.TakeGroup({ZramRows()})) {
    plan.zram_hold = Tier::kExact;
  }
  const std::string zram_why = planner.why();
  planner.ForgetWhy();
  const bool new_loads = symbols.HasFunction("zswap_decompress");
  if (planner.TakeGroup({ZswapStoreRows(),
                         new_loads ? ZswapLoadRows() : OldZswapLoadRows()})) {
    plan.zswap_hold = Tier::kBracket;
  }
  const std::string zswap_why = planner.why();
  planner.ForgetWhy();

  const bool hooks =
      plan.zram_hold == Tier::kExact || plan.zswap_hold == Tier::kBracket;
  if (hooks && !planner.TakeTracepoints({{"switch_hook", "sched_switch"}})) {
    plan.not_measured.push_back(absl::StrCat(
        "the blocked part of holds that slept (it is \"unknown\"): ",
        planner.why(), "."));
  }
  planner.ForgetWhy();

  // Where hold hooks are refused, tracepoints still find every preempted or
  // blocked owner of a mutex.
  const bool zram_owner = plan.zram_hold == Tier::kUnspecified &&
                          plan.zram_model == LockModel::kMutex;
  const bool zswap_owner = plan.zswap_hold == Tier::kUnspecified &&
                           plan.zswap_model == LockModel::kMutex;
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
        lock, ": acquisitions, hold time and on-CPU time, because ", why,
        tier == Tier::kOwnerProbe
            ? "; its owners' off-CPU intervals are found by tracepoints."
            : "."));
  };
  if (zram_loaded) {
    explain("zram stream lock", plan.zram_hold, zram_why);
  } else {
    plan.not_measured.push_back(
        "zram: its module is not loaded, or carries no type information "
        "(BTF); it is looked for again at each window.");
  }
  explain("zswap lock", plan.zswap_hold, zswap_why);

  if (planner.TakeTracepoints({{"disk_seen", "block_bio_queue"}})) {
    // Attached only for the moment in which the agent reads a sector.
  }
  return planner.Finish();
}

std::string FormatPlan(const Plan& plan) {
  std::string out = absl::StrCat(
      "zram stream: model ", Name(plan.zram_model), ", holds ",
      Name(plan.zram_hold), "\nzswap: model ", Name(plan.zswap_model),
      ", holds ", Name(plan.zswap_hold), "\nzsmalloc: size class ",
      Name(plan.size_class_model), ", pool ", Name(plan.pool_model),
      "\nwaits: ", Name(plan.wait), "\n");
  for (const Attachment& a : plan.attachments) {
    absl::StrAppend(&out, "attach ", a.program, " ", a.Probe(), "\n");
  }
  for (const Probe& p : plan.probes) {
    if (p.state == ProbeState::kAttached) continue;
    absl::StrAppend(&out, Name(p.state), " ", p.name, ": ", p.reason, "\n");
  }
  for (const std::string& text : plan.not_measured) {
    absl::StrAppend(&out, "not measured: ", text, "\n");
  }
  return out;
}

}  // namespace swaplock
