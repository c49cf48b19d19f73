#include "agent/delivery/fake_server.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace swaplock {
namespace {

template <typename Answer>
void SetKey(const v1::Window& window, Answer* answer) {
  answer->set_boot_id(window.boot_id());
  answer->set_epoch(window.epoch());
  answer->set_seq(window.seq());
}

constexpr absl::Duration kLongWait = absl::Seconds(60);

}  // namespace

v1::ServerMessage AckOf(const v1::Window& window, bool duplicate) {
  v1::ServerMessage message;
  SetKey(window, message.mutable_ack());
  message.mutable_ack()->set_duplicate(duplicate);
  return message;
}

v1::ServerMessage RejectOf(const v1::Window& window, uint64_t retry_after_ms) {
  v1::ServerMessage message;
  SetKey(window, message.mutable_reject());
  message.mutable_reject()->set_reason("because");
  message.mutable_reject()->set_retry_after_ms(retry_after_ms);
  return message;
}

void FakeServer::Start() {
  grpc::ServerBuilder builder;
  if (max_connection_age_ms > 0) {
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS,
                               max_connection_age_ms);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
                               max_connection_age_ms);
  }
  builder.AddListeningPort(absl::StrCat("127.0.0.1:", port_),
                           grpc::InsecureServerCredentials(), &port_);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
}

void FakeServer::Stop() {
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
  server_ = nullptr;
}

std::string FakeServer::Address() const {
  return absl::StrCat("127.0.0.1:", port_);
}

void FakeServer::AddFault(Fault fault) {
  absl::MutexLock lock(&mutex_);
  faults_.push_back(std::move(fault));
}

void FakeServer::Greet(std::vector<v1::ServerMessage> messages) {
  absl::MutexLock lock(&mutex_);
  greeting_ = std::move(messages);
}

bool FakeServer::Take(const v1::Window& window) {
  absl::MutexLock lock(&mutex_);
  return taken_
      .emplace(WindowKey{window.host_id(), window.boot_id(), window.epoch(),
                         window.seq()},
               window.cells(0).acquisitions())
      .second;
}

bool FakeServer::WaitForWindows(size_t count) {
  absl::MutexLock lock(&mutex_);
  const auto enough = [this, count] {
    mutex_.AssertReaderHeld();
    return taken_.size() >= count;
  };
  return mutex_.AwaitWithTimeout(absl::Condition(&enough), kLongWait);
}

bool FakeServer::WaitForHellos(size_t count) {
  absl::MutexLock lock(&mutex_);
  const auto enough = [this, count] {
    mutex_.AssertReaderHeld();
    return hellos_.size() >= count;
  };
  return mutex_.AwaitWithTimeout(absl::Condition(&enough), kLongWait);
}

std::vector<uint64_t> FakeServer::received() {
  absl::MutexLock lock(&mutex_);
  return received_;
}

std::vector<uint64_t> FakeServer::in_doubt() {
  absl::MutexLock lock(&mutex_);
  return in_doubt_;
}

std::vector<std::string> FakeServer::hellos() {
  absl::MutexLock lock(&mutex_);
  return hellos_;
}

uint64_t FakeServer::acquisitions() {
  absl::MutexLock lock(&mutex_);
  uint64_t sum = 0;
  for (const auto& [key, count] : taken_) sum += count;
  return sum;
}

grpc::Status FakeServer::Stream(grpc::ServerContext* /*context*/,
                                Call* stream) {
  v1::AgentMessage message;
  if (!stream->Read(&message) || !message.has_hello()) {
    return {grpc::StatusCode::INVALID_ARGUMENT, "no hello"};
  }
  v1::ServerMessage welcome;
  welcome.mutable_welcome()->set_protocol(protocol);
  welcome.mutable_welcome()->set_credit(1);
  stream->Write(welcome);
  std::vector<v1::ServerMessage> greeting;
  {
    absl::MutexLock lock(&mutex_);
    hellos_.push_back(message.hello().host_id());
    greeting = greeting_;
  }
  for (const v1::ServerMessage& more : greeting) stream->Write(more);
  while (stream->Read(&message)) {
    const v1::Window& window = message.window();
    Fault fault;
    {
      absl::MutexLock lock(&mutex_);
      received_.push_back(window.seq());
      if (message.in_doubt()) in_doubt_.push_back(window.seq());
      if (!faults_.empty()) {
        fault = std::move(faults_.front());
        faults_.pop_front();
      }
    }
    if (fault != nullptr) {
      if (fault(window, stream)) {
        return {grpc::StatusCode::UNAVAILABLE, "a fault"};
      }
      continue;
    }
    stream->Write(AckOf(window, !Take(window)));
  }
  return grpc::Status::OK;
}

}  // namespace swaplock
