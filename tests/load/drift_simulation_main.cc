// How often Design D (server/verdict/cohort_drift.h) suspects a change of
// level: in fleets whose kernel and rate stay, and in fleets whose rate changes
// on one day. Prints a table of Markdown.
//
// usage: drift_simulation [FLEETS]    of each row; default 1,000
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/verdict/cohort_drift.h"
#include "server/verdict/distributions.h"
#include "server/verdict/evidence.h"
#include "server/verdict/rollout_rules.h"
#include "tests/load/simulated_fleet.h"

namespace swaplock {
namespace {

constexpr int64_t kToday = 20'500;
constexpr char kKernel[] = "6.18.15";

// The hosts of one arm, as if their kernel had stayed.
class Arm : public EvidenceReader {
 public:
  Arm(const SimulatedFleet& fleet, bool treated) {
    for (const HostSeries& series : fleet.series) {
      if (series.treated != treated) continue;
      Add(absl::StrCat("h", hosts_.size()), series);
    }
  }

  absl::StatusOr<std::vector<HostBoot>> Boots() override {
    std::vector<HostBoot> out;
    out.reserve(hosts_.size());
    for (const auto& [id, history] : hosts_) out.push_back(history.boots[0]);
    return out;
  }
  absl::StatusOr<HostHistory> Host(const std::string& host_id,
                                   int64_t /*first_day*/,
                                   int64_t /*last_day*/) override {
    return hosts_[host_id];
  }

 private:
  void Add(const std::string& id, const HostSeries& series) {
    HostHistory& history = hosts_[id];
    HostBoot boot;
    boot.host_id = id;
    boot.kernel_release = kKernel;
    boot.day = kToday - 100;
    boot.last_day = kToday;
    history.boots.push_back(boot);
    for (int i = 0; i < kSeriesDays; ++i) {
      HostDay day;
      day.host_id = id;
      day.kernel_release = kKernel;
      day.day = kToday - kSeriesDays + 1 + i;
      day.hours = 24;
      history.days.push_back(day);
      HostDayCell cell;
      cell.host_id = id;
      cell.kernel_release = kKernel;
      cell.day = day.day;
      cell.subsystem = Subsystem::kZram;
      cell.operation = Operation::kRead;
      cell.role = Role::kStream;
      cell.lock_model = LockModel::kMutex;
      cell.hold_tier = cell.wait_tier = Tier::kExact;
      cell.acquisitions = static_cast<uint64_t>(series.operations[i]);
      cell.waits_over_10ms = static_cast<uint64_t>(series.events[i]);
      history.cells.push_back(cell);
    }
  }

  std::map<std::string, HostHistory> hosts_;
};

struct Row {
  const char* name;
  double ratio;
  double mean_events;
  double calendar_sd;
  int hosts;
};

void Print(const Row& row, uint64_t fleets) {
  Scenario scenario;
  scenario.waves = 1;
  scenario.hosts_per_arm = row.hosts;
  scenario.ratio = row.ratio;
  scenario.mean_events = row.mean_events;
  scenario.calendar_sd = row.calendar_sd;
  constexpr int64_t kChange = kToday - kSeriesDays + 1 + kRebootAt;
  uint64_t suspected = 0;
  uint64_t near = 0;  // within three days of the change
  for (uint64_t seed = 1; seed <= fleets; ++seed) {
    Arm arm(DrawFleet(scenario, seed), row.ratio != 1);
    const absl::StatusOr<CohortDrift> drift =
        JudgeCohort(&arm, kKernel, kToday, {}, RolloutRules());
    for (const VerdictRecord& record : drift->records) {
      if (record.kind != VerdictKind::kSuspect) continue;
      ++suspected;
      near += record.change->first - 3 <= kChange &&
              record.change->last + 3 >= kChange;
    }
  }
  const Interval interval = BinomialInterval(suspected, fleets, 0.95);
  const auto share = [fleets](uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(fleets);
  };
  absl::PrintF("| %s | %d | %.3f (%.3f-%.3f) | %s |\n", row.name, row.hosts,
               share(suspected), interval.lower, interval.upper,
               row.ratio == 1 ? "" : absl::StrFormat("%.3f", share(near)));
  std::fflush(stdout);
}

}  // namespace
}  // namespace swaplock

int main(int argc, char** argv) {
  uint64_t fleets = 1000;
  if (argc > 2 ||
      (argc == 2 && (!absl::SimpleAtoi(argv[1], &fleets) || fleets == 0))) {
    absl::FPrintF(stderr, "usage: drift_simulation [FLEETS]\n");
    return 2;
  }
  const swaplock::Row rows[] = {
      {"steady", 1, 30, 0, 60},
      {"steady", 1, 30, 0, 20},
      {"steady, one event a host and week", 1, 1, 0, 60},
      {"all move for another reason, sd 0.4", 1, 30, 0.4, 60},
      {"1.5 times as many", 1.5, 30, 0, 60},
      {"twice as many", 2, 30, 0, 60},
      {"twice as many", 2, 30, 0, 20},
      {"twice as many, and that besides", 2, 30, 0.4, 60},
      {"half as many", 0.5, 30, 0, 60},
  };
  absl::PrintF(
      "| fleet | hosts | suspected (95 %% interval) | about the right day |\n"
      "|---|--:|--:|--:|\n");
  for (const swaplock::Row& row : rows) swaplock::Print(row, fleets);
  return 0;
}
