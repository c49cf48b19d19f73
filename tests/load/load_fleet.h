// Simulated hosts and the threads that they live on.
#ifndef SWAPLOCK_TESTS_LOAD_LOAD_FLEET_H_
#define SWAPLOCK_TESTS_LOAD_LOAD_FLEET_H_

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "tests/load/load_host.h"
#include "tests/load/load_loop.h"
#include "tests/load/outstanding.h"

namespace swaplock {

class LoadFleet {
 public:
  // Of a host's number.
  using Credentials =
      std::function<std::shared_ptr<grpc::ChannelCredentials>(uint64_t)>;
  struct Group {
    uint64_t first_number = 0;
    size_t hosts = 0;
    size_t threads = 1;
    LoadHostKind kind = LoadHostKind::kGood;
  };

  // `around.outstanding` is set by the fleet.
  LoadFleet(LoadHost::Surroundings around, const Group& group,
            const Credentials& credentials);
  // Drops what is left.
  ~LoadFleet();

  // Tells all hosts. Wait says how many were not done within the time.
  void Connect();
  void Send(uint64_t windows, absl::Duration interval);
  void Drop();
  size_t Wait(absl::Duration timeout) { return outstanding_.Wait(timeout); }
  // Ends a Send; Wait for it.
  void Stop();

  size_t size() const { return hosts_.size(); }

 private:
  void Tell(const std::function<void(LoadHost*)>& what);

  Outstanding outstanding_;
  std::vector<std::unique_ptr<LoadLoop>> loops_;
  std::vector<std::unique_ptr<LoadHost>> hosts_;  // host i is of loop i mod n
};

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_LOAD_FLEET_H_
