#include "tests/load/load_host.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "tests/load/poisoned_window.h"

namespace swaplock {
namespace {

// A poisoned host does not wait the hour that it is told.
constexpr absl::Duration kPoisonedRetry = absl::Milliseconds(100);
constexpr int kTimesRefused = 2;

// As agent/delivery/telemetry_stream has them.
grpc::ChannelArguments Arguments() {
  grpc::ChannelArguments args;
  args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  args.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 10'000);
  args.SetCompressionAlgorithm(GRPC_COMPRESS_GZIP);
  return args;
}

// "UNAVAILABLE", "PERMISSION_DENIED" ...: those that the server ends with.
std::string NameOf(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::OK:
      return "OK";
    case grpc::StatusCode::CANCELLED:
      return "CANCELLED";
    case grpc::StatusCode::UNAVAILABLE:
      return "UNAVAILABLE";
    case grpc::StatusCode::PERMISSION_DENIED:
      return "PERMISSION_DENIED";
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return "RESOURCE_EXHAUSTED";
    default:
      return absl::StrCat("status ", code);
  }
}

// Zero when the server does not say.
absl::Duration RetryAfter(const grpc::ClientContext& context) {
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto it = trailers.find("retry-after-ms");
  uint32_t ms = 0;
  if (it == trailers.end() ||
      !absl::SimpleAtoi(absl::string_view(it->second.data(), it->second.size()),
                        &ms)) {
    return absl::ZeroDuration();
  }
  return absl::Milliseconds(ms);
}

}  // namespace

LoadHost::LoadHost(const Surroundings& around, LoadLoop* loop, uint64_t number,
                   LoadHostKind kind,
                   std::shared_ptr<grpc::ChannelCredentials> credentials)
    : around_(around),
      loop_(loop),
      number_(number),
      kind_(kind),
      credentials_(std::move(credentials)),
      backoff_(around.first_backoff, around.backoff_cap),
      random_(Backoff::Seeded()) {}

void LoadHost::Connect() {
  told_ = true;
  if (out_of_it_) return Done();
  Begin();
}

void LoadHost::Send(uint64_t windows, absl::Duration interval) {
  told_ = true;
  windows_left_ = windows;
  interval_ = interval;
  due_ = absl::Now() + random_() * interval;
  if (out_of_it_) return Done();
  SendNext();
}

void LoadHost::Drop() {
  Done();  // if it is not done yet, it never will be
  told_ = true;
  dropping_ = true;
  if (step_ == Step::kPause || step_ == Step::kBackoff) return alarm_.Cancel();
  if (stream_ == nullptr) return Dropped();
  context_->TryCancel();
  // Otherwise what is under way fails now.
  if (step_ == Step::kNothing) End();
}

void LoadHost::Run(bool ok) {
  const Step step = std::exchange(step_, Step::kNothing);
  switch (step) {
    case Step::kNothing:
      return;
    case Step::kStart:
      return ok ? SayHello() : End();
    case Step::kHello:
      return ok ? Read(Step::kWelcome) : End();
    case Step::kWelcome:
      return ok ? Welcomed() : End();
    case Step::kPause:
      return dropping_ ? Cancelled() : SendNext();
    case Step::kWindow:
      return ok ? Read(Step::kAnswer) : End();
    case Step::kAnswer:
      return ok ? Answered() : End();
    case Step::kFlood:
      return ok ? SendWindow() : End();
    case Step::kEnd:
      return Ended();
    case Step::kBackoff:
      return dropping_ ? Dropped() : Begin();
  }
}

void LoadHost::Begin() {
  around_.tally->StreamBegun();
  channel_ =
      grpc::CreateCustomChannel(around_.server, credentials_, Arguments());
  context_ = std::make_unique<grpc::ClientContext>();
  stream_ = v1::Telemetry::NewStub(channel_)->PrepareAsyncStream(
      context_.get(), loop_->queue());
  step_ = Step::kStart;
  stream_->StartCall(this);
}

void LoadHost::Read(Step step) {
  step_ = step;
  stream_->Read(&in_, this);
}

void LoadHost::SayHello() {
  v1::Hello* hello = out_.mutable_hello();
  hello->set_protocol(1);
  hello->set_host_id(SimulatedWindows::HostId(number_));
  step_ = Step::kHello;
  stream_->Write(out_, this);
}

void LoadHost::Welcomed() {
  if (!in_.has_welcome()) return Cancelled();
  backoff_.Reset();
  if (windows_left_ > 0) return SendNext();
  Done();
}

void LoadHost::SendNext() {
  if (windows_left_ == 0) return Done();
  const absl::Time now = absl::Now();
  if (due_ > now) return Wait(Step::kPause, due_ - now);
  around_.windows->Fill(number_, seq_, out_.mutable_window());
  if (kind_ == LoadHostKind::kPoisoned) {
    Poison(seq_, out_.mutable_window());
  }
  if (sent_ == absl::InfinitePast()) sent_ = now;
  step_ = Step::kWindow;
  stream_->Write(out_, this);
}

// Of a deaf host: the same window once more.
void LoadHost::SendWindow() {
  step_ = Step::kFlood;
  stream_->Write(out_, this);
}

void LoadHost::Answered() {
  if (in_.has_ack()) return WasAcknowledged(in_.ack().duplicate());
  if (in_.has_reject()) return WasRejected(in_.reject());
  Read(Step::kAnswer);  // it answers nothing
}

void LoadHost::WasAcknowledged(bool duplicate) {
  // A duplicate is one whose answer was lost with the stream before.
  if (duplicate) around_.tally->Duplicate();
  const absl::Time now = absl::Now();
  around_.tally->Acknowledged(SimulatedWindows::IndexOf(number_, seq_),
                              out_.window().ByteSizeLong(), now - sent_);
  sent_ = absl::InfinitePast();
  due_ = std::max(due_ + interval_, now);
  ++seq_;
  if (windows_left_ > 0) --windows_left_;
  if (kind_ == LoadHostKind::kDeaf) {
    windows_left_ = 0;
    Done();
    return SendWindow();
  }
  SendNext();
}

void LoadHost::WasRejected(const v1::Reject& reject) {
  if (reject.retry_after_ms() > 0) {
    around_.tally->Postponed();
    due_ = absl::Now() + absl::Milliseconds(reject.retry_after_ms());
    return SendNext();
  }
  const std::vector<std::string> words = absl::StrSplit(reject.reason(), ':');
  around_.tally->Rejected(words[0]);
  sent_ = absl::InfinitePast();
  due_ = absl::Now();
  ++seq_;
  SendNext();
}

void LoadHost::Cancelled() {
  context_->TryCancel();
  End();
}

void LoadHost::End() {
  step_ = Step::kEnd;
  stream_->Finish(&status_, this);
}

void LoadHost::Ended() {
  const absl::Duration retry_after = RetryAfter(*context_);
  stream_.reset();
  context_.reset();
  channel_.reset();
  if (dropping_) return Dropped();
  around_.tally->StreamEnded(NameOf(status_.error_code()),
                             retry_after > absl::ZeroDuration());
  if (kind_ == LoadHostKind::kPoisoned) {
    out_of_it_ = ++times_refused_ == kTimesRefused;
    return out_of_it_ ? Done() : Wait(Step::kBackoff, kPoisonedRetry);
  }
  Wait(Step::kBackoff, std::max(backoff_.Next(), retry_after));
}

void LoadHost::Dropped() {
  dropping_ = false;
  Done();
}

void LoadHost::Wait(Step step, absl::Duration time) {
  step_ = step;
  alarm_.Set(loop_->queue(), absl::ToChronoTime(absl::Now() + time), this);
}

void LoadHost::Done() {
  if (!std::exchange(told_, false)) return;
  around_.outstanding->Done();
}

}  // namespace swaplock
