#include "tests/load/scraper.h"

#include <algorithm>

namespace swaplock {

Scraper::Scraper(const LoadServer* server, absl::Duration interval)
    : thread_([=] { Run(server, interval); }) {}

void Scraper::Stop() {
  if (!thread_.joinable()) return;
  stop_.Notify();
  thread_.join();
}

void Scraper::Run(const LoadServer* server, absl::Duration interval) {
  do {
    const absl::StatusOr<LoadServer::Scrape> scrape = server->ScrapeNow();
    if (!scrape.ok()) {
      ++failed_;
      continue;
    }
    times_ms_.push_back(scrape->time_ms);
    most_bytes_ = std::max(most_bytes_, scrape->text.size());
  } while (!stop_.WaitForNotificationWithTimeout(interval));
}

}  // namespace swaplock
