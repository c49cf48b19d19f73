#include "common/window_table.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "common/text_table.h"

namespace swaplock {
namespace {

constexpr absl::string_view kNotMeasured = "-";

std::string CountOr(bool measured, uint64_t count) {
  return measured ? absl::StrCat(count) : std::string(kNotMeasured);
}

std::string NsOr(bool measured, uint64_t ns) {
  return measured ? FormatNs(ns) : std::string(kNotMeasured);
}

std::string TierName(const Cell& cell) {
  const auto name = [](Tier tier) {
    return tier == Tier::kUnspecified ? kNotMeasured : Name(tier);
  };
  return absl::StrCat(name(cell.hold_tier), "/", name(cell.wait_tier));
}

std::string PolicyName(const Hold& hold) {
  switch (hold.policy) {
    case 0:
      return absl::StrCat("other nice ", hold.nice);
    case 1:
      return "fifo";
    case 2:
      return "rr";
    case 3:
      return absl::StrCat("batch nice ", hold.nice);
    case 5:
      return absl::StrCat("idle nice ", hold.nice);
    case 6:
      return "deadline";
    default:
      return absl::StrCat("policy ", hold.policy);
  }
}

std::string Bytes(uint64_t bytes) {
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

constexpr size_t kContextColumns = 100;

std::string NamedValue(absl::string_view name, uint64_t value) {
  const auto [what, amount] = ReadableNumber(name, value);
  return absl::StrCat(what, " ", amount);
}

// "  title: a, b, c" in lines of kContextColumns; nothing if there are no
// items.
std::string ContextLines(absl::string_view title,
                         const std::vector<std::string>& items) {
  std::string text;
  std::string line = absl::StrCat("  ", title, ":");
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string item =
        Printable(absl::StrCat(" ", items[i], i + 1 < items.size() ? "," : ""));
    if (line.size() + item.size() > kContextColumns) {
      absl::StrAppend(&text, line, "\n");
      line = "   ";
    }
    line += item;
  }
  if (items.empty()) return "";
  return absl::StrCat(text, line, "\n");
}

// Alone is what a lock is held by default.
std::string RoleName(const CellKey& key) {
  return absl::StrCat(Name(key.role),
                      key.mode == Mode::kShared ? " shared" : "");
}

}  // namespace

std::pair<std::string, std::string> ReadableNumber(absl::string_view name,
                                                   uint64_t value) {
  std::string amount = absl::StrCat(value);
  if (absl::ConsumeSuffix(&name, "_bytes")) {
    amount = Bytes(value);
  } else if (absl::ConsumeSuffix(&name, "_ns")) {
    amount = FormatNs(value);
  } else if (value < (uint64_t{1} << 50) && absl::ConsumeSuffix(&name, "_us")) {
    amount = FormatNs(value * 1'000);
  } else if (value < (uint64_t{1} << 40) && absl::ConsumeSuffix(&name, "_ms")) {
    amount = FormatNs(value * 1'000'000);
  } else if (absl::ConsumeSuffix(&name, "_ppm")) {
    amount = absl::StrFormat("%.2f%%", static_cast<double>(value) / 10'000);
  }
  return {std::string(name), std::move(amount)};
}

std::string ContextText(const Context& context) {
  std::vector<std::string> counters;
  for (const auto& [name, delta] : context.counters) {
    if (delta > 0) counters.push_back(NamedValue(name, delta));
  }
  std::vector<std::string> gauges;
  for (const auto& [name, value] : context.gauges) {
    gauges.push_back(NamedValue(name, value));
  }
  std::vector<std::string> facts;
  for (const auto& [name, value] : context.facts) {
    facts.push_back(absl::StrCat(name, " ", value));
  }
  return absl::StrCat(ContextLines("context, grew by", counters),
                      ContextLines("context, now", gauges),
                      ContextLines("context, facts", facts));
}

std::string ModelName(LockModel model) {
  switch (model) {
    case LockModel::kNone:
      return "lock-free";
    case LockModel::kUnspecified:
      return std::string(kNotMeasured);
    default:
      return std::string(Name(model));
  }
}

std::string LockName(const CellKey& key) {
  return absl::StrCat(
      key.device.empty() ? std::string(Name(key.subsystem)) : key.device, " ",
      Name(key.operation), " ", RoleName(key));
}

std::string HolderName(const Hold& hold) {
  return absl::StrCat(hold.comm, "[", hold.pid, "] ", PolicyName(hold));
}

std::string CellTable(const std::vector<Cell>& cells, absl::string_view indent,
                      size_t max_width) {
  // A narrow terminal first does without how something was measured, then
  // without what can be had by subtraction.
  TextTable table;
  for (const auto& [title, drop] :
       std::initializer_list<std::pair<absl::string_view, int>>{
           {"lock", 0},
           {"device", 2},
           {"op", 0},
           {"role", 0},
           {"algorithm", 8},
           {"model", 7},
           {"hold/wait by", 10}}) {
    table.AddColumn(title, TextTable::Align::kLeft, drop);
  }
  for (const auto& [title, drop] :
       std::initializer_list<std::pair<absl::string_view, int>>{
           {"acquired", 0},
           {"contended", 0},
           {"wait", 3},
           {"max", 1},
           {">10ms", 4},
           {"hold", 0},
           {"max", 0},
           {">10ms", 4},
           {"on-CPU", 1},
           {"runnable", 0},
           {"preempted", 5},
           {"woken", 6},
           {"throttled", 9},
           {"blocked", 3},
           {"unknown", 12},
           {"migrations", 9}}) {
    table.AddColumn(title, TextTable::Align::kRight, drop);
  }
  // Where no cell has a split, its columns are empty and so left out.
  const bool any_split =
      std::any_of(cells.begin(), cells.end(), [](const Cell& cell) {
        return MeasuresSplit(cell) && cell.runnable.sum_ns > 0;
      });
  for (const Cell& cell : cells) {
    if (IsOperation(cell)) continue;
    const bool split = MeasuresSplit(cell);
    const auto if_split = [&](const std::string& text) {
      return any_split ? (split ? text : std::string(kNotMeasured)) : "";
    };
    const bool holds = CountsHolds(cell.hold_tier);
    const bool off_cpu = holds || cell.hold_tier == Tier::kOwnerProbe;
    const bool waits = cell.wait_tier != Tier::kUnspecified;
    table.AddRow({
        std::string(Name(cell.key.subsystem)),
        cell.key.device,
        std::string(Name(cell.key.operation)),
        RoleName(cell.key),
        cell.key.algorithm,
        ModelName(cell.lock_model),
        TierName(cell),
        CountOr(holds, cell.acquisitions),
        CountOr(waits, cell.contended),
        NsOr(waits, cell.wait.sum_ns),
        NsOr(waits, cell.wait.max_ns),
        CountOr(waits, cell.wait.over_10ms),
        NsOr(holds, cell.hold.sum_ns),
        NsOr(holds, cell.hold.max_ns),
        CountOr(holds, cell.hold.over_10ms),
        NsOr(holds, cell.on_cpu_ns),
        NsOr(off_cpu, cell.runnable.sum_ns),
        if_split(FormatNs(cell.preempted_ns)),
        if_split(FormatNs(cell.woken_ns)),
        if_split(FormatNs(cell.throttled_ns)),
        NsOr(off_cpu, cell.blocked.sum_ns),
        NsOr(holds, cell.unknown_ns),
        if_split(absl::StrCat(cell.migrations)),
    });
  }
  return table.Empty() ? "" : table.Render(indent, max_width);
}

std::string OperationTable(const std::vector<Cell>& cells,
                           absl::string_view indent, size_t max_width) {
  TextTable table;
  for (const auto& [title, drop] :
       std::initializer_list<std::pair<absl::string_view, int>>{
           {"operation", 0},
           {"device", 4},
           {"algorithm", 5},
           {"lock", 0},
           {"by", 6}}) {
    table.AddColumn(title, TextTable::Align::kLeft, drop);
  }
  for (const auto& [title, drop] :
       std::initializer_list<std::pair<absl::string_view, int>>{
           {"operations", 0},
           {"mean", 0},
           {"p99", 0},
           {"max", 0},
           {">1ms", 2},
           {">10ms", 1},
           {">100ms", 3}}) {
    table.AddColumn(title, TextTable::Align::kRight, drop);
  }
  for (const Cell& cell : cells) {
    if (!IsOperation(cell)) continue;
    const Distribution& latency = cell.latency;
    const bool any = latency.Count() > 0;  // else there is no mean
    const auto ns = [any](double value) {
      return NsOr(any, static_cast<uint64_t>(value));
    };
    table.AddRow({
        absl::StrCat(Name(cell.key.subsystem), " ", Name(cell.key.operation)),
        cell.key.device,
        cell.key.algorithm,
        ModelName(cell.lock_model),
        std::string(Name(cell.latency_tier)),
        absl::StrCat(latency.Count()),
        ns(latency.MeanNs()),
        ns(latency.QuantileNs(0.99)),
        NsOr(any, latency.max_ns),
        absl::StrCat(latency.over_1ms),
        absl::StrCat(latency.over_10ms),
        absl::StrCat(latency.over_100ms),
    });
  }
  return table.Empty() ? "" : table.Render(indent, max_width);
}

std::string HoldTable(const std::vector<Hold>& holds,
                      const std::vector<Cell>& cells, absl::string_view indent,
                      const std::vector<std::string>& origins,
                      size_t max_width) {
  if (holds.empty()) return "";
  TextTable table;
  for (const auto& [title, drop] :
       std::initializer_list<std::pair<absl::string_view, int>>{
           {"hold", 0},
           {"on-CPU", 1},
           {"runnable", 0},
           {"blocked", 2},
           {"unknown", 7},
           {"waited", 5},
           {"preempted", 4}}) {
    table.AddColumn(title, TextTable::Align::kRight, drop);
  }
  for (const auto& [title, drop] :
       std::initializer_list<std::pair<absl::string_view, int>>{
           {"lock", 0}, {"holder", 0}, {"CPU", 6}, {"on", 3}}) {
    table.AddColumn(title, TextTable::Align::kLeft, drop);
  }
  for (size_t i = 0; i < holds.size(); ++i) {
    const Hold& hold = holds[i];
    // Of the parts a bare off-CPU interval has only some: a tier without holds
    // cannot tell the others.
    const Cell* cell = hold.cell < cells.size() ? &cells[hold.cell] : nullptr;
    const bool whole = cell == nullptr || CountsHolds(cell->hold_tier);
    table.AddRow({
        FormatNs(hold.hold_ns),
        NsOr(whole, hold.on_cpu_ns),
        FormatNs(hold.runnable_ns),
        FormatNs(hold.blocked_ns),
        NsOr(whole, hold.unknown_ns),
        NsOr(whole, hold.wait_ns),
        CountOr(whole, hold.preemptions),
        cell == nullptr ? "" : LockName(cell->key),
        HolderName(hold),
        hold.acquire_cpu == hold.release_cpu
            ? absl::StrCat(hold.acquire_cpu)
            : absl::StrCat(hold.acquire_cpu, "->", hold.release_cpu),
        i < origins.size() ? origins[i] : "",
    });
  }
  return table.Render(indent, max_width);
}

std::string HoldExplanation(const Hold& hold, absl::string_view indent,
                            size_t max_width) {
  const auto actors = [](const std::vector<Actor>& list) {
    std::vector<std::string> out;
    out.reserve(list.size());
    for (const Actor& a : list) {
      out.push_back(absl::StrCat(a.comm, "[", a.pid, "] nice ", a.nice, " ",
                                 FormatNs(a.ns),
                                 a.inversion ? " (inversion)" : ""));
    }
    return absl::StrJoin(out, ", ");
  };
  std::string text;
  const auto line = [&](absl::string_view label, absl::string_view value) {
    if (value.empty()) return;
    absl::StrAppend(&text,
                    Wrapped(absl::StrCat(label, ": ", Printable(value)), indent,
                            absl::StrCat(indent, "  "), max_width));
  };
  std::vector<std::string> parts;
  for (const auto& [name, ns] :
       {std::make_pair("preempted", hold.preempted_ns),
        std::make_pair("woken", hold.woken_ns),
        std::make_pair("throttled", hold.throttled_ns)}) {
    if (ns > 0) parts.push_back(absl::StrCat(name, " ", FormatNs(ns)));
  }
  if (hold.migrations > 0) {
    parts.push_back(absl::StrCat(
        hold.migrations, hold.migrations == 1 ? " migration" : " migrations"));
  }
  line("off CPU", absl::StrJoin(parts, ", "));
  line("ran instead", actors(hold.preemptors));
  line("waited", actors(hold.waiters));
  if (hold.stall_ns > 0) {
    line(
        "stalled",
        absl::StrCat(FormatNs(hold.stall_ns), " in all",
                     hold.inversion_ns > 0 ? ", inversion " : "",
                     hold.inversion_ns > 0 ? FormatNs(hold.inversion_ns) : ""));
  }
  line("cgroup", hold.cgroup);
  line("switched out in", absl::StrJoin(hold.switch_stack, " < "));
  line("released in", absl::StrJoin(hold.release_stack, " < "));
  return text;
}

std::string CoverageText(const Coverage& coverage, absl::string_view indent) {
  // Many probes are refused for one reason.
  std::map<std::pair<ProbeState, std::string>, std::vector<std::string>> groups;
  for (const Probe& probe : coverage.probes) {
    const bool refused = probe.state == ProbeState::kRefused;
    groups[{probe.state, refused ? probe.reason : ""}].push_back(probe.name);
  }
  std::string text;
  for (const auto& [group, names] : groups) {
    const auto& [state, reason] = group;
    absl::StrAppend(&text, indent,
                    Printable(absl::StrCat("probes ", Name(state), ": ",
                                           absl::StrJoin(names, ", "),
                                           reason.empty() ? "" : ": ", reason)),
                    "\n");
  }
  for (const std::string& sentence : coverage.not_measured) {
    absl::StrAppend(&text, indent, "not measured: ", Printable(sentence), "\n");
  }
  return text;
}

std::string WindowText(const Window& window) {
  const Environment& environment = window.environment;
  const absl::Duration length =
      absl::Nanoseconds(window.end_boottime_ns - window.start_boottime_ns);
  std::string text = Printable(absl::StrCat(
      "window ", window.key.seq, " of epoch ", window.key.epoch, ", host ",
      window.key.host_id, ": ",
      absl::FormatDuration(absl::Trunc(length, absl::Milliseconds(1))), " to ",
      absl::FormatTime(
          "%Y-%m-%d %H:%M:%S UTC",
          absl::FromUnixNanos(static_cast<int64_t>(window.end_unix_ns)),
          absl::UTCTimeZone()),
      ", kernel ", environment.kernel_release,
      environment.preempt.empty() ? "" : ", preempt ", environment.preempt,
      ", ", environment.cpus, " CPUs"));
  absl::StrAppend(&text, "\n");
  if (window.cells.empty()) absl::StrAppend(&text, "  no cells\n");
  absl::StrAppend(&text, CellTable(window.cells, "  "));
  if (const std::string operations = OperationTable(window.cells, "    ");
      !operations.empty()) {
    absl::StrAppend(&text, "  operations\n", operations);
  }
  if (!window.top_holds.empty()) {
    absl::StrAppend(&text, "  longest holds\n",
                    HoldTable(window.top_holds, window.cells, "    "));
    const Hold& longest = window.top_holds[0];
    if (const std::string why = HoldExplanation(longest, "      ");
        !why.empty()) {
      absl::StrAppend(&text, "    the longest, ", HolderName(longest), "\n",
                      why);
    }
  }
  if (!window.holds_in_progress.empty()) {
    absl::StrAppend(&text, "  holds in progress\n",
                    HoldTable(window.holds_in_progress, window.cells, "    "));
  }
  for (const auto& [reason, events] : window.losses) {
    absl::StrAppend(&text, "  lost: ", Name(reason), " ", events, "\n");
  }
  absl::StrAppend(&text, ContextText(window.context));
  absl::StrAppendFormat(
      &text, "  agent: %s on CPU (%.3f %% of one), %s resident, maps %s\n",
      FormatNs(window.overhead.agent_cpu_ns),
      100.0 * static_cast<double>(window.overhead.agent_cpu_ns) /
          static_cast<double>(window.end_boottime_ns -
                              window.start_boottime_ns),
      Bytes(window.overhead.rss_bytes), Bytes(window.overhead.map_bytes));
  return text;
}

absl::StatusOr<std::string> WindowJson(const Window& window) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(
      ToProto(window), &json, options);
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("write window ", window.key.seq,
                     " as JSON: ", std::string(status.message())));
  }
  return json;
}

}  // namespace swaplock
