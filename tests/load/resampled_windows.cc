#include "tests/load/resampled_windows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/record_file.h"
#include "tests/load/host_calendar.h"

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

class Resampling {
 public:
  Resampling(const ResampledRollout& rollout, uint64_t seed)
      : rollout_(rollout), random_(seed) {}

  std::vector<Window> Run(const RecordedKernel& base,
                          const RecordedKernel& renewed) {
    const auto length = static_cast<size_t>(rollout_.windows_per_block);
    const std::vector<Block> old_blocks = BlocksOf(base, length);
    const std::vector<Block> new_blocks = BlocksOf(renewed, length);
    for (const bool treated : {true, false}) {
      for (int i = 0; i < rollout_.hosts_per_arm; ++i) {
        HostCalendar host;
        host.host_id = absl::StrCat(treated ? "new-" : "old-", i);
        host.boot_day = rollout_.boot_day + i % 5;
        host.before = EnvironmentOf(base);
        host.after = EnvironmentOf(treated ? renewed : base);
        const double busy = rollout_.host_spread * normal_(random_);
        AddDays(host, host.boot_day - kBefore, host.boot_day - 2, old_blocks,
                busy + rollout_.change_spread * normal_(random_));
        AddDays(host, host.boot_day, host.boot_day + kAfter,
                treated ? new_blocks : old_blocks,
                busy + rollout_.change_spread * normal_(random_));
      }
    }
    SortByTime(&windows_);
    return std::move(windows_);
  }

 private:
  static Environment EnvironmentOf(const RecordedKernel& kernel) {
    Environment environment = kernel.windows.front().environment;
    environment.kernel_release = kernel.name;
    environment.swap_backend = "zram";
    return environment;
  }

  void AddDays(const HostCalendar& host, int64_t first, int64_t last,
               const std::vector<Block>& blocks, double busy) {
    std::vector<double> weights;
    weights.reserve(blocks.size());
    for (const Block& block : blocks) {
      weights.push_back(std::exp(busy * block.score));
    }
    std::discrete_distribution<size_t> draw(weights.begin(), weights.end());
    for (int64_t day = first; day <= last; ++day) {
      std::map<CellKey, Cell> cells;
      for (int b = 0; b < rollout_.blocks_per_day; ++b) {
        for (const auto& [key, cell] : blocks[draw(random_)].cells) {
          const auto it = cells.find(key);
          if (it == cells.end()) {
            cells.emplace(key, cell.all);
          } else {
            Add(cell, &it->second);
          }
        }
      }
      Window window = WindowOfDay(host, day);
      for (auto& [key, cell] : cells) window.cells.push_back(std::move(cell));
      window.coverage.fingerprint = Fingerprint({}, window.cells);
      windows_.push_back(std::move(window));
    }
  }

  const ResampledRollout& rollout_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::vector<Window> windows_;
};

}  // namespace

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
  return Resampling(rollout, seed).Run(base, renewed);
}

}  // namespace swaplock
