#include "agent/local_server.h"

#include <grpcpp/grpcpp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "proto/local.grpc.pb.h"

namespace swaplock {
namespace {

constexpr std::chrono::seconds kLastWrites(1);

using Event = std::shared_ptr<const v1::WatchEvent>;

// One call of Watch. One write at most is under way, and the call is finished
// only while none is; so gRPC is never called for a call that is done.
class Watcher : public grpc::ServerWriteReactor<v1::WatchEvent> {
 public:
  Watcher(size_t most_behind, std::function<void(Watcher*)> done)
      : most_behind_(most_behind), done_(std::move(done)) {}

  void Send(Event event) {
    {
      absl::MutexLock lock(&mutex_);
      if (closing_) return;
      if (queue_.size() < most_behind_) {
        queue_.push_back(std::move(event));
      } else {
        closing_ = true;
        end_ =
            grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED,
                         absl::StrCat("this reader was ", queue_.size(),
                                      " windows behind and given up: window ",
                                      event->window().seq(),
                                      " and those after it are lost to it"));
      }
    }
    GoOn();
  }

  // Ends the call after what is queued.
  void Close(grpc::Status end) {
    {
      absl::MutexLock lock(&mutex_);
      if (closing_) return;
      closing_ = true;
      end_ = std::move(end);
    }
    GoOn();
  }

  void OnWriteDone(bool ok) override {
    {
      absl::MutexLock lock(&mutex_);
      writing_ = nullptr;
      broken_ = broken_ || !ok;
    }
    GoOn();
  }

  void OnCancel() override {
    {
      absl::MutexLock lock(&mutex_);
      broken_ = true;
    }
    GoOn();
  }

  void OnDone() override {
    const std::function<void(Watcher*)> done = done_;
    done(this);  // may destroy this
  }

 private:
  // Begins what is next, unless something is under way. Reactions may come
  // before the call of gRPC returns, so no lock is held then.
  void GoOn() {
    const v1::WatchEvent* event = nullptr;
    grpc::Status end;
    {
      absl::MutexLock lock(&mutex_);
      if (writing_ != nullptr || finished_) return;
      if (!broken_ && !queue_.empty()) {
        writing_ = std::move(queue_.front());
        queue_.pop_front();
        event = writing_.get();
      } else if (broken_ || closing_) {
        finished_ = closing_ = true;
        queue_.clear();
        end = broken_ ? grpc::Status::CANCELLED : end_;
      } else {
        return;
      }
    }
    if (event != nullptr) {
      StartWrite(event);
    } else {
      Finish(end);
    }
  }

  const size_t most_behind_;
  const std::function<void(Watcher*)> done_;
  absl::Mutex mutex_;
  std::deque<Event> queue_ ABSL_GUARDED_BY(mutex_);
  Event writing_ ABSL_GUARDED_BY(mutex_);
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;  // takes no more
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::Status end_ ABSL_GUARDED_BY(mutex_);
};

class Service final : public v1::Local::CallbackService {
 public:
  explicit Service(LocalServer::Options options)
      : options_(std::move(options)) {}

  // Once gRPC's server is down, no call is left.
  ~Service() override {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(
        +[](std::map<Watcher*, Entry>* all) { return all->empty(); },
        &watchers_));
  }

  void Publish(const Window& window) {
    auto event = std::make_shared<v1::WatchEvent>();
    *event->mutable_window() = ToProto(window);
    std::shared_ptr<v1::WatchEvent> first;
    std::vector<std::pair<std::shared_ptr<Watcher>, Event>> all;
    {
      absl::MutexLock lock(&mutex_);
      known_ = Applied(window.context, known_);
      for (auto& [watcher, entry] : watchers_) {
        if (!entry.began && first == nullptr) {
          Window whole = window;
          whole.context = known_;
          first = std::make_shared<v1::WatchEvent>();
          *first->mutable_window() = ToProto(whole);
        }
        all.emplace_back(entry.watcher, entry.began ? event : first);
        entry.began = true;
      }
    }
    for (auto& [watcher, its] : all) watcher->Send(std::move(its));
  }

  void Close() {
    std::vector<std::shared_ptr<Watcher>> all;
    {
      absl::MutexLock lock(&mutex_);
      closed_ = true;
      for (auto& [watcher, entry] : watchers_) all.push_back(entry.watcher);
    }
    for (const auto& watcher : all) watcher->Close(grpc::Status::OK);
  }

  grpc::ServerWriteReactor<v1::WatchEvent>* Watch(
      grpc::CallbackServerContext* /*context*/,
      const v1::WatchRequest* /*request*/) override {
    auto watcher = std::make_shared<Watcher>(
        options_.most_behind, [this](Watcher* done) { Forget(done); });
    bool closed = false;
    bool full = false;
    {
      absl::MutexLock lock(&mutex_);
      closed = closed_;
      full = watchers_.size() >= options_.most_watchers;
      // One that is turned away is sent no window.
      watchers_[watcher.get()] = {watcher, false};
    }
    if (closed || full) {
      watcher->Close(
          closed ? grpc::Status::OK
                 : grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED,
                                absl::StrCat(options_.most_watchers,
                                             " programs watch already")));
      return watcher.get();
    }
    auto greeting = std::make_shared<v1::WatchEvent>();
    greeting->mutable_watching()->set_agent_version(options_.agent_version);
    greeting->mutable_watching()->set_interval_ns(
        static_cast<uint64_t>(absl::ToInt64Nanoseconds(options_.interval)));
    watcher->Send(std::move(greeting));
    return watcher.get();
  }

  grpc::ServerUnaryReactor* Cut(grpc::CallbackServerContext* context,
                                const v1::CutRequest* /*request*/,
                                v1::CutReply* /*reply*/) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    if (options_.cut == nullptr) {
      reactor->Finish(grpc::Status(
          grpc::StatusCode::FAILED_PRECONDITION,
          "this agent replays a recording, whose windows are as they are"));
    } else {
      options_.cut->Request();
      reactor->Finish(grpc::Status::OK);
    }
    return reactor;
  }

 private:
  struct Entry {
    std::shared_ptr<Watcher> watcher;
    bool began = false;  // it was sent a window
  };

  void Forget(Watcher* watcher) {
    std::shared_ptr<Watcher> last;  // destroyed without the lock
    absl::MutexLock lock(&mutex_);
    last = std::move(watchers_[watcher].watcher);
    watchers_.erase(watcher);
  }

  const LocalServer::Options options_;
  absl::Mutex mutex_;
  std::map<Watcher*, Entry> watchers_ ABSL_GUARDED_BY(mutex_);
  Context known_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

class GrpcLocalServer final : public LocalServer {
 public:
  explicit GrpcLocalServer(const Options& options) : service_(options) {}

  bool Listen(const std::string& address) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(&service_);
    // The socket's mode: only its owner may connect.
    const mode_t before = umask(0177);
    server_ = builder.BuildAndStart();
    umask(before);
    return server_ != nullptr;
  }

  ~GrpcLocalServer() override {
    if (server_ == nullptr) return;
    service_.Close();
    server_->Shutdown(std::chrono::system_clock::now() + kLastWrites);
    server_->Wait();
  }

  void Publish(const Window& window) override { service_.Publish(window); }

 private:
  Service service_;
  std::unique_ptr<grpc::Server> server_;  // destroyed before its service
};

// gRPC takes any socket's place, also one that somebody listens on.
absl::Status MayListen(const std::string& path) {
  sockaddr_un address = {};
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(
        absl::StrCat("listen on \"", path, "\": a socket's path has 1 to ",
                     sizeof(address.sun_path) - 1, " bytes"));
  }
  struct stat s = {};
  if (lstat(path.c_str(), &s) != 0) return absl::OkStatus();
  if (!S_ISSOCK(s.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "listen on ", path, ": something else than a socket is there"));
  }
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool taken =
      fd >= 0 &&
      connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  if (fd >= 0) close(fd);
  return taken ? absl::FailedPreconditionError(absl::StrCat(
                     "listen on ", path, ": another agent listens there"))
               : absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<LocalServer>> LocalServer::Start(
    const Options& options) {
  absl::string_view path = options.address;
  if (!absl::ConsumePrefix(&path, "unix:")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "listen on \"", options.address, "\": it is not unix:PATH"));
  }
  if (absl::Status s = MayListen(std::string(path)); !s.ok()) return s;
  auto server = std::make_unique<GrpcLocalServer>(options);
  if (!server->Listen(options.address)) {
    return absl::FailedPreconditionError(
        absl::StrCat("listen on ", path, ": the socket cannot be made there"));
  }
  return server;
}

}  // namespace swaplock
