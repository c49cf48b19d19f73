#include "cli/record/run_recorder.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/testing.h"

namespace swaplock {
namespace {

// Windows without end: each ends when it is cut, and the first `whole_` of them
// at once.
class FakeSource : public WindowSource {
 public:
  explicit FakeSource(const CutEvent& cut) : cut_(cut) {
    start_ns_ = clock_.boottime_ns();
  }

  absl::StatusOr<Window> Next() override {
    if (before_next) before_next(seq_);
    if (ends_after != 0 && seq_ >= ends_after) {
      return absl::OutOfRangeError("the agent has ended");
    }
    pollfd poll_fd = {cut_.fd(), POLLIN, 0};
    while (at_once-- <= 0 && poll(&poll_fd, 1, -1) < 1) {
    }
    cut_.Take();
    Window window = MakeWindow("here", ++seq_);
    window.start_boottime_ns = start_ns_;
    window.end_boottime_ns = start_ns_ = clock_.boottime_ns();
    window.context = Context();
    window.context.complete = seq_ == 1;
    if (seq_ == 1) window.context.facts["kernel/option"] = "y";
    window.context.gauges["seq"] = seq_;
    return window;
  }

  std::function<void(uint64_t windows)> before_next;
  int at_once = 0;          // windows that end by themselves
  uint64_t ends_after = 0;  // windows; 0: never

 private:
  const CutEvent& cut_;
  const Clock clock_;
  uint64_t seq_ = 0;
  uint64_t start_ns_ = 0;
};

class RunRecorderTest : public testing::Test {
 protected:
  RunRecorderTest()
      : result_path_(absl::StrCat(testing::TempDir(), "/run_recorder_",
                                  getpid(), ".json")),
        cut_(*CutEvent::Create()),
        source_(*cut_) {
    unlink(result_path_.c_str());
  }
  ~RunRecorderTest() override { unlink(result_path_.c_str()); }

  absl::StatusOr<RunOutcome> Run(const std::vector<std::string>& words) {
    auto commands = HeldCommand::Fork(
        words, {{absl::StrCat(kResultFileVariable, "=", result_path_)}});
    EXPECT_TRUE(commands.ok());
    HeldCommand* command = (*commands)[0].get();
    // A second request counts at once here.
    CommandSignals signals(*cut_, absl::ZeroDuration());
    signals.Attend(command->pid());
    if (attended) attended(command->pid());
    RunRecorder recorder(
        &source_, cut_.get(), &signals,
        [this](const Record& record) {
          if (fails && fails(record)) {
            return absl::ResourceExhaustedError("write: no space left");
          }
          records_.push_back(record);
          return absl::OkStatus();
        },
        [this](const RunTotals& totals, absl::Duration) {
          ++progress_;
          EXPECT_EQ(totals.windows(), progress_);
        });
    RunBegin begin;
    begin.id = "0123456789abcdef";
    begin.name = "test";
    begin.command = words;
    return recorder.Record(begin, command, result_path_);
  }
  absl::StatusOr<RunOutcome> Shell(const std::string& script) {
    return Run({"sh", "-c", script});
  }

  template <typename T>
  const T& At(size_t i) {
    return std::get<T>(records_.at(i));
  }
  // The run as it should be: a begin, windows that cover it without a gap, and
  // its end.
  void ExpectWhole() {
    ASSERT_GE(records_.size(), 3u);
    const RunBegin& begin = At<RunBegin>(0);
    const RunEnd& end = At<RunEnd>(records_.size() - 1);
    EXPECT_EQ(end.run_id, begin.id);
    EXPECT_LE(At<Window>(1).start_boottime_ns, begin.begin_boottime_ns);
    EXPECT_GE(end.end_boottime_ns, begin.begin_boottime_ns);
    EXPECT_GE(At<Window>(records_.size() - 2).end_boottime_ns,
              end.end_boottime_ns);
    for (size_t i = 2; i + 1 < records_.size(); ++i) {
      EXPECT_EQ(At<Window>(i).start_boottime_ns,
                At<Window>(i - 1).end_boottime_ns);
    }
    EXPECT_EQ(progress_, records_.size() - 2);
  }

  std::function<bool(const Record&)> fails;
  std::function<void(pid_t)> attended;
  const std::string result_path_;
  std::unique_ptr<CutEvent> cut_;
  FakeSource source_;
  std::vector<Record> records_;
  uint64_t progress_ = 0;
};

TEST_F(RunRecorderTest, CommandThatSucceeds) {
  source_.at_once = 3;
  const auto outcome = Shell("true");
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  ExpectWhole();
  EXPECT_EQ(outcome->end.exit_status, 0u);
  EXPECT_EQ(outcome->end.signal, 0u);
  EXPECT_EQ(outcome->end.error, "");
  EXPECT_EQ(At<RunBegin>(0).host_id, "here");
  EXPECT_EQ(At<RunBegin>(0).environment.kernel_release, "6.18.15");
  EXPECT_EQ(outcome->totals.windows(), records_.size() - 2);
}

TEST_F(RunRecorderTest, ItsLastWindowIsCutAtItsEnd) {
  // No window ends by itself: but for the edge before it there is one.
  const auto outcome = Shell("exit 3");
  ASSERT_TRUE(outcome.ok());
  ExpectWhole();
  EXPECT_EQ(outcome->end.exit_status, 3u);
}

TEST_F(RunRecorderTest, TheFirstWindowKnowsWhatEarlierOnesSaid) {
  ASSERT_TRUE(Shell("true").ok());
  const Context& context = At<Window>(1).context;
  EXPECT_TRUE(context.complete);
  EXPECT_EQ(context.facts.at("kernel/option"), "y");
  EXPECT_EQ(context.gauges.at("seq"), At<Window>(1).key.seq);
}

TEST_F(RunRecorderTest, CommandThatASignalEnds) {
  const auto outcome = Shell("kill -SEGV $$");
  ASSERT_TRUE(outcome.ok());
  ExpectWhole();
  EXPECT_EQ(outcome->end.exit_status, 0u);
  EXPECT_EQ(outcome->end.signal, static_cast<uint32_t>(SIGSEGV));
}

TEST_F(RunRecorderTest, CommandThatIsNotThere) {
  const auto outcome = Run({"swaplock-no-such-command", "argument"});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end.exit_status, 127u);
  EXPECT_TRUE(absl::StrContains(outcome->end.error, "no such command"));
  ASSERT_EQ(records_.size(), 2u);  // no windows of nothing
  EXPECT_EQ(At<RunEnd>(1).exit_status, 127u);
}

TEST_F(RunRecorderTest, ARequestToStopIsPassedOn) {
  source_.before_next = [&](uint64_t windows) {
    if (windows == 1) kill(getpid(), SIGTERM);
  };
  const auto outcome = Run({"sleep", "1000"});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  ExpectWhole();
  EXPECT_EQ(outcome->end.signal, static_cast<uint32_t>(SIGTERM));
}

TEST_F(RunRecorderTest, ASecondRequestKills) {
  const std::string ready = absl::StrCat(result_path_, ".ready");
  source_.at_once = 1 << 30;
  source_.before_next = [&](uint64_t windows) {
    if (windows == 0) return;
    // Once the command has its trap, first one request, then another.
    if (access(ready.c_str(), F_OK) == 0) kill(getpid(), SIGINT);
  };
  const auto outcome = Shell(
      absl::StrCat("trap '' INT; touch ", ready, "; while :; do :; done"));
  unlink(ready.c_str());
  ASSERT_TRUE(outcome.ok());
  ExpectWhole();
  EXPECT_EQ(outcome->end.signal, static_cast<uint32_t>(SIGKILL));
}

TEST_F(RunRecorderTest, StoppedBeforeItBegins) {
  attended = [](pid_t) { kill(getpid(), SIGHUP); };
  const auto outcome = Shell("true");
  EXPECT_TRUE(absl::IsCancelled(outcome.status())) << outcome.status();
  EXPECT_TRUE(records_.empty());
}

TEST_F(RunRecorderTest, WhatTheCommandMeasured) {
  const auto outcome = Shell(absl::StrCat(
      R"(echo '{"facts":{"writers":"4"},"measurements":[{"name":"read"}]}' >$)",
      kResultFileVariable));
  ASSERT_TRUE(outcome.ok());
  ExpectWhole();
  EXPECT_EQ(outcome->end.error, "");
  EXPECT_EQ(outcome->end.result.facts.at("writers"), "4");
  ASSERT_EQ(outcome->end.result.measurements.size(), 1u);
}

TEST_F(RunRecorderTest, AResultThatIsNoneIsSaidAndNothingElseIsLost) {
  for (const std::string script :
       {"echo '{\"facts\":' >$F; exit 5", "mkdir $F; exit 5",
        "ln -s /etc/passwd $F; exit 5",
        "dd if=/dev/zero of=$F bs=1M count=5 2>/dev/null; exit 5"}) {
    records_.clear();
    progress_ = 0;
    const auto outcome =
        Shell(absl::StrCat("F=$", kResultFileVariable, "; ", script));
    ASSERT_TRUE(outcome.ok());
    ExpectWhole();
    EXPECT_EQ(outcome->end.exit_status, 5u);
    EXPECT_FALSE(outcome->end.error.empty()) << script;
    EXPECT_TRUE(outcome->end.result.facts.empty());
    unlink(result_path_.c_str());
    rmdir(result_path_.c_str());
  }
}

TEST_F(RunRecorderTest, ABeginThatCannotBeWrittenBeginsNothing) {
  fails = [](const Record& r) { return std::holds_alternative<RunBegin>(r); };
  const auto outcome = Shell(absl::StrCat("touch ", result_path_));
  EXPECT_TRUE(absl::IsResourceExhausted(outcome.status()));
  EXPECT_NE(access(result_path_.c_str(), F_OK), 0);
}

TEST_F(RunRecorderTest, WindowsThatCannotBeWrittenAreCounted) {
  source_.at_once = 1 << 30;
  int windows = 0;
  fails = [&](const Record& r) {
    return std::holds_alternative<Window>(r) && ++windows == 2;
  };
  source_.before_next = [&](uint64_t seq) {
    if (seq == 5) std::ofstream(absl::StrCat(result_path_, ".go")) << "go";
  };
  const auto outcome =
      Shell(absl::StrCat("until [ -e ", result_path_, ".go ]; do :; done"));
  unlink(absl::StrCat(result_path_, ".go").c_str());
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->windows_lost, 1u);
  EXPECT_TRUE(absl::IsResourceExhausted(outcome->write_error));
  // The command ran on, and the next window says what the lost one would have.
  EXPECT_EQ(outcome->end.exit_status, 0u);
  EXPECT_EQ(At<Window>(2).key.seq, At<Window>(1).key.seq + 2);
  EXPECT_TRUE(At<Window>(2).context.complete);
  EXPECT_FALSE(At<Window>(3).context.complete);
}

TEST_F(RunRecorderTest, MeasuringThatEndsLeavesTheCommandAlone) {
  source_.ends_after = 2;
  source_.at_once = 1 << 30;
  const std::string go = absl::StrCat(result_path_, ".go");
  source_.before_next = [&](uint64_t seq) {
    if (seq == 2) std::ofstream(go) << "go";
  };
  const auto outcome =
      Shell(absl::StrCat("until [ -e ", go, " ]; do :; done; exit 4"));
  unlink(go.c_str());
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(absl::IsOutOfRange(outcome->measure_error));
  EXPECT_EQ(outcome->end.exit_status, 4u);
  EXPECT_TRUE(absl::StrContains(outcome->end.error, "the agent has ended"));
  EXPECT_EQ(records_.size(), 3u);
}

TEST(RunTotalsTest, WhatIsNotMeasuredIsNotZero) {
  RunTotals totals;
  EXPECT_EQ(totals.Line(absl::Milliseconds(1250)), "1.2s");
  Window window = MakeWindow("here", 1);
  totals.Add(window);
  EXPECT_EQ(totals.Line(absl::Seconds(12)),
            "12.0s  5 acquisitions  1 contended, 20.0ms  longest hold 12.0ms");
  EXPECT_TRUE(absl::StrContains(totals.Summary(), "1 contended (20%)"))
      << totals.Summary();
  EXPECT_TRUE(absl::StrContains(totals.Summary(), "zram")) << totals.Summary();

  RunTotals waits;
  for (Cell& cell : window.cells) cell.hold_tier = Tier::kOwnerProbe;
  window.top_holds.clear();
  waits.Add(window);
  EXPECT_EQ(waits.Summary(), "1 contended, waited 20.0ms, holds not measured");
  EXPECT_EQ(WithCommas(1234567), "1,234,567");
  EXPECT_EQ(WithCommas(123), "123");
}

}  // namespace
}  // namespace swaplock
