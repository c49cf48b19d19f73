// A program that a test runs: it ends with the test at the latest.
#ifndef SWAPLOCK_TESTS_END_TO_END_CHILD_PROCESS_H_
#define SWAPLOCK_TESTS_END_TO_END_CHILD_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace swaplock {

class ChildProcess {
 public:
  // Runs words[0] with the rest as arguments, stdout and stderr appended to
  // `log_path`.
  ChildProcess(const std::vector<std::string>& words,
               const std::string& log_path);
  // Kills it if it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }  // -1: it did not start

  void Signal(int signal_number) const;

  // Waits for its end. The exit status, or 1000 plus the signal that ended it;
  // 2000 if it did not end within a minute and was killed.
  int Wait();

  // Whether it has not ended yet.
  bool Running();

 private:
  pid_t pid_ = -1;
  int status_ = -1;  // of waitpid, once it has ended
  bool ended_ = false;
};

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_END_TO_END_CHILD_PROCESS_H_
