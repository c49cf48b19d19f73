#include "tests/end_to_end/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace swaplock {

ChildProcess::ChildProcess(const std::vector<std::string>& words,
                           const std::string& log_path) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const std::string& word : words) {
    argv.push_back(const_cast<char*>(word.c_str()));
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log_path.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  if (posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ) !=
      0) {
    pid_ = -1;
    ended_ = true;
    status_ = W_EXITCODE(127, 0);
  }
  posix_spawn_file_actions_destroy(&actions);
}

ChildProcess::~ChildProcess() {
  if (!Running()) return;
  Signal(SIGKILL);
  waitpid(pid_, &status_, 0);
}

void ChildProcess::Signal(int signal_number) const {
  if (!ended_) kill(pid_, signal_number);
}

bool ChildProcess::Running() {
  if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
  return !ended_;
}

int ChildProcess::Wait() {
  const absl::Time deadline = absl::Now() + absl::Minutes(1);
  while (Running()) {
    if (absl::Now() > deadline) {
      Signal(SIGKILL);
      waitpid(pid_, &status_, 0);
      ended_ = true;
      return 2000;
    }
    absl::SleepFor(absl::Milliseconds(1));
  }
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : 1000 + WTERMSIG(status_);
}

}  // namespace swaplock
