#include "cli/report/recorded_run.h"

#include <algorithm>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "cli/report/plain_record.h"
#include "common/record_file.h"

namespace swaplock {
namespace {

using Place = std::pair<uint64_t, uint64_t>;  // epoch and seq of a window
using HostBoot = std::pair<std::string, std::string>;

// What a window said that can only be added up in the order of the windows.
struct Ordered {
  Context context;
  uint64_t covers = 1;  // sequence numbers, up to its own
};

// A run while its windows come in, in any order.
struct Gathered {
  RecordedRun run;
  std::map<Place, Ordered> windows;
  std::set<uint64_t> fingerprints;
  bool begin_says_environment = false;
};

// Longest first; equal ones in an order that the files' does not change.
bool IsBefore(const RecordedHold& a, const RecordedHold& b) {
  const auto rank = [](const RecordedHold& hold) {
    return std::make_tuple(~hold.hold.hold_ns, hold.end_unix_ns, hold.hold.pid,
                           hold.hold.acquired_offset_ns);
  };
  return rank(a) != rank(b) ? rank(a) < rank(b) : a.key < b.key;
}

std::vector<RecordedHold> WithKeys(const std::vector<Hold>& holds,
                                   const Window& window) {
  std::vector<RecordedHold> out;
  for (const Hold& hold : holds) {
    if (hold.cell >= window.cells.size()) continue;
    out.push_back({hold, window.cells[hold.cell].key, window.end_unix_ns});
  }
  return out;
}

void AddLongest(const Window& window, RecordedRun* run) {
  std::vector<RecordedHold>& all = run->longest;
  for (RecordedHold& hold : WithKeys(window.top_holds, window)) {
    all.push_back(std::move(hold));
  }
  std::sort(all.begin(), all.end(), IsBefore);
  if (all.size() > kLongestKept) all.resize(kLongestKept);
}

void AddToCell(const Cell& cell, std::map<CellKey, Cell>* cells) {
  const auto [it, added] = cells->try_emplace(cell.key, cell);
  if (!added) it->second.Merge(cell);
}

// When a run without a command began, by its first window.
void BeginAt(const Window& window, RunBegin* begin) {
  const uint64_t length = window.end_boottime_ns - window.start_boottime_ns;
  begin->begin_boottime_ns = window.start_boottime_ns;
  begin->begin_unix_ns = window.end_unix_ns - length;
}

void AddWindow(const Window& window, Gathered* gathered) {
  RecordedRun& run = gathered->run;
  const Place place(window.key.epoch, window.key.seq);
  const bool first =
      gathered->windows.empty() || place < gathered->windows.begin()->first;
  const bool last =
      gathered->windows.empty() || gathered->windows.rbegin()->first < place;
  const Ordered ordered = {window.context,
                           std::max<uint64_t>(1, window.merged)};
  if (!gathered->windows.emplace(place, ordered).second) return;

  ++run.windows;
  run.measured_ns += window.end_boottime_ns - window.start_boottime_ns;
  for (const Cell& cell : window.cells) AddToCell(cell, &run.cells);
  AddLongest(window, &run);
  for (const auto& [reason, events] : window.losses) {
    run.losses[reason] += events;
  }
  run.agent_cpu_ns += window.overhead.agent_cpu_ns;
  run.agent_rss_bytes =
      std::max(run.agent_rss_bytes, window.overhead.rss_bytes);
  run.timing_shift = std::max(run.timing_shift, window.overhead.timing_shift);
  gathered->fingerprints.insert(window.coverage.fingerprint);
  run.coverage_changed = gathered->fingerprints.size() > 1;
  if (first && !run.HasCommand()) BeginAt(window, &run.begin);
  if (first && !gathered->begin_says_environment) {
    run.begin.environment = window.environment;
  }
  if (last) {
    run.coverage = window.coverage;
    run.null_hold_ns = window.overhead.null_hold_ns;
    run.in_progress = WithKeys(window.holds_in_progress, window);
  }
}

// Adds up what needs all windows in their order.
void Finish(Gathered* gathered) {
  RecordedRun& run = gathered->run;
  const Place* before = nullptr;
  for (const auto& [place, ordered] : gathered->windows) {
    run.context = Merged(run.context, ordered.context);
    if (before != nullptr && before->first == place.first) {
      const uint64_t gap = place.second - before->second;
      run.missing_windows += gap - std::min(gap, ordered.covers);
    }
    before = &place;
  }
}

class Gatherer {
 public:
  absl::Status ReadFile(const std::string& path);
  Recordings Finished();

 private:
  void Take(const Window& window);
  void Take(const RunBegin& begin);
  void Take(const RunEnd& end);
  // Where windows of that host and boot go now; begins a run without a command
  // if there is none.
  Gathered* RunOf(const HostBoot& host);
  void NoteFile(Gathered* gathered);

  std::string path_;
  // Of the file that is being read: the run that was begun and not ended.
  std::map<HostBoot, std::string> open_;
  std::vector<std::unique_ptr<Gathered>> runs_;
  std::map<std::string, Gathered*> by_id_;
  std::map<HostBoot, Gathered*> without_command_;
  std::map<std::string, std::pair<RunEnd, std::string>> ends_;  // and its file
  std::vector<std::string> remarks_;
};

void Gatherer::NoteFile(Gathered* gathered) {
  std::vector<std::string>& files = gathered->run.files;
  if (std::find(files.begin(), files.end(), path_) == files.end()) {
    files.push_back(path_);
  }
}

Gathered* Gatherer::RunOf(const HostBoot& host) {
  if (const auto open = open_.find(host); open != open_.end()) {
    return by_id_[open->second];
  }
  Gathered*& gathered = without_command_[host];
  if (gathered == nullptr) {
    gathered = runs_.emplace_back(std::make_unique<Gathered>()).get();
    RunBegin& begin = gathered->run.begin;
    begin.name = host.first;
    begin.host_id = host.first;
    begin.boot_id = host.second;
  }
  return gathered;
}

void Gatherer::Take(const Window& window) {
  Gathered* gathered = RunOf({window.key.host_id, window.key.boot_id});
  AddWindow(window, gathered);
  NoteFile(gathered);
}

void Gatherer::Take(const RunBegin& begin) {
  Gathered*& gathered = by_id_[begin.id];
  if (gathered == nullptr) {
    gathered = runs_.emplace_back(std::make_unique<Gathered>()).get();
    gathered->run.begin = begin;
    gathered->begin_says_environment =
        !begin.environment.kernel_release.empty();
  }
  const RunBegin& first = gathered->run.begin;
  open_[{first.host_id, first.boot_id}] = begin.id;
  NoteFile(gathered);
}

void Gatherer::Take(const RunEnd& end) {
  ends_.try_emplace(end.run_id, end, path_);
  for (auto it = open_.begin(); it != open_.end(); ++it) {
    if (it->second != end.run_id) continue;
    open_.erase(it);
    break;
  }
}

absl::Status Gatherer::ReadFile(const std::string& path) {
  path_ = path;
  open_.clear();
  absl::StatusOr<std::unique_ptr<RecordReader>> reader =
      RecordReader::Open(path);
  if (!reader.ok()) return reader.status();
  uint64_t records = 0;
  absl::StatusOr<Record> record = (*reader)->NextRecord();
  for (; record.ok(); record = (*reader)->NextRecord()) {
    ++records;
    MakePlain(&*record);
    std::visit([this](const auto& what) { Take(what); }, *record);
  }
  if (absl::IsOutOfRange(record.status())) {
    if (records == 0) {
      remarks_.push_back(absl::StrCat(path, " is empty: no whole record"));
    } else if ((*reader)->torn()) {
      remarks_.push_back(
          absl::StrCat(path, " ends in the middle of a record, at offset ",
                       (*reader)->offset(), "; everything before it is used"));
    }
    return absl::OkStatus();
  }
  if (records == 0) return record.status();
  remarks_.push_back(absl::StrCat(record.status().message(), "; the ", records,
                                  records == 1 ? " record" : " records",
                                  " before it are used, nothing after it"));
  return absl::OkStatus();
}

Recordings Gatherer::Finished() {
  Recordings out;
  for (auto& [id, end] : ends_) {
    const auto run = by_id_.find(id);
    if (run == by_id_.end()) {
      out.remarks.push_back(absl::StrCat(end.second, " has the end of run ", id,
                                         " without its begin"));
      continue;
    }
    run->second->run.end = std::move(end.first);
  }
  for (const std::unique_ptr<Gathered>& gathered : runs_) {
    Finish(gathered.get());
    out.runs.push_back(std::move(gathered->run));
  }
  out.remarks.insert(out.remarks.begin(), remarks_.begin(), remarks_.end());
  return out;
}

}  // namespace

uint64_t RecordedRun::duration_ns() const {
  if (!end.has_value()) return measured_ns;
  return end->end_boottime_ns -
         std::min(end->end_boottime_ns, begin.begin_boottime_ns);
}

absl::StatusOr<Recordings> ReadRecordings(absl::Span<const std::string> paths) {
  Gatherer gatherer;
  for (const std::string& path : paths) {
    if (absl::Status status = gatherer.ReadFile(path); !status.ok()) {
      return status;
    }
  }
  return gatherer.Finished();
}

}  // namespace swaplock
