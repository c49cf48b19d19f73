#include <stdlib.h>
#include <sys/capability.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "agent/capture/bpf_source.h"
#include "agent/cut_event.h"
#include "agent/identity.h"
#include "agent/privileges.h"
#include "agent/stop_event.h"
#include "cli/record/agent_source.h"
#include "cli/record/command_signals.h"
#include "cli/record/held_command.h"
#include "cli/record/record_settings.h"
#include "cli/record/run_recorder.h"
#include "cli/subcommands.h"
#include "common/command_line.h"
#include "common/record_file.h"
#include "common/text_table.h"
#include "common/version.h"

ABSL_DECLARE_FLAG(absl::Duration, interval);  // defined in top.cc

ABSL_FLAG(std::string, o, "", "file to write; record appends to it");
ABSL_FLAG(std::string, run, "",
          "name of the run; empty: the command's file name");
ABSL_FLAG(std::string, variant, "",
          "what differs from other runs of this name, \"patched\"; empty: the "
          "kernel says it");
ABSL_FLAG(int, repeat, 1, "how often to run the command, 1 to 1000");
ABSL_FLAG(std::string, agent, "",
          "unix:PATH where an agent of this host listens: record and top take "
          "what it measures; empty: record measures itself, top asks a server");
ABSL_FLAG(std::string, host_id, "",
          "name of this host in its windows; empty: a hash of the machine id");
ABSL_FLAG(int, top_k, 16, "longest holds kept per window, 0 to 64");
ABSL_FLAG(double, cpu_budget, 1,
          "percent of one CPU that timing holds may take; above it only some "
          "are timed, all are counted; 0: no limit");
ABSL_FLAG(std::vector<std::string>, without, {},
          "for tests: do without fentry, kprobe or tp_btf (a list)");
ABSL_FLAG(bool, quiet, false, "say only what goes wrong");

namespace swaplock {
namespace {

constexpr int kMaxRepeat = 1000;

// What is said goes to stderr: stdout is the command's.
class Teller {
 public:
  explicit Teller(bool quiet)
      : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

  // Always.
  void Wrong(absl::string_view sentence) { Line(sentence); }
  void Say(absl::string_view sentence) {
    if (!quiet_) Line(sentence);
  }
  // In place of the one before.
  void Progress(const std::string& text) {
    if (quiet_ || !terminal_) return;
    winsize size = {};
    const size_t width =
        ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1
            ? size.ws_col - 1u
            : 79;
    std::fprintf(stderr, "\r\x1b[K%s", text.substr(0, width).c_str());
    shown_ = true;
  }

 private:
  void Line(absl::string_view sentence) {
    std::fprintf(stderr, "%sswaplock: %s\n", shown_ ? "\r\x1b[K" : "",
                 Printable(sentence).c_str());
    shown_ = false;
  }
  const bool quiet_;
  const bool terminal_;
  bool shown_ = false;  // a line without its end
};

// Where commands leave their results; gone with the object.
class ResultFolder {
 public:
  static absl::StatusOr<std::unique_ptr<ResultFolder>> Make() {
    const char* tmp = std::getenv("TMPDIR");
    std::string path = absl::StrCat(tmp == nullptr || *tmp == 0 ? "/tmp" : tmp,
                                    "/swaplock-XXXXXX");
    if (mkdtemp(path.data()) == nullptr) {
      return absl::ErrnoToStatus(errno, absl::StrCat("make ", path));
    }
    return std::unique_ptr<ResultFolder>(new ResultFolder(std::move(path)));
  }
  ~ResultFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ResultFolder(const ResultFolder&) = delete;
  ResultFolder& operator=(const ResultFolder&) = delete;

  std::string File(size_t run) const {
    return absl::StrCat(path_, "/", run + 1, ".json");
  }
  const std::string& path() const { return path_; }

 private:
  explicit ResultFolder(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

// The record file. One that was made for nothing is taken away again.
class OutputFile {
 public:
  static absl::StatusOr<std::unique_ptr<OutputFile>> Open(
      const std::string& path) {
    const bool made = access(path.c_str(), F_OK) != 0;
    absl::StatusOr<std::unique_ptr<RecordWriter>> writer =
        RecordWriter::Open(path);
    if (!writer.ok()) return writer.status();
    return std::unique_ptr<OutputFile>(
        new OutputFile(path, *std::move(writer), made));
  }
  ~OutputFile() {
    if (empty_) unlink(path_.c_str());
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  absl::Status Append(const Record& record) {
    absl::Status status =
        std::visit([&](const auto& r) { return writer_->Append(r); }, record);
    if (status.ok()) empty_ = false;
    return status;
  }

 private:
  OutputFile(std::string path, std::unique_ptr<RecordWriter> writer, bool made)
      : path_(std::move(path)), writer_(std::move(writer)), empty_(made) {}
  const std::string path_;
  const std::unique_ptr<RecordWriter> writer_;
  bool empty_;  // made by this program, and nothing in it
};

// What is wrong with the command line; empty if nothing is.
std::string Wrong(const Words& words) {
  const absl::Duration interval = absl::GetFlag(FLAGS_interval);
  const int repeat = absl::GetFlag(FLAGS_repeat);
  const int top_k = absl::GetFlag(FLAGS_top_k);
  const double cpu_budget = absl::GetFlag(FLAGS_cpu_budget);
  if (!words.words.empty()) {
    return absl::StrCat("the command stands after \"--\", \"", words.words[0],
                        "\" does not");
  }
  if (absl::GetFlag(FLAGS_o).empty()) return "where to? give -o FILE";
  if (words.after_dashes.empty()) return "what to run? give -- COMMAND";
  if (repeat < 1 || repeat > kMaxRepeat) {
    return absl::StrCat("--repeat is 1 to ", kMaxRepeat);
  }
  if (interval < absl::Milliseconds(100) || interval > absl::Hours(1)) {
    return "--interval is 100ms to 1h";
  }
  if (top_k < 0 || top_k > 64) return "--top_k is 0 to 64";
  if (!(cpu_budget >= 0 && cpu_budget <= 100))
    return "--cpu_budget is 0 to 100";
  const std::string agent = absl::GetFlag(FLAGS_agent);
  if (!agent.empty() && !absl::StartsWith(agent, "unix:")) {
    return "--agent is unix:PATH";
  }
  return "";
}

// Whether this process has what loading BPF programs needs at least.
bool MayLoadPrograms() {
  const std::unique_ptr<std::remove_pointer_t<cap_t>, int (*)(void*)> caps(
      cap_get_proc(), cap_free);
  const auto has = [&](cap_value_t value) {
    cap_flag_value_t set = CAP_CLEAR;
    return caps != nullptr &&
           cap_get_flag(caps.get(), value, CAP_EFFECTIVE, &set) == 0 &&
           set == CAP_SET;
  };
  return has(CAP_SYS_ADMIN) || (has(CAP_BPF) && has(CAP_PERFMON));
}

// This process measures. Gives up, once the probes are attached, what it does
// not need any more; the commands have been forked before.
absl::StatusOr<std::unique_ptr<WindowSource>> MeasureHere(
    const ResultFolder& results, const CutEvent& cut, const StopEvent& stop) {
  if (!MayLoadPrograms()) {
    return absl::UnavailableError(
        "this user may not measure: run it as root, with CAP_BPF and "
        "CAP_PERFMON, or with --agent where an agent listens");
  }
  absl::StatusOr<std::string> boot_id = LocalBootId();
  if (!boot_id.ok()) return boot_id.status();
  BpfSourceOptions options;
  options.interval = absl::GetFlag(FLAGS_interval);
  options.top_k = absl::GetFlag(FLAGS_top_k);
  options.host_id = absl::GetFlag(FLAGS_host_id);
  if (options.host_id.empty()) options.host_id = LocalHostId();
  options.boot_id = *std::move(boot_id);
  options.epoch = EpochOf(Clock());
  options.agent_version = std::string(kVersion);
  options.cpu_budget = absl::GetFlag(FLAGS_cpu_budget) / 100;
  options.without = absl::GetFlag(FLAGS_without);
  options.cut = &cut;
  absl::StatusOr<std::unique_ptr<WindowSource>> source =
      MakeBpfSource(options, stop);
  if (!source.ok()) return source;
  std::vector<std::string> kept = NeededCapabilities({results.path()});
  // The command may have become another user.
  kept.emplace_back("cap_kill");
  const absl::StatusOr<std::string> left = KeepOnly(kept);
  if (!left.ok()) return left.status();
  return source;
}

absl::StatusOr<std::unique_ptr<WindowSource>> AskAgent(const CutEvent& cut) {
  absl::StatusOr<std::unique_ptr<AgentSource>> source =
      AgentSource::Connect(absl::GetFlag(FLAGS_agent), cut);
  if (!source.ok()) return source.status();
  return std::unique_ptr<WindowSource>(*std::move(source));
}

// Says what cannot be measured. Unavailable when that is everything.
absl::Status CheckCoverage(const Coverage& coverage, Teller* teller) {
  const bool something = std::any_of(
      coverage.probes.begin(), coverage.probes.end(),
      [](const Probe& p) { return p.state == ProbeState::kAttached; });
  const std::string first =
      coverage.not_measured.empty() ? "" : coverage.not_measured[0];
  if (!something) {
    return absl::UnavailableError(
        absl::StrCat("nothing can be measured here: ",
                     first.empty() ? "no probe is attached." : first,
                     " swaplock doctor says what to do about it"));
  }
  if (coverage.not_measured.empty()) return absl::OkStatus();
  const size_t more = coverage.not_measured.size() - 1;
  teller->Say(
      absl::StrCat("not measured here: ", first,
                   more == 0 ? "" : absl::StrCat(" And ", more, " more;"),
                   " swaplock doctor says what to do about it"));
  return absl::OkStatus();
}

// How a command ended, as a shell says it.
int ExitStatusOf(const RunEnd& end) {
  return end.signal != 0 ? 128 + static_cast<int>(end.signal)
                         : static_cast<int>(end.exit_status);
}

void Summarise(const RunBegin& begin, const RunOutcome& outcome,
               Teller* teller) {
  const RunEnd& end = outcome.end;
  const uint64_t written = outcome.totals.windows() - outcome.windows_lost;
  const std::string line = absl::StrCat(
      begin.name, begin.variant.empty() ? "" : " ", begin.variant, " run ",
      begin.repetition, " ended ",
      end.signal != 0 ? absl::StrCat("by signal ", end.signal)
                      : absl::StrCat("with status ", end.exit_status),
      " after ",
      absl::StrFormat("%.1fs", absl::ToDoubleSeconds(outcome.length)), ", ",
      written, written == 1 ? " window" : " windows");
  teller->Say(line);
  if (outcome.totals.windows() > 0) teller->Say(outcome.totals.Summary());
  if (!end.error.empty()) teller->Wrong(end.error);
  if (!outcome.write_error.ok()) {
    teller->Wrong(absl::StrCat(
        outcome.windows_lost == 0
            ? "the run's end was not written: "
            : absl::StrCat(outcome.windows_lost, " windows were not written: "),
        outcome.write_error.message()));
  }
}

// The exit status of `swaplock record` after this run.
int ExitStatusAfter(const RunOutcome& outcome) {
  if (const int status = ExitStatusOf(outcome.end); status != 0) return status;
  if (!outcome.write_error.ok()) return kExitConfig;
  return outcome.measure_error.ok() ? 0 : kExitUnavailable;
}

int RecordRuns(RunBegin begin, uint32_t runs_before,
               std::vector<std::unique_ptr<HeldCommand>> commands,
               const ResultFolder& results, RunRecorder* recorder,
               CommandSignals* signals, Teller* teller) {
  int exit_status = 0;
  for (size_t i = 0; i < commands.size() && exit_status == 0; ++i) {
    if (i > 0) begin.id = NewRunId();
    begin.repetition = runs_before + static_cast<uint32_t>(i) + 1;
    signals->Attend(commands[i]->pid());
    const absl::StatusOr<RunOutcome> outcome =
        recorder->Record(begin, commands[i].get(), results.File(i));
    signals->Attend(0);
    if (absl::IsCancelled(outcome.status())) {
      teller->Wrong("stopped before the command began");
      return 128 + signals->stop_signal();
    }
    if (!outcome.ok()) {
      teller->Wrong(absl::StrCat("the command was not run: ",
                                 outcome.status().message()));
      return absl::IsUnavailable(outcome.status()) ? kExitUnavailable
                                                   : kExitConfig;
    }
    Summarise(begin, *outcome, teller);
    exit_status = ExitStatusAfter(*outcome);
    commands[i].reset();
  }
  teller->Say(absl::StrCat("next: swaplock report ", absl::GetFlag(FLAGS_o)));
  return exit_status;
}

}  // namespace

int RecordCommand(const Words& words) {
  if (const std::string wrong = Wrong(words); !wrong.empty()) {
    return UsageError("record", wrong);
  }
  const std::vector<std::string>& command = words.after_dashes;
  absl::StatusOr<RunBegin> begin = MakeRunBegin(
      {absl::GetFlag(FLAGS_run), absl::GetFlag(FLAGS_variant), words.labels},
      command);
  if (!begin.ok()) return UsageError("record", begin.status().message());

  Teller teller(absl::GetFlag(FLAGS_quiet));
  const auto fail = [&teller](const absl::Status& status, int exit_status) {
    teller.Wrong(status.message());
    return exit_status;
  };
  if (const absl::Status s = FindCommand(command[0]); !s.ok()) {
    return fail(s, ExitStatusOfStart(s));
  }
  const std::string path = absl::GetFlag(FLAGS_o);
  const auto file = OutputFile::Open(path);
  if (!file.ok()) return fail(file.status(), kExitConfig);
  const absl::StatusOr<uint32_t> runs_before = RunsOf(path, *begin);
  if (!runs_before.ok()) return fail(runs_before.status(), kExitConfig);
  const auto results = ResultFolder::Make();
  const auto cut = CutEvent::Create();
  const auto stop = StopEvent::Create();  // nobody raises it
  for (const absl::Status& s :
       {results.status(), cut.status(), stop.status()}) {
    if (!s.ok()) return fail(s, kExitUnavailable);
  }

  // Before this process changes in any way.
  std::vector<std::vector<std::string>> environments(
      static_cast<size_t>(absl::GetFlag(FLAGS_repeat)));
  for (size_t i = 0; i < environments.size(); ++i) {
    environments[i] = {
        absl::StrCat(kResultFileVariable, "=", (*results)->File(i))};
  }
  auto commands = HeldCommand::Fork(command, environments);
  if (!commands.ok()) return fail(commands.status(), kExitUnavailable);
  CommandSignals signals(**cut);
  auto source = absl::GetFlag(FLAGS_agent).empty()
                    ? MeasureHere(**results, **cut, **stop)
                    : AskAgent(**cut);
  if (!source.ok()) return fail(source.status(), kExitUnavailable);

  RunRecorder recorder(
      source->get(), cut->get(), &signals,
      [&](const Record& record) { return (*file)->Append(record); },
      [&](const RunTotals& totals, absl::Duration elapsed) {
        teller.Progress(totals.Line(elapsed));
      });
  const absl::StatusOr<Window> edge = recorder.NextEdge();
  if (!edge.ok()) return fail(edge.status(), kExitUnavailable);
  if (const absl::Status s = CheckCoverage(edge->coverage, &teller); !s.ok()) {
    return fail(s, kExitUnavailable);
  }
  return RecordRuns(*std::move(begin), *runs_before, *std::move(commands),
                    **results, &recorder, &signals, &teller);
}

}  // namespace swaplock
