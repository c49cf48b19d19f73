#include "cli/record/agent_source.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/local_server.h"
#include "common/testing.h"

namespace swaplock {
namespace {

// The agent's end and the reader's, through a socket.
class AgentSourceTest : public testing::Test {
 protected:
  // A socket's path has at most 107 bytes; a test's folder may have more.
  AgentSourceTest()
      : folder_(mkdtemp(folder_template_)),
        path_(absl::StrCat(folder_, "/agent")),
        agent_cut_(*CutEvent::Create()),
        cut_(*CutEvent::Create()) {
    options_.address = absl::StrCat("unix:", path_);
    options_.agent_version = "1";
    options_.interval = absl::Seconds(10);
    options_.cut = agent_cut_.get();
  }
  ~AgentSourceTest() override {
    unlink(path_.c_str());
    rmdir(folder_.c_str());
  }

  std::unique_ptr<LocalServer> Serve() {
    auto server = LocalServer::Start(options_);
    EXPECT_TRUE(server.ok()) << server.status();
    return server.ok() ? *std::move(server) : nullptr;
  }
  std::unique_ptr<AgentSource> Watch() {
    auto source = AgentSource::Connect(options_.address, *cut_);
    EXPECT_TRUE(source.ok()) << source.status();
    return source.ok() ? *std::move(source) : nullptr;
  }

  char folder_template_[32] = "/tmp/swaplock-test-XXXXXX";
  const std::string folder_;
  const std::string path_;
  const std::unique_ptr<CutEvent> agent_cut_;  // what the agent is asked
  const std::unique_ptr<CutEvent> cut_;        // what the reader is asked
  LocalServer::Options options_;
};

TEST_F(AgentSourceTest, WindowsFromTheGreetingOn) {
  auto server = Serve();
  ASSERT_NE(server, nullptr);
  server->Publish(MakeWindow("here", 1));  // nobody watches
  auto source = Watch();
  ASSERT_NE(source, nullptr);
  EXPECT_EQ(source->interval(), absl::Seconds(10));
  server->Publish(MakeWindow("here", 2));
  server->Publish(MakeWindow("here", 3));
  for (const uint64_t seq : {2, 3}) {
    const auto window = source->Next();
    ASSERT_TRUE(window.ok()) << window.status();
    EXPECT_EQ(window->key.seq, seq);
    EXPECT_EQ(window->cells.size(), MakeWindow("here", seq).cells.size());
  }
  server.reset();
  EXPECT_TRUE(absl::IsOutOfRange(source->Next().status()));
}

TEST_F(AgentSourceTest, TheFirstWindowSaysWhatTheAgentKnows) {
  auto server = Serve();
  ASSERT_NE(server, nullptr);
  Window window = MakeWindow("here", 1);
  window.context = Context();
  window.context.complete = true;
  window.context.facts["kernel/option"] = "y";
  server->Publish(window);
  auto source = Watch();
  ASSERT_NE(source, nullptr);
  for (const uint64_t seq : {2, 3}) {
    window.key.seq = seq;
    window.context = Context();
    window.context.gauges["seq"] = seq;
    server->Publish(window);
  }
  auto first = source->Next();
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(first->context.complete);
  EXPECT_EQ(first->context.facts["kernel/option"], "y");
  EXPECT_EQ(first->context.gauges["seq"], 2u);
  auto second = source->Next();
  ASSERT_TRUE(second.ok());
  EXPECT_FALSE(second->context.complete);
  EXPECT_TRUE(second->context.facts.empty());
}

TEST_F(AgentSourceTest, ACutReachesTheAgent) {
  auto server = Serve();
  ASSERT_NE(server, nullptr);
  auto source = Watch();
  ASSERT_NE(source, nullptr);
  cut_->Request();
  server->Publish(MakeWindow("here", 1));
  ASSERT_TRUE(source->Next().ok());  // asks before it looks for a window
  EXPECT_TRUE(agent_cut_->Take());
}

TEST_F(AgentSourceTest, ARecordingCannotBeCut) {
  options_.cut = nullptr;
  auto server = Serve();
  ASSERT_NE(server, nullptr);
  auto source = Watch();
  ASSERT_NE(source, nullptr);
  cut_->Request();
  const auto window = source->Next();
  EXPECT_TRUE(absl::IsFailedPrecondition(window.status())) << window.status();
  EXPECT_TRUE(absl::StrContains(window.status().message(), "recording"));
}

TEST_F(AgentSourceTest, AReaderThatDoesNotReadIsGivenUp) {
  options_.most_behind = 4;
  auto server = Serve();
  ASSERT_NE(server, nullptr);
  auto source = Watch();
  ASSERT_NE(source, nullptr);
  // More than sockets and gRPC take on the way.
  Window window = MakeWindow("here", 1);
  window.coverage.not_measured.emplace_back(1 << 20, 'x');
  for (uint64_t seq = 1; seq <= 40; ++seq) {
    window.key.seq = seq;
    server->Publish(window);
  }
  uint64_t got = 0;
  absl::StatusOr<Window> next = source->Next();
  for (; next.ok(); next = source->Next()) EXPECT_EQ(next->key.seq, ++got);
  EXPECT_TRUE(absl::IsResourceExhausted(next.status())) << next.status();
  EXPECT_GE(got, options_.most_behind);
  EXPECT_LT(got, 40u);
  // The loss is named: the first window that is missing.
  EXPECT_TRUE(absl::StrContains(next.status().message(),
                                absl::StrCat("window ", got + 1, " and")))
      << next.status();
  // Others are not affected.
  auto other = Watch();
  ASSERT_NE(other, nullptr);
  server->Publish(MakeWindow("here", 41));
  EXPECT_TRUE(other->Next().ok());
}

TEST_F(AgentSourceTest, AReaderThatLeavesIsForgotten) {
  options_.most_watchers = 1;
  auto server = Serve();
  ASSERT_NE(server, nullptr);
  auto source = Watch();
  ASSERT_NE(source, nullptr);
  const auto turned_away = AgentSource::Connect(options_.address, *cut_);
  EXPECT_TRUE(absl::IsUnavailable(turned_away.status()));
  EXPECT_TRUE(absl::StrContains(turned_away.status().message(),
                                "1 programs watch already"))
      << turned_away.status();
  source.reset();
  // The agent hears of it soon, not at once.
  absl::StatusOr<std::unique_ptr<AgentSource>> again =
      AgentSource::Connect(options_.address, *cut_);
  while (!again.ok()) again = AgentSource::Connect(options_.address, *cut_);
}

TEST_F(AgentSourceTest, TheSocketIsItsUsersOnly) {
  auto server = Serve();
  ASSERT_NE(server, nullptr);
  struct stat s = {};
  ASSERT_EQ(lstat(path_.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 07777, 0600u);
  const auto second = LocalServer::Start(options_);
  EXPECT_TRUE(absl::IsFailedPrecondition(second.status())) << second.status();
  server.reset();
  EXPECT_NE(Serve(), nullptr);
}

TEST_F(AgentSourceTest, WhatCannotBeListenedOn) {
  options_.address = "127.0.0.1:0";
  EXPECT_TRUE(absl::IsInvalidArgument(LocalServer::Start(options_).status()));
  options_.address = absl::StrCat("unix:/", std::string(200, 'x'));
  EXPECT_TRUE(absl::IsInvalidArgument(LocalServer::Start(options_).status()));
  options_.address = "unix:/no/such/folder/agent";
  EXPECT_TRUE(
      absl::IsFailedPrecondition(LocalServer::Start(options_).status()));
  std::ofstream(path_) << "a file";
  options_.address = absl::StrCat("unix:", path_);
  EXPECT_TRUE(
      absl::IsFailedPrecondition(LocalServer::Start(options_).status()));
  EXPECT_EQ(access(path_.c_str(), F_OK), 0);
}

TEST_F(AgentSourceTest, NobodyListens) {
  const auto source = AgentSource::Connect(options_.address, *cut_);
  EXPECT_TRUE(absl::IsUnavailable(source.status())) << source.status();
  EXPECT_TRUE(absl::StrContains(source.status().message(), "--listen"));
  EXPECT_TRUE(absl::IsInvalidArgument(
      AgentSource::Connect("127.0.0.1:1", *cut_).status()));
}

}  // namespace
}  // namespace swaplock
