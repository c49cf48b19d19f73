#include "agent/telemetry_stream.h"

#include <utility>

#include "absl/strings/string_view.h"

namespace swaplock {
namespace {

std::shared_ptr<grpc::Channel> Connect(const std::string& server,
                                       absl::Duration keepalive) {
  grpc::ChannelArguments args;
  args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS,
              static_cast<int>(absl::ToInt64Milliseconds(keepalive)));
  args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  // Without this an idle stream stops being probed after two pings.
  args.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // Else attempts share one connection and gRPC's back-off with it.
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  args.SetInt(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, 1 << 20);
  args.SetUserAgentPrefix("swaplock-agent");
  return grpc::CreateCustomChannel(server, grpc::InsecureChannelCredentials(),
                                   args);
}

}  // namespace

TelemetryStream::TelemetryStream(const std::string& server,
                                 absl::Duration keepalive,
                                 std::function<void()> changed)
    : changed_(std::move(changed)),
      channel_(Connect(server, keepalive)),
      stub_(v1::Telemetry::NewStub(channel_)) {
  stub_->async()->Stream(&context_, this);
  AddHold();  // for what is started outside the reactions; see Finish()
  StartRead(&in_);
  StartCall();
}

TelemetryStream::~TelemetryStream() { Finish().IgnoreError(); }

bool TelemetryStream::CanSend() const {
  absl::MutexLock lock(&mutex_);
  return !writing_ && !ended_;
}

void TelemetryStream::Send(v1::AgentMessage message) {
  {
    absl::MutexLock lock(&mutex_);
    writing_ = true;
  }
  out_ = std::move(message);
  StartWrite(&out_);
}

void TelemetryStream::SendNoMore() { StartWritesDone(); }

bool TelemetryStream::Take(v1::ServerMessage* message) {
  {
    absl::MutexLock lock(&mutex_);
    if (!arrived_) return false;
    arrived_ = false;
  }
  *message = std::move(in_);
  in_.Clear();
  StartRead(&in_);
  return true;
}

bool TelemetryStream::Ended() const {
  absl::MutexLock lock(&mutex_);
  return ended_;
}

absl::Status TelemetryStream::Finish() {
  if (!finished_) {
    finished_ = true;
    // Harmless when the call has ended by itself: its status stays.
    context_.TryCancel();
    RemoveHold();
  }
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(&done_));
  return absl::Status(static_cast<absl::StatusCode>(status_.error_code()),
                      status_.error_message());
}

void TelemetryStream::OnReadDone(bool ok) {
  {
    absl::MutexLock lock(&mutex_);
    (ok ? arrived_ : ended_) = true;
  }
  changed_();
}

void TelemetryStream::OnWriteDone(bool) {
  {
    absl::MutexLock lock(&mutex_);
    writing_ = false;
  }
  changed_();
}

void TelemetryStream::OnDone(const grpc::Status& status) {
  // The last touch: the owner may destroy the object as soon as it is unlocked.
  absl::MutexLock lock(&mutex_);
  status_ = status;
  done_ = true;
}

}  // namespace swaplock
