// One call of Telemetry.Stream, seen from the uplink: a message out, a message
// in, and its end. Nothing here blocks but the destructor.
//
// One thread owns the object and calls everything; gRPC's threads only record
// what happened and call `changed`.
#ifndef SWAPLOCK_AGENT_DELIVERY_TELEMETRY_STREAM_H_
#define SWAPLOCK_AGENT_DELIVERY_TELEMETRY_STREAM_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/channel.h"
#include "proto/fleet.grpc.pb.h"

namespace swaplock {

class TelemetryStream final
    : public grpc::ClientBidiReactor<v1::AgentMessage, v1::ServerMessage> {
 public:
  // Connects anew: a channel of its own, so that nothing but the caller's
  // back-off decides when. `keepalive` bounds how long a dead peer goes
  // unnoticed, to that plus ten seconds. The files of `identity` are read anew
  // each time; when they cannot be used the stream has ended at once, and
  // Finish() says why.
  TelemetryStream(const std::string& server, absl::Duration keepalive,
                  std::function<void()> changed,
                  const ChannelIdentity& identity = {});
  // Cancels the call if it has not ended, and waits for its end.
  ~TelemetryStream() override;

  // Whether the message before has left. Send() only then.
  bool CanSend() const;
  void Send(v1::AgentMessage message);
  // Says that no more messages follow.
  void SendNoMore();

  // Moves out the message that arrived, if one did. Until it is taken no other
  // one is read: the peer cannot make memory grow.
  bool Take(v1::ServerMessage* message);

  // Whether the server ended the call or the connection broke.
  bool Ended() const;
  // Ends the call and returns how it ended. Never call Send() after this.
  absl::Status Finish();
  // After Finish(): how long the server asks to wait before the next attempt,
  // at most an hour; zero when it does not say.
  absl::Duration retry_after() const { return retry_after_; }

 private:
  void Start(const std::string& server, absl::Duration keepalive,
             const ChannelIdentity& identity);
  void EndBeforeStart(const absl::Status& status);
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  const std::function<void()> changed_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Telemetry::Stub> stub_;
  grpc::ClientContext context_;
  v1::AgentMessage out_;  // gRPC's between Send() and OnWriteDone()
  v1::ServerMessage in_;  // gRPC's between StartRead() and OnReadDone()
  bool started_ = false;
  bool finished_ = false;
  absl::Duration retry_after_;

  mutable absl::Mutex mutex_;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool arrived_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_DELIVERY_TELEMETRY_STREAM_H_
