#include "agent/delivery/telemetry_stream.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

namespace swaplock {
namespace {

constexpr absl::Duration kLongestRetryAfter = absl::Hours(1);

grpc::ChannelArguments Arguments(absl::Duration keepalive) {
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
  // Whoever accepts and says nothing is given up after so long.
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 10'000);
  args.SetCompressionAlgorithm(GRPC_COMPRESS_GZIP);
  return args;
}

// Of the call's trailers; see server/ingest.h.
absl::Duration RetryAfter(const grpc::ClientContext& context) {
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto it = trailers.find("retry-after-ms");
  uint64_t ms = 0;
  if (it == trailers.end() ||
      !absl::SimpleAtoi(absl::string_view(it->second.data(), it->second.size()),
                        &ms)) {
    return absl::ZeroDuration();
  }
  return std::min(absl::Milliseconds(std::min<uint64_t>(ms, 1u << 30)),
                  kLongestRetryAfter);
}

}  // namespace

TelemetryStream::TelemetryStream(const std::string& server,
                                 absl::Duration keepalive,
                                 std::function<void()> changed,
                                 const ChannelIdentity& identity)
    : changed_(std::move(changed)) {
  Start(server, keepalive, identity);
}

void TelemetryStream::Start(const std::string& server, absl::Duration keepalive,
                            const ChannelIdentity& identity) {
  if (absl::Status s = CheckIdentity(identity, server); !s.ok()) {
    return EndBeforeStart(s);
  }
  grpc::ChannelArguments args = Arguments(keepalive);
  const auto credentials = MakeCredentials(identity, &args);
  if (!credentials.ok()) return EndBeforeStart(credentials.status());
  if (absl::Status s = AddToken(identity, &context_); !s.ok()) {
    return EndBeforeStart(s);
  }
  channel_ = grpc::CreateCustomChannel(server, *credentials, args);
  stub_ = v1::Telemetry::NewStub(channel_);
  started_ = true;
  stub_->async()->Stream(&context_, this);
  AddHold();  // for what is started outside the reactions; see Finish()
  StartRead(&in_);
  StartCall();
}

void TelemetryStream::EndBeforeStart(const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  status_ = grpc::Status(static_cast<grpc::StatusCode>(status.raw_code()),
                         std::string(status.message()));
  ended_ = done_ = true;
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

void TelemetryStream::SendNoMore() {
  if (started_) StartWritesDone();
}

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
  if (started_ && !finished_) {
    finished_ = true;
    // Harmless when the call has ended by itself: its status stays.
    context_.TryCancel();
    RemoveHold();
  }
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(&done_));
  if (started_) retry_after_ = RetryAfter(context_);
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
