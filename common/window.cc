#include "common/window.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

// The native enumerations have the schema's numbers and the same last member.
static_assert(static_cast<int>(Subsystem::kZsmalloc) == v1::Subsystem_MAX);
static_assert(static_cast<int>(Operation::kWriteback) == v1::Operation_MAX);
static_assert(static_cast<int>(Role::kPool) == v1::Role_MAX);
static_assert(static_cast<int>(Mode::kShared) == v1::Mode_MAX);
static_assert(static_cast<int>(LockModel::kNone) == v1::LockModel_MAX);
static_assert(static_cast<int>(Tier::kContention) == v1::Tier_MAX);
static_assert(static_cast<int>(LossReason::kWaitUnseen) == v1::LossReason_MAX);
static_assert(static_cast<int>(ProbeState::kNotNeeded) == v1::ProbeState_MAX);

template <typename E>
E ClampEnum(int value, int max) {
  return value >= 0 && value <= max ? static_cast<E>(value) : E::kUnspecified;
}

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("window: ", what));
}

void DistributionToProto(const Distribution& in, v1::Distribution* out) {
  out->set_count(in.Count());
  out->set_sum_ns(in.sum_ns);
  out->set_max_ns(in.max_ns);
  out->set_over_1ms(in.over_1ms);
  out->set_over_10ms(in.over_10ms);
  out->set_over_100ms(in.over_100ms);
  int previous = 0;
  for (int i = Histogram::kUnderflowIndex; i <= Histogram::kOverflowIndex;
       ++i) {
    if (in.buckets.bucket(i) == 0) continue;
    out->add_bucket_index_delta(static_cast<uint32_t>(i - previous));
    out->add_bucket_count(in.buckets.bucket(i));
    previous = i;
  }
}

absl::Status DistributionFromProto(const v1::Distribution& in,
                                   absl::string_view name, Distribution* out) {
  if (in.bucket_index_delta_size() != in.bucket_count_size()) {
    return Bad(absl::StrCat(name, " has ", in.bucket_index_delta_size(),
                            " bucket indices for ", in.bucket_count_size(),
                            " counts"));
  }
  uint64_t index = 0;
  uint64_t count = 0;
  for (int i = 0; i < in.bucket_count_size(); ++i) {
    if (in.bucket_index_delta(i) == 0) {
      return Bad(absl::StrCat(name, " repeats bucket ", index));
    }
    index += in.bucket_index_delta(i);
    if (index < Histogram::kUnderflowIndex ||
        index > Histogram::kOverflowIndex) {
      return Bad(absl::StrCat(name, " has a bucket ", index, ", outside ",
                              Histogram::kUnderflowIndex, " to ",
                              Histogram::kOverflowIndex));
    }
    if (__builtin_add_overflow(count, in.bucket_count(i), &count)) {
      return Bad(absl::StrCat(name, " has more than 2^64 values"));
    }
    out->buckets.AddToBucket(static_cast<int>(index), in.bucket_count(i));
  }
  if (count != in.count()) {
    return Bad(absl::StrCat(name, " says ", in.count(),
                            " values, its buckets hold ", count));
  }
  if (in.over_1ms() > count || in.over_10ms() > in.over_1ms() ||
      in.over_100ms() > in.over_10ms()) {
    return Bad(absl::StrCat(name, " has more exceedances than values"));
  }
  out->sum_ns = in.sum_ns();
  out->max_ns = in.max_ns();
  out->over_1ms = in.over_1ms();
  out->over_10ms = in.over_10ms();
  out->over_100ms = in.over_100ms();
  return absl::OkStatus();
}

// The parts' sum, or nothing if it exceeds 2^64.
bool SumParts(uint64_t on_cpu, uint64_t runnable, uint64_t blocked,
              uint64_t unknown, uint64_t* sum) {
  return !__builtin_add_overflow(on_cpu, runnable, sum) &&
         !__builtin_add_overflow(*sum, blocked, sum) &&
         !__builtin_add_overflow(*sum, unknown, sum);
}

void ActorToProto(const Actor& in, v1::Actor* out) {
  out->set_pid(in.pid);
  out->set_comm(in.comm);
  out->set_nice(in.nice);
  out->set_policy(in.policy);
  out->set_ns(in.ns);
  out->set_inversion(in.inversion);
}

Actor ActorFromProto(const v1::Actor& in) {
  return {in.pid(), in.comm(), in.nice(), in.policy(), in.ns(), in.inversion()};
}

void ProbeToProto(const Probe& in, v1::Probe* out) {
  out->set_name(in.name);
  out->set_state(static_cast<v1::ProbeState>(in.state));
  out->set_reason(in.reason);
  out->set_runs(in.runs);
  out->set_run_time_ns(in.run_time_ns);
  out->set_misses(in.misses);
}

void DeliveryToProto(const Delivery& delivery, v1::Delivery* out) {
  out->set_waiting(delivery.waiting);
  out->set_waiting_bytes(delivery.waiting_bytes);
  out->set_only_in_memory(delivery.only_in_memory);
  out->set_merged(delivery.merged);
  out->set_lost(delivery.lost);
  out->set_damaged(delivery.damaged);
  out->set_disk_errors(delivery.disk_errors);
  out->set_held(delivery.held);
  out->set_streams(delivery.streams);
  out->set_postponed(delivery.postponed);
  out->set_refused(delivery.refused);
  out->set_in_doubt(delivery.in_doubt);
}

Delivery DeliveryFromProto(const v1::Delivery& in) {
  return {in.waiting(), in.waiting_bytes(), in.only_in_memory(), in.merged(),
          in.lost(),    in.damaged(),       in.disk_errors(),    in.held(),
          in.streams(), in.postponed(),     in.refused(),        in.in_doubt()};
}

void ContextToProto(const Context& in, v1::Context* out) {
  out->set_complete(in.complete);
  out->mutable_counters()->insert(in.counters.begin(), in.counters.end());
  out->mutable_gauges()->insert(in.gauges.begin(), in.gauges.end());
  out->mutable_facts()->insert(in.facts.begin(), in.facts.end());
}

Context ContextFromProto(const v1::Context& in) {
  Context out;
  out.complete = in.complete();
  out.counters.insert(in.counters().begin(), in.counters().end());
  out.gauges.insert(in.gauges().begin(), in.gauges().end());
  out.facts.insert(in.facts().begin(), in.facts().end());
  return out;
}

}  // namespace

absl::string_view Name(LossReason value) {
  switch (value) {
    case LossReason::kRecursion:
      return "recursion";
    case LossReason::kReleaseUnseen:
      return "release_unseen";
    case LossReason::kAcquireUnseen:
      return "acquire_unseen";
    case LossReason::kNoTaskStorage:
      return "no_task_storage";
    case LossReason::kTopRingFull:
      return "top_ring_full";
    case LossReason::kNested:
      return "nested";
    case LossReason::kUnstableSnapshot:
      return "unstable_snapshot";
    case LossReason::kUnknownLock:
      return "unknown_lock";
    case LossReason::kOwnerSlotsFull:
      return "owner_slots_full";
    case LossReason::kWaitUnseen:
      return "wait_unseen";
    case LossReason::kUnspecified:
      break;
  }
  return "unspecified";
}

absl::string_view Name(ProbeState value) {
  switch (value) {
    case ProbeState::kAttached:
      return "attached";
    case ProbeState::kRefused:
      return "refused";
    case ProbeState::kAbsent:
      return "absent";
    case ProbeState::kNotNeeded:
      return "not_needed";
    case ProbeState::kUnspecified:
      break;
  }
  return "unspecified";
}

v1::CellKey ToProto(const CellKey& key) {
  v1::CellKey out;
  out.set_subsystem(static_cast<v1::Subsystem>(key.subsystem));
  out.set_operation(static_cast<v1::Operation>(key.operation));
  out.set_role(static_cast<v1::Role>(key.role));
  out.set_mode(static_cast<v1::Mode>(key.mode));
  out.set_device(key.device);
  out.set_algorithm(key.algorithm);
  return out;
}

v1::Cell ToProto(const Cell& cell) {
  v1::Cell out;
  *out.mutable_key() = ToProto(cell.key);
  out.set_lock_model(static_cast<v1::LockModel>(cell.lock_model));
  out.set_hold_tier(static_cast<v1::Tier>(cell.hold_tier));
  out.set_wait_tier(static_cast<v1::Tier>(cell.wait_tier));
  out.set_acquisitions(cell.acquisitions);
  out.set_contended(cell.contended);
  DistributionToProto(cell.wait, out.mutable_wait());
  DistributionToProto(cell.hold, out.mutable_hold());
  DistributionToProto(cell.runnable, out.mutable_runnable());
  DistributionToProto(cell.blocked, out.mutable_blocked());
  out.set_on_cpu_ns(cell.on_cpu_ns);
  out.set_unknown_ns(cell.unknown_ns);
  out.set_waits_owner_running(cell.waits_owner_running);
  out.set_waits_owner_runnable(cell.waits_owner_runnable);
  out.set_waits_owner_blocked(cell.waits_owner_blocked);
  out.set_wait_owner_runnable_ns(cell.wait_owner_runnable_ns);
  out.set_inversions(cell.inversions);
  out.set_preempted_ns(cell.preempted_ns);
  out.set_woken_ns(cell.woken_ns);
  out.set_throttled_ns(cell.throttled_ns);
  out.set_migrations(cell.migrations);
  DistributionToProto(cell.latency, out.mutable_latency());
  out.set_latency_tier(static_cast<v1::Tier>(cell.latency_tier));
  return out;
}

absl::StatusOr<Cell> FromProto(const v1::Cell& in) {
  Cell out;
  if (!v1::Subsystem_IsValid(in.key().subsystem()) ||
      !v1::Operation_IsValid(in.key().operation()) ||
      !v1::Role_IsValid(in.key().role()) ||
      !v1::Mode_IsValid(in.key().mode()) ||
      !v1::LockModel_IsValid(in.lock_model()) ||
      !v1::Tier_IsValid(in.hold_tier()) || !v1::Tier_IsValid(in.wait_tier()) ||
      !v1::Tier_IsValid(in.latency_tier())) {
    return Bad("a cell has an enumeration value this version does not know");
  }
  out.key.subsystem = static_cast<Subsystem>(in.key().subsystem());
  out.key.operation = static_cast<Operation>(in.key().operation());
  out.key.role = static_cast<Role>(in.key().role());
  out.key.mode = static_cast<Mode>(in.key().mode());
  out.key.device = in.key().device();
  out.key.algorithm = in.key().algorithm();
  out.lock_model = static_cast<LockModel>(in.lock_model());
  out.hold_tier = static_cast<Tier>(in.hold_tier());
  out.wait_tier = static_cast<Tier>(in.wait_tier());
  out.latency_tier = static_cast<Tier>(in.latency_tier());
  out.acquisitions = in.acquisitions();
  out.contended = in.contended();
  const struct {
    const v1::Distribution& from;
    absl::string_view name;
    Distribution* to;
  } distributions[] = {
      {in.wait(), "wait", &out.wait},
      {in.hold(), "hold", &out.hold},
      {in.runnable(), "runnable", &out.runnable},
      {in.blocked(), "blocked", &out.blocked},
      {in.latency(), "latency", &out.latency},
  };
  for (const auto& d : distributions) {
    if (absl::Status s = DistributionFromProto(d.from, d.name, d.to); !s.ok()) {
      return s;
    }
  }
  out.on_cpu_ns = in.on_cpu_ns();
  out.unknown_ns = in.unknown_ns();
  uint64_t parts = 0;
  if (CountsHolds(out.hold_tier) &&
      (!SumParts(out.on_cpu_ns, out.runnable.sum_ns, out.blocked.sum_ns,
                 out.unknown_ns, &parts) ||
       parts != out.hold.sum_ns)) {
    return Bad(absl::StrCat("the parts of the holds are ", parts,
                            " ns, the holds ", out.hold.sum_ns, " ns"));
  }
  out.waits_owner_running = in.waits_owner_running();
  out.waits_owner_runnable = in.waits_owner_runnable();
  out.waits_owner_blocked = in.waits_owner_blocked();
  out.wait_owner_runnable_ns = in.wait_owner_runnable_ns();
  out.inversions = in.inversions();
  out.preempted_ns = in.preempted_ns();
  out.woken_ns = in.woken_ns();
  out.throttled_ns = in.throttled_ns();
  out.migrations = in.migrations();
  return out;
}

v1::Hold ToProto(const Hold& hold) {
  v1::Hold out;
  out.set_cell(hold.cell);
  out.set_acquired_offset_ns(hold.acquired_offset_ns);
  out.set_hold_ns(hold.hold_ns);
  out.set_on_cpu_ns(hold.on_cpu_ns);
  out.set_runnable_ns(hold.runnable_ns);
  out.set_blocked_ns(hold.blocked_ns);
  out.set_unknown_ns(hold.unknown_ns);
  out.set_wait_ns(hold.wait_ns);
  out.set_pid(hold.pid);
  out.set_tgid(hold.tgid);
  out.set_comm(hold.comm);
  out.set_nice(hold.nice);
  out.set_policy(hold.policy);
  out.set_acquire_cpu(hold.acquire_cpu);
  out.set_release_cpu(hold.release_cpu);
  out.set_preemptions(hold.preemptions);
  out.set_preempted_ns(hold.preempted_ns);
  out.set_woken_ns(hold.woken_ns);
  out.set_throttled_ns(hold.throttled_ns);
  out.set_migrations(hold.migrations);
  for (const Actor& a : hold.preemptors) ActorToProto(a, out.add_preemptors());
  for (const Actor& a : hold.waiters) ActorToProto(a, out.add_waiters());
  out.set_stall_ns(hold.stall_ns);
  out.set_inversion_ns(hold.inversion_ns);
  out.set_cgroup(hold.cgroup);
  for (const std::string& f : hold.release_stack) out.add_release_stack(f);
  for (const std::string& f : hold.switch_stack) out.add_switch_stack(f);
  return out;
}

absl::StatusOr<Hold> FromProto(const v1::Hold& in) {
  Hold out;
  out.cell = in.cell();
  out.acquired_offset_ns = in.acquired_offset_ns();
  out.hold_ns = in.hold_ns();
  out.on_cpu_ns = in.on_cpu_ns();
  out.runnable_ns = in.runnable_ns();
  out.blocked_ns = in.blocked_ns();
  out.unknown_ns = in.unknown_ns();
  uint64_t parts = 0;
  if (!SumParts(out.on_cpu_ns, out.runnable_ns, out.blocked_ns, out.unknown_ns,
                &parts) ||
      parts != out.hold_ns) {
    return Bad(absl::StrCat("a top hold of ", out.hold_ns, " ns has parts of ",
                            parts, " ns"));
  }
  out.wait_ns = in.wait_ns();
  out.pid = in.pid();
  out.tgid = in.tgid();
  out.comm = in.comm();
  out.nice = in.nice();
  out.policy = in.policy();
  out.acquire_cpu = in.acquire_cpu();
  out.release_cpu = in.release_cpu();
  out.preemptions = in.preemptions();
  out.preempted_ns = in.preempted_ns();
  out.woken_ns = in.woken_ns();
  out.throttled_ns = in.throttled_ns();
  out.migrations = in.migrations();
  for (const v1::Actor& a : in.preemptors()) {
    out.preemptors.push_back(ActorFromProto(a));
  }
  for (const v1::Actor& a : in.waiters()) {
    out.waiters.push_back(ActorFromProto(a));
  }
  out.stall_ns = in.stall_ns();
  out.inversion_ns = in.inversion_ns();
  out.cgroup = in.cgroup();
  out.release_stack.assign(in.release_stack().begin(),
                           in.release_stack().end());
  out.switch_stack.assign(in.switch_stack().begin(), in.switch_stack().end());
  return out;
}

v1::Distribution ToProto(const Distribution& distribution) {
  v1::Distribution out;
  DistributionToProto(distribution, &out);
  return out;
}

absl::StatusOr<Distribution> FromProto(const v1::Distribution& in,
                                       absl::string_view name) {
  Distribution out;
  const absl::Status status = DistributionFromProto(in, name, &out);
  if (!status.ok()) return status;
  return out;
}

v1::Coverage ToProto(const Coverage& coverage) {
  v1::Coverage out;
  out.set_fingerprint(coverage.fingerprint);
  for (const Probe& probe : coverage.probes) {
    ProbeToProto(probe, out.add_probes());
  }
  for (const std::string& text : coverage.not_measured) {
    out.add_not_measured(text);
  }
  return out;
}

Coverage FromProto(const v1::Coverage& in) {
  Coverage out;
  out.fingerprint = in.fingerprint();
  for (const v1::Probe& probe : in.probes()) {
    out.probes.push_back(
        {probe.name(), ClampEnum<ProbeState>(probe.state(), v1::ProbeState_MAX),
         probe.reason(), probe.runs(), probe.run_time_ns(), probe.misses()});
  }
  out.not_measured.assign(in.not_measured().begin(), in.not_measured().end());
  return out;
}

v1::Environment ToProto(const Environment& in) {
  v1::Environment out;
  out.set_kernel_release(in.kernel_release);
  out.set_kernel_version(in.kernel_version);
  out.set_kernel_build_id(in.kernel_build_id);
  out.set_architecture(in.architecture);
  out.set_cpus(in.cpus);
  out.set_memory_bytes(in.memory_bytes);
  out.set_preempt(in.preempt);
  out.set_page_cluster(in.page_cluster);
  out.set_agent_version(in.agent_version);
  out.set_swap_backend(in.swap_backend);
  for (const auto& [name, value] : in.labels)
    (*out.mutable_labels())[name] = value;
  return out;
}

Environment FromProto(const v1::Environment& in) {
  Environment out;
  out.kernel_release = in.kernel_release();
  out.kernel_version = in.kernel_version();
  out.kernel_build_id = in.kernel_build_id();
  out.architecture = in.architecture();
  out.cpus = in.cpus();
  out.memory_bytes = in.memory_bytes();
  out.preempt = in.preempt();
  out.page_cluster = in.page_cluster();
  out.agent_version = in.agent_version();
  out.swap_backend = in.swap_backend();
  out.labels.insert(in.labels().begin(), in.labels().end());
  return out;
}

v1::Window ToProto(const Window& window) {
  v1::Window out;
  out.set_host_id(window.key.host_id);
  out.set_boot_id(window.key.boot_id);
  out.set_epoch(window.key.epoch);
  out.set_seq(window.key.seq);
  out.set_start_boottime_ns(window.start_boottime_ns);
  out.set_end_boottime_ns(window.end_boottime_ns);
  out.set_end_unix_ns(window.end_unix_ns);
  out.set_suspended_ns(window.suspended_ns);
  *out.mutable_environment() = ToProto(window.environment);
  *out.mutable_coverage() = ToProto(window.coverage);
  for (const Cell& cell : window.cells) *out.add_cells() = ToProto(cell);
  for (const Hold& hold : window.top_holds) {
    *out.add_top_holds() = ToProto(hold);
  }
  for (const Hold& hold : window.holds_in_progress) {
    *out.add_holds_in_progress() = ToProto(hold);
  }
  for (const auto& [reason, events] : window.losses) {
    if (events == 0) continue;
    v1::Loss* loss = out.add_losses();
    loss->set_reason(static_cast<v1::LossReason>(reason));
    loss->set_events(events);
  }
  out.mutable_overhead()->set_agent_cpu_ns(window.overhead.agent_cpu_ns);
  out.mutable_overhead()->set_rss_bytes(window.overhead.rss_bytes);
  out.mutable_overhead()->set_map_bytes(window.overhead.map_bytes);
  out.mutable_overhead()->set_null_hold_ns(window.overhead.null_hold_ns);
  out.mutable_overhead()->set_timing_cost_ns(window.overhead.timing_cost_ns);
  out.mutable_overhead()->set_timing_shift(window.overhead.timing_shift);
  if (window.overhead.delivery.has_value()) {
    DeliveryToProto(*window.overhead.delivery,
                    out.mutable_overhead()->mutable_delivery());
  }
  out.set_merged(window.merged);
  if (window.context.complete || !window.context.Empty()) {
    ContextToProto(window.context, out.mutable_context());
  }
  return out;
}

absl::StatusOr<Window> FromProto(const v1::Window& in) {
  Window out;
  if (in.host_id().empty()) return Bad("host_id is empty");
  if (in.boot_id().size() != 16) {
    return Bad(absl::StrCat("boot_id has ", in.boot_id().size(),
                            " bytes instead of 16"));
  }
  if (in.seq() == 0) return Bad("seq is 0; it counts from 1");
  if (in.end_boottime_ns() <= in.start_boottime_ns()) {
    return Bad("its end is not after its start");
  }
  out.key = {in.host_id(), in.boot_id(), in.epoch(), in.seq()};
  out.start_boottime_ns = in.start_boottime_ns();
  out.end_boottime_ns = in.end_boottime_ns();
  out.end_unix_ns = in.end_unix_ns();
  out.suspended_ns = in.suspended_ns();
  out.environment = FromProto(in.environment());
  out.coverage = FromProto(in.coverage());
  out.cells.reserve(static_cast<size_t>(in.cells_size()));
  for (const v1::Cell& message : in.cells()) {
    absl::StatusOr<Cell> cell = FromProto(message);
    if (!cell.ok()) return cell.status();
    out.cells.push_back(*std::move(cell));
  }
  for (const auto& [from, to] :
       {std::make_pair(&in.top_holds(), &out.top_holds),
        std::make_pair(&in.holds_in_progress(), &out.holds_in_progress)}) {
    for (const v1::Hold& message : *from) {
      absl::StatusOr<Hold> hold = FromProto(message);
      if (!hold.ok()) return hold.status();
      if (hold->cell >= out.cells.size()) {
        return Bad(absl::StrCat("a hold is of cell ", hold->cell,
                                ", but there are ", out.cells.size()));
      }
      to->push_back(*std::move(hold));
    }
  }
  for (const v1::Loss& loss : in.losses()) {
    uint64_t& events =
        out.losses[ClampEnum<LossReason>(loss.reason(), v1::LossReason_MAX)];
    if (__builtin_add_overflow(events, loss.events(), &events)) {
      return Bad("more than 2^64 events were lost for one reason");
    }
  }
  out.overhead = {in.overhead().agent_cpu_ns(),   in.overhead().rss_bytes(),
                  in.overhead().map_bytes(),      in.overhead().null_hold_ns(),
                  in.overhead().timing_cost_ns(), in.overhead().timing_shift()};
  if (in.overhead().has_delivery()) {
    out.overhead.delivery = DeliveryFromProto(in.overhead().delivery());
  }
  out.merged = in.merged();
  out.context = ContextFromProto(in.context());
  return out;
}

std::string Serialize(const Window& window) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);  // or maps come in any order
  ToProto(window).SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

absl::StatusOr<Window> ParseWindow(absl::string_view bytes) {
  v1::Window message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Bad(absl::StrCat(bytes.size(), " bytes are no window message"));
  }
  return FromProto(message);
}

uint64_t Fingerprint(const std::vector<Probe>& probes,
                     const std::vector<Cell>& cells) {
  // FNV-1a: stable across builds and machines, unlike absl::Hash.
  uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&hash](absl::string_view text) {
    for (const char c : text) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
    hash = (hash ^ 0xff) * 0x100000001b3;
  };
  std::vector<std::string> lines;
  for (const Probe& probe : probes) {
    if (probe.state == ProbeState::kAttached) lines.push_back(probe.name);
  }
  for (const Cell& cell : cells) {
    lines.push_back(
        absl::StrCat(Name(cell.key.subsystem), " ", Name(cell.key.operation),
                     " ", Name(cell.key.role), " ", Name(cell.key.mode), " ",
                     Name(cell.lock_model), " ", Name(cell.hold_tier), " ",
                     Name(cell.wait_tier)));
  }
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  for (const std::string& line : lines) mix(line);
  return hash;
}

}  // namespace swaplock
