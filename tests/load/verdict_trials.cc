#include "tests/load/verdict_trials.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "server/verdict/judge_rollout.h"
#include "server/verdict/rollout_rules.h"
#include "server/verdict/seeded_random.h"
#include "server/verdict/stratified_rank_test.h"
#include "tests/load/common_practice.h"

namespace swaplock {
namespace {

// The spread that a verdict's detectable ratio was computed from.
double SpreadOf(const VerdictRecord& record, double margin) {
  const double hosts = 1 / static_cast<double>(record.treated.hosts) +
                       1 / static_cast<double>(record.controls.hosts);
  return std::log(record.detectable_ratio / margin) /
         (2.4865 * std::sqrt(1.25 * hosts));
}

const VerdictRecord& First(const RolloutVerdicts& verdicts) {
  return *std::find_if(verdicts.verdicts.begin(), verdicts.verdicts.end(),
                       [](const VerdictRecord& record) {
                         return record.subsystem == Subsystem::kZram &&
                                record.operation == Operation::kRead &&
                                record.outcome ==
                                    VerdictOutcome::kWaitsOver10ms;
                       });
}

class Counter {
 public:
  Counter(const Scenario& scenario, Trials* trials)
      : effect_(std::log(scenario.ratio)), trials_(trials) {}

  bool Counts(int flag) const {
    return effect_ == 0 ? flag != 0 : flag * effect_ > 0;
  }

  void Judge(const Rollout& rollout) {
    RolloutRules rules;
    const RolloutVerdicts verdicts = JudgeRollout(rollout, rules);
    const VerdictRecord& first = First(verdicts);
    trials_->every_look += (effect_ < 0 ? first.sequential.p_better
                                        : first.sequential.p_worse) <= 0.05;
    bool flagged = false;
    bool alarm = false;
    bool refused = false;
    for (const VerdictRecord& record : verdicts.verdicts) {
      if (effect_ != 0 && &record != &first) continue;
      flagged |= Counts(FlagOf(record));
      alarm |= record.sequential.alarm.has_value();
      refused |= record.kind == VerdictKind::kDataQuality;
    }
    trials_->verdict += flagged;
    trials_->alarm += alarm;
    trials_->data_quality += refused;
    if (std::isfinite(first.detectable_ratio)) {
      trials_->spread += SpreadOf(first, rules.margin);
    }
    if (effect_ > 0) {
      trials_->fixed_look += first.p_worse <= 0.05;
    } else if (effect_ < 0) {
      trials_->fixed_look += first.p_better <= 0.05;
    } else {
      rules.margin = 1;
      const RolloutVerdicts plain = JudgeRollout(rollout, rules);
      const VerdictRecord& record = First(plain);
      trials_->fixed_look += std::min(record.p_worse, record.p_better) <= 0.025;
    }
  }

  void AskOracle(const SimulatedFleet& fleet) {
    if (effect_ == 0 || fleet.series.size() != fleet.rollout.hosts.size()) {
      return;
    }
    std::map<int64_t, StratumValues> waves;
    for (size_t i = 0; i < fleet.series.size(); ++i) {
      StratumValues& wave = waves[fleet.rollout.hosts[i].wave];
      (fleet.series[i].treated ? wave.treated : wave.controls)
          .push_back(fleet.series[i].log_change);
    }
    Strata strata;
    for (auto& [week, wave] : waves) strata.push_back(std::move(wave));
    const double margin = std::log(RolloutRules().margin);
    const double p = effect_ > 0 ? NormalP(strata, margin, Direction::kHigher)
                                 : NormalP(strata, -margin, Direction::kLower);
    trials_->oracle += p <= 0.05;
  }

  void TryPractice(const std::vector<HostSeries>& series, uint64_t seed) {
    trials_->mann_whitney += Counts(MannWhitneyOverTime(series, seed));
    trials_->welch += Counts(WelchOnMeans(series));
    trials_->ratio_alert += Counts(RatioAlert(series));
    trials_->e_divisive += Counts(EDivisive(series, seed));
  }

 private:
  int FlagOf(const VerdictRecord& record) const {
    switch (record.kind) {
      case VerdictKind::kRegression:
        return 1;
      case VerdictKind::kImprovement:
        return -1;
      case VerdictKind::kMixed:
        return effect_ == 0 ? 1 : 0;
      default:
        return 0;
    }
  }

  double effect_;
  Trials* trials_;
};

}  // namespace

Trials TryOut(const Scenario& scenario, uint64_t trials, uint64_t seed,
              bool practice) {
  Trials out;
  SeededRandom seeds(HashOf(scenario.name, seed));
  Counter counter(scenario, &out);
  for (; out.trials < trials; ++out.trials) {
    const uint64_t own = seeds.Next();
    const SimulatedFleet fleet = DrawFleet(scenario, own);
    counter.Judge(fleet.rollout);
    counter.AskOracle(fleet);
    if (practice) counter.TryPractice(fleet.series, own);
  }
  out.spread /= static_cast<double>(trials);
  return out;
}

}  // namespace swaplock
