// A line between an agent and its server that can be slow, silent or half open.
// Test code only.
#ifndef SWAPLOCK_AGENT_DELIVERY_FAULTY_PROXY_H_
#define SWAPLOCK_AGENT_DELIVERY_FAULTY_PROXY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

namespace swaplock {

class FaultyProxy {
 public:
  // To 127.0.0.1 at `target_port`.
  explicit FaultyProxy(int target_port);
  ~FaultyProxy();
  FaultyProxy(const FaultyProxy&) = delete;
  FaultyProxy& operator=(const FaultyProxy&) = delete;

  std::string Address() const;

  // All of these from any thread.
  // Nothing goes through any more, and nobody is told.
  std::atomic<bool> silent = false;
  // At most so many bytes every 10 ms, each way; 0: as they come.
  std::atomic<size_t> trickle = 0;
  // How long what comes is kept, each way.
  std::atomic<int> delay_ms = 0;

  uint64_t connections() const { return connections_; }
  // Connections that the agent has given up.
  uint64_t closed() const { return closed_; }
  uint64_t bytes_to_server() const { return bytes_to_server_; }

 private:
  void Run();

  const int target_port_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<uint64_t> connections_ = 0;
  std::atomic<uint64_t> closed_ = 0;
  std::atomic<uint64_t> bytes_to_server_ = 0;
  std::thread thread_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_DELIVERY_FAULTY_PROXY_H_
