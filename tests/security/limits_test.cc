// What a peer may take of the server, over a real port: what is above a limit
// is refused and told when to come back, and others do not notice.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/testing.h"
#include "tests/security/site.h"

namespace swaplock {
namespace {

using grpc::StatusCode;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A window that the schema allows and nobody can have measured.
Window Implausible(const std::string& host, uint64_t seq) {
  Window window = MakeWindow(host, seq);
  window.cells[0].acquisitions = 1'000'000'000'000;
  return window;
}

class LimitsTest : public ::testing::Test {
 protected:
  std::string Refused(const std::string& reason) {
    return site_.Metric(absl::StrCat("swaplock_streams_refused_total{reason=\"",
                                     reason, "\"}"));
  }

  Site site_;
};

TEST_F(LimitsTest, AHostThatSendsNonsenseIsSetAside) {
  site_.Start({});
  OpenStream stream(site_, {}, "bad");
  v1::ServerMessage answer;
  for (uint64_t seq = 1; seq <= 8; ++seq) {
    ASSERT_TRUE(stream.Send(Implausible("bad", seq), &answer));
    ASSERT_TRUE(answer.has_reject());
    EXPECT_EQ(answer.reject().retry_after_ms(), 0u);
  }
  EXPECT_FALSE(stream.Send(MakeWindow("bad", 9), &answer));
  const grpc::Status status = stream.Finish();
  EXPECT_EQ(status.error_code(), StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(status.error_message(), HasSubstr("set aside for 1h"));
  EXPECT_THAT(status.error_message(), HasSubstr("implausible: a cell counts"));
  const Attempt again = site_.Report({}, "bad");
  EXPECT_EQ(again.status.error_code(), StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(again.retry_after_ms, "3600000");

  EXPECT_EQ(site_.Metric("swaplock_hosts{state=\"quarantined\"}"), "1");
  EXPECT_EQ(Refused("quarantine"), "2");
  const std::string json = site_.Http("/api/v1/fleet");
  EXPECT_THAT(json, HasSubstr("\"quarantined\":[{\"host_id\":\"bad\""));
  EXPECT_TRUE(site_.Report({}, "good").acknowledged);
}

TEST_F(LimitsTest, StreamsInAllAndOfOneHost) {
  ServerOptions options;
  options.admission.streams = 5;
  options.admission.streams_per_host = 2;
  site_.Start(options);
  std::vector<std::unique_ptr<OpenStream>> open;
  const auto add = [&](const std::string& host) {
    open.push_back(std::make_unique<OpenStream>(site_, Shown(), host));
    return open.back()->welcomed();
  };
  EXPECT_TRUE(add("a"));
  EXPECT_TRUE(add("a"));
  EXPECT_EQ(site_.Metric("swaplock_hosts{state=\"several_streams\"}"), "1");
  Attempt attempt = site_.Report({}, "a");
  EXPECT_EQ(attempt.status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(attempt.status.error_message(), HasSubstr("used by several"));
  EXPECT_EQ(attempt.retry_after_ms, "30000");
  EXPECT_TRUE(add("b"));
  EXPECT_TRUE(add("c"));
  EXPECT_TRUE(add("d"));
  attempt = site_.Report({}, "e");
  EXPECT_EQ(attempt.status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Refused("streams"), "1");
  EXPECT_EQ(Refused("streams_of_host"), "1");
  // Those that are open work on.
  v1::ServerMessage answer;
  for (const auto& stream : open) {
    EXPECT_TRUE(stream->Send(MakeWindow("x", 1), &answer));
  }
}

TEST_F(LimitsTest, NewHostsAboveTheLimitAreRefusedAndOldOnesAreNot) {
  ServerOptions options;
  options.admission.hosts = 2;
  site_.Start(options);
  EXPECT_TRUE(site_.Report({}, "a").acknowledged);
  EXPECT_TRUE(site_.Report({}, "b").acknowledged);
  for (int i = 0; i < 20; ++i) {
    const Attempt attempt = site_.Report({}, absl::StrCat("new", i));
    EXPECT_EQ(attempt.status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(attempt.retry_after_ms, "600000");
  }
  EXPECT_TRUE(site_.Report({}, "a").acknowledged);
  EXPECT_EQ(site_.Metric("swaplock_hosts{state=\"seen\"}"), "2");
}

TEST_F(LimitsTest, AHostThatSendsTooFastIsAskedToWait) {
  ServerOptions options;
  options.admission.windows_per_second = 1e-3;
  options.admission.windows_at_once = 2;
  site_.Start(options);
  OpenStream stream(site_, {}, "a");
  v1::ServerMessage answer;
  EXPECT_TRUE(stream.Send(MakeWindow("a", 1), &answer));
  EXPECT_TRUE(answer.has_ack());
  EXPECT_TRUE(stream.Send(MakeWindow("a", 2), &answer));
  EXPECT_TRUE(answer.has_ack());
  EXPECT_TRUE(stream.Send(MakeWindow("a", 3), &answer));
  ASSERT_TRUE(answer.has_reject());
  EXPECT_THAT(answer.reject().reason(), StartsWith("too_fast: "));
  EXPECT_GT(answer.reject().retry_after_ms(), 0u);
  EXPECT_TRUE(site_.Report({}, "b").acknowledged);
  EXPECT_EQ(site_.Metric("swaplock_hosts{state=\"quarantined\"}"), "0");
}

TEST_F(LimitsTest, ConnectionsAboveTheLimitAreClosed) {
  ServerOptions options;
  options.accept.connections = 2;
  site_.Start(options);
  auto a = std::make_unique<OpenStream>(site_, Shown(), "a");
  const OpenStream b(site_, {}, "b");
  EXPECT_TRUE(a->welcomed());
  EXPECT_TRUE(b.welcomed());
  EXPECT_EQ(site_.Report({}, "c").status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(site_.Metric("swaplock_connections"), "2");
  EXPECT_EQ(site_.Metric("swaplock_connections_refused_total"), "1");
  a.reset();
  const absl::Time deadline = absl::Now() + absl::Minutes(1);
  bool welcomed = false;
  while (!welcomed && absl::Now() < deadline) {
    welcomed = site_.Report({}, "c").welcomed;
  }
  EXPECT_TRUE(welcomed);
}

TEST_F(LimitsTest, MessagesAreAtMostOneMebibyte) {
  site_.Start({});
  // Padding in a field that the schema does not have.
  const auto padded = [](size_t bytes) {
    v1::AgentMessage message;
    *message.mutable_window() = ToProto(MakeWindow("a", 1));
    auto* unknown = message.GetReflection()->MutableUnknownFields(&message);
    const size_t bare = message.ByteSizeLong() + 5;  // tag and length of it
    unknown->AddLengthDelimited(1000, std::string(bytes - bare, 'x'));
    EXPECT_EQ(message.ByteSizeLong(), bytes + 0u);
    return message;
  };
  const struct {
    size_t bytes;
    bool taken;
  } kCases[] = {{(1 << 20) - 1, true}, {1 << 20, true}, {(1 << 20) + 1, false}};
  for (const auto& test : kCases) {
    const auto stub = v1::Telemetry::NewStub(site_.Connect({}));
    grpc::ClientContext context;
    const auto stream = stub->Stream(&context);
    v1::AgentMessage hello;
    hello.mutable_hello()->set_protocol(1);
    hello.mutable_hello()->set_host_id("a");
    v1::ServerMessage answer;
    ASSERT_TRUE(stream->Write(hello) && stream->Read(&answer));
    stream->Write(padded(test.bytes));
    EXPECT_EQ(stream->Read(&answer), test.taken) << test.bytes;
    stream->WritesDone();
    EXPECT_EQ(stream->Finish().ok(), test.taken) << test.bytes;
  }
}

TEST_F(LimitsTest, LargeMetadataEndTheCallOnly) {
  site_.Start({});
  const OpenStream other(site_, {}, "b");
  const auto stub = v1::Telemetry::NewStub(site_.Connect({}));
  grpc::ClientContext context;
  context.AddMetadata("x-large", std::string(1 << 20, 'x'));
  const auto stream = stub->Stream(&context);
  EXPECT_FALSE(stream->Finish().ok());
  EXPECT_TRUE(other.welcomed());
  EXPECT_TRUE(site_.Report({}, "a").acknowledged);
}

// Sends bytes to the gRPC port and waits for its end of the connection.
void SendRaw(int port, const std::string& bytes) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address),
            0);
  timeval patience = {60, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  shutdown(fd, SHUT_WR);
  char buffer[4096];
  ssize_t got = 0;
  while ((got = read(fd, buffer, sizeof buffer)) > 0) {
  }
  // Closed or reset, not silent for a minute.
  EXPECT_TRUE(got == 0 || errno == ECONNRESET) << errno;
  close(fd);
}

TEST_F(LimitsTest, WhatIsNoGrpcIsClosed) {
  const TestAuthority authority;
  for (const bool tls : {false, true}) {
    if (tls) {
      site_.WriteServerFiles(authority.certificate(), authority.Server());
    }
    site_.Start(tls ? site_.TlsOptions() : ServerOptions());
    const Shown shown =
        tls ? Shown{authority.certificate(), authority.Host("a"), ""} : Shown();
    std::string noise;
    for (int i = 0; i < 20'000; ++i) {
      noise.push_back(static_cast<char>((i * 7919) >> 3));
    }
    for (const std::string& bytes :
         {std::string(), std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
          noise, std::string(100'000, '\0'),
          // An HTTP/2 preface and a frame longer than it says it may be.
          std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\x00", 28),
          // The beginning of a TLS handshake.
          std::string("\x16\x03\x01\x40\x00\x01\x00\x3f\xfc\x03\x03", 11)}) {
      SendRaw(site_.server().grpc_port(), bytes);
    }
    EXPECT_TRUE(site_.Report(shown, "a").acknowledged);
    site_.Stop();
  }
}

// Streams that are opened and reset at once, again and again.
TEST_F(LimitsTest, RapidResetsEndAndOthersGoOn) {
  site_.Start({});
  OpenStream other(site_, {}, "b");
  const auto channel = site_.Connect({});
  const auto stub = v1::Telemetry::NewStub(channel);
  for (int i = 0; i < 500; ++i) {
    grpc::ClientContext context;
    const auto stream = stub->Stream(&context);
    context.TryCancel();
    stream->Finish();
  }
  v1::ServerMessage answer;
  EXPECT_TRUE(other.Send(MakeWindow("b", 1), &answer));
  EXPECT_TRUE(answer.has_ack());
}

TEST_F(LimitsTest, ShutsDownInTimeWithManyStreamsOpen) {
  site_.Start({});
  std::vector<std::unique_ptr<OpenStream>> open;
  for (int i = 0; i < 200; ++i) {
    open.push_back(
        std::make_unique<OpenStream>(site_, Shown(), absl::StrCat("h", i)));
    ASSERT_TRUE(open.back()->welcomed());
  }
  site_.server().Shutdown(absl::Milliseconds(100));
  for (const auto& stream : open) EXPECT_FALSE(stream->Finish().ok());
}

}  // namespace
}  // namespace swaplock
