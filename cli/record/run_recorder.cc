#include "cli/record/run_recorder.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/plain_text.h"

namespace swaplock {
namespace {

constexpr size_t kMaxResultBytes = 4 << 20;
constexpr size_t kMaxErrorBytes = 1000;

uint64_t UnixNs(const Clock& clock) {
  return static_cast<uint64_t>(absl::ToUnixNanos(clock.wall()));
}

// What goes wrong with the run itself, in one field.
void AddError(absl::string_view sentence, RunEnd* end) {
  absl::StrAppend(&end->error, end->error.empty() ? "" : "; ",
                  PlainText(sentence, kMaxErrorBytes));
}

}  // namespace

absl::StatusOr<RunResult> ReadResultFile(const std::string& path) {
  // The command may have put anything there.
  const int fd = open(
      path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (fd < 0 && errno == ENOENT) return RunResult();
  struct stat s = {};
  std::string json;
  std::string problem;
  if (fd < 0 || fstat(fd, &s) != 0) {
    problem = strerror(errno);
  } else if (!S_ISREG(s.st_mode)) {
    problem = "it is no file";
  } else if (s.st_size > static_cast<off_t>(kMaxResultBytes)) {
    problem = absl::StrCat("it has ", s.st_size, " bytes, at most ",
                           kMaxResultBytes, " are read");
  } else {
    json.resize(static_cast<size_t>(s.st_size));
    const ssize_t got = pread(fd, json.data(), json.size(), 0);
    if (got < 0) problem = strerror(errno);
    json.resize(got < 0 ? 0 : static_cast<size_t>(got));
  }
  if (fd >= 0) close(fd);
  if (!problem.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the command's result cannot be read: ", problem));
  }
  return ParseResultJson(json);
}

RunRecorder::RunRecorder(WindowSource* source, const CutEvent* cut,
                         const CommandSignals* signals, Append append,
                         Progress progress, Clock clock)
    : source_(source),
      cut_(cut),
      signals_(signals),
      append_(std::move(append)),
      progress_(std::move(progress)),
      clock_(std::move(clock)) {}

absl::StatusOr<Window> RunRecorder::Next() {
  absl::StatusOr<Window> window = source_->Next();
  if (!window.ok()) return window;
  known_ = Applied(window->context, known_);
  return window;
}

absl::StatusOr<Window> RunRecorder::NextEdge() {
  const uint64_t now_ns = clock_.boottime_ns();
  cut_->Request();
  while (true) {
    absl::StatusOr<Window> window = Next();
    passed_over_ = true;
    // One that had ended before is not the one that was asked for.
    if (!window.ok() || window->end_boottime_ns >= now_ns) return window;
  }
}

void RunRecorder::Write(const Window& window, RunOutcome* outcome) {
  outcome->totals.Add(window);
  absl::Status status;
  if (passed_over_) {
    // What the windows before it said about the host is in none of the file.
    Window whole = window;
    whole.context = known_;
    status = append_(whole);
  } else {
    status = append_(window);
  }
  if (status.ok()) {
    passed_over_ = false;
    return;
  }
  passed_over_ = true;
  ++outcome->windows_lost;
  if (outcome->write_error.ok()) outcome->write_error = status;
}

void RunRecorder::WriteWindows(HeldCommand* command, RunOutcome* outcome) {
  uint64_t end_ns = 0;
  while (true) {
    const absl::StatusOr<Window> window = Next();
    if (!window.ok()) {
      outcome->measure_error = window.status();
      return;
    }
    Write(*window, outcome);
    progress_(outcome->totals,
              absl::Nanoseconds(window->end_boottime_ns - begin_ns_));
    const bool news = end_ns == 0 && command->Ended();
    if (news) {
      end_ns = signals_->ended_boottime_ns();
      if (end_ns == 0) end_ns = clock_.boottime_ns();
    }
    if (end_ns != 0 && window->end_boottime_ns >= end_ns) return;
    // The command's end asks for an edge, but the window may have come to its
    // own just before.
    if (news) cut_->Request();
  }
}

absl::StatusOr<RunOutcome> RunRecorder::Record(RunBegin begin,
                                               HeldCommand* command,
                                               const std::string& result_path) {
  absl::StatusOr<Window> edge = NextEdge();
  if (!edge.ok()) {
    return absl::UnavailableError(
        absl::StrCat("measuring has ended: ", edge.status().message()));
  }
  if (signals_->stop_signal() != 0) {
    return absl::CancelledError("stopped before the command began");
  }
  begin.host_id = edge->key.host_id;
  begin.boot_id = edge->key.boot_id;
  begin.environment = edge->environment;
  begin.begin_boottime_ns = begin_ns_ = clock_.boottime_ns();
  begin.begin_unix_ns = UnixNs(clock_);
  if (absl::Status status = append_(begin); !status.ok()) return status;

  RunOutcome outcome;
  RunEnd& end = outcome.end;
  end.run_id = begin.id;
  const absl::Status started = command->Start();
  if (started.ok()) {
    WriteWindows(command, &outcome);
    if (!outcome.measure_error.ok()) {
      AddError(absl::StrCat("measuring ended before the command did: ",
                            outcome.measure_error.message()),
               &end);
      command->Wait();
    }
    end.exit_status = command->exit_status();
    end.signal = command->signal();
  } else {
    end.exit_status = static_cast<uint32_t>(ExitStatusOfStart(started));
    AddError(started.message(), &end);
  }
  const uint64_t ended_ns = signals_->ended_boottime_ns();
  end.end_boottime_ns = ended_ns >= begin_ns_ ? ended_ns : clock_.boottime_ns();
  end.end_unix_ns = UnixNs(clock_);
  outcome.length = absl::Nanoseconds(end.end_boottime_ns - begin_ns_);
  absl::StatusOr<RunResult> result = ReadResultFile(result_path);
  if (result.ok()) {
    end.result = *std::move(result);
  } else {
    AddError(result.status().message(), &end);
  }
  absl::Status status = append_(end);
  if (absl::IsInvalidArgument(status)) {  // too large for a record
    AddError(status.message(), &end);
    end.result = RunResult();
    status = append_(end);
  }
  if (!status.ok() && outcome.write_error.ok()) outcome.write_error = status;
  return outcome;
}

}  // namespace swaplock
