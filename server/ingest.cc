#include "server/ingest.h"

#include <algorithm>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/window.h"
#include "server/admit.h"

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

grpc::Status Wrong(grpc::StatusCode code, const std::string& sentence) {
  return grpc::Status(code, sentence);
}

// Owns itself: deleted in OnDone, which gRPC calls once, after Finish and the
// end of whatever was under way.
class HostStream
    : public grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage> {
 public:
  HostStream(Writer* writer, Fleet* fleet) : writer_(writer), fleet_(fleet) {
    StartRead(&in_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    if (in_.has_hello() && host_.empty()) return OnHello(in_.hello());
    if (in_.has_window() && !host_.empty()) return OnWindow(in_.window());
    Finish(Wrong(grpc::StatusCode::FAILED_PRECONDITION,
                 host_.empty() ? "the first message must be a hello"
                               : "after the hello only windows may come"));
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    StartRead(&in_);
  }

  void OnDone() override {
    if (!host_.empty()) fleet_->StreamClosed(host_);
    delete this;
  }

 private:
  void OnHello(const v1::Hello& hello) {
    if (hello.protocol() < Ingest::kOldestProtocol) {
      return Finish(Wrong(
          grpc::StatusCode::FAILED_PRECONDITION,
          absl::StrCat("protocol ", hello.protocol(), " is too old; this ",
                       "server speaks ", Ingest::kOldestProtocol, " to ",
                       Ingest::kNewestProtocol)));
    }
    if (const auto refusal = RefuseHost(hello.host_id())) {
      return Finish(
          Wrong(grpc::StatusCode::INVALID_ARGUMENT, refusal->sentence));
    }
    host_ = hello.host_id();
    fleet_->StreamOpened(host_);
    out_.mutable_welcome()->set_protocol(
        std::min(hello.protocol(), Ingest::kNewestProtocol));
    out_.mutable_welcome()->set_credit(1);
    StartWrite(&out_);
  }

  void OnWindow(const v1::Window& message) {
    absl::StatusOr<Window> window = FromProto(message);
    if (!window.ok()) {
      return Reject(RejectReason::kMalformed, window.status().message(), 0);
    }
    if (const auto refusal = Refuse(*window, host_)) {
      return Reject(refusal->reason, refusal->sentence, 0);
    }
    const bool queued = writer_->Submit(
        *std::move(window),
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
    WithKey(in_.window(), out_.mutable_ack())
        ->set_duplicate(outcome->duplicate);
    StartWrite(&out_);
  }

  // `retry_after_ms` 0: for good.
  void Reject(RejectReason reason, absl::string_view sentence,
              uint64_t retry_after_ms) {
    fleet_->Rejected(Name(reason));
    v1::Reject* reject = WithKey(in_.window(), out_.mutable_reject());
    reject->set_reason(absl::StrCat(std::string(Name(reason)), ": ", sentence));
    reject->set_retry_after_ms(retry_after_ms);
    StartWrite(&out_);
  }

  Writer* const writer_;
  Fleet* const fleet_;
  std::string host_;  // empty before the hello
  v1::AgentMessage in_;
  v1::ServerMessage out_;
};

}  // namespace

grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage>* Ingest::Stream(
    grpc::CallbackServerContext* /*context*/) {
  return new HostStream(writer_, fleet_);
}

}  // namespace swaplock
