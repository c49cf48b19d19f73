#include "tests/end_to_end/random_life.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>
#include <memory>

#include "absl/strings/numbers.h"
#include "common/record_file.h"
#include "common/testing.h"

namespace swaplock {
namespace {

// The writes of one window, as a whole.
Cell Operations(Random* random) {
  Cell cell;
  cell.key.subsystem = Subsystem::kZram;
  cell.key.operation = Operation::kWrite;
  cell.lock_model = LockModel::kMutex;
  cell.latency_tier = Tier::kExact;
  for (uint64_t i = Draw(random, 20); i > 0; --i) {
    cell.latency.Add(Draw(random, 200'000'000));
  }
  return cell;
}

}  // namespace

uint64_t ChooseSeed() {
  uint64_t seed = std::random_device()();
  const char* given = getenv("SWAPLOCK_SEED");
  if (given != nullptr && !absl::SimpleAtoi(given, &seed)) seed = 0;
  std::printf("SWAPLOCK_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

uint64_t Draw(Random* random, uint64_t below) {
  return std::uniform_int_distribution<uint64_t>(0, below - 1)(*random);
}

void WriteLife(const std::string& path, const std::string& host, uint64_t epoch,
               uint64_t windows, Random* random) {
  const absl::StatusOr<std::unique_ptr<RecordWriter>> writer =
      RecordWriter::Open(path);
  ASSERT_TRUE(writer.ok()) << writer.status();
  for (uint64_t seq = 1; seq <= windows; ++seq) {
    Window window = MakeWindow(host, seq);
    window.key.epoch = epoch;
    for (Cell& cell : window.cells) {
      for (uint64_t i = Draw(random, 20); i > 0; --i) {
        AddHold(&cell, Draw(random, 5'000'000), Draw(random, 20'000'000),
                Draw(random, 1'000'000), Draw(random, 30'000'000));
      }
    }
    for (Cell& cell : window.cells) {
      cell.preempted_ns = Draw(random, cell.runnable.sum_ns + 1);
      cell.woken_ns = cell.runnable.sum_ns - cell.preempted_ns;
      cell.throttled_ns = Draw(random, cell.preempted_ns + 1);
      cell.migrations = Draw(random, 5);
    }
    window.cells.push_back(Operations(random));
    ASSERT_TRUE((*writer)->Append(window).ok());
  }
}

}  // namespace swaplock
