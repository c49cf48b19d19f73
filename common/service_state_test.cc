#include "common/service_state.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace swaplock {
namespace {

// A service manager's end of the socket.
class ServiceStateTest : public testing::Test {
 protected:
  ServiceStateTest() : socket_(socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    // In the abstract namespace: TEST_TMPDIR can be too long for a path.
    const std::string name = absl::StrCat("swaplock-state-", getpid());
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                          name.size())),
              0);
    setenv("NOTIFY_SOCKET", absl::StrCat("@", name).c_str(), 1);
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
  }
  ~ServiceStateTest() override { close(socket_); }

  // The next message, "" when there is none.
  std::string Told() const {
    char message[512];
    const ssize_t bytes = recv(socket_, message, sizeof(message), MSG_DONTWAIT);
    return bytes < 0 ? "" : std::string(message, static_cast<size_t>(bytes));
  }

 private:
  const int socket_;
};

TEST_F(ServiceStateTest, TellsBeginAndEnd) {
  NotifyReady("serves");
  NotifyStopping();
  EXPECT_EQ(Told(), "READY=1\nSTATUS=serves");
  EXPECT_EQ(Told(), "STOPPING=1\nSTATUS=ends");
}

TEST_F(ServiceStateTest, TellsNobodyWithoutASocket) {
  unsetenv("NOTIFY_SOCKET");
  NotifyReady("serves");
  EXPECT_EQ(Told(), "");
}

TEST_F(ServiceStateTest, NobodyWatches) {
  Watchdog watchdog;
  EXPECT_EQ(watchdog.period(), absl::InfiniteDuration());
  watchdog.Alive();
  EXPECT_EQ(Told(), "");
}

TEST_F(ServiceStateTest, AnotherProcessIsWatched) {
  setenv("WATCHDOG_USEC", "60000000", 1);
  setenv("WATCHDOG_PID", "1", 1);
  EXPECT_EQ(Watchdog().period(), absl::InfiniteDuration());
}

TEST_F(ServiceStateTest, AsksForMoreTimeOnceWhenMoreIsPlanned) {
  setenv("WATCHDOG_USEC", "60000000", 1);
  setenv("WATCHDOG_PID", absl::StrCat(getpid()).c_str(), 1);
  Watchdog watchdog;
  EXPECT_EQ(watchdog.period(), absl::Minutes(1));
  watchdog.Alive();
  EXPECT_EQ(Told(), "WATCHDOG=1");
  watchdog.Alive(absl::Seconds(10));
  EXPECT_EQ(Told(), "WATCHDOG=1\nWATCHDOG_USEC=70000000");
  watchdog.Alive(absl::Seconds(10));
  EXPECT_EQ(Told(), "WATCHDOG=1");
  watchdog.Alive();
  EXPECT_EQ(Told(), "WATCHDOG=1\nWATCHDOG_USEC=60000000");
}

}  // namespace
}  // namespace swaplock
