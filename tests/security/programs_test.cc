// The programs themselves with certificates: what a person types, what it says
// and which exit status it has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/record_file.h"
#include "common/secret_file.h"
#include "common/testing.h"
#include "tests/end_to_end/child_process.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;

constexpr char kServer[] = "server/swaplock-server";
constexpr char kAgent[] = "agent/swaplock-agent";
constexpr char kCli[] = "cli/swaplock";
constexpr int kUsage = 2;
constexpr int kUnavailable = 69;
constexpr int kConfig = 78;

struct Ended {
  int status;
  std::string output;
};

class ProgramsTest : public ::testing::Test {
 protected:
  ProgramsTest() {
    std::string pattern = ::testing::TempDir() + "/programs.XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  std::string Path(const std::string& name) const {
    return absl::StrCat(folder_, "/", name);
  }
  std::string Log(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(Path(name)).rdbuf();
    return text.str();
  }
  Ended Run(const std::vector<std::string>& words) {
    const std::string name = absl::StrCat("output.", ++runs_);
    const int status = ChildProcess(words, Path(name)).Wait();
    return {status, Log(name)};
  }
  Ended Certs(std::vector<std::string> words) {
    words.insert(words.begin(), {kCli, "certs"});
    words.push_back(absl::StrCat("--dir=", folder_));
    return Run(words);
  }
  void MakeSite() {
    ASSERT_EQ(Certs({"ca"}).status, 0);
    ASSERT_EQ(Certs({"server", "127.0.0.1"}).status, 0);
    ASSERT_EQ(Certs({"host", "a"}).status, 0);
    ASSERT_EQ(Certs({"reader", "ops"}).status, 0);
  }
  std::vector<std::string> ServerWords(std::vector<std::string> more = {}) {
    std::vector<std::string> words = {
        kServer, absl::StrCat("--data_dir=", Path("data")),
        "--grpc_listen=127.0.0.1:0", "--http_listen=127.0.0.1:0",
        absl::StrCat("--port_file=", Path("ports"))};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::vector<std::string> Tls(const std::string& base) const {
    return {absl::StrCat("--tls_ca=", Path("ca.crt")),
            absl::StrCat("--tls_cert=", Path(base), ".crt"),
            absl::StrCat("--tls_key=", Path(base), ".key")};
  }
  void StartServer(const std::vector<std::string>& more) {
    server_ =
        std::make_unique<ChildProcess>(ServerWords(more), Path("server.log"));
    const absl::Time deadline = absl::Now() + absl::Minutes(1);
    while (server_->Running() && absl::Now() < deadline) {
      int http = 0;
      std::string line;
      std::ifstream file(Path("ports"));
      if (std::getline(file, line) &&
          std::sscanf(line.c_str(), "grpc=%d http=%d", &port_, &http) == 2) {
        return;
      }
      absl::SleepFor(absl::Milliseconds(5));
    }
    FAIL() << "the server does not serve\n" << Log("server.log");
  }
  Ended RunAgent(std::vector<std::string> more) {
    std::vector<std::string> words = {
        kAgent, absl::StrCat("--replay=", Path("a.slk")),
        absl::StrCat("--server=127.0.0.1:", port_)};
    words.insert(words.end(), more.begin(), more.end());
    return Run(words);
  }
  void Record(const std::string& host) {
    auto writer = RecordWriter::Open(Path("a.slk"));
    ASSERT_TRUE(writer.ok()) << writer.status();
    for (uint64_t seq = 1; seq <= 3; ++seq) {
      ASSERT_TRUE((*writer)->Append(MakeWindow(host, seq)).ok());
    }
  }

  std::string folder_;
  int runs_ = 0;
  int port_ = 0;
  std::unique_ptr<ChildProcess> server_;
};

TEST_F(ProgramsTest, ASiteFromItsCaToItsVerdicts) {
  MakeSite();
  Record("a");
  StartServer(Tls("server"));
  Ended agent = RunAgent(Tls("host-a"));
  EXPECT_EQ(agent.status, 0) << agent.output << Log("server.log");

  std::vector<std::string> ask = {kCli, "top", "--once",
                                  absl::StrCat("--server=127.0.0.1:", port_)};
  for (const std::string& word : Tls("reader-ops")) ask.push_back(word);
  const Ended top = Run(ask);
  EXPECT_EQ(top.status, 0) << top.output;
  EXPECT_THAT(top.output, HasSubstr("6.18.15"));
  ask.resize(4);
  EXPECT_EQ(Run(ask).status, kUnavailable);
  for (const std::string& word : Tls("host-a")) ask.push_back(word);
  EXPECT_THAT(Run(ask).output, HasSubstr("not of a reader"));

  server_->Signal(SIGTERM);
  EXPECT_EQ(server_->Wait(), 0) << Log("server.log");
}

TEST_F(ProgramsTest, AnAgentWithTheWrongPapersSaysSo) {
  MakeSite();
  Record("a");
  StartServer(Tls("server"));
  // Another name than the certificate's: at once.
  std::vector<std::string> words = Tls("host-a");
  words.push_back("--host_id=b");
  Ended agent = RunAgent(words);
  EXPECT_EQ(agent.status, kConfig);
  EXPECT_THAT(agent.output, HasSubstr("is of host a, but --host_id is b"));
  EXPECT_EQ(RunAgent(Tls("reader-ops")).status, kConfig);
  EXPECT_EQ(RunAgent(Tls("none")).status, kConfig);
  // Windows of another host than the certificate's: the server refuses.
  ASSERT_EQ(Certs({"host", "b"}).status, 0);
  words = Tls("host-b");
  words.push_back("--drain=20s");
  agent = RunAgent(words);
  EXPECT_EQ(agent.status, kUnavailable);
  EXPECT_THAT(Log("server.log"), HasSubstr("cannot speak for host a"));
  // A token to another machine in plaintext is not sent.
  ASSERT_TRUE(ReplaceFile(Path("token"), "0123456789abcdef\n", 0600).ok());
  agent = RunAgent({absl::StrCat("--token_file=", Path("token")),
                    "--server=192.0.2.1:7787"});
  EXPECT_EQ(agent.status, kConfig);
  EXPECT_THAT(agent.output, HasSubstr("in plaintext"));
}

TEST_F(ProgramsTest, TheServerRefusesWhatIsNotSafe) {
  MakeSite();
  ASSERT_TRUE(ReplaceFile(Path("tokens"), "a 0123456789abcdef\n", 0600).ok());
  const std::string tokens = absl::StrCat("--host_tokens=", Path("tokens"));
  const struct {
    std::vector<std::string> words;
    int status;
    const char* sentence;
  } kCases[] = {
      {{"--grpc_listen=0.0.0.0:0"}, kUsage, "connect in plaintext"},
      {{"--http_listen=[::]:0"}, kUsage, "connect in plaintext"},
      {{"--grpc_listen=0.0.0.0:0", "--insecure_non_loopback", tokens},
       kUsage,
       "--host_tokens would travel in plaintext"},
      {{"--tls_cert=x"}, kUsage, "come together"},
      {{"--trust_domain=A B"}, kUsage, "--trust_domain"},
      {{"--max_connections=0"}, kUsage, "--max_connections"},
      {{"--max_windows_per_second=nan"}, kUsage, "above 0"},
      {{"--reader_tokens=/nonexistent"}, kConfig, "/nonexistent"},
      {{"--hosts_file=/nonexistent"}, kConfig, "/nonexistent"},
      {{"--operators=/nonexistent"}, kConfig, "/nonexistent"},
      {{"--settings=/nonexistent"}, kConfig, "/nonexistent"},
      {{absl::StrCat("--settings=", Path("tokens"))}, kConfig, "line 1"},
  };
  for (const auto& test : kCases) {
    const Ended server = Run(ServerWords(test.words));
    EXPECT_EQ(server.status, test.status) << server.output;
    EXPECT_THAT(server.output, HasSubstr(test.sentence));
  }
  std::vector<std::string> words = Tls("server");
  words[2] = absl::StrCat("--tls_key=", Path("host-a.key"));
  Ended server = Run(ServerWords(words));
  EXPECT_EQ(server.status, kConfig);
  EXPECT_THAT(server.output, HasSubstr("not the key of the certificate"));
  ASSERT_EQ(chmod(Path("server.key").c_str(), 0644), 0);
  server = Run(ServerWords(Tls("server")));
  EXPECT_EQ(server.status, kConfig);
  EXPECT_THAT(server.output, HasSubstr("open to others"));
}

TEST_F(ProgramsTest, OnlyAnOperatorHasHisHostsMeasureCloser) {
  MakeSite();
  ASSERT_EQ(Certs({"operator", "ann"}).status, 0);
  ASSERT_TRUE(ReplaceFile(Path("operators"), "ann a web-*\n", 0644).ok());
  std::vector<std::string> more = Tls("server");
  more.push_back(absl::StrCat("--operators=", Path("operators")));
  StartServer(more);
  const auto ask = [this](std::vector<std::string> words,
                          const std::string& who) {
    words.insert(words.begin(), {kCli, "deep-dive"});
    words.push_back(absl::StrCat("--server=127.0.0.1:", port_));
    for (const std::string& word : Tls(who)) words.push_back(word);
    return Run(words);
  };
  const Ended done = ask({"web-1", "--interval=200ms"}, "operator-ann");
  EXPECT_EQ(done.status, 0) << done.output;
  EXPECT_THAT(done.output, HasSubstr("web-1 measures every 200ms for 10m"));
  EXPECT_EQ(ask({"web-1", "--end"}, "operator-ann").status, 0);
  const Ended other = ask({"db1"}, "operator-ann");
  EXPECT_EQ(other.status, kConfig);
  EXPECT_THAT(other.output, HasSubstr("is not one of operator ann"));
  EXPECT_EQ(ask({"a"}, "reader-ops").status, kConfig);
  EXPECT_EQ(ask({"a"}, "host-a").status, kConfig);
  EXPECT_EQ(ask({"a", "--lease=2h"}, "operator-ann").status, kUsage);
  EXPECT_EQ(ask({"a", "--top_k=65"}, "operator-ann").status, kUsage);
}

// With TLS other machines may come.
TEST_F(ProgramsTest, TlsListensOnEveryAddress) {
  MakeSite();
  std::vector<std::string> more = Tls("server");
  more.push_back("--grpc_listen=0.0.0.0:0");
  StartServer(more);
  Record("a");
  EXPECT_EQ(RunAgent(Tls("host-a")).status, 0) << Log("server.log");
}

}  // namespace
}  // namespace swaplock
