// A demonstration: a fleet of hosts that do not exist, whose windows were
// recorded on four real kernels in the lab, sent to a server as agents do. Some
// hosts go from 6.12 to 6.18 with lazy preemption, others from there to 6.18
// without preemption and, too few for a verdict, to 7.3; as many keep the
// kernel that these come from.
//
// What happened in a month comes at once, day by day, and is judged; then every
// host goes on and sends a window from time to time.
#ifndef SWAPLOCK_SERVER_REPLAY_REPLAY_H_
#define SWAPLOCK_SERVER_REPLAY_REPLAY_H_

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "proto/fleet.grpc.pb.h"
#include "server/listen_address.h"
#include "server/replay/replay_clock.h"
#include "server/replay/resampled_windows.h"
#include "server/server.h"

namespace swaplock {

// What every answer of a server says that such a fleet speaks to.
inline constexpr char kReplayNotice[] =
    "This is a replay: these hosts do not exist. Their windows were recorded "
    "on real kernels in a lab, drawn at random and sent as agents send them; "
    "single holds were not recorded.";

class Replay {
 public:
  struct Options {
    std::string scratch_directory;  // where the recordings are laid
    ListenAddress server;           // its port is asked of the server
    absl::Duration interval = absl::Seconds(15);
  };

  // Sends the days and has them judged, then goes on in a thread. `clock` is
  // the server's, whose gRPC port is of this machine and plaintext. `server`
  // outlives the replay, and is shut down after it.
  static absl::StatusOr<std::unique_ptr<Replay>> Start(Server* server,
                                                       ReplayClock clock,
                                                       const Options& options);
  ~Replay();
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // The day before the first window.
  static absl::Time Beginning();

 private:
  class HostStream;

  Replay(Server* server, ReplayClock clock, const Options& options);
  absl::Status AddHosts(const Options& options);
  absl::Status ReplayDays();
  void GoOn();
  // Sends all, then waits until all are acknowledged.
  absl::Status Send(std::vector<v1::Window> windows);

  Server* const server_;
  ReplayClock clock_;
  const absl::Duration interval_;
  ResampledFleet fleet_;
  std::map<int64_t, std::vector<v1::Window>> days_;
  std::unique_ptr<v1::Telemetry::Stub> stub_;
  std::map<std::string, std::unique_ptr<HostStream>> streams_;
  absl::Notification stopping_;
  std::thread thread_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_REPLAY_REPLAY_H_
