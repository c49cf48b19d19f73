#include "agent/delivery/uplink.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"

namespace swaplock {
namespace {

constexpr uint32_t kProtocol = 1;
// Servers end the stream at longer messages, each time.
constexpr size_t kMaxMessageBytes = 1 << 20;
constexpr absl::Duration kLongestPostponement = absl::Minutes(10);

std::chrono::steady_clock::time_point After(absl::Duration wait) {
  return std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(wait);
}

template <typename Message>
bool IsFor(const Message& message, const WindowKey& key) {
  return message.boot_id() == key.boot_id && message.epoch() == key.epoch &&
         message.seq() == key.seq;
}

}  // namespace

Uplink::Uplink(const Options& options, Spool* spool)
    : options_(options),
      spool_(spool),
      backoff_(options.first_backoff, options.backoff_cap),
      choice_(options.servers, options.patience),
      thread_([this] { Run(); }) {}

Uplink::~Uplink() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  Changed();
  thread_.join();
}

void Uplink::Wake() { Changed(); }

void Uplink::Changed() {
  std::lock_guard<std::mutex> lock(mutex_);
  changed_ = true;
  condition_.notify_all();
}

bool Uplink::Drain(absl::Duration timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  draining_ = true;
  drain_end_ = After(timeout);
  changed_ = true;
  condition_.notify_all();
  condition_.wait_until(lock, drain_end_, [this] { return finished_; });
  stopping_ = true;
  changed_ = true;
  condition_.notify_all();
  lock.unlock();
  return spool_->Empty();
}

Uplink::Stats Uplink::stats() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return stats_;
}

SourceSettings Uplink::settings() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return settings_.At(std::chrono::steady_clock::now());
}

bool Uplink::Sleep(Instant until) {
  std::unique_lock<std::mutex> lock(mutex_);
  const bool woken =
      condition_.wait_until(lock, until, [this] { return changed_; });
  changed_ = false;
  return woken;
}

bool Uplink::Stopping() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return stopping_;
}

bool Uplink::Draining() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return draining_;
}

void Uplink::SetConnected(bool connected) {
  std::lock_guard<std::mutex> lock(mutex_);
  stats_.connected = connected;
}

void Uplink::Count(uint64_t Stats::*counter) {
  std::lock_guard<std::mutex> lock(mutex_);
  ++(stats_.*counter);
}

void Uplink::Run() {
  choice_.BeginWith(spool_->OldestSentTo());
  while (!Stopping() && !(Draining() && spool_->Empty())) {
    const absl::Status status = RunStream();
    SetConnected(false);
    if (status.ok() || Stopping()) continue;

    const bool was_draining = Draining();
    const std::string server = choice_.server();
    if (choice_.Failed(std::chrono::steady_clock::now(),
                       spool_->OldestSentTo() != 0)) {
      Count(&Stats::turns);
    }
    absl::Duration wait = std::max(backoff_.Next(), retry_after_);
    // A server that ends cannot keep its streams until then.
    if (!was_draining && reconnect_ != Instant::max()) {
      wait = std::max(wait, absl::FromChrono(reconnect_ -
                                             std::chrono::steady_clock::now()));
    }
    static LogSite site(absl::Seconds(30));
    site.Log(LogLevel::kWarning,
             absl::StrCat("uplink: stream to ", server, ": ", status.ToString(),
                          "; next attempt, to ", choice_.server(), ", in ",
                          absl::FormatDuration(
                              absl::Trunc(wait, absl::Milliseconds(1)))));
    const Instant until = After(wait);
    if (was_draining && until >= drain_end_) break;
    // The beginning of a drain is worth an attempt at once.
    while (Sleep(until) && !Stopping() && Draining() == was_draining) {
    }
  }
  std::lock_guard<std::mutex> lock(mutex_);
  finished_ = true;
  condition_.notify_all();
}

absl::Status Uplink::RunStream() {
  const WindowKey identity = spool_->Oldest().value_or(options_.identity);
  Count(&Stats::streams);
  reconnect_ = Instant::max();
  TelemetryStream stream(
      choice_.server(), options_.keepalive, [this] { Changed(); },
      options_.credentials);
  absl::Status status = Greet(identity, &stream);
  if (status.ok()) status = SendWindows(identity.host_id, &stream);
  // What the server said at the end tells more than that it ended.
  retry_after_ = absl::ZeroDuration();
  if (absl::IsAborted(status)) {
    const absl::Status end = stream.Finish();
    if (!end.ok()) status = end;
    retry_after_ = stream.retry_after();
  }
  return status;
}

absl::Status Uplink::Greet(const WindowKey& identity, TelemetryStream* stream) {
  v1::AgentMessage hello;
  hello.mutable_hello()->set_protocol(kProtocol);
  hello.mutable_hello()->set_host_id(identity.host_id);
  hello.mutable_hello()->set_boot_id(identity.boot_id);
  hello.mutable_hello()->set_epoch(identity.epoch);
  hello.mutable_hello()->set_agent_version(options_.agent_version);
  v1::ServerMessage answer;
  absl::Status status = Exchange(std::move(hello), stream, &answer);
  if (!status.ok()) return status;
  if (!answer.has_welcome() || answer.welcome().credit() == 0) {
    return absl::FailedPreconditionError("the server sent no welcome");
  }
  if (answer.welcome().protocol() != kProtocol) {
    return absl::FailedPreconditionError(
        absl::StrCat("the server speaks protocol ", answer.welcome().protocol(),
                     ", this agent only ", kProtocol));
  }
  SetConnected(true);
  static LogSite site(absl::Seconds(30));
  site.Log(LogLevel::kInfo,
           absl::StrCat("uplink: connected to ", choice_.server()));
  return absl::OkStatus();
}

absl::Status Uplink::SendWindows(const std::string& host_id,
                                 TelemetryStream* stream) {
  v1::ServerMessage answer;
  while (true) {
    if (Stopping()) return absl::OkStatus();
    if (TakeAnswer(stream, &answer)) {
      return absl::FailedPreconditionError("the server answers unasked");
    }
    if (stream->Ended()) return absl::AbortedError("ended by the server");
    if (std::chrono::steady_clock::now() >= reconnect_) break;
    absl::StatusOr<Spool::Parcel> parcel =
        spool_->NextToSend(host_id, choice_.number());
    if (parcel.ok()) {
      if (absl::Status s = Deliver(*parcel, stream); !s.ok()) return s;
    } else if (absl::IsUnavailable(parcel.status())) {
      return parcel.status();
    } else if (!absl::IsNotFound(parcel.status()) || Draining()) {
      break;  // or another host's turn: a stream speaks for one
    } else {
      choice_.Succeeded();
      Sleep(reconnect_);
    }
  }
  // Lets the server see an end instead of a break.
  stream->SendNoMore();
  const Instant until = After(absl::Seconds(1));
  while (!stream->Ended() && !Stopping() && Sleep(until)) {
  }
  return absl::OkStatus();
}

absl::Status Uplink::Deliver(const Spool::Parcel& parcel,
                             TelemetryStream* stream) {
  const Window& window = parcel.window;
  v1::AgentMessage message;
  *message.mutable_window() = ToProto(window);
  message.set_in_doubt(parcel.in_doubt);
  if (const size_t bytes = message.ByteSizeLong(); bytes > kMaxMessageBytes) {
    Count(&Stats::refused);
    Log(LogLevel::kError,
        absl::StrCat("uplink: window ", window.key.seq, " of epoch ",
                     window.key.epoch, " is lost: of its ", bytes,
                     " bytes no server takes more than ", kMaxMessageBytes));
    spool_->Acknowledge(window.key);
    return absl::OkStatus();
  }
  Count(&Stats::sent);
  if (parcel.in_doubt) Count(&Stats::in_doubt);
  v1::ServerMessage answer;
  absl::Status status = Exchange(std::move(message), stream, &answer);
  if (!status.ok()) return status;

  if (answer.has_ack() && IsFor(answer.ack(), window.key)) {
    Count(&Stats::acknowledged);
    if (answer.ack().duplicate()) Count(&Stats::duplicates);
    spool_->Acknowledge(window.key);
    backoff_.Reset();
    choice_.Succeeded();
    return absl::OkStatus();
  }
  if (answer.has_reject() && IsFor(answer.reject(), window.key)) {
    if (answer.reject().retry_after_ms() > 0) {
      return Postpone(answer.reject(), stream);
    }
    Count(&Stats::refused);
    Log(LogLevel::kError,
        absl::StrCat("uplink: the server will never take window ",
                     window.key.seq, " of epoch ", window.key.epoch, ": ",
                     answer.reject().reason()));
    spool_->Acknowledge(window.key);
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the server's answer to window ", window.key.seq, " is for another"));
}

bool Uplink::TakeAnswer(TelemetryStream* stream, v1::ServerMessage* answer) {
  while (stream->Take(answer)) {
    if (answer->has_welcome() || answer->has_ack() || answer->has_reject()) {
      return true;
    }
    Obey(*answer);
  }
  return false;
}

// Kinds that this version does not know change nothing.
void Uplink::Obey(const v1::ServerMessage& message) {
  const Instant now = std::chrono::steady_clock::now();
  if (message.has_settings()) {
    std::lock_guard<std::mutex> lock(mutex_);
    settings_.Take(message.settings(), now);
  }
  if (message.has_reconnect()) {
    const double within_ms = std::clamp<double>(message.reconnect().within_ms(),
                                                1'000, ServerSettings::kHourMs);
    reconnect_ = After(absl::Milliseconds(
        std::uniform_real_distribution<double>(0, within_ms)(random_)));
  }
}

absl::Status Uplink::Postpone(const v1::Reject& reject,
                              TelemetryStream* stream) {
  Count(&Stats::postponed);
  const absl::Duration wait = std::min(
      absl::Milliseconds(std::min<uint64_t>(reject.retry_after_ms(), 1u << 30)),
      kLongestPostponement);
  static LogSite site(absl::Minutes(1));
  site.Log(LogLevel::kWarning,
           absl::StrCat("uplink: the server asks to wait ",
                        absl::FormatDuration(wait), ": ", reject.reason()));
  const Instant until = After(wait);
  while (Sleep(until)) {
    if (Stopping()) return absl::OkStatus();
    if (stream->Ended()) return absl::AbortedError("ended by the server");
  }
  return absl::OkStatus();
}

absl::Status Uplink::Exchange(v1::AgentMessage message, TelemetryStream* stream,
                              v1::ServerMessage* answer) {
  const Instant until = After(options_.answer_timeout);
  bool sent = false;
  while (true) {
    if (!sent && stream->CanSend()) {
      // Once only: `sent` guards it.
      stream->Send(std::move(message));  // NOLINT(bugprone-use-after-move)
      sent = true;
    }
    if (sent && TakeAnswer(stream, answer)) return absl::OkStatus();
    if (stream->Ended()) return absl::AbortedError("ended by the server");
    if (Stopping()) return absl::CancelledError("the agent stops");
    if (!Sleep(until)) {
      return absl::DeadlineExceededError(absl::StrCat(
          "no answer for ", absl::FormatDuration(options_.answer_timeout)));
    }
  }
}

}  // namespace swaplock
