// A completion queue and the one thread that serves it: what its hosts do
// happens there, one event after the other, so they need no locks.
#ifndef SWAPLOCK_TESTS_LOAD_LOAD_LOOP_H_
#define SWAPLOCK_TESTS_LOAD_LOAD_LOOP_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <thread>

namespace swaplock {

class LoadLoop {
 public:
  // What the queue's tags are.
  class Event {
   public:
    virtual ~Event() = default;
    // On the loop's thread; `ok` as CompletionQueue::Next says.
    virtual void Run(bool ok) = 0;
  };

  LoadLoop() : thread_([this] { Serve(); }) {}
  // All events must have come.
  ~LoadLoop() {
    queue_.Shutdown();
    thread_.join();
  }
  LoadLoop(const LoadLoop&) = delete;
  LoadLoop& operator=(const LoadLoop&) = delete;

  grpc::CompletionQueue* queue() { return &queue_; }

  // Does it on the loop's thread, soon. Thread-safe.
  void Post(std::function<void()> what);

 private:
  void Serve();

  grpc::CompletionQueue queue_;
  std::thread thread_;  // last: it uses the queue
};

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_LOAD_LOOP_H_
