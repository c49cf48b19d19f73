#include "cli/workload/workload_tasks.h"

#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace swaplock {
namespace {

// A task at nice 19 has to come to its end while others still burn CPU.
constexpr absl::Duration kGrace = absl::Seconds(60);
constexpr size_t kErrorBytes = 240;

// A pipe whose ends are closed when it goes.
class Pipe {
 public:
  Pipe() {
    if (pipe(ends_) != 0) ends_[0] = ends_[1] = -1;
  }
  ~Pipe() {
    CloseRead();
    CloseWrite();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  bool ok() const { return ends_[0] >= 0; }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void CloseRead() { Close(ends_[0]); }
  void CloseWrite() { Close(ends_[1]); }

 private:
  static void Close(int& fd) {
    if (fd >= 0) close(fd);
    fd = -1;
  }
  int ends_[2];
};

}  // namespace

// What a task writes and its parent reads when the task has ended. On cache
// lines of its own.
struct alignas(128) TaskSlot {
  std::atomic<pid_t> pid{0};
  Distribution latency[kMeasuredPerTask];
  double sum_of_squares_ns2[kMeasuredPerTask] = {};
  int error_code = 0;  // of absl::StatusCode; 0: none
  char error[kErrorBytes] = {};
};
static_assert(std::is_trivially_destructible_v<TaskSlot>);

struct TaskBoard {
  std::atomic<uint64_t> begin_ns{0};
  std::atomic<uint64_t> deadline_ns{0};
  std::atomic<bool> stop{false};
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

StopSignals::StopSignals() {
  sigemptyset(&set_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) {
    sigaddset(&set_, signal);
  }
  sigprocmask(SIG_BLOCK, &set_, &before_);
  // Inherited as ignored, it would leave no child to be waited for.
  signal(SIGCHLD, SIG_DFL);
}

StopSignals::~StopSignals() {
  // One that came meanwhile has had its effect.
  while (Wait(absl::ZeroDuration()) != 0) {
  }
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int StopSignals::Wait(absl::Duration timeout) {
  const timespec limit =
      absl::ToTimespec(std::max(timeout, absl::ZeroDuration()));
  const int signal = sigtimedwait(&set_, nullptr, &limit);
  if (signal <= 0) return 0;
  if (signal != SIGCHLD) asked_ = signal;
  return signal;
}

int StopSignals::Asked() {
  while (asked_ == 0 && Wait(absl::ZeroDuration()) != 0) {
  }
  return asked_;
}

uint64_t Task::NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(now.tv_nsec);
}

bool Task::AwaitStart() {
  close(ready_fd_);
  ready_fd_ = -1;
  char unused;
  ssize_t got = 0;
  do {
    got = read(go_fd_, &unused, 1);
  } while (got < 0 && errno == EINTR);
  return !board_->stop.load(std::memory_order_relaxed);
}

bool Task::Over() const {
  return board_->stop.load(std::memory_order_relaxed) ||
         NowNs() >= board_->deadline_ns.load(std::memory_order_relaxed);
}

void Task::Sleep(absl::Duration duration) const {
  const uint64_t now = NowNs();
  const uint64_t deadline = board_->deadline_ns;
  if (now >= deadline || duration <= absl::ZeroDuration()) return;
  const timespec time =
      absl::ToTimespec(std::min(duration, absl::Nanoseconds(deadline - now)));
  nanosleep(&time, nullptr);
}

void Task::Add(size_t which, uint64_t ns) {
  slot_->latency[which].Add(ns);
  slot_->sum_of_squares_ns2[which] +=
      static_cast<double>(ns) * static_cast<double>(ns);
}

// One run: the memory that the tasks share, and their processes.
class TaskRun {
 public:
  TaskRun(absl::Span<const TaskGroup> groups, StopSignals& signals)
      : groups_(groups), signals_(signals) {
    for (const TaskGroup& group : groups) {
      tasks_ += static_cast<size_t>(group.count);
    }
  }
  ~TaskRun() {
    KillAll();
    if (memory_ != MAP_FAILED) munmap(memory_, Bytes());
  }
  TaskRun(const TaskRun&) = delete;
  TaskRun& operator=(const TaskRun&) = delete;

  absl::Status Begin(absl::Duration duration);
  absl::Status AwaitEnd();
  absl::Status FirstError() const;
  TaskOutcome Outcome() const;

 private:
  struct Child {
    pid_t pid = 0;
    bool ended = false;
    int wait_status = 0;
  };

  size_t Bytes() const { return sizeof(TaskSlot) * (tasks_ + 1); }
  absl::Status MakeBoard();
  [[noreturn]] void BeChild(const TaskGroup& group, size_t index, pid_t parent);
  // Notes which children have ended; true if one of them ended badly.
  bool Reap();
  bool AllEnded() const;
  void KillAll();
  const TaskGroup& GroupOf(size_t index) const;

  absl::Span<const TaskGroup> groups_;
  StopSignals& signals_;
  size_t tasks_ = 0;
  void* memory_ = MAP_FAILED;
  TaskBoard* board_ = nullptr;
  TaskSlot* slots_ = nullptr;
  std::vector<Child> children_;
  Pipe ready_;
  Pipe go_;
  uint64_t end_ns_ = 0;
  int signal_ = 0;
  bool had_to_kill_ = false;
};

pid_t Task::ProcessOf(size_t index) const {
  // Slots lie in a row.
  return (slot_ - index_ + index)->pid;
}

absl::Status TaskRun::MakeBoard() {
  if (!ready_.ok() || !go_.ok()) {
    return absl::UnavailableError("no pipe for the tasks");
  }
  memory_ = mmap(nullptr, Bytes(), PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory_ == MAP_FAILED) {
    return absl::UnavailableError("no memory for the tasks' results");
  }
  static_assert(sizeof(TaskBoard) <= sizeof(TaskSlot));
  board_ = new (memory_) TaskBoard;
  slots_ = static_cast<TaskSlot*>(memory_) + 1;
  for (size_t i = 0; i < tasks_; ++i) new (slots_ + i) TaskSlot;
  return absl::OkStatus();
}

void TaskRun::BeChild(const TaskGroup& group, size_t index, pid_t parent) {
  // Dies with its parent, however that dies.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  prctl(PR_SET_NAME, group.name.c_str());
  ready_.CloseRead();
  go_.CloseWrite();
  Task task;
  task.board_ = board_;
  task.slot_ = slots_ + index;
  task.index_ = index;
  task.ready_fd_ = ready_.write_end();
  task.go_fd_ = go_.read_end();
  task.slot_->pid = getpid();
  absl::Status status;
  if (setpriority(PRIO_PROCESS, 0, group.nice) != 0) {
    status = absl::UnavailableError(
        absl::StrCat("it may not have nice ", group.nice, " (",
                     std::strerror(errno), "): run it as root"));
  } else {
    status = group.work(task);
  }
  if (!status.ok()) {
    task.slot_->error_code = static_cast<int>(status.code());
    std::strncpy(task.slot_->error, std::string(status.message()).c_str(),
                 kErrorBytes - 1);
  }
  // No destructors and no output of the parent's a second time.
  _exit(status.ok() ? 0 : 1);
}

absl::Status TaskRun::Begin(absl::Duration duration) {
  if (absl::Status status = MakeBoard(); !status.ok()) return status;
  const pid_t parent = getpid();
  for (const TaskGroup& group : groups_) {
    for (int i = 0; i < group.count; ++i) {
      const pid_t pid = fork();
      if (pid == 0) BeChild(group, children_.size(), parent);
      if (pid < 0) {
        board_->stop = true;
        return absl::UnavailableError(absl::StrCat(
            "no process for a ", group.name, ": ", std::strerror(errno)));
      }
      children_.push_back({pid});
    }
  }
  ready_.CloseWrite();
  go_.CloseRead();
  // The end of the pipe: every task has closed its end, or is no more.
  pollfd ready = {ready_.read_end(), POLLIN, 0};
  while (poll(&ready, 1, 50) <= 0) {
    if (signals_.Asked() != 0 || Reap()) {
      board_->stop = true;
      break;
    }
  }
  board_->begin_ns = Task::NowNs();
  board_->deadline_ns =
      board_->begin_ns +
      static_cast<uint64_t>(absl::ToInt64Nanoseconds(duration));
  go_.CloseWrite();
  return absl::OkStatus();
}

bool TaskRun::Reap() {
  bool bad = false;
  for (Child& child : children_) {
    if (child.ended) continue;
    if (waitpid(child.pid, &child.wait_status, WNOHANG) != child.pid) continue;
    child.ended = true;
    end_ns_ = Task::NowNs();
    bad |= child.wait_status != 0;
  }
  return bad;
}

bool TaskRun::AllEnded() const {
  return std::all_of(children_.begin(), children_.end(),
                     [](const Child& child) { return child.ended; });
}

absl::Status TaskRun::AwaitEnd() {
  uint64_t kill_at = board_->deadline_ns +
                     static_cast<uint64_t>(absl::ToInt64Nanoseconds(kGrace));
  const auto stop = [&] {
    if (board_->stop.exchange(true)) return;
    kill_at = std::min(
        kill_at, Task::NowNs() +
                     static_cast<uint64_t>(absl::ToInt64Nanoseconds(kGrace)));
  };
  while (true) {
    // Before children are looked for: it forgets what tells of their ends.
    signal_ = signals_.Asked();
    if (signal_ != 0) stop();
    if (Reap()) stop();
    if (AllEnded()) return absl::OkStatus();
    const uint64_t now = Task::NowNs();
    if (now >= kill_at) {
      had_to_kill_ = true;
      KillAll();
      return absl::DeadlineExceededError(
          absl::StrCat("a task did not end within ",
                       absl::FormatDuration(kGrace), " and was killed"));
    }
    signals_.Wait(absl::Nanoseconds(kill_at - now));
  }
}

void TaskRun::KillAll() {
  for (Child& child : children_) {
    if (child.ended) continue;
    kill(child.pid, SIGKILL);
    while (waitpid(child.pid, &child.wait_status, 0) < 0 && errno == EINTR) {
    }
    child.ended = true;
  }
}

const TaskGroup& TaskRun::GroupOf(size_t index) const {
  for (const TaskGroup& group : groups_) {
    if (index < static_cast<size_t>(group.count)) return group;
    index -= static_cast<size_t>(group.count);
  }
  return groups_.back();
}

absl::Status TaskRun::FirstError() const {
  for (size_t i = 0; i < children_.size(); ++i) {
    const TaskSlot& slot = slots_[i];
    if (slot.error_code == 0) continue;
    return absl::Status(
        static_cast<absl::StatusCode>(slot.error_code),
        absl::StrCat("a ", GroupOf(i).name, " failed: ", slot.error));
  }
  for (size_t i = 0; i < children_.size(); ++i) {
    if (children_[i].wait_status == 0) continue;
    const int status = children_[i].wait_status;
    return absl::UnavailableError(
        WIFSIGNALED(status)
            ? absl::StrCat("a ", GroupOf(i).name, " was killed by signal ",
                           WTERMSIG(status), " (", strsignal(WTERMSIG(status)),
                           ")")
            : absl::StrCat("a ", GroupOf(i).name, " ended with status ",
                           WEXITSTATUS(status)));
  }
  return absl::OkStatus();
}

TaskOutcome TaskRun::Outcome() const {
  TaskOutcome out;
  out.signal = signal_;
  out.ran = absl::Nanoseconds(static_cast<int64_t>(end_ns_ - board_->begin_ns));
  size_t index = 0;
  for (const TaskGroup& group : groups_) {
    for (int i = 0; i < group.count; ++i, ++index) {
      for (size_t which = 0; which < group.measured.size(); ++which) {
        Measurement one;
        one.name = group.measured[which];
        one.threads = 1;
        one.nice = group.nice;
        one.latency = slots_[index].latency[which];
        one.sum_of_squares_ns2 = slots_[index].sum_of_squares_ns2[which];
        const auto same = std::find_if(
            out.measurements.begin(), out.measurements.end(),
            [&](const Measurement& other) { return other.name == one.name; });
        if (same == out.measurements.end()) {
          out.measurements.push_back(std::move(one));
        } else {
          same->Merge(one);
        }
      }
    }
  }
  return out;
}

absl::StatusOr<TaskOutcome> RunTasks(absl::Span<const TaskGroup> groups,
                                     absl::Duration duration,
                                     StopSignals& signals) {
  TaskRun run(groups, signals);
  absl::Status status = run.Begin(duration);
  if (!status.ok()) return status;
  status = run.AwaitEnd();
  // What a task says of itself says more than that it was killed.
  absl::Status error = run.FirstError();
  error.Update(status);
  if (!error.ok()) return error;
  return run.Outcome();
}

}  // namespace swaplock
