#include "cli/compare/comparison_cause.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/report/printed_number.h"
#include "cli/report/recorded_run.h"

namespace swaplock {
namespace {

// Means that differ by less are one.
constexpr double kSameMean = 1.10;

bool IsStream(Role role) {
  return role == Role::kStream || role == Role::kCompressStream ||
         role == Role::kDecompressStream;
}

std::set<Role> RolesOf(const RecordedRun& run, Subsystem subsystem,
                       Operation operation) {
  std::set<Role> roles;
  for (const auto& [key, cell] : run.cells) {
    if (cell.Empty() || IsOperation(cell) || key.subsystem != subsystem ||
        key.operation != operation || !IsStream(key.role)) {
      continue;
    }
    roles.insert(key.role);
  }
  return roles;
}

bool TakesNoLock(const RecordedRun& run, Subsystem subsystem,
                 Operation operation) {
  for (const auto& [key, cell] : run.cells) {
    if (key.subsystem == subsystem && key.operation == operation &&
        IsOperation(cell) && !cell.Empty()) {
      return cell.lock_model == LockModel::kNone;
    }
  }
  return false;
}

// False if a lock of the run's is there whose holds cannot be seen.
bool AddRun(const RecordedRun& run, Subsystem subsystem, Operation operation,
            HoldsInTheWay* sum) {
  const std::set<Role> roles = RolesOf(run, subsystem, operation);
  if (roles.empty()) {
    sum->lock_free = TakesNoLock(run, subsystem, operation);
    return sum->lock_free;
  }
  uint64_t longest = 0;
  for (const auto& [key, cell] : run.cells) {
    if (cell.Empty() || IsOperation(cell) || key.subsystem != subsystem ||
        roles.count(key.role) == 0) {
      continue;
    }
    if (!CountsHolds(cell.hold_tier)) return false;
    sum->holds += cell.hold.Count();
    sum->total_ns += cell.hold.sum_ns;
    sum->on_cpu_ns += cell.on_cpu_ns;
    sum->runnable_ns += cell.runnable.sum_ns;
    sum->blocked_ns += cell.blocked.sum_ns;
    sum->unknown_ns += cell.unknown_ns;
    longest = std::max(longest, cell.hold.max_ns);
    if (key.operation == operation) {
      sum->wait_ns += cell.wait.sum_ns;
      sum->wait_owner_runnable_ns += cell.wait_owner_runnable_ns;
    }
  }
  if (longest <= sum->longest_ns) return true;
  sum->longest_ns = longest;
  sum->longest_runnable_ns.reset();
  for (const RecordedHold& recorded : run.longest) {
    if (recorded.hold.hold_ns != longest ||
        recorded.key.subsystem != subsystem ||
        roles.count(recorded.key.role) == 0) {
      continue;
    }
    sum->longest_runnable_ns = recorded.hold.runnable_ns;
    break;
  }
  return true;
}

double PerHold(uint64_t ns, const HoldsInTheWay& holds) {
  return static_cast<double>(ns) / static_cast<double>(holds.holds);
}

std::string PrintedNs(double ns) { return Printed(ns, Unit::kNanoseconds); }

struct Part {
  absl::string_view name;
  double growth_ns;  // per hold
};

// The part that explains most of the growth, or of the fall, first.
std::vector<Part> PartsOfGrowth(const HoldsInTheWay& from,
                                const HoldsInTheWay& to) {
  const auto growth = [&](uint64_t HoldsInTheWay::*part) {
    return PerHold(to.*part, to) - PerHold(from.*part, from);
  };
  std::vector<Part> parts = {
      {"runnable", growth(&HoldsInTheWay::runnable_ns)},
      {"on-CPU", growth(&HoldsInTheWay::on_cpu_ns)},
      {"blocked", growth(&HoldsInTheWay::blocked_ns)},
      {"unknown", growth(&HoldsInTheWay::unknown_ns)},
  };
  const double sign =
      PerHold(to.total_ns, to) < PerHold(from.total_ns, from) ? -1 : 1;
  std::stable_sort(parts.begin(), parts.end(),
                   [sign](const Part& a, const Part& b) {
                     return sign * a.growth_ns > sign * b.growth_ns;
                   });
  return parts;
}

// "97% of it runnable, 3% on-CPU"; parts that went the other way are left out.
std::string Explained(const HoldsInTheWay& from, const HoldsInTheWay& to) {
  const double growth = PerHold(to.total_ns, to) - PerHold(from.total_ns, from);
  std::vector<std::string> shares;
  for (const Part& part : PartsOfGrowth(from, to)) {
    const double share = std::min(1.0, part.growth_ns / growth);
    if (share < 0.005) continue;
    shares.push_back(absl::StrFormat("%.0f%%%s%s", 100 * share,
                                     shares.empty() ? " of it " : " ",
                                     part.name));
  }
  return absl::StrJoin(shares, ", ");
}

std::string LongestText(const HoldsInTheWay& holds) {
  if (holds.longest_ns == 0) return "none";
  std::string text = PrintedNs(static_cast<double>(holds.longest_ns));
  if (!holds.longest_runnable_ns.has_value()) return text;
  absl::StrAppend(&text, " (",
                  PrintedNs(static_cast<double>(*holds.longest_runnable_ns)),
                  " of it runnable)");
  return text;
}

// "zram reads", "zswap loads".
std::string Plural(Subsystem subsystem, Operation operation) {
  return absl::StrCat(Name(subsystem), " ", Name(operation), "s");
}

std::string Describe(absl::string_view who, const HoldsInTheWay& from,
                     const HoldsInTheWay& to, bool worse) {
  const double before = PerHold(from.total_ns, from);
  const double after = PerHold(to.total_ns, to);
  const std::string means =
      absl::StrCat(PrintedNs(before), " -> ", PrintedNs(after));
  const std::string longest =
      absl::StrCat("the longest ", LongestText(from), " -> ", LongestText(to));
  if (after > before * kSameMean || after * kSameMean < before) {
    const bool grew = after > before;
    std::string text = absl::StrCat(
        "the holds that ", who, " wait behind ", grew ? "grew" : "shrank", ", ",
        means, " on average: ", Explained(from, to), "; ", longest);
    if (grew != worse) {
      absl::StrAppend(&text, "; so the cause is not there");
    }
    return text;
  }
  return absl::StrCat("not in the mean of the holds that ", who,
                      " wait behind (", means, "); ", longest);
}

struct Candidate {
  std::string who;
  HoldsInTheWay from;
  HoldsInTheWay to;
  double weight = 0;
};

bool Takes(Direction direction, Operation operation) {
  const bool in =
      operation == Operation::kLoad || operation == Operation::kRead;
  const bool out =
      operation == Operation::kStore || operation == Operation::kWrite;
  return (in && direction != Direction::kOut) ||
         (out && direction != Direction::kIn);
}

}  // namespace

std::optional<HoldsInTheWay> HoldsInTheWayOf(const Runs& runs,
                                             Subsystem subsystem,
                                             Operation operation) {
  HoldsInTheWay sum;
  for (const RecordedRun* run : runs) {
    if (!AddRun(*run, subsystem, operation, &sum)) return std::nullopt;
  }
  if (sum.holds == 0 && !sum.lock_free) return std::nullopt;
  return sum;
}

std::string CauseOf(const Runs& base, const Runs& newer, Direction direction,
                    bool worse) {
  std::set<std::pair<Subsystem, Operation>> operations;
  for (const Runs* runs : {&base, &newer}) {
    for (const RecordedRun* run : *runs) {
      for (const auto& [key, cell] : run->cells) {
        if (cell.Empty() || !Takes(direction, key.operation)) continue;
        operations.insert({key.subsystem, key.operation});
      }
    }
  }
  std::optional<Candidate> most;
  for (const auto& [subsystem, operation] : operations) {
    const std::optional<HoldsInTheWay> from =
        HoldsInTheWayOf(base, subsystem, operation);
    const std::optional<HoldsInTheWay> to =
        HoldsInTheWayOf(newer, subsystem, operation);
    if (!from.has_value() || !to.has_value()) continue;
    const double weight = std::abs(
        static_cast<double>(to->wait_ns) / static_cast<double>(newer.size()) -
        static_cast<double>(from->wait_ns) / static_cast<double>(base.size()));
    if (most.has_value() && weight <= most->weight) continue;
    most = {Plural(subsystem, operation), *from, *to, weight};
  }
  if (!most.has_value()) return "";
  const auto& [who, from, to, weight] = *most;
  if (from.lock_free && to.lock_free) return "";
  if (to.lock_free || from.lock_free) {
    return absl::StrCat(who, " take ",
                        to.lock_free ? "no lock any more" : "a lock now");
  }
  return Describe(who, from, to, worse);
}

}  // namespace swaplock
