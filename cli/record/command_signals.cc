#include "cli/record/command_signals.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace swaplock {
namespace {

// What the handlers know and leave behind. All of it is lock-free.
std::atomic<const CutEvent*> cut_event{nullptr};
std::atomic<pid_t> command_pid{0};
std::atomic<uint64_t> ended_ns{0};
std::atomic<int> first_stop{0};
std::atomic<uint64_t> first_stop_ns{0};
std::atomic<uint64_t> patience_ns{0};

uint64_t NowNs() {
  timespec now = {};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(now.tv_nsec);
}

void OnChild(int) {
  const int saved_errno = errno;
  const pid_t pid = command_pid.load();
  siginfo_t info = {};
  // Of this child only, and it stays to be waited for.
  if (pid > 0 && ended_ns.load() == 0 &&
      waitid(P_PID, static_cast<id_t>(pid), &info,
             WEXITED | WNOHANG | WNOWAIT) == 0 &&
      info.si_pid == pid) {
    ended_ns.store(NowNs());
    cut_event.load()->Request();
  }
  errno = saved_errno;
}

void OnStop(int number, siginfo_t* info, void*) {
  const int saved_errno = errno;
  const pid_t pid = command_pid.load();
  const uint64_t now = NowNs();
  int none = 0;
  if (first_stop.compare_exchange_strong(none, number)) {
    first_stop_ns.store(now);
    // The terminal's goes to all of the foreground.
    if (pid > 0 && info->si_code != SI_KERNEL) kill(pid, number);
    cut_event.load()->Request();
  } else if (now - first_stop_ns.load() >= patience_ns.load()) {
    if (pid <= 0) _exit(128 + number);
    kill(pid, SIGKILL);
  }
  errno = saved_errno;
}

}  // namespace

CommandSignals::CommandSignals(const CutEvent& cut, absl::Duration patience) {
  cut_event = &cut;
  command_pid = 0;
  ended_ns = 0;
  first_stop = 0;
  patience_ns = static_cast<uint64_t>(absl::ToInt64Nanoseconds(patience));
  sigset_t needed;
  sigemptyset(&needed);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE}) {
    struct sigaction before = {};
    sigaction(number, nullptr, &before);
    const bool stop = number == SIGINT || number == SIGTERM || number == SIGHUP;
    // nohup(1) and a shell's background mean it.
    if (stop && before.sa_handler == SIG_IGN) continue;
    struct sigaction action = {};
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);  // one at a time
    if (number == SIGPIPE) {
      action.sa_handler = SIG_IGN;
    } else if (number == SIGCHLD) {
      action.sa_handler = OnChild;
      action.sa_flags |= SA_NOCLDSTOP;
    } else {
      action.sa_sigaction = OnStop;
      action.sa_flags |= SA_SIGINFO;
    }
    sigaction(number, &action, nullptr);
    before_.emplace_back(number, before);
    sigaddset(&needed, number);
  }
  sigprocmask(SIG_UNBLOCK, &needed, nullptr);
}

CommandSignals::~CommandSignals() {
  for (const auto& [number, before] : before_) {
    sigaction(number, &before, nullptr);
  }
  command_pid = 0;
}

void CommandSignals::Attend(pid_t command) {
  command_pid = 0;
  ended_ns = 0;
  command_pid = command;
}

uint64_t CommandSignals::ended_boottime_ns() const { return ended_ns; }

int CommandSignals::stop_signal() const { return first_stop; }

}  // namespace swaplock
