#include "tests/load/load_loop.h"

#include <grpcpp/alarm.h>

#include <chrono>
#include <memory>
#include <utility>

namespace swaplock {
namespace {

// Deletes itself once it has run.
class PostedEvent final : public LoadLoop::Event {
 public:
  PostedEvent(std::function<void()> what, grpc::CompletionQueue* queue)
      : what_(std::move(what)) {
    alarm_.Set(queue, std::chrono::system_clock::now(), this);
  }
  void Run(bool /*ok*/) override {
    const std::unique_ptr<PostedEvent> end(this);
    what_();
  }

 private:
  const std::function<void()> what_;
  grpc::Alarm alarm_;
};

}  // namespace

void LoadLoop::Post(std::function<void()> what) {
  new PostedEvent(std::move(what), &queue_);
}

void LoadLoop::Serve() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) static_cast<Event*>(tag)->Run(ok);
}

}  // namespace swaplock
