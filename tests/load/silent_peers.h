// Connections that say nothing. They close with this object.
#ifndef SWAPLOCK_TESTS_LOAD_SILENT_PEERS_H_
#define SWAPLOCK_TESTS_LOAD_SILENT_PEERS_H_

#include <cstddef>
#include <vector>

namespace swaplock {

class SilentPeers {
 public:
  // To 127.0.0.1; those that cannot connect are left out.
  SilentPeers(int port, size_t count);
  ~SilentPeers();
  SilentPeers(const SilentPeers&) = delete;
  SilentPeers& operator=(const SilentPeers&) = delete;

  size_t connected() const { return fds_.size(); }
  // Those that the server has not closed.
  size_t StillOpen() const;

 private:
  std::vector<int> fds_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_SILENT_PEERS_H_
