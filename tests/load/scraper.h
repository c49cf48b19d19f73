// Asks a server for its metrics once in a while, and how long that took.
#ifndef SWAPLOCK_TESTS_LOAD_SCRAPER_H_
#define SWAPLOCK_TESTS_LOAD_SCRAPER_H_

#include <cstddef>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "tests/load/load_server.h"
#include "tests/load/load_tally.h"

namespace swaplock {

class Scraper {
 public:
  Scraper(const LoadServer* server, absl::Duration interval);
  ~Scraper() { Stop(); }
  Scraper(const Scraper&) = delete;
  Scraper& operator=(const Scraper&) = delete;

  void Stop();
  // After Stop.
  Spread times() const { return Spread::Of(times_ms_); }
  size_t most_bytes() const { return most_bytes_; }
  size_t failed() const { return failed_; }

 private:
  void Run(const LoadServer* server, absl::Duration interval);

  std::vector<double> times_ms_;
  size_t most_bytes_ = 0;
  size_t failed_ = 0;
  absl::Notification stop_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_SCRAPER_H_
