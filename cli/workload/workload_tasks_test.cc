#include "cli/workload/workload_tasks.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace swaplock {
namespace {

constexpr absl::Duration kNotForLong = absl::Milliseconds(1);
// That no test waits for.
constexpr absl::Duration kForEver = absl::Hours(1);

// Counts `operations` and is done.
TaskGroup Counting(const std::string& name, int count, int operations) {
  return {name, count, 0, {name + "_op"}, [operations](Task& task) {
            if (!task.AwaitStart()) return absl::OkStatus();
            for (int i = 1; i <= operations; ++i) {
              task.Add(0, static_cast<uint64_t>(i) * 1000 + task.index());
            }
            return absl::OkStatus();
          }};
}

TaskGroup UntilOver(const std::string& name) {
  return {name, 1, 0, {name + "_op"}, [](Task& task) {
            if (!task.AwaitStart()) return absl::OkStatus();
            do {
              task.Add(0, 5);
              task.Sleep(absl::Milliseconds(1));
            } while (!task.Over());
            return absl::OkStatus();
          }};
}

bool NoChildIsLeft() {
  return waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD;
}

TEST(WorkloadTasks, EachTasksMeasurementIsMerged) {
  StopSignals signals;
  const std::vector<TaskGroup> groups = {Counting("low", 3, 100),
                                         Counting("high", 2, 10)};
  const absl::StatusOr<TaskOutcome> outcome =
      RunTasks(groups, kNotForLong, signals);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  ASSERT_EQ(outcome->measurements.size(), 2u);
  EXPECT_EQ(outcome->signal, 0);

  // The same, counted here.
  Measurement low;
  for (uint64_t task = 0; task < 3; ++task) {
    for (uint64_t i = 1; i <= 100; ++i) low.Add(i * 1000 + task);
  }
  const Measurement& measured = outcome->measurements[0];
  EXPECT_EQ(measured.name, "low_op");
  EXPECT_EQ(measured.threads, 3u);
  EXPECT_EQ(measured.latency.Count(), 300u);
  EXPECT_EQ(measured.latency.sum_ns, low.latency.sum_ns);
  EXPECT_EQ(measured.latency.max_ns, 100'002u);
  EXPECT_TRUE(measured.latency.buckets == low.latency.buckets);
  EXPECT_DOUBLE_EQ(measured.sum_of_squares_ns2, low.sum_of_squares_ns2);

  EXPECT_EQ(outcome->measurements[1].threads, 2u);
  EXPECT_EQ(outcome->measurements[1].latency.Count(), 20u);
  EXPECT_EQ(outcome->measurements[1].latency.max_ns, 10'004u);
  EXPECT_TRUE(NoChildIsLeft());
}

TEST(WorkloadTasks, GroupsWithOneNameAreOneMeasurement) {
  StopSignals signals;
  TaskGroup other = Counting("a", 1, 7);
  other.name = "b";
  const absl::StatusOr<TaskOutcome> outcome =
      RunTasks({Counting("a", 1, 5), other}, kNotForLong, signals);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  ASSERT_EQ(outcome->measurements.size(), 1u);
  EXPECT_EQ(outcome->measurements[0].threads, 2u);
  EXPECT_EQ(outcome->measurements[0].latency.Count(), 12u);
}

TEST(WorkloadTasks, TheDeadlineEndsThem) {
  StopSignals signals;
  const absl::StatusOr<TaskOutcome> outcome =
      RunTasks({UntilOver("task")}, absl::Milliseconds(20), signals);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_GE(outcome->measurements[0].latency.Count(), 1u);
  EXPECT_GE(outcome->ran, absl::Milliseconds(20));
  EXPECT_TRUE(NoChildIsLeft());
}

TEST(WorkloadTasks, ASignalEndsThemEarlyAndKeepsWhatWasMeasured) {
  StopSignals signals;
  const pid_t self = getpid();
  TaskGroup asks = {"asks", 1, 0, {}, [self](Task& task) {
                      if (task.AwaitStart()) kill(self, SIGTERM);
                      return absl::OkStatus();
                    }};
  const absl::StatusOr<TaskOutcome> outcome =
      RunTasks({UntilOver("task"), asks}, kForEver, signals);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->signal, SIGTERM);
  EXPECT_GE(outcome->measurements[0].latency.Count(), 1u);
  EXPECT_TRUE(NoChildIsLeft());
}

TEST(WorkloadTasks, ASignalBeforeTheStartCallsItOff) {
  StopSignals signals;
  kill(getpid(), SIGINT);
  const absl::StatusOr<TaskOutcome> outcome =
      RunTasks({UntilOver("task")}, kForEver, signals);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->signal, SIGINT);
}

TEST(WorkloadTasks, AnErrorOfOneEndsAllAndIsSaid) {
  StopSignals signals;
  TaskGroup fails = {"reader", 1, 0, {}, [](Task& task) -> absl::Status {
                       if (!task.AwaitStart()) return absl::OkStatus();
                       return absl::UnavailableError("read at 0: broken");
                     }};
  const absl::StatusOr<TaskOutcome> outcome =
      RunTasks({UntilOver("task"), fails}, kForEver, signals);
  EXPECT_EQ(outcome.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(outcome.status().message(), "a reader failed: read at 0: broken");
  EXPECT_TRUE(NoChildIsLeft());
}

TEST(WorkloadTasks, AnErrorWhilePreparingEndsAll) {
  StopSignals signals;
  TaskGroup fails = {"reader", 1, 0, {}, [](Task&) -> absl::Status {
                       return absl::UnavailableError("no device");
                     }};
  const absl::StatusOr<TaskOutcome> outcome =
      RunTasks({UntilOver("task"), fails}, kForEver, signals);
  EXPECT_EQ(outcome.status().message(), "a reader failed: no device");
  EXPECT_TRUE(NoChildIsLeft());
}

TEST(WorkloadTasks, AKilledTaskIsNamed) {
  StopSignals signals;
  TaskGroup killed = {"worker", 1, 0, {}, [](Task& task) -> absl::Status {
                        if (task.AwaitStart()) raise(SIGKILL);
                        return absl::OkStatus();
                      }};
  const absl::StatusOr<TaskOutcome> outcome =
      RunTasks({UntilOver("task"), killed}, kForEver, signals);
  EXPECT_EQ(outcome.status().message(),
            "a worker was killed by signal 9 (Killed)");
  EXPECT_TRUE(NoChildIsLeft());
}

TEST(WorkloadTasks, TasksHaveTheirNiceValues) {
  StopSignals signals;
  const int own = getpriority(PRIO_PROCESS, 0);
  TaskGroup nice = Counting("nice", 1, 0);
  nice.nice = 19;
  nice.work = [](Task& task) -> absl::Status {
    if (!task.AwaitStart()) return absl::OkStatus();
    if (getpriority(PRIO_PROCESS, 0) != 19) {
      return absl::InternalError("not nice");
    }
    return absl::OkStatus();
  };
  const absl::StatusOr<TaskOutcome> outcome =
      RunTasks({nice}, kNotForLong, signals);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->measurements[0].nice, 19);
  EXPECT_EQ(getpriority(PRIO_PROCESS, 0), own);
}

TEST(WorkloadTasks, OneTaskKnowsAnothersProcess) {
  StopSignals signals;
  TaskGroup waits = UntilOver("first");
  TaskGroup asks = {"second", 1, 0, {}, [](Task& task) -> absl::Status {
                      if (!task.AwaitStart()) return absl::OkStatus();
                      if (task.index() != 1 || task.ProcessOf(1) != getpid() ||
                          kill(task.ProcessOf(0), 0) != 0) {
                        return absl::InternalError("whose?");
                      }
                      return absl::OkStatus();
                    }};
  EXPECT_TRUE(RunTasks({waits, asks}, absl::Milliseconds(20), signals).ok());
}

}  // namespace
}  // namespace swaplock
