#include "server/metrics/verdict_series.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/metrics/metric_names.h"
#include "server/verdict/self_test_evidence.h"
#include "server/verdict/verdict_listing.h"

namespace swaplock {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;

using Labels = std::vector<ClientMetric::Label>;

// A family of gauges in the making. A number that does not exist makes no
// series.
class Gauges {
 public:
  explicit Gauges(const MetricName& name) {
    family_.name = name.name;
    family_.help = name.help;
    family_.type = prometheus::MetricType::Gauge;
  }
  void Add(Labels labels, double value) {
    if (std::isnan(value)) return;
    family_.metric.emplace_back();
    family_.metric.back().label = std::move(labels);
    family_.metric.back().gauge.value = value;
  }
  void AddTo(std::vector<MetricFamily>* out) {
    if (!family_.metric.empty()) out->push_back(std::move(family_));
  }

 private:
  MetricFamily family_;
};

Labels PairLabels(const KernelPair& pair) {
  return {{"kernel_base", pair.base}, {"kernel_new", pair.newer}};
}

Labels OutcomeLabels(Labels labels, Subsystem subsystem, Operation operation,
                     VerdictOutcome outcome) {
  labels.push_back({"subsystem", std::string(Name(subsystem))});
  labels.push_back({"op", std::string(Name(operation))});
  labels.push_back({"outcome", std::string(Name(outcome))});
  return labels;
}

Labels With(Labels labels, const char* name, absl::string_view value) {
  labels.push_back({name, std::string(value)});
  return labels;
}

std::string StateOf(const StoredVerdict& verdict) {
  return verdict.went_away.empty() ? std::string(Name(verdict.mark.state))
                                   : "went_away";
}

double UnixSeconds(absl::Time time) {
  return absl::ToDoubleSeconds(time - absl::UnixEpoch());
}

double Share(const SelfTestResult& result) {
  return result.splits == 0 ? kNoNumber
                            : static_cast<double>(result.rejected) /
                                  static_cast<double>(result.splits);
}

// The pairs with series, and of each the verdicts in the listing's order.
std::vector<PairListing> ShownPairs(const VerdictBook& book,
                                    const KernelLabels& kernels,
                                    absl::Time now) {
  std::vector<PairListing> shown;
  for (PairListing& listing : ListByPair(book)) {
    if (shown.size() == kVerdictPairs) break;
    const bool gone =
        std::all_of(listing.verdicts.begin(), listing.verdicts.end(),
                    [&](const StoredVerdict* verdict) {
                      return verdict->judged < now - kVerdictExpiry;
                    });
    if (gone || !kernels.Has(listing.pair.base) ||
        !kernels.Has(listing.pair.newer)) {
      continue;
    }
    shown.push_back(std::move(listing));
  }
  return shown;
}

void AddVerdicts(const std::vector<PairListing>& pairs,
                 std::vector<MetricFamily>* out) {
  Gauges verdicts(metric::kVerdict);
  Gauges states(metric::kVerdictState);
  Gauges alerts(metric::kVerdictAlerts);
  Gauges ratios(metric::kVerdictRatio);
  Gauges lower(metric::kVerdictRatioLower);
  Gauges upper(metric::kVerdictRatioUpper);
  Gauges p_values(metric::kVerdictPValue);
  Gauges e_values(metric::kVerdictEValue);
  Gauges matched(metric::kVerdictPairs);
  Gauges hosts(metric::kVerdictHosts);
  Gauges detectable(metric::kVerdictDetectable);
  for (const PairListing& listing : pairs) {
    for (const StoredVerdict* verdict : listing.verdicts) {
      const VerdictRecord& r = verdict->record;
      const Labels labels = OutcomeLabels(PairLabels(listing.pair), r.subsystem,
                                          r.operation, r.outcome);
      verdicts.Add(With(labels, "verdict", Name(r.kind)), 1);
      states.Add(With(labels, "state", StateOf(*verdict)), 1);
      alerts.Add(labels, verdict->alerts ? 1 : 0);
      ratios.Add(labels, r.effect.ratio);
      lower.Add(labels, r.effect.lower);
      upper.Add(labels, r.effect.upper);
      p_values.Add(labels, r.adjusted_p);
      const SequentialEvidence& s = r.sequential;
      if (s.pairs > 0) {
        e_values.Add(With(labels, "direction", "worse"),
                     std::exp(s.log_e_worse));
        e_values.Add(With(labels, "direction", "better"),
                     std::exp(s.log_e_better));
      }
      matched.Add(labels, static_cast<double>(s.pairs));
      hosts.Add(With(labels, "arm", "upgraded"),
                static_cast<double>(r.treated.hosts));
      hosts.Add(With(labels, "arm", "not_upgraded"),
                static_cast<double>(r.controls.hosts));
      detectable.Add(labels, r.detectable_ratio);
    }
  }
  for (Gauges* family : {&verdicts, &states, &alerts, &ratios, &lower, &upper,
                         &p_values, &e_values, &matched, &hosts, &detectable}) {
    family->AddTo(out);
  }
}

void AddRollouts(const std::vector<PairListing>& pairs,
                 std::vector<MetricFamily>* out) {
  Gauges hosts(metric::kRolloutHosts);
  Gauges incidents(metric::kIncident);
  for (const PairListing& listing : pairs) {
    const Labels labels = PairLabels(listing.pair);
    if (listing.judged != nullptr) {
      const JudgedPair& judged = *listing.judged;
      hosts.Add(With(labels, "state", "upgraded"),
                static_cast<double>(judged.hosts_upgraded));
      hosts.Add(With(labels, "state", "waiting"),
                static_cast<double>(judged.hosts_waiting));
      hosts.Add(With(labels, "state", "not_upgraded"),
                static_cast<double>(judged.controls));
    }
    if (listing.incident != nullptr) {
      incidents.Add(
          With(labels, "incident", absl::StrCat(listing.incident->id)),
          UnixSeconds(listing.incident->opened));
    }
  }
  hosts.AddTo(out);
  incidents.AddTo(out);
}

void AddSelfTest(const SelfTestReport& report, std::vector<MetricFamily>* out) {
  if (!WasMade(report)) return;
  Gauges false_alarms(metric::kSelfTestFalseAlarms);
  Gauges lower(metric::kSelfTestFalseAlarmsLower);
  Gauges upper(metric::kSelfTestFalseAlarmsUpper);
  Gauges splits(metric::kSelfTestSplits);
  Gauges trusted(metric::kSelfTestTrusted);
  Gauges power(metric::kSelfTestPower);
  Gauges made(metric::kSelfTestTime);
  for (const SelfTestResult& result : report.false_alarms) {
    const Labels labels = OutcomeLabels(
        {}, result.operation.first, result.operation.second, result.outcome);
    splits.Add(labels, static_cast<double>(result.splits));
    trusted.Add(labels, result.broken ? 0 : 1);
    false_alarms.Add(labels, Share(result));
    if (result.splits == 0) continue;
    lower.Add(labels, result.share.lower);
    upper.Add(labels, result.share.upper);
  }
  for (const SelfTestResult& result : report.power) {
    power.Add(With(OutcomeLabels({}, result.operation.first,
                                 result.operation.second, result.outcome),
                   "ratio", absl::StrCat(report.spike)),
              Share(result));
  }
  made.Add({}, UnixSeconds(report.made));
  for (Gauges* family :
       {&false_alarms, &lower, &upper, &splits, &trusted, &power, &made}) {
    family->AddTo(out);
  }
}

}  // namespace

std::vector<MetricFamily> VerdictFamilies(const VerdictBook& book,
                                          const KernelLabels& kernels,
                                          absl::Time now) {
  std::vector<MetricFamily> out;
  const std::vector<PairListing> pairs = ShownPairs(book, kernels, now);
  AddVerdicts(pairs, &out);
  AddRollouts(pairs, &out);
  AddSelfTest(book.self_test, &out);
  if (book.judged != absl::InfinitePast()) {
    Gauges judged(metric::kVerdictsTime);
    judged.Add({}, UnixSeconds(book.judged));
    judged.AddTo(&out);
  }
  return out;
}

}  // namespace swaplock
