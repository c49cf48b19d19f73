// Where a server listens, as flags give it: "127.0.0.1:7788", "[::1]:0",
// "localhost:7787".
#ifndef SWAPLOCK_SERVER_LISTEN_ADDRESS_H_
#define SWAPLOCK_SERVER_LISTEN_ADDRESS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace swaplock {

struct ListenAddress {
  std::string host;  // a numeric IPv4 or IPv6 address
  bool is_ipv6 = false;
  uint16_t port = 0;  // 0: a free one

  // Only processes of this machine can reach it.
  bool IsLoopback() const;
  // "127.0.0.1:7788", "[::1]:7788"
  std::string ToString() const;
};

// "localhost" means 127.0.0.1; other names are refused, since what they resolve
// to may change.
absl::StatusOr<ListenAddress> ParseListenAddress(absl::string_view text);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_LISTEN_ADDRESS_H_
