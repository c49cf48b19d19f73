// A Telemetry server that keeps keys in memory and, before it answers a window
// properly, plays the faults that it was given. Test code only.
#ifndef SWAPLOCK_AGENT_DELIVERY_FAKE_SERVER_H_
#define SWAPLOCK_AGENT_DELIVERY_FAKE_SERVER_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "common/window.h"
#include "proto/fleet.grpc.pb.h"

namespace swaplock {

v1::ServerMessage AckOf(const v1::Window& window, bool duplicate);
// `retry_after_ms` 0: for good.
v1::ServerMessage RejectOf(const v1::Window& window, uint64_t retry_after_ms);

class FakeServer final : public v1::Telemetry::Service {
 public:
  using Call = grpc::ServerReaderWriter<v1::ServerMessage, v1::AgentMessage>;
  // One per window received; whether to end the stream.
  using Fault = std::function<bool(const v1::Window&, Call*)>;

  ~FakeServer() override { Stop(); }

  // On the port that it had before, if it had one.
  void Start();
  void Stop();
  std::string Address() const;

  void AddFault(Fault fault);
  // Sent to each agent after its welcome.
  void Greet(std::vector<v1::ServerMessage> messages);

  // Counts the window; false if it was counted before.
  bool Take(const v1::Window& window);

  // Until so many different windows were taken, or streams began.
  bool WaitForWindows(size_t count);
  bool WaitForHellos(size_t count);

  std::vector<uint64_t> received();  // sequence numbers, repeated ones included
  std::vector<uint64_t> in_doubt();  // of them, those that came so
  std::vector<std::string> hellos();
  uint64_t acquisitions();  // of the first cell of each window taken

  uint32_t protocol = 1;
  int max_connection_age_ms = 0;  // 0: for ever

 private:
  grpc::Status Stream(grpc::ServerContext* context, Call* stream) override;

  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  absl::Mutex mutex_;
  std::deque<Fault> faults_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::ServerMessage> greeting_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint64_t> received_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint64_t> in_doubt_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> hellos_ ABSL_GUARDED_BY(mutex_);
  std::map<WindowKey, uint64_t> taken_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_DELIVERY_FAKE_SERVER_H_
