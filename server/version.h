// The server's version, as --version, /metrics and the page show it.
#ifndef SWAPLOCK_SERVER_VERSION_H_
#define SWAPLOCK_SERVER_VERSION_H_

namespace swaplock {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERSION_H_
