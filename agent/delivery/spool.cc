#include "agent/delivery/spool.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "agent/delivery/merged_window.h"
#include "agent/delivery/spool_folder.h"
#include "common/log.h"

namespace swaplock {
namespace {

// The server takes a mebibyte as one message.
constexpr size_t kMaxMergedBytes = 900 << 10;
constexpr uint64_t kHourNs = 3'600'000'000'000;
// Windows that are marked as sent ahead of time, so that not each needs a sync
// of the disk. After a crash they are in doubt.
constexpr uint64_t kSentAhead = 8;

}  // namespace

absl::StatusOr<std::unique_ptr<Spool>> Spool::Open(const Options& options) {
  std::unique_ptr<Spool> spool(new Spool(options));
  if (!spool->HasDisk()) return spool;
  absl::MutexLock lock(&spool->mutex_);
  const absl::Status status = spool->OpenFile();
  // Two agents on one spool would send its windows twice; a disk that fails is
  // no reason not to measure.
  if (absl::IsFailedPrecondition(status)) return status;
  spool->NoteDisk(status);
  return spool;
}

absl::Status Spool::OpenFile() {
  absl::StatusOr<std::unique_ptr<SpoolDisk>> disk =
      options_.open_disk ? options_.open_disk()
                         : OpenSpoolFolder(options_.folder, options_.max_bytes);
  if (!disk.ok()) return disk.status();
  SpoolFile::Recovery recovery;
  std::deque<Entry> recovered;
  std::vector<uint64_t> left_out;
  absl::StatusOr<std::unique_ptr<SpoolFile>> file = SpoolFile::Open(
      *std::move(disk), &recovery,
      [&](uint64_t order, bool may_be_sent, absl::string_view payload) {
        mutex_.AssertHeld();
        Recover(order, may_be_sent, payload, &recovered, &left_out);
      });
  if (!file.ok()) return file.status();
  file_ = *std::move(file);
  for (const uint64_t order : left_out) file_->Forget(order);

  stats_.recovered += recovered.size();
  stats_.damaged += recovery.damaged;
  if (recovery.damaged > 0) {
    Log(LogLevel::kWarning,
        absl::StrCat("spool: ", options_.folder, ": ", recovery.damaged,
                     " damaged places left out",
                     recovery.torn ? ", one of them a torn tail" : ""));
  }
  for (Entry& entry : recovered) {
    if (entry.order <= file_->sent() && file_->server() != 0) {
      entry.sent_to = file_->server();
    }
    stats_.pending_bytes += entry.bytes;
  }
  // What is in memory is younger than what an earlier life left.
  std::deque<Entry> younger = std::exchange(entries_, std::move(recovered));
  next_order_ = file_->next_order();
  absl::Status status;
  if (kept_apart_.has_value()) {
    status = Keep(*std::exchange(kept_apart_, std::nullopt), true);
  }
  for (Entry& entry : younger) {
    const bool is_known = std::any_of(
        entries_.begin(), entries_.end(),
        [&entry](const Entry& other) { return Covers(other, entry.key); });
    if (is_known) {
      stats_.pending_bytes -= entry.bytes;
      continue;
    }
    entry.order = next_order_++;
    entries_.push_back(std::move(entry));
  }
  return status;
}

void Spool::Recover(uint64_t order, bool may_be_sent, absl::string_view payload,
                    std::deque<Entry>* recovered,
                    std::vector<uint64_t>* left_out) {
  absl::StatusOr<Window> window = ParseWindow(payload);
  if (!window.ok()) {
    ++stats_.damaged;
    left_out->push_back(order);
    return;
  }
  Entry entry = EntryOf(*window, SpoolFile::SizeOnDisk(payload));
  entry.order = order;
  entry.sent_to = may_be_sent ? SpoolFile::kAnyServer : 0;
  entry.on_disk = true;
  // A merged window is written before those in it are forgotten; a crash in
  // between leaves both.
  const auto covered = std::stable_partition(
      recovered->begin(), recovered->end(),
      [&entry](const Entry& earlier) { return !Covers(entry, earlier.key); });
  for (auto it = covered; it != recovered->end(); ++it) {
    left_out->push_back(it->order);
  }
  recovered->erase(covered, recovered->end());
  recovered->push_back(std::move(entry));
}

Spool::Entry Spool::EntryOf(const Window& window, uint64_t bytes) {
  Entry entry;
  entry.key = window.key;
  entry.windows = WindowsIn(window);
  entry.length_ns = window.end_boottime_ns - window.start_boottime_ns;
  entry.bytes = bytes;
  return entry;
}

bool Spool::Covers(const Entry& entry, const WindowKey& key) {
  return entry.key.seq >= key.seq && entry.key.seq - key.seq < entry.windows &&
         entry.key.epoch == key.epoch && entry.key.boot_id == key.boot_id &&
         entry.key.host_id == key.host_id;
}

uint64_t Spool::Capacity() const {
  return file_ != nullptr ? file_->capacity()
                          : SpoolFile::CapacityOf(options_.max_bytes);
}

absl::Status Spool::Append(const Window& window) {
  absl::MutexLock lock(&mutex_);
  absl::Status status = Keep(window, false);
  WriteOwed();
  return status;
}

absl::Status Spool::AppendInDoubt(const Window& window) {
  absl::MutexLock lock(&mutex_);
  if (HasDisk() && file_ == nullptr) {
    kept_apart_ = window;
    return absl::OkStatus();
  }
  absl::Status status = Keep(window, true);
  WriteOwed();
  return status;
}

absl::Status Spool::Keep(const Window& window, bool in_doubt) {
  for (const Entry& entry : entries_) {
    if (Covers(entry, window.key)) return absl::OkStatus();
  }
  std::string payload = Serialize(window);
  Entry entry = EntryOf(window, SpoolFile::SizeOnDisk(payload));
  entry.payload = std::move(payload);
  if (in_doubt) {
    entry.sent_to = file_ != nullptr && file_->server() != 0
                        ? file_->server()
                        : SpoolFile::kAnyServer;
  }
  while (stats_.pending_bytes + entry.bytes > Capacity()) {
    if (MergePair(kHourNs) || MergePair(std::numeric_limits<uint64_t>::max())) {
      continue;
    }
    ++stats_.refused;
    return absl::ResourceExhaustedError(
        absl::StrCat("spool window ", window.key.seq, ": full with ",
                     entries_.size(), " windows, none of which may be merged"));
  }
  stats_.pending_bytes += entry.bytes;
  entry.order = next_order_++;
  entries_.push_back(std::move(entry));
  return absl::OkStatus();
}

absl::Status Spool::Settle() {
  absl::Status status = file_->Settle();
  if (!status.ok()) return status;
  for (Entry& entry : entries_) entry.unsettled = false;
  return status;
}

void Spool::WriteOwed() {
  if (file_ == nullptr) {
    if (!HasDisk()) return;
    const absl::Status status = OpenFile();
    NoteDisk(status);
    if (!status.ok()) return;
  }
  const auto is_owed = [this](const Entry& entry) {
    mutex_.AssertHeld();
    return !entry.on_disk && entry.payload.size() <= file_->max_payload();
  };
  auto owed = std::find_if(entries_.begin(), entries_.end(), is_owed);
  if (owed == entries_.end()) return;
  absl::Status status = Settle();
  for (; status.ok() && owed != entries_.end(); ++owed) {
    if (!is_owed(*owed)) continue;
    status = file_->Put(owed->order, owed->sent_to != 0, owed->payload);
    if (status.ok()) {
      owed->on_disk = true;
      owed->payload = std::string();  // gives the memory back
    } else if (!absl::IsResourceExhausted(status)) {
      owed->unsettled = true;
    }
  }
  NoteDisk(status);
}

void Spool::NoteDisk(const absl::Status& status) {
  if (status.ok()) {
    if (disk_fails_) Log(LogLevel::kInfo, "spool: the disk works again");
    disk_fails_ = false;
    return;
  }
  disk_fails_ = true;
  ++stats_.disk_errors;
  static LogSite site(absl::Minutes(1));
  site.Log(LogLevel::kError,
           absl::StrCat("spool: goes on in memory until the disk works again: ",
                        status.ToString()));
}

bool Spool::MergePair(uint64_t longest_ns) {
  for (size_t i = 0; i + 1 < entries_.size(); ++i) {
    const Entry& first = entries_[i];
    const Entry& second = entries_[i + 1];
    if (first.sent_to != 0 || second.sent_to != 0 || first.unsettled ||
        second.unsettled || first.on_disk != second.on_disk ||
        first.key.epoch != second.key.epoch || first.length_ns > longest_ns ||
        second.length_ns > longest_ns - first.length_ns) {
      continue;
    }
    const absl::StatusOr<Window> a = Read(first);
    const absl::StatusOr<Window> b = Read(second);
    if (!a.ok() || !b.ok() || !CanMerge(*a, *b)) continue;
    if (ReplacePair(i, Merged(*a, *b))) return true;
  }
  return false;
}

bool Spool::ReplacePair(size_t index, const Window& merged) {
  std::string payload = Serialize(merged);
  Entry entry = EntryOf(merged, SpoolFile::SizeOnDisk(payload));
  const uint64_t bytes_before =
      entries_[index].bytes + entries_[index + 1].bytes;
  if (entry.bytes > kMaxMergedBytes || entry.bytes >= bytes_before) {
    return false;
  }
  // The place of the second one, whose key it has: what is gone up to there
  // takes the first one along.
  entry.order = entries_[index + 1].order;
  if (entries_[index].on_disk) {
    // If it cannot be written, the two stay. Should it be there all the same,
    // neither of them is handed out before that is settled.
    const absl::Status status = file_->Put(entry.order, false, payload);
    if (!status.ok()) {
      entries_[index].unsettled = entries_[index + 1].unsettled = true;
      NoteDisk(status);
      return false;
    }
    file_->Forget(entries_[index].order);
    entry.on_disk = true;
  } else {
    entry.payload = std::move(payload);
  }
  stats_.pending_bytes -= bytes_before - entry.bytes;
  ++stats_.merged;
  entries_[index] = std::move(entry);
  entries_.erase(entries_.begin() + static_cast<ptrdiff_t>(index + 1));
  return true;
}

absl::StatusOr<Window> Spool::Read(const Entry& entry) const {
  if (!entry.on_disk) return ParseWindow(entry.payload);
  absl::StatusOr<std::string> payload = file_->Read(entry.order);
  if (!payload.ok()) return payload.status();
  return ParseWindow(*payload);
}

absl::Status Spool::MarkSent(Entry* entry, uint64_t server) {
  const uint64_t sent_to = entry->sent_to == 0 || entry->sent_to == server
                               ? server
                               : SpoolFile::kAnyServer;
  if (entry->unsettled) {
    // What the write left must not come back after this window was counted.
    if (absl::Status s = Settle(); !s.ok()) return s;
  }
  if (entry->on_disk &&
      (entry->order > file_->sent() || sent_to != file_->server())) {
    absl::Status status =
        file_->SetSent(entry->order + kSentAhead - 1, sent_to);
    if (!status.ok()) return status;
  }
  entry->sent_to = sent_to;
  return absl::OkStatus();
}

absl::StatusOr<Spool::Parcel> Spool::NextToSend(absl::string_view host_id,
                                                uint64_t server) {
  absl::MutexLock lock(&mutex_);
  absl::Status held;
  for (size_t i = 0; i < entries_.size();) {
    Entry& entry = entries_[i];
    if (entry.key.host_id != host_id) {
      if (!held.ok()) break;
      return absl::FailedPreconditionError(
          absl::StrCat("spool: the next window is of ", entry.key.host_id));
    }
    absl::StatusOr<Window> window = Read(entry);
    // Only what the disk itself damaged is given up; an error of reading may
    // pass.
    if (absl::IsDataLoss(window.status()) ||
        absl::IsInvalidArgument(window.status())) {
      ++stats_.damaged;
      Log(LogLevel::kError, absl::StrCat("spool: lost window ", entry.key.seq,
                                         ": ", window.status().ToString()));
      Remove(i);
      continue;
    }
    const bool in_doubt = entry.sent_to != 0 && entry.sent_to != server;
    absl::Status status = window.status();
    if (status.ok()) status = MarkSent(&entry, server);
    if (status.ok()) return Parcel{*std::move(window), in_doubt};
    NoteDisk(status);
    ++stats_.held;
    held = status;
    // All others that are on disk would be held, too.
    while (i < entries_.size() && entries_[i].MayBeOnDisk()) ++i;
  }
  if (held.ok()) return absl::NotFoundError("spool: no window waits");
  return absl::UnavailableError(absl::StrCat("spool: the disk holds back ",
                                             entries_.size(),
                                             " windows: ", held.ToString()));
}

void Spool::Acknowledge(const WindowKey& key) {
  absl::MutexLock lock(&mutex_);
  const auto found =
      std::find_if(entries_.begin(), entries_.end(),
                   [&key](const Entry& entry) { return entry.key == key; });
  if (found == entries_.end()) return;
  Remove(static_cast<size_t>(found - entries_.begin()));
  WriteOwed();
}

void Spool::Remove(size_t index) {
  const Entry entry = std::move(entries_[index]);
  entries_.erase(entries_.begin() + static_cast<ptrdiff_t>(index));
  stats_.pending_bytes -= entry.bytes;
  if (file_ == nullptr) return;
  file_->Forget(entry.order);
  // Not waited for: what a crash brings back is sent once more, and known.
  file_->SetGone((entries_.empty() ? next_order_ : entries_.front().order) - 1)
      .IgnoreError();
}

std::optional<WindowKey> Spool::Oldest() const {
  absl::MutexLock lock(&mutex_);
  if (entries_.empty()) return std::nullopt;
  return entries_.front().key;
}

uint64_t Spool::OldestSentTo() const {
  absl::MutexLock lock(&mutex_);
  return entries_.empty() ? 0 : entries_.front().sent_to;
}

bool Spool::Empty() const {
  absl::MutexLock lock(&mutex_);
  return entries_.empty();
}

Spool::Stats Spool::stats() const {
  absl::MutexLock lock(&mutex_);
  Stats stats = stats_;
  stats.pending = entries_.size();
  for (const Entry& entry : entries_) {
    if (HasDisk() && !entry.on_disk) ++stats.only_in_memory;
    if (entry.sent_to != 0) ++stats.in_doubt;
  }
  return stats;
}

}  // namespace swaplock
