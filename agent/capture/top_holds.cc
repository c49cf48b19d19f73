#include "agent/capture/top_holds.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "common/plain_text.h"

namespace swaplock {
namespace {

constexpr size_t kMaxWaiters = 8;
// PATH_MAX; the server refuses longer ones.
constexpr size_t kMaxCgroupBytes = 4096;

// include/linux/sched/prio.h, DEFAULT_PRIO: the static priority of nice 0.
constexpr int kDefaultPriority = 120;

// A comm has no terminator when it fills its 16 bytes.
std::string Comm(const char (&comm)[16]) {
  return PlainText(absl::string_view(comm, strnlen(comm, sizeof(comm))));
}

Hold FromFacts(const sl_hold_facts& f, uint64_t start_monotonic_ns,
               uint32_t cell) {
  Hold h;
  h.cell = cell;
  h.acquired_offset_ns =
      static_cast<int64_t>(f.acquired_ns - start_monotonic_ns);
  h.hold_ns = f.hold_ns;
  h.on_cpu_ns = f.on_cpu_ns;
  h.runnable_ns = f.runnable_ns;
  h.blocked_ns = f.blocked_ns;
  h.unknown_ns = f.unknown_ns;
  h.wait_ns = f.wait_ns;
  h.pid = f.pid;
  h.tgid = f.tgid;
  h.comm = Comm(f.comm);
  h.nice = f.static_prio - kDefaultPriority;
  h.policy = f.policy;
  h.acquire_cpu = f.acquire_cpu;
  h.release_cpu = f.release_cpu;
  h.preemptions = f.preemptions;
  h.preempted_ns = f.preempted_ns;
  h.woken_ns = f.woken_ns;
  h.throttled_ns = f.throttled_ns;
  h.migrations = f.migrations;
  return h;
}

std::vector<uint64_t> Stack(const __u64 (&stack)[SL_STACK]) {
  std::vector<uint64_t> out(std::begin(stack), std::end(stack));
  out.erase(std::find(out.begin(), out.end(), 0), out.end());
  return out;
}

bool Longer(const Actor& a, const Actor& b) { return a.ns > b.ns; }

}  // namespace

void TopHolds::AddWaiters(const sl_hold_facts& facts, Hold* hold) const {
  const uint64_t acquired = facts.acquired_ns;
  const uint64_t released = acquired + facts.hold_ns;
  for (const sl_top_wait& w : waits_) {
    const uint64_t end = w.begin_ns + w.wait_ns;
    if (w.pid == facts.pid || w.begin_ns >= released || end <= acquired) {
      continue;
    }
    const bool same_lock =
        facts.lock != 0 ? w.lock == facts.lock : w.owner_pid == facts.pid;
    if (!same_lock) continue;
    Actor waiter;
    waiter.pid = w.pid;
    waiter.comm = Comm(w.comm);
    waiter.nice = w.static_prio - kDefaultPriority;
    waiter.policy = w.policy;
    waiter.ns =
        std::min(end, released) - std::max<uint64_t>(w.begin_ns, acquired);
    // The record says whether the waiter ranked above the owner it saw; of a
    // later owner only the nice values are known.
    waiter.inversion = w.owner_pid == facts.pid
                           ? w.inversion != 0
                           : w.static_prio < facts.static_prio;
    hold->stall_ns += waiter.ns;
    if (waiter.inversion) {
      hold->inversion_ns = std::max(hold->inversion_ns, waiter.ns);
    }
    hold->waiters.push_back(std::move(waiter));
  }
  std::sort(hold->waiters.begin(), hold->waiters.end(), Longer);
  if (hold->waiters.size() > kMaxWaiters) hold->waiters.resize(kMaxWaiters);
}

std::vector<Hold> TopHolds::Take(uint32_t window, uint64_t start_monotonic_ns,
                                 const std::map<int, uint32_t>& cell_of) {
  // Window numbers are 32 bits and may wrap; they are never far apart.
  const auto ahead = [window](uint32_t of) {
    return static_cast<int32_t>(of - window);
  };
  std::vector<sl_top_hold> here;
  std::vector<sl_top_hold> later;
  for (const sl_top_hold& record : holds_) {
    if (cell_of.count(static_cast<int>(record.facts.cell)) == 0) continue;
    if (ahead(record.facts.window) == 0) here.push_back(record);
    if (ahead(record.facts.window) > 0) later.push_back(record);
  }
  holds_ = std::move(later);
  std::sort(here.begin(), here.end(),
            [](const sl_top_hold& a, const sl_top_hold& b) {
              return a.facts.hold_ns > b.facts.hold_ns;
            });
  if (here.size() > static_cast<size_t>(top_k_)) {
    here.resize(static_cast<size_t>(top_k_));
  }
  if (names_ != nullptr) {
    std::vector<std::vector<uint64_t>> stacks;
    for (const sl_top_hold& record : here) {
      stacks.push_back(Stack(record.release_stack));
      stacks.push_back(Stack(record.switch_stack));
    }
    names_->LearnStacks(stacks);
  }
  std::vector<Hold> out;
  for (const sl_top_hold& record : here) {
    const sl_hold_facts& f = record.facts;
    Hold h =
        FromFacts(f, start_monotonic_ns, cell_of.at(static_cast<int>(f.cell)));
    for (const sl_actor& ran : record.ran) {
      if (ran.pid == 0) continue;
      h.preemptors.push_back({ran.pid, Comm(ran.comm),
                              ran.static_prio - kDefaultPriority, ran.policy,
                              ran.ns, false});
    }
    std::sort(h.preemptors.begin(), h.preemptors.end(), Longer);
    AddWaiters(f, &h);
    if (names_ != nullptr) {
      h.cgroup = PlainText(names_->Cgroup(f.cgroup), kMaxCgroupBytes);
      h.release_stack = names_->Stack(Stack(record.release_stack));
      h.switch_stack = names_->Stack(Stack(record.switch_stack));
    }
    out.push_back(std::move(h));
  }
  // A waiter's record may come a moment after its hold's; one window on, it has
  // no hold to explain any more.
  waits_.erase(
      std::remove_if(waits_.begin(), waits_.end(),
                     [&](const sl_top_wait& w) { return ahead(w.window) < 0; }),
      waits_.end());
  return out;
}

std::vector<Hold> TopHolds::InProgress(
    const std::vector<sl_hold_facts>& facts, uint64_t start_monotonic_ns,
    const std::map<int, uint32_t>& cell_of) const {
  std::vector<Hold> out;
  for (const sl_hold_facts& f : facts) {
    const auto cell = cell_of.find(static_cast<int>(f.cell));
    if (cell == cell_of.end()) continue;
    out.push_back(FromFacts(f, start_monotonic_ns, cell->second));
  }
  std::sort(out.begin(), out.end(),
            [](const Hold& a, const Hold& b) { return a.hold_ns > b.hold_ns; });
  if (out.size() > static_cast<size_t>(top_k_)) {
    out.resize(static_cast<size_t>(top_k_));
  }
  return out;
}

}  // namespace swaplock
