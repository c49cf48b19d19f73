#include "tests/load/load_fleet.h"

#include <utility>

namespace swaplock {

LoadFleet::LoadFleet(LoadHost::Surroundings around, const Group& group,
                     const Credentials& credentials) {
  around.outstanding = &outstanding_;
  for (size_t i = 0; i < group.threads; ++i) {
    loops_.push_back(std::make_unique<LoadLoop>());
  }
  for (size_t i = 0; i < group.hosts; ++i) {
    const uint64_t number = group.first_number + i;
    hosts_.push_back(
        std::make_unique<LoadHost>(around, loops_[i % loops_.size()].get(),
                                   number, group.kind, credentials(number)));
  }
}

LoadFleet::~LoadFleet() {
  Drop();
  Wait(absl::InfiniteDuration());
  loops_.clear();
}

void LoadFleet::Connect() {
  outstanding_.Add(size());
  Tell([](LoadHost* host) { host->Connect(); });
}

void LoadFleet::Send(uint64_t windows, absl::Duration interval) {
  outstanding_.Add(size());
  Tell([=](LoadHost* host) { host->Send(windows, interval); });
}

void LoadFleet::Drop() {
  outstanding_.Add(size());
  Tell([](LoadHost* host) { host->Drop(); });
}

void LoadFleet::Stop() {
  Tell([](LoadHost* host) { host->Stop(); });
}

// One event a host, so that others of its loop are not kept waiting.
void LoadFleet::Tell(const std::function<void(LoadHost*)>& what) {
  for (size_t i = 0; i < size(); ++i) {
    loops_[i % loops_.size()]->Post(
        [what, host = hosts_[i].get()] { what(host); });
  }
}

}  // namespace swaplock
