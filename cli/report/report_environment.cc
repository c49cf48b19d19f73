#include "cli/report/report_environment.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "cli/report/printed_number.h"
#include "common/cell.h"

namespace swaplock {
namespace {

// Each text that `of` makes of a run, once, in the order of the runs.
template <typename TextOfRun>
std::vector<std::string> Distinct(const RunGroup& group, const TextOfRun& of) {
  std::vector<std::string> texts;
  for (const RecordedRun* run : group.runs) {
    std::string text = of(*run);
    if (text.empty()) continue;
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) {
      texts.push_back(std::move(text));
    }
  }
  return texts;
}

std::string Memory(uint64_t bytes) {
  return absl::StrFormat("%.1f GiB memory",
                         static_cast<double>(bytes) / (1 << 30));
}

// For a shell, so that it can be pasted.
std::string Quoted(const std::string& word) {
  constexpr absl::string_view kPlain = "-_=+,./:@%";
  const bool plain =
      !word.empty() && std::all_of(word.begin(), word.end(), [&](char c) {
        return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
               absl::StrContains(kPlain, std::string(1, c));
      });
  return plain ? word
               : absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}),
                              "'");
}

std::string Command(const RecordedRun& run) {
  return absl::StrJoin(run.begin.command, " ",
                       [](std::string* out, const std::string& word) {
                         absl::StrAppend(out, Quoted(word));
                       });
}

std::string Pairs(const std::map<std::string, std::string>& map) {
  return absl::StrJoin(map, ", ", absl::PairFormatter(" "));
}

std::string Labels(const RecordedRun& run) {
  std::map<std::string, std::string> labels = run.begin.labels;
  labels.insert(run.begin.environment.labels.begin(),
                run.begin.environment.labels.end());
  return Pairs(labels);
}

// What the commands said of themselves: where runs differ, "1/2/3".
std::map<std::string, std::string> Facts(const RunGroup& group) {
  std::map<std::string, std::vector<std::string>> values;
  for (const RecordedRun* run : group.runs) {
    if (!run->end.has_value()) continue;
    for (const auto& [name, value] : run->end->result.facts) {
      std::vector<std::string>& all = values[name];
      if (std::find(all.begin(), all.end(), value) == all.end()) {
        all.push_back(value);
      }
    }
  }
  values.erase("ran_seconds");  // in the rates
  std::map<std::string, std::string> facts;
  for (const auto& [name, all] : values) facts[name] = absl::StrJoin(all, "/");
  return facts;
}

// "4 workers at nice 19, 2 readers at nice -19, codec zstd": whatever has a
// fact of its name with "_nice" is a number of tasks.
std::string Workload(const RunGroup& group) {
  const std::map<std::string, std::string> all = Facts(group);
  std::map<std::string, std::string> rest = all;
  std::vector<std::string> parts;
  for (const auto& [name, value] : all) {
    const auto nice = all.find(absl::StrCat(name, "_nice"));
    if (nice == all.end()) continue;
    absl::string_view tasks = name;
    if (value == "1") absl::ConsumeSuffix(&tasks, "s");
    parts.push_back(absl::StrCat(value, " ", tasks, " at nice ", nice->second));
    rest.erase(nice->first);
    rest.erase(name);
  }
  if (!rest.empty()) parts.push_back(Pairs(rest));
  return absl::StrJoin(parts, ", ");
}

std::string Kernel(const RecordedRun& run) {
  const Environment& environment = run.begin.environment;
  return absl::StrCat(
      environment.kernel_release.empty() ? "unknown"
                                         : environment.kernel_release,
      environment.architecture.empty() ? "" : " ", environment.architecture,
      ", preempt ",
      environment.preempt.empty() ? "unknown" : environment.preempt,
      environment.kernel_version.empty() ? "" : ", ",
      environment.kernel_version);
}

std::string BuildId(const RecordedRun& run) {
  return run.begin.environment.kernel_build_id;
}

std::string Host(const RecordedRun& run) {
  const Environment& environment = run.begin.environment;
  return absl::StrCat(run.begin.host_id, ", ", environment.cpus,
                      environment.cpus == 1 ? " CPU, " : " CPUs, ",
                      Memory(environment.memory_bytes));
}

// Of the cells that counted anything, else what the commands say: "zstd", and
// "lz4 (zram), zstd (zswap)" where there are several.
std::string Codecs(const RunGroup& group) {
  std::map<std::string, std::set<std::string>> codecs;  // and their subsystems
  for (const RecordedRun* run : group.runs) {
    for (const auto& [key, cell] : run->cells) {
      if (cell.Empty() || key.algorithm.empty()) continue;
      codecs[key.algorithm].insert(std::string(Name(key.subsystem)));
    }
  }
  if (codecs.size() == 1) return codecs.begin()->first;
  if (codecs.empty()) {
    const std::map<std::string, std::string> facts = Facts(group);
    const auto said = facts.find("codec");
    return said == facts.end() ? "not known" : said->second;
  }
  return absl::StrJoin(codecs, ", ", [](std::string* out, const auto& codec) {
    absl::StrAppend(out, codec.first, " (", absl::StrJoin(codec.second, ", "),
                    ")");
  });
}

std::string Swap(const RecordedRun& run) {
  const Environment& environment = run.begin.environment;
  return absl::StrCat(
      environment.swap_backend.empty() ? "no zswap or zram swap"
                                       : environment.swap_backend,
      ", vm.page-cluster ",
      environment.page_cluster < 0 ? "unknown"
                                   : absl::StrCat(environment.page_cluster));
}

std::string Seconds(const std::vector<double>& ns) {
  return Printed(SpreadOf(ns).value_or(Spread()), Unit::kNanoseconds);
}

std::string Ran(const RunGroup& group) {
  std::vector<double> durations;
  for (const RecordedRun* run : group.runs) {
    durations.push_back(static_cast<double>(run->duration_ns()));
  }
  const absl::Time began =
      absl::FromUnixNanos(static_cast<int64_t>(group.begin().begin_unix_ns));
  return absl::StrCat(
      Seconds(durations), group.runs.size() > 1 ? " each, the first" : "",
      " from ",
      absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", began, absl::UTCTimeZone()),
      "; ", absl::StrJoin(Distinct(group, EndOf), ", "));
}

std::string Measured(const RunGroup& group) {
  uint64_t windows = 0;
  uint64_t missing = 0;
  uint64_t ns = 0;
  for (const RecordedRun* run : group.runs) {
    windows += run->windows;
    missing += run->missing_windows;
    ns += run->measured_ns;
  }
  return absl::StrCat(
      Printed(static_cast<double>(ns), Unit::kNanoseconds), " in ",
      WithSeparators(windows), windows == 1 ? " window" : " windows",
      missing > 0 ? absl::StrCat(", ", WithSeparators(missing), " missing")
                  : "");
}

std::string Agent(const RunGroup& group) {
  std::vector<double> shares;
  uint64_t rss_bytes = 0;
  uint32_t shift = 0;
  uint32_t null_hold_ns = 0;
  for (const RecordedRun* run : group.runs) {
    rss_bytes = std::max(rss_bytes, run->agent_rss_bytes);
    shift = std::max(shift, run->timing_shift);
    null_hold_ns = std::max(null_hold_ns, run->null_hold_ns);
    if (run->measured_ns == 0) continue;
    shares.push_back(static_cast<double>(run->agent_cpu_ns) /
                     static_cast<double>(run->measured_ns));
  }
  std::vector<std::string> parts = {absl::StrCat(
      "version ",
      absl::StrJoin(Distinct(group,
                             [](const RecordedRun& run) {
                               return run.begin.environment.agent_version;
                             }),
                    ", "))};
  if (const std::optional<Spread> spread = SpreadOf(shares)) {
    parts.push_back(absl::StrCat(Printed(*spread, Unit::kShare),
                                 " of one CPU outside the kernel"));
  }
  if (rss_bytes > 0) {
    parts.push_back(absl::StrFormat(
        "%.1f MiB", static_cast<double>(rss_bytes) / (1 << 20)));
  }
  if (null_hold_ns > 0) {
    parts.push_back(absl::StrCat("an empty hold reads ", null_hold_ns, " ns"));
  }
  if (shift > 0) {
    parts.push_back(absl::StrCat("at times one hold in ",
                                 uint64_t{1} << std::min(shift, 63U),
                                 " was timed"));
  }
  return absl::StrJoin(parts, ", ");
}

std::string Lost(const RunGroup& group) {
  std::map<LossReason, uint64_t> losses;
  for (const RecordedRun* run : group.runs) {
    for (const auto& [reason, events] : run->losses) losses[reason] += events;
  }
  if (losses.empty()) return "nothing";
  return absl::StrJoin(losses, ", ", [](std::string* out, const auto& loss) {
    absl::StrAppend(out, WithSeparators(loss.second), " ", Name(loss.first));
  });
}

std::string RunNumber(const RunGroup& group, const RecordedRun& run) {
  if (group.runs.size() == 1) return "";
  return absl::StrCat("run ", run.begin.repetition, ": ");
}

}  // namespace

std::string EndOf(const RecordedRun& run) {
  if (!run.HasCommand()) return "no command";
  if (!run.end.has_value()) return "cut short";
  if (run.end->signal != 0) {
    return absl::StrCat("ended by signal ", run.end->signal);
  }
  return absl::StrCat("exit status ", run.end->exit_status);
}

std::string TroubleOf(const RecordedRun& run) {
  std::vector<std::string> parts;
  if (run.CutShort()) {
    parts.push_back("it was cut short: its end was not recorded");
  }
  if (run.end.has_value()) {
    if (!run.end->error.empty()) {
      parts.push_back(run.end->error);
    } else if (run.end->signal != 0 || run.end->exit_status != 0) {
      parts.push_back(absl::StrCat("its command failed (", EndOf(run), ")"));
    }
  }
  if (run.windows == 0) parts.push_back("nothing was measured: no window");
  if (run.coverage_changed) {
    parts.push_back("what could be measured changed while it ran");
  }
  return absl::StrJoin(parts, "; ");
}

std::string GroupTitle(const RunGroup& group) {
  const RunBegin& begin = group.begin();
  if (!group.runs[0]->HasCommand()) {
    return absl::StrCat("host ", begin.host_id);
  }
  const size_t runs = group.runs.size();
  return absl::StrCat(
      begin.name, begin.variant.empty() ? "" : ", ", begin.variant,
      runs > 1 ? absl::StrCat(", median (min-max) of ", runs, " runs")
               : absl::StrCat(", run ", begin.repetition));
}

EnvironmentLines EnvironmentOf(const RunGroup& group) {
  EnvironmentLines lines;
  const auto add = [&lines](absl::string_view label,
                            const std::vector<std::string>& texts,
                            absl::string_view between = "; ") {
    if (texts.empty()) return;
    lines.emplace_back(label, absl::StrJoin(texts, between));
  };
  add("kernel", Distinct(group, Kernel));
  add("build id", Distinct(group, BuildId));
  add("host", Distinct(group, Host));
  add("swap", {absl::StrCat(absl::StrJoin(Distinct(group, Swap), "; "),
                            ", codec ", Codecs(group))});
  add("labels", Distinct(group, Labels));
  add("command", Distinct(group, Command));
  if (const std::string workload = Workload(group); !workload.empty()) {
    add("workload", {workload});
  }
  add("ran", {Ran(group)});
  add("measured", {Measured(group)});
  add("agent", {Agent(group)});
  add("lost", {Lost(group)});
  std::vector<std::string> unseen;
  for (const RecordedRun* run : group.runs) {
    for (const std::string& sentence : run->coverage.not_measured) {
      if (std::find(unseen.begin(), unseen.end(), sentence) == unseen.end()) {
        unseen.push_back(sentence);
      }
    }
  }
  for (std::string& sentence : unseen) {
    lines.emplace_back("unseen", std::move(sentence));
  }
  for (const RecordedRun* run : group.runs) {
    const std::string trouble = TroubleOf(*run);
    if (trouble.empty()) continue;
    lines.emplace_back("note", absl::StrCat(RunNumber(group, *run), trouble));
  }
  return lines;
}

}  // namespace swaplock
