#include "server/judge/verdict_engine.h"

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/plain_text.h"
#include "server/verdict/rollout_windows.h"
#include "server/verdict/self_test.h"

namespace swaplock {
namespace {

constexpr absl::Duration kDay = absl::Hours(24);
constexpr absl::Duration kLongestSuppression = absl::Hours(24 * 365);
constexpr size_t kMaxTextBytes = 1000;
// A self-test takes as long as so many hosts take 600 times.
constexpr size_t kSelfTestHosts = 1000;
constexpr uint64_t kMinSelfTestHosts = 16;  // 8 for each arm
constexpr int64_t kFrozenDays = 30;         // that a look is made again

absl::Status NoSuchVerdict(uint64_t id) {
  return absl::NotFoundError(absl::StrCat("there is no verdict ", id));
}

absl::Status CheckText(const char* what, const std::string& text) {
  if (text.size() <= kMaxTextBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      what, " has ", text.size(), " bytes, ", kMaxTextBytes, " are allowed"));
}

std::pair<std::string, std::string> KeyOf(const KernelPair& pair) {
  return {pair.base, pair.newer};
}

}  // namespace

absl::Status VerdictEngine::Load() {
  absl::StatusOr<PairRules> rules = ReadPairRules(options_.pairs_file);
  if (!rules.ok()) return rules.status();
  absl::StatusOr<StoredBook> stored = sources_.store->LoadVerdicts();
  if (!stored.ok()) {
    return {stored.status().code(),
            absl::StrCat("load the verdicts: ", stored.status().message())};
  }
  auto book = std::make_shared<VerdictBook>(Restored(*stored));
  Refresh(sources_.now(), book.get());
  absl::MutexLock lock(&running_);
  pair_rules_ = *std::move(rules);
  last_evaluation_ = stored->last_evaluation;
  absl::MutexLock book_lock(&book_mutex_);
  book_ = std::move(book);
  return absl::OkStatus();
}

int64_t VerdictEngine::ClosedDay() const {
  return (sources_.now() - options_.close_delay - absl::UnixEpoch()) / kDay - 1;
}

bool VerdictEngine::IsDue(int64_t today) {
  return today != looked_for_day_ ||
         sources_.now() >= looked_at_ + options_.look_interval;
}

absl::Status VerdictEngine::RunDue() {
  absl::MutexLock lock(&running_);
  if (stopping_) return absl::OkStatus();
  const int64_t today = ClosedDay();
  if (IsDue(today)) {
    const absl::Time begun = sources_.now();
    absl::StatusOr<std::unique_ptr<EvidenceReader>> reader =
        sources_.evidence();
    if (!reader.ok()) return reader.status();
    absl::Status s = JudgePairs(reader->get(), today);
    if (s.ok()) s = TestItself(*std::move(reader), today);
    if (!s.ok()) return s;
    looked_for_day_ = today;
    looked_at_ = begun;
  }
  const std::string remark = remark_;
  return Change([&](VerdictBook* book) {
    book->remark = remark;
    return Refresh(sources_.now(), book);
  });
}

absl::Status VerdictEngine::JudgePairs(EvidenceReader* reader, int64_t today) {
  remark_.clear();
  absl::StatusOr<PairRules> rules = ReadPairRules(options_.pairs_file);
  if (rules.ok()) {
    pair_rules_ = *std::move(rules);
  } else {
    static LogSite site(absl::Minutes(10));
    site.Log(LogLevel::kError, absl::StrCat("verdicts: the kernel pairs read "
                                            "before stay: ",
                                            rules.status().message()));
    remark_ = absl::StrCat(
        "The kernel pairs read before stay: ", rules.status().message(), ".");
  }
  const absl::StatusOr<std::vector<HostBoot>> boots = reader->Boots();
  if (!boots.ok()) return boots.status();
  std::vector<ChosenPair> chosen =
      ChoosePairs(*boots, today, pair_rules_, sources_.other_kernel);
  if (chosen.empty() && remark_.empty()) {
    remark_ = boots->empty() ? "No host has sent anything that a verdict could "
                               "rest on."
                             : "There are no two kernels to compare.";
  }
  for (ChosenPair& cohort : ChooseCohorts(
           *boots, today, options_.rules.min_hosts, sources_.other_kernel)) {
    chosen.push_back(std::move(cohort));
  }
  for (const ChosenPair& pair : chosen) {
    if (stopping_) return absl::OkStatus();
    absl::Status s = JudgePair(reader, pair, today);
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status VerdictEngine::JudgePair(EvidenceReader* reader,
                                      const ChosenPair& chosen, int64_t today) {
  EvaluationInput input;
  input.pair = chosen.pair;
  input.because = chosen.because;
  input.planned_end = chosen.planned_end;
  input.rules = options_.rules;
  input.today = today;
  input.without = sources_.hosts_aside();
  absl::StatusOr<Evaluated> evaluated = Evaluate(reader, input);
  if (!evaluated.ok()) return evaluated.status();
  Evaluation& evaluation = evaluated->evaluation;
  // Its rows begin to leave the ledger, and it was judged with all of them.
  if (evaluation.ended && evaluation.last_day < today - kFrozenDays) {
    return absl::OkStatus();
  }
  evaluation.id = last_evaluation_ + 1;
  evaluation.judged = sources_.now();
  // The same rows on the same day: nothing to tell.
  const uint64_t hash = evaluation.rows_hash ^ static_cast<uint64_t>(today);
  const auto before = rows_.find(KeyOf(chosen.pair));
  if (before != rows_.end() && before->second == hash) return absl::OkStatus();
  bool used = false;
  absl::Status s = Change([&](VerdictBook* book) {
    VerdictChanges changes = TakeEvaluation(*evaluated, book);
    used = changes.evaluation.has_value();
    return changes;
  });
  if (!s.ok()) return s;
  if (used) ++last_evaluation_;
  rows_[KeyOf(chosen.pair)] = hash;
  return absl::OkStatus();
}

absl::Status VerdictEngine::TestItself(std::unique_ptr<EvidenceReader> reader,
                                       int64_t today) {
  const std::shared_ptr<const VerdictBook> book = Book();
  if (stopping_ || options_.self_test_splits == 0 ||
      (book->self_test.made != absl::InfinitePast() &&
       book->self_test.last_day >= today)) {
    return absl::OkStatus();
  }
  const absl::StatusOr<std::vector<HostBoot>> boots = reader->Boots();
  if (!boots.ok()) return boots.status();
  SelfTestReport report;
  report.kernel_release = MostPrevalent(*boots, today, sources_.other_kernel);
  report.splits = options_.self_test_splits;
  report.spike = options_.self_test_spike;
  report.last_day = today;
  if (report.kernel_release.empty()) return absl::OkStatus();
  RolloutWindows windows;
  windows.without = sources_.hosts_aside();
  const absl::StatusOr<Rollout> placebo = PlaceboOf(
      reader.get(), report.kernel_release, today, windows, kSelfTestHosts);
  if (!placebo.ok()) return placebo.status();
  // The test takes minutes, in which the ledger's log would grow.
  reader.reset();
  report.hosts = placebo->hosts.size();
  if (report.hosts < kMinSelfTestHosts) {
    report.missing =
        absl::StrCat(report.hosts, " hosts kept their kernel, and ",
                     kMinSelfTestHosts, " are needed");
  } else {
    const auto stop = [this] { return stopping_.load(); };
    const auto seed = static_cast<uint64_t>(today);
    report.false_alarms =
        SelfTest(*placebo, options_.rules, 1, report.splits, seed, stop);
    report.power = SelfTest(*placebo, options_.rules, report.spike,
                            report.splits, seed, stop);
    if (stopping_) return absl::OkStatus();
    if (report.false_alarms.empty()) {
      report.missing = "no operation had enough events on enough of them";
    }
  }
  report.made = sources_.now();
  return Change(
      [&](VerdictBook* b) { return TakeSelfTest(report, report.made, b); });
}

absl::Status VerdictEngine::Change(
    const std::function<VerdictChanges(VerdictBook*)>& step) {
  absl::MutexLock lock(&changing_);
  auto book = std::make_shared<VerdictBook>(*Book());
  const VerdictChanges changes = step(book.get());
  if (changes.evaluation.has_value() || !changes.verdicts.empty() ||
      !changes.incidents.empty() || changes.self_test.has_value()) {
    absl::Status s = sources_.store->Write(changes);
    if (!s.ok()) return s;
  }
  absl::MutexLock book_lock(&book_mutex_);
  book_ = std::move(book);
  return absl::OkStatus();
}

absl::StatusOr<Evaluated> VerdictEngine::Again(uint64_t evaluation) {
  const absl::StatusOr<Evaluation> stored =
      sources_.store->EvaluationOf(evaluation);
  if (!stored.ok()) return stored.status();
  absl::StatusOr<std::unique_ptr<EvidenceReader>> reader = sources_.evidence();
  if (!reader.ok()) return reader.status();
  return Evaluate(reader->get(), stored->input);
}

std::shared_ptr<const VerdictBook> VerdictEngine::Book() const {
  absl::MutexLock lock(&book_mutex_);
  return book_;
}

absl::StatusOr<std::vector<StoredVerdict>> VerdictEngine::History(uint64_t id) {
  if (FindVerdict(*Book(), id) == nullptr) return NoSuchVerdict(id);
  return sources_.store->Versions(id);
}

absl::Status VerdictEngine::Mark(uint64_t id, VerdictMark mark) {
  if (FindVerdict(*Book(), id) == nullptr) return NoSuchVerdict(id);
  if (absl::Status s = CheckText("the name", mark.by); !s.ok()) return s;
  if (absl::Status s = CheckText("the reason", mark.reason); !s.ok()) return s;
  mark.by = PlainText(mark.by, kMaxTextBytes);
  mark.reason = PlainText(mark.reason, kMaxTextBytes);
  mark.at = sources_.now();
  return Change(
      [&](VerdictBook* book) { return TakeMark(id, mark, mark.at, book); });
}

absl::Status VerdictEngine::Acknowledge(uint64_t id, const std::string& by,
                                        const std::string& reason) {
  VerdictMark mark;
  mark.state = VerdictState::kAcknowledged;
  mark.by = by;
  mark.reason = reason;
  return Mark(id, std::move(mark));
}

absl::Status VerdictEngine::Suppress(uint64_t id, const std::string& by,
                                     const std::string& reason,
                                     absl::Time until) {
  if (reason.empty()) {
    return absl::InvalidArgumentError("a suppression needs a reason");
  }
  const absl::Time now = sources_.now();
  if (until <= now || until > now + kLongestSuppression) {
    return absl::InvalidArgumentError(
        "a suppression ends in the future and within 365 days");
  }
  VerdictMark mark;
  mark.state = VerdictState::kSuppressed;
  mark.by = by;
  mark.reason = reason;
  mark.until = until;
  return Mark(id, std::move(mark));
}

absl::Status VerdictEngine::Reopen(uint64_t id, const std::string& by) {
  VerdictMark mark;
  mark.by = by;
  return Mark(id, std::move(mark));
}

absl::StatusOr<PairComparison> VerdictEngine::Compare(const KernelPair& pair) {
  if (comparing_.exchange(true)) {
    return absl::UnavailableError(
        "another comparison runs; try again in some seconds");
  }
  const absl::Cleanup done = [this] { comparing_ = false; };
  absl::StatusOr<std::unique_ptr<EvidenceReader>> reader = sources_.evidence();
  if (!reader.ok()) return reader.status();
  const absl::StatusOr<std::vector<HostBoot>> boots = (*reader)->Boots();
  if (!boots.ok()) return boots.status();
  for (const std::string& kernel : {pair.base, pair.newer}) {
    if (std::none_of(boots->begin(), boots->end(), [&](const HostBoot& boot) {
          return boot.kernel_release == kernel;
        })) {
      return absl::NotFoundError(
          absl::StrCat("no host ran kernel \"", PlainText(kernel, 128), "\""));
    }
  }
  EvaluationInput input;
  input.pair = pair;
  input.rules = options_.rules;
  input.today = ClosedDay();
  input.without = sources_.hosts_aside();
  absl::StatusOr<Evaluated> evaluated = Evaluate(reader->get(), input);
  if (!evaluated.ok()) return evaluated.status();
  PairComparison out;
  out.pair = pair;
  out.ended = evaluated->evaluation.ended;
  out.hosts_upgraded = evaluated->evaluation.hosts_upgraded;
  out.hosts_waiting = evaluated->evaluation.hosts_waiting;
  out.controls = evaluated->evaluation.controls;
  out.first_day = evaluated->evaluation.first_day;
  out.last_day = evaluated->evaluation.last_day;
  out.verdicts = std::move(evaluated->records);
  if (out.verdicts.empty() && pair.base == pair.newer) {
    out.remark =
        absl::StrCat(out.controls,
                     " hosts ran it for the last three weeks, with too few "
                     "of them, days or events to see a change of level.");
  } else if (out.verdicts.empty()) {
    out.remark =
        out.hosts_upgraded == 0
            ? "No host went from the one kernel to the other."
            : absl::StrCat("Of ", out.hosts_upgraded, " upgraded hosts, ",
                           out.hosts_waiting,
                           " have not been watched for a week after their "
                           "reboot, and there is no other.");
  }
  return out;
}

}  // namespace swaplock
