#include "server/ingest.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/log.h"
#include "common/window.h"
#include "server/admission/admit.h"

namespace swaplock {
namespace {

constexpr uint64_t kBusyRetryMs = 1'000;
constexpr uint64_t kStorageRetryMs = 5'000;

// Answers carry the key of the window they answer.
template <typename Answer>
Answer* WithKey(const v1::Window& window, Answer* answer) {
  answer->set_boot_id(window.boot_id());
  answer->set_epoch(window.epoch());
  answer->set_seq(window.seq());
  return answer;
}

// So long at first; the agent's own back-off does the rest.
constexpr absl::Duration kRetryAfterRefusal = absl::Minutes(1);

grpc::Status Wrong(grpc::StatusCode code, const std::string& sentence) {
  return grpc::Status(code, sentence);
}

// Steps of the wall clock must not stretch a host's rate.
absl::Time Monotonic(const Clock& clock) {
  return absl::UnixEpoch() + absl::Nanoseconds(clock.boottime_ns());
}

bool IsForGood(RejectReason reason) { return reason < RejectReason::kTooFast; }

// Owns itself until OnDone, which gRPC calls once, after Finish and the end of
// whatever was under way; Steering may then still hold it, and say nothing.
class HostStream
    : public grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage>,
      public Steering::Line {
 public:
  static HostStream* Begin(const Ingest::Parts& parts, const Clock& clock,
                           grpc::CallbackServerContext* context) {
    const std::shared_ptr<HostStream> stream(
        new HostStream(parts, clock, context));
    stream->self_ = stream;
    stream->StartRead(&stream->in_);
    return stream.get();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return End(grpc::Status::OK);
    if (in_.has_hello() && host_.empty()) return OnHello(in_.hello());
    if (in_.has_window() && !host_.empty()) return OnWindow(in_.window());
    parts_.fleet->StreamRefused("order");
    End(Wrong(grpc::StatusCode::FAILED_PRECONDITION,
              host_.empty() ? "the first message must be a hello"
                            : "after the hello only windows may come"));
  }

  // After one that failed the next read fails too.
  void OnWriteDone(bool /*ok*/) override {
    bool answered = false;
    Next next = Next::kNothing;
    {
      absl::MutexLock lock(&mutex_);
      answered = writing_ == Next::kAnswer;
      writing_ = Next::kNothing;
      next = Choose();
    }
    Do(next);
    if (answered) StartRead(&in_);
  }

  void OnDone() override {
    if (!host_.empty()) {
      parts_.steering->Closed(host_, this);
      parts_.fleet->StreamClosed(host_);
      parts_.admission->CloseStream(host_, Monotonic(clock_));
    }
    const std::shared_ptr<HostStream> last = std::move(self_);
  }

  void Say(std::vector<v1::ServerMessage> notices) override {
    Next next = Next::kNothing;
    {
      absl::MutexLock lock(&mutex_);
      if (notices.empty() || ending_) return;
      const bool settings = notices.front().has_settings();
      notices_.erase(std::remove_if(notices_.begin(), notices_.end(),
                                    [settings](const v1::ServerMessage& m) {
                                      return m.has_settings() == settings;
                                    }),
                     notices_.end());
      std::move(notices.begin(), notices.end(), std::back_inserter(notices_));
      next = Choose();
    }
    Do(next);
  }

 private:
  // What is written, or to be done next.
  enum class Next { kNothing, kAnswer, kNotice, kFinish };

  HostStream(const Ingest::Parts& parts, const Clock& clock,
             grpc::CallbackServerContext* context)
      : parts_(parts), clock_(clock), context_(context) {}

  // gRPC takes one write at a time, and nothing after Finish. Chosen with the
  // lock, done without it.
  Next Choose() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writing_ != Next::kNothing) return Next::kNothing;
    if (ending_) {
      writing_ = Next::kFinish;  // for ever
    } else if (answer_waits_) {
      answer_waits_ = false;
      writing_ = Next::kAnswer;
    } else if (welcomed_ && !notices_.empty()) {
      notice_ = std::move(notices_.front());
      notices_.erase(notices_.begin());
      writing_ = Next::kNotice;
    }
    return writing_;
  }

  void Do(Next next) {
    if (next == Next::kAnswer) StartWrite(&out_);
    if (next == Next::kNotice) StartWrite(&notice_);
    if (next == Next::kFinish) Finish(end_);
  }

  // `out_`, the chain's.
  void Answer() {
    Next next = Next::kNothing;
    {
      absl::MutexLock lock(&mutex_);
      answer_waits_ = true;
      welcomed_ = true;  // it is the first answer
      next = Choose();
    }
    Do(next);
  }

  // Instead of the chain's next link.
  void End(const grpc::Status& status) {
    Next next = Next::kNothing;
    {
      absl::MutexLock lock(&mutex_);
      ending_ = true;
      end_ = status;
      next = Choose();
    }
    Do(next);
  }

  void OnHello(const v1::Hello& hello) {
    const std::optional<uint32_t> protocol = CommonProtocol(
        Ingest::kOldestProtocol, Ingest::kNewestProtocol, hello.protocol());
    if (!protocol.has_value()) {
      return Refuse("protocol",
                    Wrong(grpc::StatusCode::FAILED_PRECONDITION,
                          absl::StrCat("protocol ", hello.protocol(),
                                       " is too old; this server speaks ",
                                       Ingest::kOldestProtocol, " to ",
                                       Ingest::kNewestProtocol)),
                    kRetryAfterRefusal);
    }
    const std::string& host_id = hello.host_id();
    if (const auto refusal = RefuseHost(host_id)) {
      return Refuse(
          "host_id",
          Wrong(grpc::StatusCode::INVALID_ARGUMENT, refusal->sentence),
          kRetryAfterRefusal);
    }
    // Until here the host is a claim: nothing may be kept under its name.
    if (!MayReport(host_id) || IsSetAside(host_id)) return;
    const auto [is_known, known_hosts] = parts_.fleet->Knows(host_id);
    if (const auto refusal =
            parts_.admission->OpenStream(host_id, is_known, known_hosts)) {
      return Refuse(
          refusal->reason,
          Wrong(grpc::StatusCode::RESOURCE_EXHAUSTED, refusal->sentence),
          refusal->retry_after);
    }
    host_ = host_id;
    parts_.fleet->StreamOpened(host_);
    out_.mutable_welcome()->set_protocol(*protocol);
    out_.mutable_welcome()->set_credit(1);
    // What it has to say waits for the welcome.
    parts_.steering->Opened(host_, self_);
    Answer();
  }

  // Otherwise ends the stream.
  bool MayReport(const std::string& host_id) {
    const absl::Status status =
        parts_.access->MayReport(Peer::Of(*context_), host_id);
    if (status.ok()) return true;
    Refuse("identity",
           Wrong(static_cast<grpc::StatusCode>(status.raw_code()),
                 std::string(status.message())),
           kRetryAfterRefusal);
    return false;
  }

  // Then it has ended the stream.
  bool IsSetAside(const std::string& host_id) {
    const auto [left, reason] = parts_.fleet->SetAside(host_id, clock_.wall());
    if (left == absl::ZeroDuration()) return false;
    Refuse("quarantine",
           Wrong(grpc::StatusCode::PERMISSION_DENIED,
                 absl::StrCat(
                     "the host is set aside for ",
                     absl::FormatDuration(absl::Ceil(left, absl::Seconds(1))),
                     " because its windows were refused: ", reason)),
           left);
    return true;
  }

  void Refuse(absl::string_view reason, const grpc::Status& status,
              absl::Duration retry_after) {
    parts_.fleet->StreamRefused(reason);
    static LogSite site(absl::Seconds(10));
    site.Log(LogLevel::kWarning,
             absl::StrCat("ingest: refused ", context_->peer(), ": ",
                          status.error_message()));
    context_->AddTrailingMetadata(
        "retry-after-ms", absl::StrCat(absl::ToInt64Milliseconds(retry_after)));
    End(status);
  }

  void OnWindow(const v1::Window& message) {
    // Who was taken off the list, or set aside, is refused on an open stream.
    if (!MayReport(host_) || IsSetAside(host_)) return;
    if (const absl::Duration wait =
            parts_.admission->TakeWindow(host_, Monotonic(clock_));
        wait > absl::ZeroDuration()) {
      return Reject(RejectReason::kTooFast, "the host sends too many",
                    static_cast<uint64_t>(absl::ToInt64Milliseconds(wait)) + 1);
    }
    absl::StatusOr<Window> window = FromProto(message);
    if (!window.ok()) {
      return Reject(RejectReason::kMalformed, window.status().message(), 0);
    }
    if (const auto refusal = swaplock::Refuse(*window, host_)) {
      return Reject(refusal->reason, refusal->sentence, 0);
    }
    const bool queued = parts_.writer->Submit(
        *std::move(window), message.ByteSizeLong(),
        [this](const absl::StatusOr<Outcome>& outcome) { OnCommit(outcome); });
    if (!queued) {
      Reject(RejectReason::kBusy, "the writer's queue is full", kBusyRetryMs);
    }
  }

  // On the writer's thread.
  void OnCommit(const absl::StatusOr<Outcome>& outcome) {
    if (!outcome.ok()) {
      return Reject(RejectReason::kStorage, "the ledger could not commit it",
                    kStorageRetryMs);
    }
    if (in_.in_doubt() && !outcome->duplicate) parts_.fleet->InDoubt();
    WithKey(in_.window(), out_.mutable_ack())
        ->set_duplicate(outcome->duplicate);
    Answer();
  }

  // `retry_after_ms` 0: for good.
  void Reject(RejectReason reason, absl::string_view sentence,
              uint64_t retry_after_ms) {
    const std::string text =
        absl::StrCat(std::string(Name(reason)), ": ", sentence);
    parts_.fleet->Rejected(Name(reason));
    if (IsForGood(reason)) SetAsideIfNeeded(text);
    v1::Reject* reject = WithKey(in_.window(), out_.mutable_reject());
    reject->set_reason(text);
    reject->set_retry_after_ms(retry_after_ms);
    Answer();
  }

  void SetAsideIfNeeded(const std::string& text) {
    const std::optional<QuarantinedHost> aside =
        parts_.fleet->Misbehaved(host_, text, clock_.wall());
    if (!aside.has_value()) return;
    Log(LogLevel::kWarning,
        absl::StrCat("ingest: host ", host_, " is set aside: ", text));
    if (absl::Status s = parts_.quarantine->Keep(*aside); !s.ok()) {
      Log(LogLevel::kError,
          absl::StrCat("ingest: that host ", host_,
                       " is set aside is not stored: ", s.message()));
    }
  }

  const Ingest::Parts parts_;
  const Clock& clock_;
  grpc::CallbackServerContext* const context_;
  std::shared_ptr<HostStream> self_;
  std::string host_;  // empty before the hello
  v1::AgentMessage in_;
  v1::ServerMessage out_;     // gRPC's while writing_ is kAnswer
  v1::ServerMessage notice_;  // gRPC's while it is kNotice

  absl::Mutex mutex_;
  Next writing_ ABSL_GUARDED_BY(mutex_) = Next::kNothing;
  bool answer_waits_ ABSL_GUARDED_BY(mutex_) = false;
  bool welcomed_ ABSL_GUARDED_BY(mutex_) = false;
  // Settings, of a deep-dive too, and the request to connect anew: three.
  std::vector<v1::ServerMessage> notices_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::Status end_;  // set before ending_, then only read
};

}  // namespace

grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage>* Ingest::Stream(
    grpc::CallbackServerContext* context) {
  return HostStream::Begin(parts_, clock_, context);
}

}  // namespace swaplock
