#include "server/verdict/self_test.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "server/verdict/judge_rollout.h"
#include "server/verdict/seeded_random.h"

namespace swaplock {
namespace {

constexpr double kNominal = 0.05;

// `count` events, of which each makes `ratio` on average.
uint64_t Multiplied(SeededRandom* random, uint64_t count, double ratio) {
  const double whole = std::floor(ratio);
  const double chance = ratio - whole;
  uint64_t more = 0;
  if (count > 10'000) {
    more = static_cast<uint64_t>(
        std::llround(static_cast<double>(count) * chance));
  } else {
    for (uint64_t i = 0; i < count; ++i) more += random->Uniform() < chance;
  }
  return count * static_cast<uint64_t>(whole) + more;
}

void Spike(SeededRandom* random, double ratio, OperationCounts* counts) {
  for (uint64_t* const count :
       {&counts->contended, &counts->waits_over_1ms, &counts->waits_over_10ms,
        &counts->waits_over_100ms, &counts->episodes_over_10ms,
        &counts->slow_operations}) {
    *count = Multiplied(random, *count, ratio);
  }
  for (uint64_t* const sum : {&counts->wait_ns, &counts->runnable_ns}) {
    *sum = static_cast<uint64_t>(static_cast<double>(*sum) * ratio);
  }
}

}  // namespace

Rollout FakeRollout(const Rollout& rollout, uint64_t seed) {
  Rollout fake = rollout;
  fake.hosts.clear();
  fake.builds_between.clear();
  fake.hosts_waiting = 0;
  std::map<std::pair<int64_t, bool>, std::vector<HostChange>> waves;
  for (const HostChange& host : rollout.hosts) {
    if (host.arm != Arm::kControl) continue;
    waves[{host.wave, host.rebooted}].push_back(host);
  }
  for (auto& [wave, hosts] : waves) {
    // The hash alone hardly changes the order of names that are alike, such as
    // h1 and h2, from one seed to the next.
    const auto place = [seed](const HostChange& host) {
      return std::make_pair(SeededRandom(HashOf(host.host_id, seed)).Next(),
                            host.host_id);
    };
    std::sort(hosts.begin(), hosts.end(),
              [&](const HostChange& a, const HostChange& b) {
                return place(a) < place(b);
              });
    // Where uptimes have to match, only hosts that rebooted serve as either.
    const bool usable = wave.second || rollout.uptime_unmatched;
    for (size_t i = 0; i < hosts.size(); ++i) {
      if (usable && i % 2 == 0) hosts[i].arm = Arm::kTreated;
      fake.hosts.push_back(std::move(hosts[i]));
    }
  }
  return fake;
}

Rollout Spiked(const Rollout& rollout, double ratio, uint64_t seed) {
  Rollout spiked = rollout;
  for (HostChange& host : spiked.hosts) {
    if (host.arm != Arm::kTreated || !host.after.has_value()) continue;
    SeededRandom random(HashOf(host.host_id, seed));
    for (auto& [key, counts] : host.after->operations) {
      Spike(&random, std::max(ratio, 1.0), &counts);
    }
  }
  return spiked;
}

std::vector<SelfTestResult> SelfTest(const Rollout& rollout,
                                     const RolloutRules& rules, double ratio,
                                     uint64_t splits, uint64_t seed,
                                     const std::function<bool()>& stop) {
  std::map<std::pair<OperationKey, VerdictOutcome>, SelfTestResult> results;
  SeededRandom seeds(seed);
  RolloutRules plain = rules;
  plain.margin = 1;
  const bool spiked = ratio > 1;
  for (uint64_t split = 0; split < splits; ++split) {
    if (stop && stop()) break;
    Rollout fake = FakeRollout(rollout, seeds.Next());
    if (spiked) fake = Spiked(fake, ratio, seeds.Next());
    const RolloutVerdicts verdicts = JudgeRollout(fake, rules);
    const RolloutVerdicts tests =
        spiked ? RolloutVerdicts() : JudgeRollout(fake, plain);
    for (size_t i = 0; i < verdicts.verdicts.size(); ++i) {
      const VerdictRecord& verdict = verdicts.verdicts[i];
      const VerdictRecord& test = spiked ? verdict : tests.verdicts[i];
      if (!std::isfinite(test.p_worse)) continue;
      const OperationKey operation = {verdict.subsystem, verdict.operation};
      SelfTestResult& result = results[{operation, verdict.outcome}];
      result.operation = operation;
      result.outcome = verdict.outcome;
      ++result.splits;
      result.rejected +=
          spiked ? test.p_worse <= kNominal
                 : std::min(test.p_worse, test.p_better) <= kNominal / 2;
      result.flagged += verdict.kind == VerdictKind::kRegression ||
                        verdict.kind == VerdictKind::kImprovement ||
                        verdict.kind == VerdictKind::kMixed;
    }
  }
  std::vector<SelfTestResult> out;
  for (auto& [key, result] : results) {
    result.share = BinomialInterval(result.rejected, result.splits, 0.95);
    result.broken = !spiked &&
                    static_cast<double>(result.rejected) >
                        2 * kNominal * static_cast<double>(result.splits) &&
                    result.share.lower > kNominal;
    out.push_back(result);
  }
  return out;
}

}  // namespace swaplock
