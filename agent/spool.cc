#include "agent/spool.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/merged_window.h"
#include "common/log.h"

namespace swaplock {
namespace {

// What the server takes as one message, with room to spare.
constexpr size_t kMaxMergedBytes = 256 << 10;

}  // namespace

absl::StatusOr<std::unique_ptr<Spool>> Spool::Open(const Options& options) {
  std::unique_ptr<Spool> spool(new Spool(options));
  if (options.folder.empty()) return spool;

  absl::MutexLock lock(&spool->mutex_);
  SpoolFile::Damage damage;
  absl::StatusOr<std::unique_ptr<SpoolFile>> file = SpoolFile::Open(
      options.folder, &damage,
      [&spool](const SpoolFile::Record& record, absl::string_view payload) {
        spool->mutex_.AssertHeld();
        spool->Recover(record, payload);
      });
  if (!file.ok()) return file.status();
  spool->file_ = *std::move(file);
  std::stable_sort(spool->entries_.begin(), spool->entries_.end(),
                   [](const Entry& a, const Entry& b) {
                     return a.record.order < b.record.order;
                   });
  Stats& stats = spool->stats_;
  stats.recovered = spool->entries_.size();
  stats.damaged += damage.records + (damage.tail_bytes > 0 ? 1 : 0) +
                   (damage.foreign ? 1 : 0);
  if (stats.damaged > 0) {
    Log(LogLevel::kWarning,
        absl::StrCat("spool: ", options.folder, ": ", damage.records,
                     " damaged records left out, ", damage.tail_bytes,
                     " bytes of a torn tail cut off",
                     damage.foreign ? ", foreign file moved aside" : ""));
  }
  return spool;
}

void Spool::Recover(const SpoolFile::Record& record,
                    absl::string_view payload) {
  next_order_ = std::max(next_order_, record.order + 1);
  absl::StatusOr<Window> window = ParseWindow(payload);
  if (!window.ok()) {
    ++stats_.damaged;
    return;
  }
  Entry entry;
  entry.key = window->key;
  entry.windows = WindowsIn(*window);
  entry.bytes = SpoolFile::SizeOnDisk(payload);
  entry.record = record;
  entry.on_disk = true;
  // A merged window is written before those in it are marked gone; a crash in
  // between leaves both.
  for (size_t i = entries_.size(); i > 0; --i) {
    if (!Covers(entry, entries_[i - 1].key)) continue;
    stats_.pending_bytes -= entries_[i - 1].bytes;
    entries_.erase(entries_.begin() + static_cast<ptrdiff_t>(i - 1));
  }
  stats_.pending_bytes += entry.bytes;
  entries_.push_back(std::move(entry));
}

bool Spool::Covers(const Entry& entry, const WindowKey& key) {
  return entry.key.seq >= key.seq && entry.key.seq - key.seq < entry.windows &&
         entry.key.epoch == key.epoch && entry.key.boot_id == key.boot_id &&
         entry.key.host_id == key.host_id;
}

absl::Status Spool::Append(const Window& window) { return Keep(window, false); }

absl::Status Spool::AppendInDoubt(const Window& window) {
  return Keep(window, true);
}

absl::Status Spool::Keep(const Window& window, bool in_doubt) {
  absl::MutexLock lock(&mutex_);
  for (const Entry& entry : entries_) {
    if (Covers(entry, window.key)) return absl::OkStatus();
  }
  Entry entry;
  entry.key = window.key;
  entry.windows = WindowsIn(window);
  entry.payload = Serialize(window);
  entry.bytes = SpoolFile::SizeOnDisk(entry.payload);
  entry.record.order = next_order_;
  entry.record.in_doubt = in_doubt;
  while (stats_.pending_bytes + entry.bytes > options_.max_bytes / 2) {
    if (MergeOldestPair()) continue;
    ++stats_.refused;
    return absl::ResourceExhaustedError(
        absl::StrCat("spool window ", window.key.seq, ": full with ",
                     entries_.size(), " windows, none of which may be merged"));
  }
  ++next_order_;
  stats_.pending_bytes += entry.bytes;
  entries_.push_back(std::move(entry));
  WriteOwed();
  return absl::OkStatus();
}

void Spool::WriteOwed() {
  if (file_ == nullptr) return;
  for (Entry& entry : entries_) {
    if (entry.on_disk) continue;
    absl::Status status = MakeRoomInFile(entry.bytes);
    if (status.ok()) {
      absl::StatusOr<SpoolFile::Record> record = file_->Append(
          entry.record.order, entry.record.in_doubt, entry.payload);
      status = record.status();
      if (record.ok()) entry.record = *record;
    }
    if (!status.ok()) {
      static LogSite site(absl::Minutes(1));
      site.Log(LogLevel::kError,
               absl::StrCat("spool: window ", entry.key.seq,
                            " is in memory only: ", status.ToString()));
      return;
    }
    entry.on_disk = true;
    entry.payload = std::string();  // gives the memory back
  }
}

absl::Status Spool::MakeRoomInFile(uint64_t bytes) {
  if (file_->size() + bytes <= options_.max_bytes) return absl::OkStatus();
  std::vector<SpoolFile::Record*> keep;
  for (Entry& entry : entries_) {
    if (entry.on_disk) keep.push_back(&entry.record);
  }
  return file_->Compact(keep);
}

bool Spool::MergeOldestPair() {
  // Not the first one: it may be on its way.
  for (size_t i = 1; i + 1 < entries_.size(); ++i) {
    const Entry& first = entries_[i];
    const Entry& second = entries_[i + 1];
    if (first.record.in_doubt || second.record.in_doubt ||
        first.on_disk != second.on_disk ||
        first.key.epoch != second.key.epoch) {
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
  Entry entry;
  entry.key = merged.key;
  entry.windows = WindowsIn(merged);
  entry.payload = Serialize(merged);
  entry.bytes = SpoolFile::SizeOnDisk(entry.payload);
  entry.record.order = entries_[index].record.order;
  const uint64_t bytes_before =
      entries_[index].bytes + entries_[index + 1].bytes;
  if (entry.bytes > kMaxMergedBytes || entry.bytes >= bytes_before) {
    return false;
  }
  if (entries_[index].on_disk) {
    // The merged one first: a crash before the marks leaves all three, and
    // Recover() knows which to take. If it cannot be written, the two stay.
    if (!MakeRoomInFile(entry.bytes).ok()) return false;
    absl::StatusOr<SpoolFile::Record> record =
        file_->Append(entry.record.order, false, entry.payload);
    if (!record.ok()) return false;
    entry.record = *record;
    entry.on_disk = true;
    entry.payload = std::string();
    MarkGone(entries_[index]);
    MarkGone(entries_[index + 1]);
  }
  stats_.pending_bytes -= bytes_before - entry.bytes;
  ++stats_.merged;
  entries_[index] = std::move(entry);
  entries_.erase(entries_.begin() + static_cast<ptrdiff_t>(index + 1));
  return true;
}

void Spool::MarkGone(const Entry& entry) {
  if (!entry.on_disk) return;
  const absl::Status status = file_->MarkGone(entry.record);
  if (status.ok()) return;
  static LogSite site(absl::Minutes(1));
  site.Log(LogLevel::kError,
           absl::StrCat(
               "spool: window ", entry.key.seq,
               " would be sent again after a restart: ", status.ToString()));
}

absl::StatusOr<Window> Spool::Read(const Entry& entry) const {
  if (!entry.on_disk) return ParseWindow(entry.payload);
  absl::StatusOr<std::string> payload = file_->Read(entry.record);
  if (!payload.ok()) return payload.status();
  return ParseWindow(*payload);
}

absl::StatusOr<Window> Spool::Oldest() {
  absl::MutexLock lock(&mutex_);
  while (!entries_.empty()) {
    absl::StatusOr<Window> window = Read(entries_.front());
    // Only what the disk itself damaged is given up; an error of reading may
    // pass.
    if (!absl::IsDataLoss(window.status())) return window;
    ++stats_.damaged;
    Log(LogLevel::kError,
        absl::StrCat("spool: lost window ", entries_.front().key.seq, ": ",
                     window.status().ToString()));
    Remove(0);
  }
  return absl::NotFoundError("spool: no window waits");
}

void Spool::Acknowledge(const WindowKey& key) {
  absl::MutexLock lock(&mutex_);
  const auto found =
      std::find_if(entries_.begin(), entries_.end(),
                   [&key](const Entry& entry) { return entry.key == key; });
  if (found == entries_.end()) return;
  Remove(static_cast<size_t>(found - entries_.begin()));
}

void Spool::Remove(size_t index) {
  const Entry entry = std::move(entries_[index]);
  entries_.erase(entries_.begin() + static_cast<ptrdiff_t>(index));
  stats_.pending_bytes -= entry.bytes;
  if (file_ == nullptr) return;
  if (!entries_.empty() || !file_->Clear().ok()) MarkGone(entry);
  WriteOwed();
}

bool Spool::Empty() const {
  absl::MutexLock lock(&mutex_);
  return entries_.empty();
}

Spool::Stats Spool::stats() const {
  absl::MutexLock lock(&mutex_);
  Stats stats = stats_;
  stats.pending = entries_.size();
  if (file_ != nullptr) {
    stats.only_in_memory = static_cast<uint64_t>(
        std::count_if(entries_.begin(), entries_.end(),
                      [](const Entry& entry) { return !entry.on_disk; }));
  }
  return stats;
}

}  // namespace swaplock
