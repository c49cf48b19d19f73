#include "cli/record/agent_source.h"

#include <grpcpp/grpcpp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "proto/local.grpc.pb.h"

namespace swaplock {
namespace {

constexpr std::chrono::seconds kCutPatience(10);
// As large as a record may be.
constexpr int kMaxMessageBytes = 4 << 20;

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address) {
  grpc::ChannelArguments args;
  args.SetMaxReceiveMessageSize(kMaxMessageBytes);
  // Else it asks a proxy of the environment.
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(),
                                   args);
}

// One call of Local.Watch. One message at a time is taken from gRPC, so a
// reader that does not come for it holds the agent's queue up, not memory here.
class Watch final : public AgentSource,
                    private grpc::ClientReadReactor<v1::WatchEvent> {
 public:
  Watch(const std::string& address, const CutEvent& cut)
      : address_(address),
        cut_(cut),
        news_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        stub_(v1::Local::NewStub(MakeChannel(address))) {
    stub_->async()->Watch(&context_, &request_, this);
    AddHold();  // for the reads that are started outside the reactions
    StartRead(&in_);
    StartCall();
  }

  ~Watch() override {
    context_.TryCancel();
    Release();
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&done_));
    }
    if (news_fd_ >= 0) close(news_fd_);
  }

  absl::Status Greet(absl::Duration patience) {
    absl::StatusOr<v1::WatchEvent> event = NextEvent(patience);
    if (!event.ok()) {
      return absl::UnavailableError(absl::StrCat(
          "watch the agent at ", address_, ": ", event.status().message(),
          "; is there a swaplock-agent with --listen ", address_, "?"));
    }
    if (!event->has_watching()) {
      return absl::UnavailableError(absl::StrCat(
          "watch the agent at ", address_, ": it did not say what it watches"));
    }
    interval_ = absl::Nanoseconds(event->watching().interval_ns());
    return absl::OkStatus();
  }

  absl::Duration interval() const override { return interval_; }

  void Cancel() override { context_.TryCancel(); }

  absl::StatusOr<Window> Next() override {
    while (true) {
      const absl::StatusOr<v1::WatchEvent> event =
          NextEvent(absl::InfiniteDuration());
      if (!event.ok()) return event.status();
      // Kinds that this version does not know are none for it.
      if (event->has_window()) return FromProto(event->window());
    }
  }

 private:
  absl::StatusOr<v1::WatchEvent> NextEvent(absl::Duration patience) {
    const int timeout_ms =
        patience == absl::InfiniteDuration()
            ? -1
            : static_cast<int>(absl::ToInt64Milliseconds(patience));
    while (true) {
      pollfd poll_fds[] = {{news_fd_, POLLIN, 0}, {cut_.fd(), POLLIN, 0}};
      const int ready = poll(poll_fds, 2, timeout_ms);
      if (ready < 0 && errno != EINTR) {
        return absl::ErrnoToStatus(errno, "wait for the agent");
      }
      if (ready == 0) return absl::DeadlineExceededError("it does not answer");
      if (cut_.Take()) {
        if (absl::Status status = Cut(); !status.ok()) return status;
      }
      uint64_t news = 0;
      if (read(news_fd_, &news, sizeof(news)) != sizeof(news)) continue;
      if (Arrived()) {
        v1::WatchEvent event = std::move(in_);
        in_.Clear();
        StartRead(&in_);
        return event;
      }
      if (NoMore()) return End();
    }
  }

  bool Arrived() {
    absl::MutexLock lock(&mutex_);
    return std::exchange(arrived_, false);
  }

  bool NoMore() const {
    absl::MutexLock lock(&mutex_);
    return no_more_;
  }

  absl::Status Cut() {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kCutPatience);
    v1::CutReply reply;
    const grpc::Status status = stub_->Cut(&context, {}, &reply);
    // An agent that has ended says so on the stream, after its last window.
    if (status.ok() || status.error_code() == grpc::StatusCode::UNAVAILABLE) {
      return absl::OkStatus();
    }
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                        absl::StrCat("ask the agent to end its window: ",
                                     status.error_message()));
  }

  // Why no more comes.
  absl::Status End() {
    Release();
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&done_));
    if (status_.ok()) return absl::OutOfRangeError("the agent has ended");
    return absl::Status(static_cast<absl::StatusCode>(status_.error_code()),
                        status_.error_message());
  }

  // No more reads will be started; the call may be done.
  void Release() {
    if (std::exchange(holding_, false)) RemoveHold();
  }

  void OnReadDone(bool ok) override {
    absl::MutexLock lock(&mutex_);
    (ok ? arrived_ : no_more_) = true;
    Tell();
  }

  void OnDone(const grpc::Status& status) override {
    // The last touch: the owner may destroy the object once it is unlocked.
    absl::MutexLock lock(&mutex_);
    status_ = status;
    done_ = true;
    Tell();
  }

  void Tell() const {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(news_fd_, &one, sizeof(one));
  }

  const std::string address_;
  const CutEvent& cut_;
  const int news_fd_;  // readable when something below has changed
  const std::unique_ptr<v1::Local::Stub> stub_;
  grpc::ClientContext context_;
  const v1::WatchRequest request_;
  v1::WatchEvent in_;  // gRPC's until arrived_, then the owner's
  bool holding_ = true;
  absl::Duration interval_;
  mutable absl::Mutex mutex_;
  bool arrived_ ABSL_GUARDED_BY(mutex_) = false;
  bool no_more_ ABSL_GUARDED_BY(mutex_) = false;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<std::unique_ptr<AgentSource>> AgentSource::Connect(
    const std::string& address, const CutEvent& cut, absl::Duration patience) {
  if (!absl::StartsWith(address, "unix:")) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", address, "\" is not unix:PATH"));
  }
  auto watch = std::make_unique<Watch>(address, cut);
  if (absl::Status status = watch->Greet(patience); !status.ok()) return status;
  return watch;
}

}  // namespace swaplock
