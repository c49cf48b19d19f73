// What the agent and the server tell the service manager that started them.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/record_file.h"
#include "common/testing.h"
#include "tests/end_to_end/child_process.h"

namespace swaplock {
namespace {

class NotifyTest : public testing::Test {
 protected:
  NotifyTest()
      : folder_(absl::StrCat(
            testing::TempDir(), "/",
            testing::UnitTest::GetInstance()->current_test_info()->name())),
        socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    EXPECT_EQ(system(absl::StrCat("mkdir -p ", folder_).c_str()), 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    // In the abstract namespace: a temporary folder can be too long for a path.
    const std::string name = absl::StrCat("swaplock-notify-", getpid());
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                          name.size())),
              0);
    setenv("NOTIFY_SOCKET", absl::StrCat("@", name).c_str(), 1);
    setenv("WATCHDOG_USEC", "200000", 1);
    unsetenv("WATCHDOG_PID");
  }
  ~NotifyTest() override { close(socket_); }

  std::string Path(const std::string& name) const {
    return absl::StrCat(folder_, "/", name);
  }

  // The next message that begins with `begin`; those before it are passed over.
  // "" when there is none for a minute.
  std::string Told(const std::string& begin) const {
    while (true) {
      pollfd readable = {socket_, POLLIN, 0};
      if (poll(&readable, 1, 60'000) != 1) return "";
      char message[512];
      const ssize_t bytes = recv(socket_, message, sizeof(message), 0);
      if (bytes < 0) return "";
      std::string told(message, static_cast<size_t>(bytes));
      if (absl::StartsWith(told, begin)) return told;
    }
  }

  const std::string folder_;
  const int socket_;
};

TEST_F(NotifyTest, TheServerIsReadyOnceItServesAndLives) {
  ChildProcess server(
      {"server/swaplock-server", absl::StrCat("--data_dir=", Path("data")),
       "--grpc_listen=127.0.0.1:0", "--http_listen=127.0.0.1:0"},
      Path("log"));
  EXPECT_TRUE(absl::StrContains(Told("READY=1"), "STATUS=gRPC on port "));
  // More than one: it goes on.
  EXPECT_EQ(Told("WATCHDOG=1"), "WATCHDOG=1");
  EXPECT_EQ(Told("WATCHDOG=1"), "WATCHDOG=1");
  server.Signal(SIGTERM);
  EXPECT_NE(Told("STOPPING=1"), "");
  EXPECT_EQ(server.Wait(), 0);
}

TEST_F(NotifyTest, TheAgentLivesWithEachWindowAndAsksForItsLength) {
  {
    auto writer = RecordWriter::Open(Path("life.slk"));
    ASSERT_TRUE(writer.ok()) << writer.status();
    for (uint64_t seq : {1, 2}) {
      ASSERT_TRUE((*writer)->Append(MakeWindow("host-a", seq)).ok());
    }
  }
  ChildProcess agent(
      {"agent/swaplock-agent", absl::StrCat("--replay=", Path("life.slk")),
       absl::StrCat("--state_dir=", Path("state")), "--interval=1h"},
      Path("log"));
  EXPECT_NE(Told("READY=1"), "");
  EXPECT_EQ(Told("WATCHDOG=1"), "WATCHDOG=1\nWATCHDOG_USEC=3600200000");
  EXPECT_EQ(Told("WATCHDOG=1"), "WATCHDOG=1");
  EXPECT_NE(Told("STOPPING=1"), "");
  EXPECT_EQ(agent.Wait(), 0);
}

TEST_F(NotifyTest, AnAgentThatCannotStartIsNotReady) {
  ChildProcess agent(
      {"agent/swaplock-agent", absl::StrCat("--replay=", Path("none.slk")),
       absl::StrCat("--state_dir=", Path("state"))},
      Path("log"));
  EXPECT_EQ(agent.Wait(), 78);
  char message[1];
  EXPECT_LT(recv(socket_, message, sizeof(message), MSG_DONTWAIT), 0);
}

}  // namespace
}  // namespace swaplock
