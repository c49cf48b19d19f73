#include "cli/top/fleet_view.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/text_table.h"
#include "common/window.h"
#include "common/window_table.h"

namespace swaplock {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kMostDetails = 8;

struct Value {
  std::string text = "-";
  double sort = kNone;
};

Value Ns(double ns) { return {FormatNs(static_cast<uint64_t>(ns)), ns}; }
Value Count(double count) {
  return {count >= 1e6   ? absl::StrFormat("%.3gM", count / 1e6)
          : count >= 1e4 ? absl::StrFormat("%.3gk", count / 1e3)
                         : absl::StrFormat("%.3g", count),
          count};
}
Value Percent(double share) {
  return {absl::StrFormat("%.3g%%", share * 100), share};
}
Value Text(std::string text) { return {std::move(text), kNone}; }

// Later minus earlier, 0 when it went back: the server may have been restored.
double Growth(uint64_t now, uint64_t before) {
  return now > before ? static_cast<double>(now - before) : 0;
}

std::string CellId(const v1::Cohort& cohort, const v1::Cell& cell) {
  return absl::StrCat(cohort.kernel_release(), "\n", cohort.preempt(), "\n",
                      cell.key().SerializeAsString(), "\n", cell.lock_model(),
                      "\n", cell.hold_tier(), "\n", cell.wait_tier(), "\n",
                      cell.latency_tier());
}

std::string Ago(uint64_t unix_ns, absl::Time now) {
  const absl::Duration ago =
      absl::Floor(now - absl::FromUnixNanos(static_cast<int64_t>(unix_ns)),
                  absl::Seconds(1));
  if (ago <= absl::ZeroDuration()) return "now";
  return absl::StrCat(absl::FormatDuration(ago), " ago");
}

std::string Cut(absl::string_view text, size_t columns) {
  std::string out;
  size_t taken = 0;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    if (!continues && taken++ == columns) break;
    out.push_back(c);
  }
  return out;
}

constexpr const char* kPageNames[] = {"locks", "operations", "holds", "hosts"};

}  // namespace

FleetView::FleetView(std::string source)
    // Worst first: longest wait, longest operation, longest hold, host's name.
    : source_(std::move(source)), sort_column_{8, 6, 0, 0} {}

void FleetView::Take(const v1::Fleet& fleet, absl::Time now) {
  trouble_.clear();
  if (paused_) return;
  before_ = std::move(now_);
  now_ = {fleet, now};
  cells_before_.clear();
  for (const v1::Cohort& cohort : before_.fleet.cohorts()) {
    for (const v1::Cell& message : cohort.cells()) {
      absl::StatusOr<Cell> cell = FromProto(message);
      if (cell.ok()) cells_before_[CellId(cohort, message)] = *std::move(cell);
    }
  }
}

const Cell* FleetView::Before(const std::string& id) const {
  const auto it = cells_before_.find(id);
  return it == cells_before_.end() ? nullptr : &it->second;
}

double FleetView::SecondsBetween() const {
  if (before_.time == absl::Time()) return 0;
  return absl::ToDoubleSeconds(now_.time - before_.time);
}

bool FleetView::Shows(const std::string& kernel) const {
  return kernel_.empty() || kernel == kernel_;
}

FleetView::Table FleetView::Locks() const {
  Table table;
  table.columns = {
      {"kernel", false, 0},     {"preempt", false, 4}, {"lock", false, 0},
      {"model", false, 3},      {"codec", false, 5},   {"taken/s", true, 0},
      {"contended", true, 0},   {">10ms/s", true, 1},  {"max wait", true, 0},
      {"held", true, 2},        {"runnable", true, 1}, {"max hold", true, 0},
      {"inversions/s", true, 4}};
  const double seconds = SecondsBetween();
  for (const v1::Cohort& cohort : now_.fleet.cohorts()) {
    if (!Shows(cohort.kernel_release())) continue;
    for (const v1::Cell& message : cohort.cells()) {
      const absl::StatusOr<Cell> parsed = FromProto(message);
      if (!parsed.ok() || IsOperation(*parsed)) continue;
      const Cell& cell = *parsed;
      const bool holds = CountsHolds(cell.hold_tier);
      const bool waits = cell.wait_tier != Tier::kUnspecified;
      const Cell* before = Before(CellId(cohort, message));
      Value taken, contended, over, held, runnable, inversions;
      if (before != nullptr && seconds > 0) {
        const double acquired = Growth(cell.acquisitions, before->acquisitions);
        if (holds) {
          taken = Count(acquired / seconds);
          const double hold_ns = Growth(cell.hold.sum_ns, before->hold.sum_ns);
          held = Percent(hold_ns / 1e9 / seconds);
          if (hold_ns > 0) {
            runnable =
                Percent(Growth(cell.runnable.sum_ns, before->runnable.sum_ns) /
                        hold_ns);
          }
        }
        if (waits) {
          over = Count(Growth(cell.wait.over_10ms, before->wait.over_10ms) /
                       seconds);
          inversions =
              Count(Growth(cell.inversions, before->inversions) / seconds);
          if (holds && acquired > 0) {
            contended =
                Percent(Growth(cell.contended, before->contended) / acquired);
          }
        }
      }
      const std::vector<Value> values = {
          Text(cohort.kernel_release()),
          Text(cohort.preempt()),
          Text(LockName(cell.key)),
          Text(ModelName(cell.lock_model)),
          Text(cell.key.algorithm),
          taken,
          contended,
          over,
          waits ? Ns(static_cast<double>(cell.wait.max_ns)) : Value(),
          held,
          runnable,
          holds ? Ns(static_cast<double>(cell.hold.max_ns)) : Value(),
          inversions};
      Row row;
      for (const Value& value : values) {
        row.texts.push_back(value.text);
        row.sort_values.push_back(value.sort);
      }
      row.details = absl::StrCat(
          LockName(cell.key), ", measured by: holds ",
          holds ? Name(cell.hold_tier) : "-", ", waits ",
          waits ? Name(cell.wait_tier) : "-", "; taken ", cell.acquisitions,
          " times in all, contended ",
          waits ? absl::StrCat(cell.contended) : "-", ", waits over 10 ms ",
          waits ? absl::StrCat(cell.wait.over_10ms) : "-");
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

FleetView::Table FleetView::Operations() const {
  Table table;
  table.columns = {
      {"kernel", false, 0}, {"operation", false, 0}, {"lock", false, 2},
      {"codec", false, 3},  {"count/s", true, 0},    {"mean now", true, 0},
      {"p99", true, 1},     {"max", true, 0},        {">10ms/s", true, 1}};
  const double seconds = SecondsBetween();
  for (const v1::Cohort& cohort : now_.fleet.cohorts()) {
    if (!Shows(cohort.kernel_release())) continue;
    for (const v1::Cell& message : cohort.cells()) {
      const absl::StatusOr<Cell> cell = FromProto(message);
      if (!cell.ok() || !IsOperation(*cell)) continue;
      const Distribution& d = cell->latency;
      const Cell* before = Before(CellId(cohort, message));
      Value count, mean, over;
      if (before != nullptr && seconds > 0) {
        const double grown = Growth(d.Count(), before->latency.Count());
        count = Count(grown / seconds);
        over = Count(Growth(d.over_10ms, before->latency.over_10ms) / seconds);
        if (grown > 0) {
          mean = Ns(Growth(d.sum_ns, before->latency.sum_ns) / grown);
        }
      }
      const bool any = d.Count() > 0;
      const std::vector<Value> values = {
          Text(cohort.kernel_release()),
          Text(absl::StrCat(Name(cell->key.subsystem), " ",
                            Name(cell->key.operation))),
          Text(ModelName(cell->lock_model)),
          Text(cell->key.algorithm),
          count,
          mean,
          any ? Ns(d.QuantileNs(0.99)) : Value(),
          any ? Ns(static_cast<double>(d.max_ns)) : Value(),
          over};
      Row row;
      for (const Value& value : values) {
        row.texts.push_back(value.text);
        row.sort_values.push_back(value.sort);
      }
      row.details = absl::StrCat(d.Count(), " in all; over 1 ms ", d.over_1ms,
                                 ", over 10 ms ", d.over_10ms, ", over 100 ms ",
                                 d.over_100ms);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

FleetView::Table FleetView::Holds() const {
  Table table;
  table.columns = {
      {"hold", true, 0},    {"on-CPU", true, 2},  {"runnable", true, 0},
      {"blocked", true, 2}, {"stalled", true, 1}, {"inversion", true, 3},
      {"state", false, 0},  {"lock", false, 0},   {"holder", false, 0},
      {"host", false, 1},   {"kernel", false, 2}};
  const auto add = [&table](const v1::Hold& message, const v1::CellKey& key,
                            const std::string& host, const std::string& kernel,
                            const char* state) {
    v1::Hold with_cell = message;
    with_cell.set_cell(0);
    v1::Cell cell_message;
    *cell_message.mutable_key() = key;
    const absl::StatusOr<Hold> hold = FromProto(with_cell);
    const absl::StatusOr<Cell> cell = FromProto(cell_message);
    if (!hold.ok() || !cell.ok()) return;
    const std::vector<Value> values = {
        Ns(static_cast<double>(hold->hold_ns)),
        Ns(static_cast<double>(hold->on_cpu_ns)),
        Ns(static_cast<double>(hold->runnable_ns)),
        Ns(static_cast<double>(hold->blocked_ns)),
        Ns(static_cast<double>(hold->stall_ns)),
        Ns(static_cast<double>(hold->inversion_ns)),
        Text(state),
        Text(LockName(cell->key)),
        Text(HolderName(*hold)),
        Text(host),
        Text(kernel)};
    Row row;
    for (const Value& value : values) {
      row.texts.push_back(value.text);
      row.sort_values.push_back(value.sort);
    }
    row.details = HoldExplanation(*hold, "");
    table.rows.push_back(std::move(row));
  };
  for (const v1::HoldInProgress& held : now_.fleet.holds_in_progress()) {
    if (!Shows(held.kernel_release())) continue;
    add(held.hold(), held.key(), held.host_id(), held.kernel_release(), "held");
  }
  for (const v1::TopHold& top : now_.fleet.top_holds()) {
    if (!Shows(top.kernel_release())) continue;
    add(top.hold(), top.key(), top.host_id(), top.kernel_release(), "ended");
  }
  return table;
}

FleetView::Table FleetView::Hosts() const {
  Table table;
  table.columns = {{"host", false, 0},    {"kernel", false, 0},
                   {"preempt", false, 1}, {"CPUs", true, 2},
                   {"windows", true, 1},  {"seen", true, 0},
                   {"state", false, 0}};
  for (const v1::HostState& host : now_.fleet.hosts()) {
    if (!Shows(host.kernel_release())) continue;
    Row row;
    const std::vector<Value> values = {
        Text(host.host_id()),
        Text(host.kernel_release()),
        Text(host.environment().preempt()),
        Count(host.environment().cpus()),
        Count(static_cast<double>(host.windows())),
        {Ago(host.last_seen_unix_ns(), now_.time),
         -static_cast<double>(host.last_seen_unix_ns())},
        Text(host.connected() ? "connected" : "away")};
    for (const Value& value : values) {
      row.texts.push_back(value.text);
      row.sort_values.push_back(value.sort);
    }
    row.details = CoverageText(FromProto(host.coverage()));
    table.rows.push_back(std::move(row));
  }
  return table;
}

FleetView::Table FleetView::MakeTable() const {
  switch (page_) {
    case kOperations:
      return Operations();
    case kHolds:
      return Holds();
    case kHosts:
      return Hosts();
    default:
      return Locks();
  }
}

// Numbers from the largest down, texts from A on; what is not measured last.
void FleetView::Sort(Table* table) const {
  const size_t column = sort_column_[page_];
  std::stable_sort(table->rows.begin(), table->rows.end(),
                   [&](const Row& a, const Row& b) {
                     const double x = a.sort_values[column];
                     const double y = b.sort_values[column];
                     if (std::isnan(x) && std::isnan(y)) {
                       return ascending_ ? b.texts[column] < a.texts[column]
                                         : a.texts[column] < b.texts[column];
                     }
                     if (std::isnan(x) || std::isnan(y)) return !std::isnan(x);
                     return ascending_ ? x < y : x > y;
                   });
}

bool FleetView::Press(int key) {
  if (help_) {
    help_ = false;
    return key != 'q';
  }
  const auto move = [this](int64_t by) {
    const int64_t to = static_cast<int64_t>(chosen_) + by;
    chosen_ = to < 0 ? 0 : static_cast<size_t>(to);
  };
  const auto turn_to = [this](int page) {
    page_ = static_cast<Page>((page + kPages) % kPages);
    chosen_ = first_ = 0;
  };
  switch (key) {
    case 'q':
    case 'Q':
      return false;
    case '?':
    case 'h':
      help_ = true;
      break;
    case '\t':
      turn_to(page_ + 1);
      break;
    case '1':
    case '2':
    case '3':
    case '4':
      turn_to(key - '1');
      break;
    case '<':
      if (sort_column_[page_] > 0) --sort_column_[page_];
      break;
    case '>':
      ++sort_column_[page_];  // Draw() brings it into range
      break;
    case 'r':
      ascending_ = !ascending_;
      break;
    case 'p':
    case ' ':
      paused_ = !paused_;
      break;
    case 'k': {
      std::set<std::string> kernels;
      for (const v1::Cohort& cohort : now_.fleet.cohorts()) {
        kernels.insert(cohort.kernel_release());
      }
      const auto next = kernels.upper_bound(kernel_);
      kernel_ = next == kernels.end() ? "" : *next;
      chosen_ = first_ = 0;
      break;
    }
    case kKeyUp:
      move(-1);
      break;
    case kKeyDown:
      move(1);
      break;
    case kKeyPageUp:
      move(-static_cast<int64_t>(visible_));
      break;
    case kKeyPageDown:
      move(static_cast<int64_t>(visible_));
      break;
    case kKeyHome:
      chosen_ = 0;
      break;
    case kKeyEnd:
      chosen_ = std::numeric_limits<int32_t>::max();
      break;
    default:
      break;
  }
  return true;
}

std::vector<FleetView::Line> FleetView::HelpLines() const {
  std::vector<Line> lines;
  for (const char* text :
       {"Tab, 1 2 3 4   locks, operations, holds, hosts",
        "< >            sort by the column to the left, to the right",
        "r              sort the other way round",
        "k              one kernel after the other, then all",
        "arrows, PgUp, PgDn, Home, End   choose a line, told of below",
        "p, blank       stop looking, go on", "q              end", "",
        "Numbers per second are those between two looks; \"-\": not measured.",
        "held: how many such locks are held on average, of all hosts.",
        "runnable: part of the hold time in which the holder had no CPU."}) {
    lines.push_back({text});
  }
  return lines;
}

std::vector<FleetView::Line> FleetView::Draw(size_t rows, size_t columns) {
  std::vector<Line> lines;
  lines.push_back(
      {absl::StrCat("swaplock ", source_, "  ",
                    now_.time == absl::Time()
                        ? "no answer yet"
                        : absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", now_.time,
                                           absl::UTCTimeZone()),
                    "  ", kPageNames[page_], kernel_.empty() ? "" : ", kernel ",
                    kernel_, now_.fleet.replay().empty() ? "" : "  REPLAY",
                    paused_ ? "  PAUSED" : ""),
       Style::kTitle});
  if (!trouble_.empty()) lines.push_back({trouble_, Style::kTrouble});
  if (help_) {
    for (Line& line : HelpLines()) lines.push_back(std::move(line));
  } else {
    Table table = MakeTable();
    size_t& sort_column = sort_column_[page_];
    sort_column = std::min(sort_column, table.columns.size() - 1);
    Sort(&table);
    if (!table.rows.empty()) {
      chosen_ = std::min(chosen_, table.rows.size() - 1);
    }

    std::vector<std::string> details;
    if (!table.rows.empty() && !table.rows[chosen_].details.empty()) {
      details = absl::StrSplit(
          absl::StripSuffix(table.rows[chosen_].details, "\n"), '\n');
      details.resize(std::min({details.size(), kMostDetails, rows / 3}));
    }
    TextTable text;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const Column& column = table.columns[i];
      text.AddColumn(
          i == sort_column ? absl::StrCat(column.title, ascending_ ? "^" : "*")
                           : column.title,
          column.right ? TextTable::Align::kRight : TextTable::Align::kLeft,
          i == sort_column ? 0 : column.drop);
    }
    const size_t taken = lines.size() + 2 + details.size();
    visible_ = rows > taken + 1 ? rows - taken - 1 : 1;
    if (chosen_ < first_) first_ = chosen_;
    if (chosen_ >= first_ + visible_) first_ = chosen_ - visible_ + 1;
    if (first_ + visible_ > table.rows.size()) {
      first_ = table.rows.size() > visible_ ? table.rows.size() - visible_ : 0;
    }
    // All rows, so that columns keep their widths while one scrolls.
    for (const Row& row : table.rows) text.AddRow(row.texts);
    const std::vector<std::string> rendered =
        absl::StrSplit(text.Render("", columns), '\n', absl::SkipEmpty());
    if (table.rows.empty()) {
      lines.push_back({"nothing yet"});
    } else {
      lines.push_back({rendered[0], Style::kHeader});
      for (size_t i = first_;
           i < std::min(first_ + visible_, table.rows.size()); ++i) {
        lines.push_back(
            {rendered[i + 1], i == chosen_ ? Style::kSelected : Style::kPlain});
      }
      lines.push_back({""});
      for (std::string& detail : details) {
        lines.push_back({Printable(detail)});
      }
    }
  }
  while (lines.size() + 1 < rows) lines.push_back({""});
  lines.resize(rows > 0 ? rows - 1 : 0);
  if (rows > 0) {
    lines.push_back(
        {"Tab page  < > sort  r reverse  k kernel  p pause  ? help"
         "  q quit",
         Style::kFooter});
  }
  for (Line& line : lines) line.text = Cut(Printable(line.text), columns);
  return lines;
}

}  // namespace swaplock
