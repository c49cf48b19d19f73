#include "cli/query/fleet_list.h"

#include <algorithm>
#include <map>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "common/text_table.h"
#include "common/window.h"
#include "common/window_table.h"

namespace swaplock {
namespace {

std::string Utc(uint64_t unix_ns) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ",
                          absl::FromUnixNanos(static_cast<int64_t>(unix_ns)),
                          absl::UTCTimeZone());
}

std::string Ago(uint64_t unix_ns, absl::Time now) {
  const absl::Duration ago =
      absl::Floor(now - absl::FromUnixNanos(static_cast<int64_t>(unix_ns)),
                  absl::Seconds(1));
  if (ago <= absl::ZeroDuration()) return "now";
  return absl::StrCat(absl::FormatDuration(ago), " ago");
}

// Of one kernel and preemption model, over its cells.
void AddKernel(const v1::Cohort& cohort, bool plain, FleetList* list) {
  uint64_t acquisitions = 0, contended = 0, over = 0, longest_wait = 0;
  uint64_t longest_hold = 0;
  bool holds = false, waits = false;
  for (const v1::Cell& message : cohort.cells()) {
    const absl::StatusOr<Cell> cell = FromProto(message);
    if (!cell.ok() || IsOperation(*cell)) continue;
    if (CountsHolds(cell->hold_tier)) {
      holds = true;
      acquisitions += cell->acquisitions;
      longest_hold = std::max(longest_hold, cell->hold.max_ns);
    }
    if (cell->wait_tier != Tier::kUnspecified) {
      waits = true;
      contended += cell->contended;
      over += cell->wait.over_10ms;
      longest_wait = std::max(longest_wait, cell->wait.max_ns);
    }
  }
  const auto ns = [plain](bool measured, uint64_t value) -> std::string {
    if (!measured) return plain ? "" : "-";
    return plain ? absl::StrCat(value) : FormatNs(value);
  };
  const auto count = [plain](bool measured, uint64_t value) -> std::string {
    if (!measured) return plain ? "" : "-";
    return absl::StrCat(value);
  };
  list->rows.push_back(
      {cohort.kernel_release(), cohort.preempt(), absl::StrCat(cohort.hosts()),
       absl::StrCat(cohort.windows()), count(holds, acquisitions),
       count(waits, contended), count(waits, over), ns(waits, longest_wait),
       ns(holds, longest_hold)});
}

void AddHost(const v1::HostState& host, absl::Time now, bool plain,
             FleetList* list) {
  int attached = 0, refused = 0;
  for (const v1::Probe& probe : host.coverage().probes()) {
    attached += probe.state() == v1::PROBE_STATE_ATTACHED;
    refused += probe.state() == v1::PROBE_STATE_REFUSED;
  }
  list->rows.push_back(
      {host.host_id(), host.kernel_release(), host.environment().preempt(),
       absl::StrCat(host.environment().cpus()),
       host.environment().swap_backend(), absl::StrCat(host.windows()),
       plain ? Utc(host.last_seen_unix_ns())
             : Ago(host.last_seen_unix_ns(), now),
       host.connected() ? "connected" : "away", absl::StrCat(attached),
       absl::StrCat(refused)});
}

void AddHold(const v1::TopHold& top, bool plain, FleetList* list) {
  v1::Hold hold_message = top.hold();
  hold_message.set_cell(0);
  v1::Cell cell_message;
  *cell_message.mutable_key() = top.key();
  const absl::StatusOr<Hold> hold = FromProto(hold_message);
  const absl::StatusOr<Cell> cell = FromProto(cell_message);
  if (!hold.ok() || !cell.ok()) return;
  const auto ns = [plain](uint64_t value) {
    return plain ? absl::StrCat(value) : FormatNs(value);
  };
  std::string preemptor;
  if (!hold->preemptors.empty()) {
    const Actor& first = hold->preemptors.front();
    preemptor = absl::StrCat(first.comm, "[", first.pid, "]");
  }
  list->rows.push_back(
      {ns(hold->hold_ns), ns(hold->on_cpu_ns), ns(hold->runnable_ns),
       ns(hold->blocked_ns), ns(hold->unknown_ns), ns(hold->stall_ns),
       ns(hold->inversion_ns), LockName(cell->key), HolderName(*hold),
       preemptor, top.host_id(), top.kernel_release(), Utc(top.end_unix_ns())});
}

}  // namespace

FleetList ListOf(const v1::Fleet& fleet, FleetListKind kind,
                 const std::string& kernel, const std::string& host,
                 absl::Time now, bool plain) {
  FleetList list;
  list.message.set_replay(fleet.replay());
  const auto shown = [](const std::string& wanted, const std::string& value) {
    return wanted.empty() || wanted == value;
  };
  switch (kind) {
    case FleetListKind::kKernels:
      list.fields = {"kernel",          "preempt",         "hosts",
                     "windows",         "acquisitions",    "contended",
                     "waits_over_10ms", "longest_wait_ns", "longest_hold_ns"};
      list.columns = {"kernel",     "preempt",      "hosts",
                      "windows",    "acquisitions", "contended",
                      "waits>10ms", "longest wait", "longest hold"};
      list.right = {false, false, true, true, true, true, true, true, true};
      for (const v1::Cohort& cohort : fleet.cohorts()) {
        if (!shown(kernel, cohort.kernel_release())) continue;
        AddKernel(cohort, plain, &list);
        *list.message.add_cohorts() = cohort;
      }
      break;
    case FleetListKind::kHosts:
      list.fields = {"host",    "kernel", "preempt", "cpus",     "swap",
                     "windows", "seen",   "state",   "attached", "refused"};
      list.columns = {"host",    "kernel", "preempt", "CPUs",     "swap",
                      "windows", "seen",   "state",   "attached", "refused"};
      list.right = {false, false, false, true, false,
                    true,  true,  false, true, true};
      for (const v1::HostState& state : fleet.hosts()) {
        if (!shown(kernel, state.kernel_release()) ||
            !shown(host, state.host_id())) {
          continue;
        }
        AddHost(state, now, plain, &list);
        *list.message.add_hosts() = state;
      }
      break;
    case FleetListKind::kHolds:
      list.fields = {"hold_ns",    "on_cpu_ns",  "runnable_ns",  "blocked_ns",
                     "unknown_ns", "stalled_ns", "inversion_ns", "lock",
                     "holder",     "preemptor",  "host",         "kernel",
                     "window_end"};
      list.columns = {"hold",    "on-CPU",    "runnable",  "blocked",
                      "unknown", "stalled",   "inversion", "lock",
                      "holder",  "preemptor", "host",      "kernel",
                      "window"};
      list.right = {true,  true,  true,  true,  true,  true, true,
                    false, false, false, false, false, false};
      for (const v1::TopHold& top : fleet.top_holds()) {
        if (!shown(kernel, top.kernel_release()) ||
            !shown(host, top.host_id())) {
          continue;
        }
        AddHold(top, plain, &list);
        *list.message.add_top_holds() = top;
      }
      break;
    case FleetListKind::kQuarantine:
      list.fields = {"host", "since", "until", "windows_refused", "reason"};
      list.columns = {"host", "since", "until", "windows refused", "reason"};
      list.right = {false, false, false, true, false};
      for (const v1::QuarantinedHost& aside : fleet.quarantined()) {
        if (!shown(host, aside.host_id())) continue;
        list.rows.push_back({aside.host_id(), Utc(aside.since_unix_ns()),
                             Utc(aside.until_unix_ns()),
                             absl::StrCat(aside.windows_refused()),
                             aside.reason()});
        *list.message.add_quarantined() = aside;
      }
      break;
  }
  return list;
}

std::string FleetListTable(const FleetList& list, size_t max_width) {
  if (list.rows.empty()) return "nothing yet\n";
  TextTable table;
  // Columns to the right matter less, apart from the first four.
  for (size_t i = 0; i < list.columns.size(); ++i) {
    table.AddColumn(
        list.columns[i],
        list.right[i] ? TextTable::Align::kRight : TextTable::Align::kLeft,
        i < 4 ? 0 : 1);
  }
  for (const std::vector<std::string>& row : list.rows) table.AddRow(row);
  return table.Render("", max_width);
}

std::string FleetListCsv(const FleetList& list) {
  const auto line = [](const std::vector<std::string>& fields) {
    std::vector<std::string> quoted;
    for (const std::string& field : fields) {
      const std::string printable = Printable(field);
      quoted.push_back(
          printable.find_first_of(",\"") == std::string::npos
              ? printable
              : absl::StrCat("\"",
                             absl::StrReplaceAll(printable, {{"\"", "\"\""}}),
                             "\""));
    }
    return absl::StrCat(absl::StrJoin(quoted, ","), "\n");
  };
  std::string out = line(list.fields);
  for (const std::vector<std::string>& row : list.rows) {
    absl::StrAppend(&out, line(row));
  }
  return out;
}

}  // namespace swaplock
