#include "server/verdict/cohort_drift.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "server/verdict/host_boots.h"
#include "server/verdict/host_window.h"
#include "server/verdict/log_rate.h"
#include "server/verdict/operation_key.h"
#include "server/verdict/outcome_events.h"
#include "server/verdict/rollout.h"
#include "server/verdict/row_hash.h"
#include "server/verdict/seeded_random.h"
#include "server/verdict/signed_rank.h"
#include "server/verdict/verdict_sentence.h"

namespace swaplock {
namespace {

constexpr int64_t kSpans[] = {42, 28, 21};  // days
constexpr size_t kMaxHosts = 200;
constexpr double kMeasuredShare = 0.8;  // of the days
constexpr double kMinHours = 12;        // of a day
// Days of a host on either side of a change that its own ratio takes.
constexpr size_t kMinDays = 3;
constexpr VerdictOutcome kOutcomes[] = {VerdictOutcome::kWaitsOver10ms,
                                        VerdictOutcome::kRunnable,
                                        VerdictOutcome::kContended};

// One host of the cohort: what it counted on each day that counts.
struct CohortHost {
  std::string id;
  HostBoots boots;
  std::map<int64_t, HostWindow> days;
};

// One host, one operation and outcome: log rates by day, about their mean.
struct HostSeries {
  const CohortHost* host = nullptr;
  std::map<int64_t, double> values;
  std::map<int64_t, EventsPer> counts;
};

class CohortJudge {
 public:
  CohortJudge(EvidenceReader* reader, std::string kernel, int64_t today,
              const std::set<std::string>& without, const RolloutRules& rules)
      : reader_(reader),
        kernel_(std::move(kernel)),
        today_(today),
        without_(without),
        rules_(rules) {}

  absl::StatusOr<CohortDrift> Run() {
    drift_.first_day = drift_.last_day = today_;
    absl::Status s = ReadHosts();
    if (!s.ok()) return s;
    drift_.hosts = hosts_.size();
    if (hosts_.size() < rules_.min_hosts) return std::move(drift_);
    std::set<OperationKey> operations;
    for (const CohortHost& host : hosts_) {
      for (const auto& [day, window] : host.days) {
        drift_.first_day = std::min(drift_.first_day, day);
        for (const auto& [key, counts] : window.operations) {
          operations.insert(key);
        }
      }
    }
    for (const OperationKey& operation : operations) {
      for (const VerdictOutcome outcome : kOutcomes) {
        Examine(operation, outcome);
      }
    }
    for (VerdictRecord& record : drift_.records) {
      record.family = drift_.records.size();
      record.adjusted_p =
          std::min(1.0, std::min(record.p_worse, record.p_better) *
                            static_cast<double>(record.family));
    }
    drift_.rows_hash = hash_.hash();
    return std::move(drift_);
  }

 private:
  absl::Status ReadHosts() {
    const absl::StatusOr<std::vector<HostBoot>> boots = reader_->Boots();
    if (!boots.ok()) return boots.status();
    std::set<std::string> ids;
    for (const HostBoot& boot : *boots) {
      if (boot.kernel_release == kernel_ &&
          boot.last_day > today_ - kSpans[2] && boot.day <= today_ &&
          without_.count(boot.host_id) == 0) {
        ids.insert(boot.host_id);
      }
    }
    std::vector<std::pair<uint64_t, std::string>> order;
    order.reserve(ids.size());
    for (const std::string& id : ids) {
      order.emplace_back(SeededRandom(HashOf(id)).Next(), id);
    }
    std::sort(order.begin(), order.end());
    // Twice as many as are kept: some did not run it for long enough.
    if (order.size() > 2 * kMaxHosts) order.resize(2 * kMaxHosts);
    std::vector<CohortHost> all;
    for (auto& [place, id] : order) {
      absl::StatusOr<CohortHost> host = ReadHost(std::move(id));
      if (!host.ok()) return host.status();
      all.push_back(*std::move(host));
    }
    for (const int64_t span : kSpans) {
      hosts_.clear();
      const int64_t first = today_ - span + 1;
      for (const CohortHost& host : all) {
        const auto begin = host.days.lower_bound(first);
        const auto days =
            static_cast<double>(std::distance(begin, host.days.end()));
        if (days < kMeasuredShare * static_cast<double>(span)) continue;
        hosts_.push_back(host);
        std::map<int64_t, HostWindow>& own = hosts_.back().days;
        own.erase(own.begin(), own.lower_bound(first));
        if (hosts_.size() == kMaxHosts) break;
      }
      if (hosts_.size() >= rules_.min_hosts) break;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<CohortHost> ReadHost(std::string id) {
    const int64_t first = today_ - kSpans[0] + 1;
    absl::StatusOr<HostHistory> history = reader_->Host(id, first, today_);
    if (!history.ok()) return history.status();
    CohortHost out;
    out.id = std::move(id);
    out.boots = std::move(history->boots);
    SortByDay(&out.boots);
    std::set<int64_t> fresh;
    for (const HostBoot& boot : out.boots) {
      fresh.insert({boot.day, boot.day + 1});
    }
    const HostRows rows(*history, today_);
    for (int64_t day = first; day <= today_; ++day) {
      if (fresh.count(day) > 0) continue;
      std::optional<HostWindow> window = rows.WindowOf(kernel_, day, 1);
      if (!window.has_value() || window->hours < kMinHours) continue;
      out.days.emplace(day, *std::move(window));
    }
    return out;
  }

  // Nothing: too few days, or not measured in one way throughout.
  std::optional<HostSeries> SeriesOf(const CohortHost& host,
                                     const OperationKey& operation,
                                     VerdictOutcome outcome) {
    HostSeries out;
    out.host = &host;
    const Measured* measured = nullptr;
    double exposure = 0;
    for (const auto& [day, window] : host.days) {
      const auto it = window.operations.find(operation);
      if (it == window.operations.end()) continue;
      const OperationCounts& counts = it->second;
      const std::optional<EventsPer> events = EventsOf(outcome, window, counts);
      if (!events.has_value() || events->exposure <= 0 ||
          counts.operations < rules_.min_operations / 7) {
        continue;
      }
      if (measured != nullptr &&
          (measured->waits != counts.measured.waits ||
           measured->lock_model != counts.measured.lock_model)) {
        return std::nullopt;
      }
      measured = &counts.measured;
      out.counts.emplace(day, *events);
      exposure += events->exposure;
    }
    if (out.counts.size() < 2 * change_rules_.min_segment) return std::nullopt;
    const auto days = static_cast<double>(out.counts.size());
    double sum = 0;
    for (const auto& [day, events] : out.counts) {
      out.values[day] = LogRate(events, exposure / days);
      sum += out.values[day];
      hash_.Add(day);
      hash_.Add(events.events);
      hash_.Add(events.exposure);
    }
    hash_.Add(host.id);
    for (auto& [day, value] : out.values) value -= sum / days;
    return out;
  }

  bool EnoughEvents(const std::vector<HostSeries>& series) const {
    double events = 0;
    uint64_t hosts = 0;
    for (const HostSeries& host : series) {
      double own = 0;
      for (const auto& [day, counts] : host.counts) own += counts.events;
      events += own;
      hosts += own > 0;
    }
    return events >= rules_.min_events && hosts >= rules_.min_event_hosts;
  }

  void Examine(const OperationKey& operation, VerdictOutcome outcome) {
    std::vector<HostSeries> series;
    for (const CohortHost& host : hosts_) {
      std::optional<HostSeries> own = SeriesOf(host, operation, outcome);
      if (own.has_value()) series.push_back(*std::move(own));
    }
    if (series.size() < rules_.min_hosts || !EnoughEvents(series)) return;
    std::map<int64_t, std::vector<double>> by_day;
    for (const HostSeries& host : series) {
      for (const auto& [day, value] : host.values) {
        by_day[day].push_back(value);
      }
    }
    std::vector<int64_t> days;
    std::vector<double> levels;
    for (const auto& [day, values] : by_day) {
      if (values.size() < rules_.min_hosts) continue;
      days.push_back(day);
      levels.push_back(PseudoMedian(values, rules_.tail).estimate);
    }
    if (levels.size() < 2 * change_rules_.min_segment) return;

    VerdictRecord r;
    r.kernel_base = r.kernel_new = kernel_;
    r.subsystem = operation.first;
    r.operation = operation.second;
    r.outcome = outcome;
    r.design = Design::kChangePoint;
    r.treated.hosts = series.size();
    r.seed = HashOf(Name(outcome),
                    HashOf(Name(operation.second),
                           HashOf(Name(operation.first), HashOf(kernel_))));
    r.smallest_p = 1.0 / (change_rules_.permutations + 1);
    std::vector<ChangePoint> found =
        FindChangePoints(levels, change_rules_, r.seed);
    // The interval between hosts has to say so as well.
    for (size_t i = found.size(); i-- > 0;) {
      const int64_t from = i == 0 ? days.front() : days[found[i - 1].index];
      const int64_t to =
          i + 1 == found.size() ? today_ + 1 : days[found[i + 1].index];
      if (!Describe(series, found[i], from, to, days, &r)) continue;
      for (size_t j = 0; j < i; ++j) {
        r.findings.push_back(
            absl::StrFormat("There was another change about %s, %.3g times.",
                            DayInWords(days[found[j].index]), found[j].ratio));
      }
      drift_.records.push_back(std::move(r));
      return;
    }
    r.p_worse = r.p_better = 1;
    r.kind = VerdictKind::kInconclusive;
    r.reason = absl::StrFormat(
        "in the days from %s to %s its %d hosts kept one level, as far as can "
        "be seen",
        DayInWords(days.front()), DayInWords(days.back()), series.size());
    r.sentence = SentenceOf(r);
    drift_.records.push_back(std::move(r));
  }

  // Fills in the change between days `from` and `to` (exclusive); false when
  // hosts do not agree on it.
  bool Describe(const std::vector<HostSeries>& series, const ChangePoint& point,
                int64_t from, int64_t to, const std::vector<int64_t>& days,
                VerdictRecord* r) const {
    ChangeDays change;
    change.day = days[point.index];
    change.first = days[point.first];
    change.last = days[point.last];
    std::vector<double> differences;
    ArmTotals totals;
    for (const HostSeries& host : series) {
      double sums[2] = {};
      size_t counted[2] = {};
      for (const auto& [day, value] : host.values) {
        if (day < from || day >= to) continue;
        const bool after = day >= change.day;
        sums[after] += value;
        ++counted[after];
        const EventsPer& counts = host.counts.at(day);
        const double hours = host.host->days.at(day).hours;
        (after ? totals.events_after : totals.events_before) += counts.events;
        (after ? totals.operations_after : totals.operations_before) +=
            counts.exposure;
        (after ? totals.hours_after : totals.hours_before) += hours;
      }
      if (std::min(counted[0], counted[1]) < kMinDays) continue;
      differences.push_back(sums[1] / static_cast<double>(counted[1]) -
                            sums[0] / static_cast<double>(counted[0]));
    }
    if (differences.size() < rules_.min_hosts) return false;
    const Shift shift = PseudoMedian(differences, rules_.tail);
    const double margin = std::log(rules_.margin);
    if (shift.lower <= margin && shift.upper >= -margin) return false;
    r->effect = {std::exp(shift.estimate), std::exp(shift.lower),
                 std::exp(shift.upper)};
    totals.hosts = differences.size();
    r->treated = totals;
    r->change = change;
    r->p_worse = shift.estimate > 0 ? point.p_value : 1;
    r->p_better = shift.estimate > 0 ? 1 : point.p_value;
    FindCauses(change, series.size(), r);
    r->kind = VerdictKind::kSuspect;
    r->reason =
        "the kernel stayed, so that its days and what was done on them cannot "
        "be told apart";
    r->sentence = SentenceOf(*r);
    return true;
  }

  // What boots about the change brought along.
  void FindCauses(const ChangeDays& change, size_t hosts,
                  VerdictRecord* r) const {
    std::map<std::string, uint64_t> changed;
    std::set<std::string> builds[2];
    uint64_t rebooted = 0;
    for (const CohortHost& host : hosts_) {
      bool booted = false;
      std::set<std::string> own;
      for (size_t i = 0; i < host.boots.size(); ++i) {
        const HostBoot& boot = host.boots[i];
        if (boot.kernel_release != kernel_ || boot.day > today_) continue;
        const bool last_before = i + 1 == host.boots.size() ||
                                 host.boots[i + 1].day >= change.first - 2;
        if (boot.day < change.first - 2 && last_before) {
          builds[0].insert(BuildOf(boot));
        }
        if (boot.last_day >= change.day) builds[1].insert(BuildOf(boot));
        // Days of a boot and the day after are left out.
        if (boot.day < change.first - 2 || boot.day > change.last) continue;
        booted = true;
        if (i == 0) continue;
        const std::set<std::string> facts =
            ChangedFacts(host.boots[i - 1], boot);
        own.insert(facts.begin(), facts.end());
      }
      rebooted += booted;
      for (const std::string& fact : own) ++changed[fact];
    }
    r->builds_before.assign(builds[0].begin(), builds[0].end());
    r->builds_after.assign(builds[1].begin(), builds[1].end());
    for (const auto& [fact, count] : changed) {
      if (2 * count >= hosts) r->co_changes.push_back(fact);
    }
    if (rebooted > 0) {
      r->findings.push_back(absl::StrFormat(
          "%d of %d hosts rebooted about then.", rebooted, hosts_.size()));
    }
  }

  EvidenceReader* const reader_;
  const std::string kernel_;
  const int64_t today_;
  const std::set<std::string>& without_;
  const RolloutRules& rules_;
  const ChangePointRules change_rules_;
  std::vector<CohortHost> hosts_;
  RowHash hash_;
  CohortDrift drift_;
};

}  // namespace

absl::StatusOr<CohortDrift> JudgeCohort(EvidenceReader* reader,
                                        const std::string& kernel,
                                        int64_t today,
                                        const std::set<std::string>& without,
                                        const RolloutRules& rules) {
  return CohortJudge(reader, kernel, today, without, rules).Run();
}

}  // namespace swaplock
