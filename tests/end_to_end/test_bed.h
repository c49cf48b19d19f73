// A real server and real agents of one test, in a folder of their own, and the
// question what the server counted.
#ifndef SWAPLOCK_TESTS_END_TO_END_TEST_BED_H_
#define SWAPLOCK_TESTS_END_TO_END_TEST_BED_H_

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/end_to_end/child_process.h"
#include "tests/end_to_end/totals.h"

namespace swaplock {

class TestBed {
 public:
  TestBed();

  // Path of a file of this test.
  std::string Path(const std::string& name) const;

  // Starts the server, on the port it had before, and returns when it serves.
  void StartServer();
  ChildProcess* server() { return server_.get(); }

  // The command line of the next one.
  std::vector<std::string> AgentWords(const std::string& replay,
                                      const std::vector<std::string>& more,
                                      const std::string& host);

  // Runs an agent that replays `replay`, records to "HOST.slk", keeps its spool
  // in "HOST.state" and sends to the server.
  std::unique_ptr<ChildProcess> StartAgent(
      const std::string& replay, const std::vector<std::string>& more = {},
      const std::string& host = "host-a");

  // What the server says it counted.
  absl::StatusOr<Totals> Counted() const;

  // What the agents' record files say was measured, each window once.
  absl::StatusOr<Totals> Recorded() const;

  // What server and agents wrote, to print when a test fails.
  std::string Logs() const;

 private:
  const std::string folder_;
  int port_ = 0;
  std::set<std::string> hosts_;
  std::unique_ptr<ChildProcess> server_;
};

// Asks again until the answer is yes; false after a minute.
bool Eventually(const std::function<bool()>& question);

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_END_TO_END_TEST_BED_H_
