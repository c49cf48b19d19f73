#include "server/replay/resampled_windows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/record_file.h"
#include "server/replay/host_calendar.h"

namespace swaplock {
namespace {

constexpr int kBefore = 15;  // days from the first window to the reboot
constexpr int kAfter = 9;    // and from the reboot to the last

// A distribution and the buckets of it that are not empty, so that adding it to
// another is quick.
struct Sparse {
  Distribution all;
  std::vector<std::pair<int, uint64_t>> buckets;
};

struct SparseCell {
  Cell all;
  Sparse wait, hold, runnable, blocked, latency;
};

Sparse SparseOf(const Distribution& distribution) {
  Sparse out;
  out.all = distribution;
  for (int i = Histogram::kUnderflowIndex; i <= Histogram::kOverflowIndex;
       ++i) {
    const uint64_t count = distribution.buckets.bucket(i);
    if (count > 0) out.buckets.emplace_back(i, count);
  }
  return out;
}

SparseCell SparseOf(const Cell& cell) {
  return {cell,
          SparseOf(cell.wait),
          SparseOf(cell.hold),
          SparseOf(cell.runnable),
          SparseOf(cell.blocked),
          SparseOf(cell.latency)};
}

void Add(const Sparse& from, Distribution* to) {
  for (const auto& [index, count] : from.buckets) {
    to->buckets.AddToBucket(index, count);
  }
  to->sum_ns += from.all.sum_ns;
  to->max_ns = std::max(to->max_ns, from.all.max_ns);
  to->over_1ms += from.all.over_1ms;
  to->over_10ms += from.all.over_10ms;
  to->over_100ms += from.all.over_100ms;
}

// As Cell::Merge, of cells of one kernel.
void Add(const SparseCell& from, Cell* to) {
  Add(from.wait, &to->wait);
  Add(from.hold, &to->hold);
  Add(from.runnable, &to->runnable);
  Add(from.blocked, &to->blocked);
  Add(from.latency, &to->latency);
  for (uint64_t Cell::*const sum :
       {&Cell::acquisitions, &Cell::contended, &Cell::on_cpu_ns,
        &Cell::unknown_ns, &Cell::waits_owner_running,
        &Cell::waits_owner_runnable, &Cell::waits_owner_blocked,
        &Cell::wait_owner_runnable_ns, &Cell::inversions, &Cell::preempted_ns,
        &Cell::woken_ns, &Cell::throttled_ns, &Cell::migrations}) {
    to->*sum += from.all.*sum;
  }
}

// Windows in a row, added up.
struct Block {
  std::map<CellKey, SparseCell> cells;
  uint64_t length_ns = 0;
  double score = 0;  // waits over 10 ms, in standard deviations from the mean
};

std::vector<Block> BlocksOf(const RecordedKernel& kernel, size_t length) {
  std::vector<Block> blocks;
  double sum = 0;
  double squares = 0;
  for (size_t first = 0; first + length <= kernel.windows.size(); ++first) {
    Block block;
    std::map<CellKey, Cell> cells;
    for (size_t i = first; i < first + length; ++i) {
      block.length_ns += kernel.windows[i].end_boottime_ns -
                         kernel.windows[i].start_boottime_ns;
      for (const Cell& cell : kernel.windows[i].cells) {
        const auto [it, is_new] = cells.emplace(cell.key, cell);
        if (!is_new) it->second.Merge(cell);
        block.score += static_cast<double>(cell.wait.over_10ms);
      }
    }
    for (const auto& [key, cell] : cells) {
      block.cells.emplace(key, SparseOf(cell));
    }
    sum += block.score;
    squares += block.score * block.score;
    blocks.push_back(std::move(block));
  }
  const auto count = static_cast<double>(blocks.size());
  const double variance = squares / count - sum / count * (sum / count);
  for (Block& block : blocks) {
    block.score =
        variance > 0 ? (block.score - sum / count) / std::sqrt(variance) : 0;
  }
  return blocks;
}

// The cells of blocks, added up.
class CellSums {
 public:
  void Add(const Block& block) {
    for (const auto& [key, cell] : block.cells) {
      const auto it = cells_.find(key);
      if (it == cells_.end()) {
        cells_.emplace(key, cell.all);
      } else {
        swaplock::Add(cell, &it->second);
      }
    }
  }
  void MoveTo(Window* window) {
    window->cells.reserve(cells_.size());
    for (auto& [key, cell] : cells_) window->cells.push_back(std::move(cell));
    window->coverage.fingerprint = Fingerprint({}, window->cells);
  }

 private:
  std::map<CellKey, Cell> cells_;
};

Environment EnvironmentOf(const RecordedKernel& kernel) {
  Environment environment = kernel.windows.front().environment;
  environment.kernel_release = kernel.name;
  environment.swap_backend = "zram";
  return environment;
}

}  // namespace

struct ResampledFleet::Recording {
  std::vector<std::string> not_measured;
  std::vector<Block> blocks;
};

struct ResampledFleet::Host {
  HostCalendar calendar;
  const Recording* recording = nullptr;
  std::vector<double> weights;  // of the blocks
  uint64_t seq = 0;             // of the last window of WindowsUntil

  // `busy`: the power of ResampledRollout.
  void Runs(const Recording& kernel, double busy) {
    recording = &kernel;
    weights.clear();
    weights.reserve(kernel.blocks.size());
    for (const Block& block : kernel.blocks) {
      weights.push_back(std::exp(busy * block.score));
    }
  }
};

ResampledFleet::ResampledFleet(const ResampledRollout& rollout, uint64_t seed)
    : rollout_(rollout), random_(seed) {}

ResampledFleet::~ResampledFleet() = default;

const ResampledFleet::Recording& ResampledFleet::RecordingOf(
    const RecordedKernel& kernel) {
  std::unique_ptr<Recording>& recording = recordings_[kernel.name];
  if (recording == nullptr) {
    recording = std::make_unique<Recording>();
    recording->not_measured = kernel.windows.front().coverage.not_measured;
    recording->blocks =
        BlocksOf(kernel, static_cast<size_t>(rollout_.windows_per_block));
  }
  return *recording;
}

void ResampledFleet::AddHosts(const std::string& name, int count,
                              const RecordedKernel& before,
                              const RecordedKernel& after,
                              const std::function<void(Window)>& take) {
  const Recording& old_kernel = RecordingOf(before);
  const Recording& new_kernel = RecordingOf(after);
  for (int i = 0; i < count; ++i) {
    Host host;
    host.calendar.host_id = absl::StrCat(name, "-", i);
    host.calendar.boot_day = rollout_.boot_day + i % 5;
    host.calendar.before = EnvironmentOf(before);
    host.calendar.after = EnvironmentOf(after);
    const int64_t booted = host.calendar.boot_day;
    const double busy = rollout_.host_spread * normal_(random_);
    host.Runs(old_kernel, busy + rollout_.change_spread * normal_(random_));
    AddDays(host, booted - kBefore, booted - 2, take);
    host.Runs(new_kernel, busy + rollout_.change_spread * normal_(random_));
    AddDays(host, booted,
            rollout_.last_day > 0 ? rollout_.last_day : booted + kAfter, take);
    hosts_.push_back(std::move(host));
  }
}

void ResampledFleet::AddDays(const Host& host, int64_t first, int64_t last,
                             const std::function<void(Window)>& take) {
  std::discrete_distribution<size_t> draw(host.weights.begin(),
                                          host.weights.end());
  for (int64_t day = first; day <= last; ++day) {
    CellSums sums;
    for (int b = 0; b < rollout_.blocks_per_day; ++b) {
      sums.Add(host.recording->blocks[draw(random_)]);
    }
    Window window = WindowOfDay(host.calendar, day);
    window.coverage.not_measured = host.recording->not_measured;
    window.key.seq = static_cast<uint64_t>(day - first + 1);
    sums.MoveTo(&window);
    take(std::move(window));
  }
}

std::vector<Window> ResampledFleet::WindowsUntil(absl::Time now) {
  std::vector<Window> windows;
  windows.reserve(hosts_.size());
  for (Host& host : hosts_) {
    std::discrete_distribution<size_t> draw(host.weights.begin(),
                                            host.weights.end());
    const Block& block = host.recording->blocks[draw(random_)];
    CellSums sums;
    sums.Add(block);
    windows.push_back(
        WindowUntil(host.calendar, now, block.length_ns, ++host.seq));
    windows.back().coverage.not_measured = host.recording->not_measured;
    sums.MoveTo(&windows.back());
  }
  return windows;
}

absl::StatusOr<RecordedKernel> ReadRecordedKernel(const std::string& path,
                                                  const std::string& name) {
  absl::StatusOr<std::unique_ptr<RecordReader>> reader =
      RecordReader::Open(path);
  if (!reader.ok()) return reader.status();
  RecordedKernel kernel;
  kernel.name = name;
  while (true) {
    absl::StatusOr<Window> window = (*reader)->Next();
    if (absl::IsOutOfRange(window.status())) break;
    if (!window.ok()) return window.status();
    kernel.windows.push_back(*std::move(window));
  }
  return kernel;
}

std::vector<Window> ResampledWindows(const RecordedKernel& base,
                                     const RecordedKernel& renewed,
                                     const ResampledRollout& rollout,
                                     uint64_t seed) {
  ResampledFleet fleet(rollout, seed);
  std::vector<Window> windows;
  const auto take = [&windows](Window window) {
    windows.push_back(std::move(window));
  };
  fleet.AddHosts("new", rollout.hosts_per_arm, base, renewed, take);
  fleet.AddHosts("old", rollout.hosts_per_arm, base, base, take);
  SortByTime(&windows);
  return windows;
}

}  // namespace swaplock
