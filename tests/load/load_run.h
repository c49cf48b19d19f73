// One run: a server, hosts that connect, send, and perhaps come back all at
// once, hosts that mean harm among them; and at the end the question whether
// the ledger has what was acknowledged, before and after the server is killed.
#ifndef SWAPLOCK_TESTS_LOAD_LOAD_RUN_H_
#define SWAPLOCK_TESTS_LOAD_LOAD_RUN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tests/load/load_tally.h"

namespace swaplock {

struct LoadPlan {
  std::string server = "server/swaplock-server";  // the program
  std::vector<std::string> server_flags;
  std::string folder;  // empty, for the ledger and certificates
  uint64_t seed = 1;
  bool tls = false;
  size_t hosts = 50;
  // Hosts that stay connected and send one window a second while others come
  // back: what they notice of it.
  size_t witnesses = 5;
  uint64_t windows = 5;  // of each host
  // Between two of a host; zero: as fast as they are acknowledged.
  absl::Duration interval = absl::ZeroDuration();
  bool storm = true;  // all drop their streams and come back at once
  size_t poisoned = 1;
  size_t deaf = 0;
  size_t silent = 0;  // connections
  // How long the witnesses are alone before that.
  absl::Duration calm = absl::Seconds(5);
  absl::Duration backoff_cap = absl::Seconds(120);
  // Of each part of the run.
  absl::Duration patience = absl::Minutes(10);
};

// Times without a value (count 0), like numbers of a part that was not planned,
// were not measured.
struct LoadReport {
  LoadPlan plan;

  double connect_s = 0;  // all hosts
  uint64_t rss_empty = 0;
  uint64_t rss_connected = 0;
  uint64_t rss_sent = 0;
  uint64_t rss_most = 0;

  double send_s = 0;
  uint64_t sent_windows = 0;
  uint64_t window_bytes = 0;  // median would be the same: they are alike
  double cpu_us_per_window = 0;
  Spread acknowledge;

  double storm_s = 0;  // until the last one is welcome
  double storm_cpu_s = 0;
  uint64_t storm_streams = 0;  // attempts
  Spread witnesses_calm;
  Spread witnesses_storm;
  std::string connections_delayed;  // as /metrics says

  Spread scrape;
  size_t scrape_bytes = 0;
  size_t scrapes_failed = 0;
  uint64_t ledger_bytes = 0;

  LoadTally::Numbers numbers;   // of good hosts
  LoadTally::Numbers poisoned;  // of the others
  size_t silent_connected = 0;
  size_t silent_open = 0;  // at the end

  // What the ledger has against what was acknowledged.
  uint64_t acknowledged = 0;
  uint64_t counted = 0;
  uint64_t counted_again = 0;  // by a server started after kill -9
  bool same = false;           // every bucket too, both times
  int exit_status = 0;         // of the second server, after SIGTERM

  // A table in Markdown.
  std::string Text() const;
};

// Unavailable when the server does not serve, DeadlineExceeded when hosts are
// not done in time.
absl::StatusOr<LoadReport> RunLoad(const LoadPlan& plan);

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_LOAD_RUN_H_
