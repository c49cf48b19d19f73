#include "cli/record/held_command.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace swaplock {
namespace {

absl::Status CannotStart(const std::string& name, int error) {
  const std::string sentence = absl::StrCat(
      "start ", name, ": ",
      error == ENOENT ? "there is no such command" : strerror(error));
  return error == ENOENT ? absl::NotFoundError(sentence)
                         : absl::PermissionDeniedError(sentence);
}

// 0, or why the file is no executable.
int ErrorOf(const std::string& path) {
  struct stat s;
  if (stat(path.c_str(), &s) != 0) return errno == ENOTDIR ? ENOENT : errno;
  if (!S_ISREG(s.st_mode)) return EACCES;
  // Of the effective user, as execve(2) asks.
  return faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

struct Pipe {
  int read_fd = -1;
  int write_fd = -1;
  bool Open() {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) return false;
    read_fd = fds[0];
    write_fd = fds[1];
    return true;
  }
};

// What the child does: waits for its byte and becomes the command.
[[noreturn]] void HoldAndExec(int go_fd, int failed_fd, char** argv,
                              char** environment) {
  char go = 0;
  ssize_t got = 0;
  do {
    got = read(go_fd, &go, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) _exit(kExitNotFound);  // the caller is gone, or wants no more
  execvpe(argv[0], argv, environment);
  const int error = errno;
  [[maybe_unused]] const ssize_t written =
      write(failed_fd, &error, sizeof(error));
  _exit(error == ENOENT ? kExitNotFound : kExitNotExecutable);
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) {
    out.push_back(const_cast<char*>(text.c_str()));
  }
  out.push_back(nullptr);
  return out;
}

// The caller's environment with `more`, which replaces what has the same name.
std::vector<std::string> WithEnvironment(const std::vector<std::string>& more) {
  std::vector<std::string> out = more;
  for (char** at = environ; *at != nullptr; ++at) {
    const size_t name = strcspn(*at, "=") + 1;
    bool replaced = false;
    for (const std::string& text : more) {
      replaced = replaced || text.compare(0, name, *at, name) == 0;
    }
    if (!replaced) out.emplace_back(*at);
  }
  return out;
}

}  // namespace

int ExitStatusOfStart(const absl::Status& status) {
  return absl::IsNotFound(status) ? kExitNotFound : kExitNotExecutable;
}

absl::Status FindCommand(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    const int error = ErrorOf(name);
    return error == 0 ? absl::OkStatus() : CannotStart(name, error);
  }
  if (name.empty()) return CannotStart("\"\"", ENOENT);
  const char* path = std::getenv("PATH");
  int worst = ENOENT;
  for (const absl::string_view folder :
       absl::StrSplit(path == nullptr ? "/bin:/usr/bin" : path, ':')) {
    const int error =
        ErrorOf(absl::StrCat(folder.empty() ? "." : folder, "/", name));
    if (error == 0) return absl::OkStatus();
    if (error == EACCES) worst = EACCES;
  }
  return CannotStart(name, worst);
}

absl::StatusOr<std::vector<std::unique_ptr<HeldCommand>>> HeldCommand::Fork(
    const std::vector<std::string>& words,
    const std::vector<std::vector<std::string>>& environments) {
  std::vector<std::unique_ptr<HeldCommand>> out;
  const std::vector<char*> argv = Pointers(words);
  for (const std::vector<std::string>& more : environments) {
    const std::vector<std::string> texts = WithEnvironment(more);
    const std::vector<char*> environment = Pointers(texts);
    Pipe go;
    Pipe failed;
    pid_t pid = -1;
    if (go.Open() && failed.Open()) pid = fork();
    if (pid == 0) {
      // Or it would not see the end of its own pipe, nor would the others.
      close(go.write_fd);
      for (const auto& other : out) close(other->go_fd_);
      HoldAndExec(go.read_fd, failed.write_fd, const_cast<char**>(argv.data()),
                  const_cast<char**>(environment.data()));
    }
    const int error = errno;
    for (const int fd : {go.read_fd, failed.write_fd}) {
      if (fd >= 0) close(fd);
    }
    if (pid < 0) {
      for (const int fd : {go.write_fd, failed.read_fd}) {
        if (fd >= 0) close(fd);
      }
      return absl::ErrnoToStatus(error, absl::StrCat("fork ", words[0]));
    }
    out.push_back(std::unique_ptr<HeldCommand>(
        new HeldCommand(words[0], pid, go.write_fd, failed.read_fd)));
  }
  return out;
}

HeldCommand::~HeldCommand() {
  if (go_fd_ >= 0) close(go_fd_);
  if (failed_fd_ >= 0) close(failed_fd_);
  if (Ended()) return;
  kill(pid_, SIGKILL);
  Wait();
}

absl::Status HeldCommand::Start() {
  // Fails with EPIPE when a signal ended it while it was held.
  [[maybe_unused]] const ssize_t written = write(go_fd_, "g", 1);
  close(go_fd_);
  go_fd_ = -1;
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(failed_fd_, &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  close(failed_fd_);
  failed_fd_ = -1;
  if (got != sizeof(error)) return absl::OkStatus();
  Wait();
  return CannotStart(name_, error);
}

bool HeldCommand::Reap(int options) {
  pid_t got = 0;
  do {
    got = waitpid(pid_, &wait_status_, options);
  } while (got < 0 && errno == EINTR);
  // Nothing to wait for: somebody else has seen its end.
  if (got < 0) wait_status_ = W_EXITCODE(kExitNotFound, 0);
  if (got != 0) ended_ = true;
  return ended_;
}

bool HeldCommand::Ended() { return ended_ || Reap(WNOHANG); }

void HeldCommand::Wait() {
  if (!ended_) Reap(0);
}

uint32_t HeldCommand::exit_status() const {
  return WIFEXITED(wait_status_)
             ? static_cast<uint32_t>(WEXITSTATUS(wait_status_))
             : 0;
}

uint32_t HeldCommand::signal() const {
  return WIFSIGNALED(wait_status_)
             ? static_cast<uint32_t>(WTERMSIG(wait_status_))
             : 0;
}

}  // namespace swaplock
