// The window: what one host measured over one interval, as the rest of the
// program handles it. This file pair is the only place that knows both this
// form and proto/window.proto, whose comments give every field's unit, range
// and meaning of zero; the fields here mean the same.
//
// Plain values, freely copied and moved; not thread-safe.
#ifndef SWAPLOCK_COMMON_WINDOW_H_
#define SWAPLOCK_COMMON_WINDOW_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/cell.h"
#include "common/context.h"
#include "proto/window.pb.h"

namespace swaplock {

enum class LossReason {
  kUnspecified = 0,
  kRecursion = 1,
  kReleaseUnseen = 2,
  kAcquireUnseen = 3,
  kNoTaskStorage = 4,
  kTopRingFull = 5,
  kNested = 6,
  kUnstableSnapshot = 7,
  kUnknownLock = 8,
  kOwnerSlotsFull = 9,
  kWaitUnseen = 10,
};
// "recursion", "release_unseen" ...; "unspecified" for a number without a name.
absl::string_view Name(LossReason value);

enum class ProbeState {
  kUnspecified = 0,
  kAttached = 1,
  kRefused = 2,
  kAbsent = 3,
  kNotNeeded = 4,
};
absl::string_view Name(ProbeState value);

struct Actor {
  uint32_t pid = 0;
  std::string comm;
  int32_t nice = 0;
  uint32_t policy = 0;
  uint64_t ns = 0;
  bool inversion = false;
};

struct Hold {
  uint32_t cell = 0;  // index into Window::cells
  int64_t acquired_offset_ns = 0;
  uint64_t hold_ns = 0;
  uint64_t on_cpu_ns = 0;
  uint64_t runnable_ns = 0;
  uint64_t blocked_ns = 0;
  uint64_t unknown_ns = 0;
  uint64_t wait_ns = 0;
  uint32_t pid = 0;
  uint32_t tgid = 0;
  std::string comm;
  int32_t nice = 0;
  uint32_t policy = 0;
  uint32_t acquire_cpu = 0;
  uint32_t release_cpu = 0;
  uint32_t preemptions = 0;
  uint64_t preempted_ns = 0;
  uint64_t woken_ns = 0;
  uint64_t throttled_ns = 0;
  uint32_t migrations = 0;
  std::vector<Actor> preemptors;  // longest first
  std::vector<Actor> waiters;     // longest first
  uint64_t stall_ns = 0;
  uint64_t inversion_ns = 0;
  std::string cgroup;
  std::vector<std::string> release_stack;
  std::vector<std::string> switch_stack;
};

struct Probe {
  std::string name;
  ProbeState state = ProbeState::kUnspecified;
  std::string reason;
  uint64_t runs = 0;
  uint64_t run_time_ns = 0;
  uint64_t misses = 0;
};

struct Coverage {
  uint64_t fingerprint = 0;
  std::vector<Probe> probes;
  std::vector<std::string> not_measured;
};

struct Environment {
  std::string kernel_release;
  std::string kernel_version;
  std::string kernel_build_id;
  std::string architecture;
  uint32_t cpus = 0;
  uint64_t memory_bytes = 0;
  std::string preempt;
  int32_t page_cluster = -1;
  std::string agent_version;
  std::string swap_backend;
  std::map<std::string, std::string> labels;
};

struct Delivery {
  uint64_t waiting = 0;
  uint64_t waiting_bytes = 0;
  uint64_t only_in_memory = 0;
  uint64_t merged = 0;
  uint64_t lost = 0;
  uint64_t damaged = 0;
  uint64_t disk_errors = 0;
  uint64_t held = 0;
  uint64_t streams = 0;
  uint64_t postponed = 0;
  uint64_t refused = 0;
  uint64_t in_doubt = 0;
};

struct Overhead {
  uint64_t agent_cpu_ns = 0;
  uint64_t rss_bytes = 0;
  uint64_t map_bytes = 0;
  uint32_t null_hold_ns = 0;    // 0: not measured
  uint32_t timing_cost_ns = 0;  // likewise
  uint32_t timing_shift = 0;    // one hold in 2^this was timed
  std::optional<Delivery> delivery = std::nullopt;
};

// The key of a window, unique for all time. Ordered by host, boot, epoch, seq.
struct WindowKey {
  std::string host_id;
  std::string boot_id;  // 16 raw bytes
  uint64_t epoch = 0;
  uint64_t seq = 0;

  auto Tie() const { return std::tie(host_id, boot_id, epoch, seq); }
  bool operator==(const WindowKey& other) const { return Tie() == other.Tie(); }
  bool operator<(const WindowKey& other) const { return Tie() < other.Tie(); }
};

struct Window {
  WindowKey key;
  uint64_t start_boottime_ns = 0;
  uint64_t end_boottime_ns = 0;
  uint64_t end_unix_ns = 0;
  uint64_t suspended_ns = 0;
  Environment environment;
  Coverage coverage;
  std::vector<Cell> cells;
  std::vector<Hold> top_holds;          // longest first
  std::vector<Hold> holds_in_progress;  // longest first
  std::map<LossReason, uint64_t> losses;
  Overhead overhead;
  uint32_t merged = 0;
  Context context;
};

v1::Cell ToProto(const Cell& cell);
v1::CellKey ToProto(const CellKey& key);
v1::Hold ToProto(const Hold& hold);
v1::Coverage ToProto(const Coverage& coverage);
v1::Environment ToProto(const Environment& environment);
v1::Distribution ToProto(const Distribution& distribution);
v1::Window ToProto(const Window& window);

// Each fails with InvalidArgument and a sentence that names the field when the
// message breaks the schema: a bucket out of range or out of order, a count
// that is not the sum of its buckets, an enumeration out of range, parts of a
// hold that do not sum to it, a hold of a cell that is not there, an end not
// after the start, a key without host or seq. Strings are taken as they are;
// server/admit judges them.
absl::StatusOr<Cell> FromProto(const v1::Cell& message);
absl::StatusOr<Hold> FromProto(const v1::Hold& message);
absl::StatusOr<Window> FromProto(const v1::Window& message);
Coverage FromProto(const v1::Coverage& message);
Environment FromProto(const v1::Environment& message);
// `name` is what the sentence calls it.
absl::StatusOr<Distribution> FromProto(const v1::Distribution& message,
                                       absl::string_view name);

// The window's bytes in the spool and in record files; equal windows give equal
// bytes.
std::string Serialize(const Window& window);
absl::StatusOr<Window> ParseWindow(absl::string_view bytes);

// A fingerprint of what the coverage could see: probes attached, and tiers and
// lock models of the cells. Windows with different ones are not comparable.
uint64_t Fingerprint(const std::vector<Probe>& probes,
                     const std::vector<Cell>& cells);

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_WINDOW_H_
