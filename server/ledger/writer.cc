#include "server/ledger/writer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"

namespace swaplock {

Writer::Writer(Ledger* ledger, Fleet* fleet, Clock clock,
               const CardinalityLimits& limits)
    : ledger_(ledger),
      fleet_(fleet),
      clock_(std::move(clock)),
      cardinality_(fleet->Snapshot().state, limits),
      thread_([this] { Run(); }) {}

Writer::~Writer() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  thread_.join();
}

bool Writer::Submit(Window window, size_t bytes, Done done) {
  absl::MutexLock lock(&mutex_);
  if (stopping_ || waiting_.size() >= kMaxWaiting ||
      waiting_bytes_ + bytes > kMaxWaitingBytes) {
    return false;
  }
  waiting_bytes_ += bytes;
  waiting_.push_back({std::move(window), bytes, std::move(done)});
  return true;
}

std::vector<Writer::Waiting> Writer::TakeBatch() {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(this, &Writer::HasWork));
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(
                                          std::min(waiting_.size(), kMaxBatch));
  std::vector<Waiting> batch(std::make_move_iterator(waiting_.begin()),
                             std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  for (const Waiting& one : batch) waiting_bytes_ -= one.bytes;
  return batch;
}

void Writer::Commit(std::vector<Waiting> batch) {
  std::vector<Window> windows;
  windows.reserve(batch.size());
  for (const Waiting& one : batch) {
    windows.push_back(one.window);
    cardinality_.Fit(&windows.back(), clock_.wall());
  }
  fleet_->SetOverflow(cardinality_.overflow());
  const uint64_t start_ns = clock_.boottime_ns();
  const absl::StatusOr<std::vector<Outcome>> outcomes =
      ledger_->Commit(windows, clock_.wall());
  can_commit_ = outcomes.ok();
  if (!outcomes.ok()) {
    static LogSite site(absl::Seconds(10));
    site.Log(LogLevel::kError,
             absl::StrCat("writer: commit of ", windows.size(),
                          " windows: ", outcomes.status().ToString()));
    // One window that the ledger cannot take must not hold up the others.
    if (batch.size() > 1 && !absl::IsUnavailable(outcomes.status())) {
      for (Waiting& one : batch) {
        std::vector<Waiting> alone;
        alone.push_back(std::move(one));
        Commit(std::move(alone));
      }
      return;
    }
    for (const Waiting& one : batch) one.done(outcomes.status());
    return;
  }
  const uint64_t took_ns = clock_.boottime_ns() - start_ns;
  fleet_->Committed(windows, *outcomes, clock_.wall(),
                    absl::Nanoseconds(took_ns));
  for (size_t i = 0; i < batch.size(); ++i) batch[i].done((*outcomes)[i]);
}

void Writer::Run() {
  while (true) {
    std::vector<Waiting> batch = TakeBatch();
    if (batch.empty()) return;
    Commit(std::move(batch));
  }
}

}  // namespace swaplock
