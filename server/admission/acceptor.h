// Listens, accepts connections no faster and no more than the server can bear,
// and hands each to whoever serves it.
//
// A handshake with certificates costs the server some 3 ms, so it is
// connections and not messages that can drown it: when all agents come back at
// once, those that are not accepted yet wait in the kernel's queue, which is as
// long as an agent waits, and their own back-off spreads the rest. Above the
// number of connections a new one is closed at once, which tells an agent to
// try another server or later.
//
// One thread, which also is the only one that begins handshakes.
#ifndef SWAPLOCK_SERVER_ADMISSION_ACCEPTOR_H_
#define SWAPLOCK_SERVER_ADMISSION_ACCEPTOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/admission/rate_limit.h"
#include "server/listen_address.h"

namespace swaplock {

struct AcceptLimits {
  // Lowered to what the limit on open files allows.
  size_t connections = 12'000;
  // From one address that is not of this machine.
  size_t connections_per_address = 1'024;
  double per_second = 200;
  double burst = 400;
};

class Acceptor {
 public:
  struct Stats {
    uint64_t open = 0;      // now, as of the last look
    uint64_t accepted = 0;  // handed over
    uint64_t refused = 0;   // closed: too many, in all or of one address
    uint64_t delayed = 0;   // times when the next one had to wait
  };
  // Gets a connected, non-blocking socket, and owns it.
  using Take = std::function<void(int fd)>;

  // Unavailable when the address is in use or cannot be bound.
  static absl::StatusOr<std::unique_ptr<Acceptor>> Listen(
      const ListenAddress& address, const AcceptLimits& limits);
  // Stops, and closes nothing that was handed over.
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  int port() const { return port_; }

  // Once. `take` is called on the acceptor's thread.
  void Start(Take take);
  // Accepts no more; returns when `take` is not under way.
  void Stop();

  Stats stats() const;

 private:
  // A connection that was handed over. It is known to be closed when its
  // descriptor is no longer the same socket.
  struct Connection {
    int fd;
    uint64_t inode;
    std::string address;
  };

  Acceptor(int listener, int wake, const AcceptLimits& limits);
  void Run(const Take& take);
  // False when the next one in the queue has gone already.
  bool AcceptOne(const Take& take);
  bool HasRoom(const std::string& address);
  void ForgetClosed();
  // Waits for its turn; false when stopping.
  bool Admit();
  // Sleeps up to `wait`, or until there is a connection if `connection` is
  // given and then set; false when stopping.
  bool Sleep(absl::Duration wait, bool* connection = nullptr);

  const int listener_;
  const int wake_;  // an eventfd, readable when the thread is to end
  const AcceptLimits limits_;
  int port_ = 0;

  // The thread's.
  RateLimit rate_;
  std::vector<Connection> connections_;
  std::map<std::string, size_t> per_address_;
  absl::Time looked_;  // when closed ones were last forgotten

  mutable absl::Mutex mutex_;
  Stats stats_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_ADMISSION_ACCEPTOR_H_
