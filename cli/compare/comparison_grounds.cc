#include "cli/compare/comparison_grounds.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/text_table.h"

namespace swaplock {
namespace {

constexpr double kMemoryTolerance = 1.1;

using Values = std::set<std::string>;

std::string Command(const RecordedRun& run) {
  std::vector<std::string> words;
  for (const std::string& word : run.begin.command) {
    const bool plain =
        !word.empty() &&
        word.find_first_of(" \t\n\"'\\$&|;<>()*?`") == std::string::npos;
    words.push_back(plain ? word : absl::StrCat("'", word, "'"));
  }
  return absl::StrJoin(words, " ");
}

std::string Cpus(const RecordedRun& run) {
  const uint32_t cpus = run.begin.environment.cpus;
  return cpus == 0 ? "" : absl::StrCat(cpus);
}

std::string Memory(const RecordedRun& run) {
  const uint64_t bytes = run.begin.environment.memory_bytes;
  if (bytes == 0) return "";
  return absl::StrFormat(
      "%.1f GiB", static_cast<double>(bytes) / static_cast<double>(1 << 30));
}

std::string PageCluster(const RecordedRun& run) {
  const int32_t pages = run.begin.environment.page_cluster;
  return pages < 0 ? "" : absl::StrCat(pages);
}

// "zstd", as the cells say.
std::string Codec(const RecordedRun& run) {
  std::set<std::string> codecs;
  for (const auto& [key, cell] : run.cells) {
    if (cell.Empty() || key.algorithm.empty()) continue;
    codecs.insert(key.algorithm);
  }
  return absl::StrJoin(codecs, ", ");
}

std::string Kernel(const RecordedRun& run) {
  return run.begin.environment.kernel_release;
}
std::string Build(const RecordedRun& run) {
  return run.begin.environment.kernel_version;
}
std::string BuildId(const RecordedRun& run) {
  return run.begin.environment.kernel_build_id.substr(0, 16);
}
std::string Preempt(const RecordedRun& run) {
  return run.begin.environment.preempt;
}
std::string Architecture(const RecordedRun& run) {
  return run.begin.environment.architecture;
}
std::string Backend(const RecordedRun& run) {
  return run.begin.environment.swap_backend;
}
std::string Variant(const RecordedRun& run) { return run.begin.variant; }
std::string AgentVersion(const RecordedRun& run) {
  return run.begin.environment.agent_version;
}
std::string Host(const RecordedRun& run) { return run.begin.host_id; }

struct Trait {
  absl::string_view name;
  std::string (*of)(const RecordedRun& run);
  enum class Rule {
    kBySide,   // one value for each side
    kMatches,  // one value for all
    kMay,      // any
  } rule = Rule::kBySide;
};

constexpr Trait kTraits[] = {
    {"kernel", Kernel, Trait::Rule::kBySide},
    {"build", Build, Trait::Rule::kBySide},
    {"build id", BuildId, Trait::Rule::kBySide},
    {"variant", Variant, Trait::Rule::kMay},
    {"preempt", Preempt, Trait::Rule::kBySide},
    {"host", Host, Trait::Rule::kMay},
    {"architecture", Architecture, Trait::Rule::kMatches},
    {"CPUs", Cpus, Trait::Rule::kMatches},
    {"memory", Memory, Trait::Rule::kMay},
    {"codec", Codec, Trait::Rule::kMatches},
    {"swap back end", Backend, Trait::Rule::kMatches},
    {"vm.page-cluster", PageCluster, Trait::Rule::kMatches},
    {"command", Command, Trait::Rule::kMatches},
};

template <typename Of>
Values ValuesOf(const Runs& runs, const Of& of) {
  Values values;
  for (const RecordedRun* run : runs) {
    std::string value = Printable(of(*run));
    if (!value.empty()) values.insert(std::move(value));
  }
  return values;
}

std::string Joined(const Values& values) { return absl::StrJoin(values, ", "); }

class Examiner {
 public:
  Examiner(const Runs& base, const Runs& newer,
           const std::set<std::string>& may_differ)
      : base_(base), newer_(newer), may_differ_(may_differ) {}

  template <typename Of>
  Setting Examine(absl::string_view name, const Of& of, Trait::Rule rule) {
    const Values from = ValuesOf(base_, of);
    const Values to = ValuesOf(newer_, of);
    if (rule != Trait::Rule::kMay) {
      RefuseSide("base", name, from);
      RefuseSide("new", name, to);
    }
    if (rule == Trait::Rule::kMatches && from.size() == 1 && to.size() == 1 &&
        from != to && may_differ_.count(std::string(name)) == 0) {
      refusals_.push_back(
          absl::StrCat(name, ": ", Joined(from), " and ", Joined(to)));
    }
    return {std::string(name), Joined(from), Joined(to)};
  }

  void ExamineMemory() {
    if (may_differ_.count("memory") > 0) return;
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    for (const Runs* runs : {&base_, &newer_}) {
      for (const RecordedRun* run : *runs) {
        const uint64_t bytes = run->begin.environment.memory_bytes;
        if (bytes == 0) continue;
        least = std::min(least, bytes);
        most = std::max(most, bytes);
      }
    }
    if (most == 0 || static_cast<double>(most) <=
                         static_cast<double>(least) * kMemoryTolerance) {
      return;
    }
    refusals_.push_back(absl::StrFormat(
        "memory: from %.1f to %.1f GiB",
        static_cast<double>(least) / static_cast<double>(1 << 30),
        static_cast<double>(most) / static_cast<double>(1 << 30)));
  }

  std::vector<std::string> TakeRefusals() { return std::move(refusals_); }

 private:
  void RefuseSide(absl::string_view side, absl::string_view name,
                  const Values& values) {
    if (values.size() <= 1) return;
    refusals_.push_back(absl::StrCat(name, ": the ", side,
                                     " runs differ among themselves (",
                                     Joined(values), ")"));
  }

  const Runs& base_;
  const Runs& newer_;
  const std::set<std::string>& may_differ_;
  std::vector<std::string> refusals_;
};

// How the command says it was set up, by name.
std::set<std::string> FactNames(const Runs& runs) {
  std::set<std::string> names;
  for (const RecordedRun* run : runs) {
    if (!run->end.has_value()) continue;
    for (const auto& [name, value] : run->end->result.facts) {
      names.insert(name);
    }
  }
  return names;
}

std::string Fact(const RecordedRun& run, const std::string& name) {
  if (!run.end.has_value()) return "";
  const auto& facts = run.end->result.facts;
  if (facts.empty()) return "";
  const auto fact = facts.find(name);
  return fact == facts.end() ? "none" : fact->second;
}

// Of the agent's facts those that somebody sets, on the host or in the build;
// codecs and devices are the workload's.
bool IsSetting(absl::string_view name) {
  if (name == "sysctl/kernel/tainted" || name == "zswap/compressor") {
    return false;
  }
  for (const absl::string_view source :
       {"kernel/", "sysctl/", "mm/", "sched/", "sched_ext/", "zswap/"}) {
    if (absl::StartsWith(name, source)) return true;
  }
  return false;
}

Trait::Rule FactRule(absl::string_view name) {
  // Repetitions may have seeds of their own.
  if (name == "seed") return Trait::Rule::kMay;
  // A holder that is made slow on purpose is what is compared.
  if (name == "slow_holder_ms") return Trait::Rule::kBySide;
  return Trait::Rule::kMatches;
}

std::string ContextFact(const RecordedRun& run, const std::string& name) {
  const auto fact = run.context.facts.find(name);
  return fact == run.context.facts.end() ? "" : fact->second;
}

std::set<std::string> ContextNames(const Runs& runs) {
  std::set<std::string> names;
  for (const RecordedRun* run : runs) {
    for (const auto& [name, value] : run->context.facts) {
      if (IsSetting(name)) names.insert(name);
    }
  }
  return names;
}

std::string Label(const RecordedRun& run, const std::string& name) {
  const auto label = run.begin.labels.find(name);
  return label == run.begin.labels.end() ? "" : label->second;
}

std::set<std::string> LabelNames(const Runs& runs) {
  std::set<std::string> names;
  for (const RecordedRun* run : runs) {
    for (const auto& [name, value] : run->begin.labels) names.insert(name);
  }
  return names;
}

// What has one value on each side, and two in all.
std::vector<Setting> ChangesOf(const Runs& base, const Runs& newer,
                               const Runs& all) {
  std::vector<Setting> changes;
  const auto add = [&](absl::string_view name, const auto& of) {
    const Values from = ValuesOf(base, of);
    const Values to = ValuesOf(newer, of);
    if (from.size() != 1 || to.size() != 1 || from == to) return;
    changes.push_back({std::string(name), *from.begin(), *to.begin()});
  };
  for (const std::string& name : LabelNames(all)) {
    add(absl::StrCat("label ", name),
        [&name](const RecordedRun& run) { return Label(run, name); });
  }
  add("swaplock", AgentVersion);
  for (const std::string& name : ContextNames(all)) {
    absl::string_view shown = name;
    absl::ConsumePrefix(&shown, "kernel/");
    absl::ConsumePrefix(&shown, "sysctl/");
    add(shown,
        [&name](const RecordedRun& run) { return ContextFact(run, name); });
  }
  return changes;
}

}  // namespace

Grounds GroundsOf(const Runs& base, const Runs& newer,
                  const std::set<std::string>& may_differ) {
  Runs all = base;
  all.insert(all.end(), newer.begin(), newer.end());
  Grounds grounds;
  Examiner examiner(base, newer, may_differ);
  const std::set<std::string> facts = FactNames(all);
  for (const Trait& trait : kTraits) {
    const bool said_by_facts = trait.of == Command && !facts.empty();
    grounds.settings.push_back(examiner.Examine(
        trait.name, trait.of, said_by_facts ? Trait::Rule::kMay : trait.rule));
    if (trait.name == "memory") examiner.ExamineMemory();
  }
  for (const std::string& name : facts) {
    grounds.workload.push_back(examiner.Examine(
        name, [&name](const RecordedRun& run) { return Fact(run, name); },
        FactRule(name)));
  }
  grounds.refusals = examiner.TakeRefusals();
  grounds.changed_too = ChangesOf(base, newer, all);
  return grounds;
}

}  // namespace swaplock
