#include "cli/workload/workload_text.h"

#include <unistd.h>

#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "cli/workload/workload_roles.h"
#include "common/text_table.h"

namespace swaplock {
namespace {

std::string Tasks(const std::map<std::string, std::string>& facts,
                  const std::string& role) {
  return absl::StrCat(facts.at(role), " ", role, " at nice ",
                      facts.at(absl::StrCat(role, "_nice")));
}

std::string Ns(double ns) {
  return FormatNs(static_cast<uint64_t>(std::llround(ns)));
}

std::string Quantile(const Measurement& of, double q) {
  return of.latency.Count() == 0 ? "-" : Ns(of.latency.QuantileNs(q));
}

double DeviationNs(const Measurement& of) {
  const auto count = static_cast<double>(of.latency.Count());
  const double mean = of.latency.MeanNs();
  const double variance = of.sum_of_squares_ns2 / count - mean * mean;
  return std::sqrt(std::max(variance, 0.0));
}

}  // namespace

std::map<std::string, std::string> WorkloadFacts(const WorkloadOptions& options,
                                                 absl::string_view codec,
                                                 int cpus) {
  std::map<std::string, std::string> facts = {
      {"workload", Name(options.kind)},
      {"codec", std::string(codec)},
      {"vcpus", absl::StrCat(cpus)},
      {"page_bytes", absl::StrCat(sysconf(_SC_PAGESIZE))},
      {"seconds", absl::StrCat(absl::ToDoubleSeconds(options.duration))},
      {"seed", absl::StrCat(options.seed)},
      {"ratio", absl::StrCat(options.ratio)},
      {"mib", absl::StrCat(options.mib)},
      {"pause_us", absl::StrCat(absl::ToInt64Microseconds(options.pause))},
      {"hogs", absl::StrCat(options.hogs)},
      {"hogs_nice", absl::StrCat(kHogNice)},
      {"readers", absl::StrCat(options.readers)},
      {"readers_nice", absl::StrCat(kReaderNice)},
      {"workers", absl::StrCat(options.workers)},
      {"workers_nice", absl::StrCat(WorkerNice(options.kind))},
  };
  if (options.slow_holder > absl::ZeroDuration()) {
    facts["slow_holder_ms"] =
        absl::StrCat(absl::ToDoubleMilliseconds(options.slow_holder));
  }
  if (options.kind == WorkloadKind::kZswapInversion) {
    facts["page_cluster"] = "0";
  } else {
    facts["workers_do"] = options.low;
    facts["block_kib"] = absl::StrCat(options.block_kib);
    facts["low_block_kib"] = absl::StrCat(options.low_block_kib);
    if (!options.device.empty()) facts["device"] = options.device;
  }
  return facts;
}

std::string WorkloadText(const std::map<std::string, std::string>& facts,
                         const TaskOutcome& outcome) {
  std::string text = absl::StrFormat(
      "%s: %s, %s, %s, %s; %.1f s on %s CPUs, seed %s\n", facts.at("workload"),
      facts.at("codec"), Tasks(facts, "workers"), Tasks(facts, "hogs"),
      Tasks(facts, "readers"), absl::ToDoubleSeconds(outcome.ran),
      facts.at("vcpus"), facts.at("seed"));
  TextTable table;
  table.AddColumn("", TextTable::Align::kLeft);
  for (const char* title : {"tasks", "nice", "count", "per second"}) {
    table.AddColumn(title, TextTable::Align::kRight);
  }
  for (const char* title : {"mean", "stdev", "p50", "p99", "p99.99"}) {
    table.AddColumn(title, TextTable::Align::kRight, 1);
  }
  for (const char* title : {"slowest", ">1ms", ">10ms", ">100ms"}) {
    table.AddColumn(title, TextTable::Align::kRight);
  }
  const double seconds = absl::ToDoubleSeconds(outcome.ran);
  for (const Measurement& of : outcome.measurements) {
    const uint64_t count = of.latency.Count();
    table.AddRow(
        {of.name, absl::StrCat(of.threads), absl::StrCat(of.nice),
         absl::StrCat(count),
         seconds > 0
             ? absl::StrFormat("%.1f", static_cast<double>(count) / seconds)
             : "-",
         count == 0 ? "-" : Ns(of.latency.MeanNs()),
         count == 0 ? "-" : Ns(DeviationNs(of)), Quantile(of, 0.5),
         Quantile(of, 0.99), Quantile(of, 0.9999),
         count == 0 ? "-" : FormatNs(of.latency.max_ns),
         absl::StrCat(of.latency.over_1ms), absl::StrCat(of.latency.over_10ms),
         absl::StrCat(of.latency.over_100ms)});
  }
  return absl::StrCat(text, table.Render());
}

}  // namespace swaplock
