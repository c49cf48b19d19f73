// The whole server over its real ports: gRPC and HTTP on loopback, SQLite on
// disk, promtool on what /metrics says.
#include "server/server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/secret_file.h"
#include "common/testing.h"
#include "common/window.h"
#include "proto/admin.grpc.pb.h"
#include "proto/fleet.grpc.pb.h"
#include "proto/query.grpc.pb.h"
#include "proto/verdict_query.grpc.pb.h"
#include "server/ledger/sqlite_ledger.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string NewDirectory() {
  std::string path = ::testing::TempDir() + "/server-XXXXXX";
  return mkdtemp(path.data());
}

std::unique_ptr<Server> StartOn(std::unique_ptr<Ledger> ledger,
                                ServerOptions options = {}) {
  options.grpc_listen = *ParseListenAddress("127.0.0.1:0");
  options.http_listen = *ParseListenAddress("127.0.0.1:0");
  options.clock.wall = [] {
    return absl::FromUnixNanos(kTestUnixNs) + absl::Minutes(30);
  };
  auto server = Server::Start(std::move(ledger), std::move(options));
  EXPECT_TRUE(server.ok()) << server.status();
  return *std::move(server);
}

std::unique_ptr<Server> StartOn(const std::string& directory) {
  auto ledger = SqliteLedger::Open(directory);
  EXPECT_TRUE(ledger.ok()) << ledger.status();
  return StartOn(*std::move(ledger));
}

// A real ledger whose disk is full as long as the flag says so.
class FullDisk : public Ledger {
 public:
  FullDisk(std::unique_ptr<Ledger> real, const std::atomic<bool>* full)
      : real_(std::move(real)), full_(full) {}
  absl::StatusOr<std::vector<Outcome>> Commit(
      const std::vector<Window>& windows, absl::Time now) override {
    if (*full_) return absl::UnavailableError("disk is full");
    return real_->Commit(windows, now);
  }
  absl::StatusOr<FleetState> Load(absl::Time now) override {
    return real_->Load(now);
  }
  absl::StatusOr<std::unique_ptr<EvidenceReader>> OpenEvidence() override {
    return real_->OpenEvidence();
  }
  VerdictStore* verdicts() override { return real_->verdicts(); }
  QuarantineStore* quarantine() override { return real_->quarantine(); }

 private:
  const std::unique_ptr<Ledger> real_;
  const std::atomic<bool>* const full_;
};

std::shared_ptr<grpc::Channel> ChannelTo(const Server& server) {
  return grpc::CreateChannel(absl::StrCat("127.0.0.1:", server.grpc_port()),
                             grpc::InsecureChannelCredentials());
}

// One host's stream, as an agent drives it: one window in flight.
class Agent {
 public:
  Agent(const Server& server, const std::string& host, uint32_t protocol = 1)
      : stub_(v1::Telemetry::NewStub(ChannelTo(server))),
        stream_(stub_->Stream(&context_)) {
    v1::AgentMessage hello;
    hello.mutable_hello()->set_protocol(protocol);
    hello.mutable_hello()->set_host_id(host);
    welcome_ = Exchange(hello);
  }

  // An empty message when the server ended the stream.
  v1::ServerMessage Exchange(const v1::AgentMessage& message) {
    v1::ServerMessage answer;
    if (stream_->Write(message)) stream_->Read(&answer);
    return answer;
  }
  v1::ServerMessage Send(const Window& window) { return Send(ToProto(window)); }
  v1::ServerMessage Send(const v1::Window& window) {
    v1::AgentMessage message;
    *message.mutable_window() = window;
    return Exchange(message);
  }
  grpc::Status End() {
    stream_->WritesDone();
    return stream_->Finish();
  }
  const v1::ServerMessage& welcome() const { return welcome_; }
  // Blocks until the server says something or ends the stream.
  bool Read() {
    v1::ServerMessage message;
    return stream_->Read(&message);
  }
  v1::ServerMessage Said() {
    v1::ServerMessage message;
    stream_->Read(&message);
    return message;
  }
  grpc::Status Status() { return stream_->Finish(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::Telemetry::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AgentMessage, v1::ServerMessage>>
      stream_;
  v1::ServerMessage welcome_;
};

// The whole answer, header and all.
std::string Http(const Server& server, const std::string& method,
                 const std::string& path) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(server.http_port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address),
            0);
  const std::string request =
      absl::StrCat(method, " ", path, " HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(write(fd, request.data(), request.size()),
            static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(fd, buffer, sizeof buffer)) > 0;) {
    answer.append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  return answer;
}

// The sample lines of /metrics that describe the fleet's cells.
std::string CellLines(const Server& server) {
  std::string out;
  for (const absl::string_view line :
       absl::StrSplit(Http(server, "GET", "/metrics"), '\n')) {
    // By kind of CPU they count since the start.
    if (absl::StrContains(line, "subsystem=") &&
        !absl::StartsWith(line, "swaplock_hardware_")) {
      absl::StrAppend(&out, line, "\n");
    }
  }
  return out;
}

std::vector<std::string> PromtoolComplaints(const std::string& text) {
  const std::string base = ::testing::TempDir() + "/promtool";
  std::FILE* file = std::fopen((base + ".in").c_str(), "w");
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
  const int status = std::system(absl::StrCat("promtool check metrics < ", base,
                                              ".in > ", base, ".out 2>&1")
                                     .c_str());
  std::vector<std::string> out;
  std::FILE* result = std::fopen((base + ".out").c_str(), "r");
  char line[1024];
  while (std::fgets(line, sizeof line, result) != nullptr) out.push_back(line);
  std::fclose(result);
  if (status != 0 && out.empty()) out.push_back("promtool failed");
  return out;
}

TEST(ServerTest, AcksAWindowThatIsInTheMetrics) {
  const auto server = StartOn(NewDirectory());
  Agent agent(*server, "a");
  EXPECT_EQ(agent.welcome().welcome().protocol(), 1u);
  EXPECT_EQ(agent.welcome().welcome().credit(), 1u);
  const Window window = MakeWindow("a", 1);
  const v1::ServerMessage answer = agent.Send(window);
  ASSERT_TRUE(answer.has_ack()) << answer.ShortDebugString();
  EXPECT_EQ(answer.ack().boot_id(), window.key.boot_id);
  EXPECT_EQ(answer.ack().epoch(), 1u);
  EXPECT_EQ(answer.ack().seq(), 1u);
  EXPECT_FALSE(answer.ack().duplicate());
  EXPECT_THAT(CellLines(*server),
              HasSubstr("op=\"write\",role=\"stream\",mode=\"exclusive\","
                        "algorithm=\"zstd\",tier=\"exact\","
                        "wait_tier=\"contention\"} 3\n"));
  EXPECT_THAT(Http(*server, "GET", "/metrics"),
              HasSubstr("swaplock_hosts{state=\"connected\"} 1\n"));
  EXPECT_TRUE(agent.End().ok());
}

TEST(ServerTest, TotalsSurviveResendsAndARestart) {
  const std::string directory = NewDirectory();
  std::string before;
  {
    const auto server = StartOn(directory);
    for (const char* host : {"a", "b"}) {
      Agent agent(*server, host);
      for (uint64_t seq = 1; seq <= 5; ++seq) {
        EXPECT_FALSE(agent.Send(MakeWindow(host, seq)).ack().duplicate());
      }
      EXPECT_TRUE(agent.Send(MakeWindow(host, 3)).ack().duplicate());
    }
    before = CellLines(*server);
    EXPECT_THAT(before, HasSubstr("} 30\n"));  // 2 hosts x 5 windows x 3 holds
  }
  const auto server = StartOn(directory);
  EXPECT_EQ(CellLines(*server), before);
  Agent agent(*server, "a");
  for (uint64_t seq = 1; seq <= 5; ++seq) {
    EXPECT_TRUE(agent.Send(MakeWindow("a", seq)).ack().duplicate());
  }
  EXPECT_EQ(CellLines(*server), before);
  const std::string text = Http(*server, "GET", "/metrics");
  EXPECT_THAT(text, HasSubstr("swaplock_windows_total{result=\"merged\"} 10"));
  EXPECT_THAT(text,
              HasSubstr("swaplock_windows_total{result=\"duplicate\"} 7"));
  EXPECT_THAT(text, HasSubstr("swaplock_windows_missing_total 0\n"));
}

TEST(ServerTest, ManyHostsAtOnceLoseAndDoubleNothing) {
  const auto server = StartOn(NewDirectory());
  std::vector<std::thread> hosts;
  hosts.reserve(16);
  for (int i = 0; i < 16; ++i) {
    hosts.emplace_back([&server, i] {
      const std::string host = absl::StrCat("h", i);
      Agent agent(*server, host);
      for (uint64_t seq = 1; seq <= 10; ++seq) {
        EXPECT_TRUE(agent.Send(MakeWindow(host, seq)).has_ack());
        EXPECT_TRUE(agent.Send(MakeWindow(host, seq)).ack().duplicate());
      }
    });
  }
  for (std::thread& host : hosts) host.join();
  const std::string text = Http(*server, "GET", "/metrics");
  EXPECT_THAT(text, HasSubstr("swaplock_windows_total{result=\"merged\"} 160"));
  EXPECT_THAT(CellLines(*server), HasSubstr("} 480\n"));
  EXPECT_THAT(text, HasSubstr("swaplock_hosts{state=\"seen\"} 16\n"));
}

TEST(ServerTest, RejectsForGoodWhatCannotBeTaken) {
  const auto server = StartOn(NewDirectory());
  Agent agent(*server, "a");
  v1::ServerMessage answer = agent.Send(MakeWindow("b", 1));
  ASSERT_TRUE(answer.has_reject()) << answer.ShortDebugString();
  EXPECT_THAT(answer.reject().reason(), StartsWith("wrong_host: "));
  EXPECT_EQ(answer.reject().retry_after_ms(), 0u);
  EXPECT_EQ(answer.reject().seq(), 1u);

  v1::Window broken = ToProto(MakeWindow("a", 2));
  broken.mutable_cells(0)->mutable_hold()->set_count(99);
  answer = agent.Send(broken);
  EXPECT_THAT(answer.reject().reason(), StartsWith("malformed: "));

  // The stream goes on, and nothing of the two was counted.
  EXPECT_TRUE(agent.Send(MakeWindow("a", 1)).has_ack());
  const std::string text = Http(*server, "GET", "/metrics");
  EXPECT_THAT(text, HasSubstr("swaplock_windows_total{result=\"merged\"} 1"));
  EXPECT_THAT(text, HasSubstr("swaplock_windows_total{result=\"rejected\"} 2"));
  EXPECT_THAT(
      text,
      HasSubstr("swaplock_windows_rejected_total{reason=\"wrong_host\"} 1"));
  EXPECT_THAT(text, Not(HasSubstr("kernel=\"b\"")));
}

TEST(ServerTest, AsksForAWindowAgainWhenTheLedgerCannotCommit) {
  std::atomic<bool> full = true;
  auto ledger = SqliteLedger::Open(NewDirectory());
  ASSERT_TRUE(ledger.ok()) << ledger.status();
  const auto server =
      StartOn(std::make_unique<FullDisk>(*std::move(ledger), &full));
  Agent agent(*server, "a");
  const v1::ServerMessage answer = agent.Send(MakeWindow("a", 1));
  ASSERT_TRUE(answer.has_reject()) << answer.ShortDebugString();
  EXPECT_THAT(answer.reject().reason(), StartsWith("storage: "));
  EXPECT_GT(answer.reject().retry_after_ms(), 0u);
  EXPECT_THAT(Http(*server, "GET", "/readyz"), StartsWith("HTTP/1.1 503 "));
  EXPECT_EQ(CellLines(*server), "");

  full = false;
  const v1::ServerMessage again = agent.Send(MakeWindow("a", 1));
  ASSERT_TRUE(again.has_ack()) << again.ShortDebugString();
  EXPECT_FALSE(again.ack().duplicate());
  EXPECT_THAT(Http(*server, "GET", "/readyz"), StartsWith("HTTP/1.1 200 "));
}

TEST(ServerTest, EndsStreamsThatDoNotKeepToTheProtocol) {
  const auto server = StartOn(NewDirectory());
  Agent too_old(*server, "a", /*protocol=*/0);
  EXPECT_FALSE(too_old.welcome().has_welcome());
  EXPECT_EQ(too_old.Status().error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  Agent nameless(*server, "");
  EXPECT_EQ(nameless.Status().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  Agent newer(*server, "a", /*protocol=*/9);
  EXPECT_EQ(newer.welcome().welcome().protocol(), 1u);
  v1::AgentMessage second;
  second.mutable_hello()->set_protocol(1);
  second.mutable_hello()->set_host_id("a");
  newer.Exchange(second);
  EXPECT_EQ(newer.Status().error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

// Streams that were told to end before their window was answered.
TEST(ServerTest, CancelledStreamsLeaveTheServerWhole) {
  const auto server = StartOn(NewDirectory());
  const auto stub = v1::Telemetry::NewStub(ChannelTo(*server));
  for (int i = 0; i < 50; ++i) {
    grpc::ClientContext context;
    const auto stream = stub->Stream(&context);
    v1::AgentMessage message;
    message.mutable_hello()->set_protocol(1);
    message.mutable_hello()->set_host_id("a");
    stream->Write(message);
    *message.mutable_window() =
        ToProto(MakeWindow("a", static_cast<uint64_t>(i) + 1));
    stream->Write(message);
    context.TryCancel();
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  // While the server still ends the last of them, a further stream is one too
  // many of this host: it comes again, as an agent does.
  const absl::Time deadline = absl::Now() + absl::Seconds(60);
  grpc::Status refused;
  while (absl::Now() < deadline) {
    Agent agent(*server, "a");
    if (agent.Send(MakeWindow("a", 51)).has_ack()) return;
    refused = agent.Status();
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED)
        << refused.error_message();
  }
  FAIL() << "still refused: " << refused.error_message();
}

TEST(ServerTest, ShutsDownWithStreamsOpen) {
  auto server = StartOn(NewDirectory());
  std::vector<std::unique_ptr<Agent>> agents;
  for (int i = 0; i < 100; ++i) {
    agents.push_back(std::make_unique<Agent>(*server, absl::StrCat("h", i)));
    ASSERT_TRUE(agents.back()->welcome().has_welcome());
  }
  server->Shutdown(absl::Milliseconds(10));
  for (const auto& agent : agents) {
    // It may still have been asked to come anew.
    while (agent->Said().has_reconnect()) {
    }
    EXPECT_FALSE(agent->Status().ok());
  }
  server.reset();
}

TEST(ServerTest, MetricsPassPromtool) {
  if (std::system("command -v promtool > /dev/null") != 0) {
    GTEST_SKIP() << "promtool (package prometheus) is not installed";
  }
  const auto server = StartOn(NewDirectory());
  {
    Agent a(*server, "a");
    EXPECT_TRUE(a.Send(MakeWindow("a", 1, "6.12.57")).has_ack());
    Window probe_only = MakeWindow("a", 2, "6.18.15");
    probe_only.cells[1].hold_tier = Tier::kOwnerProbe;
    EXPECT_TRUE(a.Send(probe_only).has_ack());
    EXPECT_TRUE(a.Send(MakeWindow("b", 3)).has_reject());
  }
  const std::string answer = Http(*server, "GET", "/metrics");
  const std::string text = answer.substr(answer.find("\r\n\r\n") + 4);
  EXPECT_THAT(text, HasSubstr("process_resident_memory_bytes"));
  EXPECT_EQ(PromtoolComplaints(text), std::vector<std::string>());
  EXPECT_NE(PromtoolComplaints("swaplock_x{a=\"1\" 1\n"),
            std::vector<std::string>());
}

TEST(ServerTest, AnswersHttp) {
  const auto server = StartOn(NewDirectory());
  Agent agent(*server, "<b>host</b>");
  Window window = MakeWindow("<b>host</b>", 1);
  window.top_holds[0].comm = "<script>";
  EXPECT_TRUE(agent.Send(window).has_ack());

  EXPECT_THAT(Http(*server, "GET", "/healthz"), HasSubstr("\r\n\r\nok\n"));
  EXPECT_THAT(Http(*server, "GET", "/readyz"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Http(*server, "GET", "/nothing"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Http(*server, "POST", "/metrics"), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(Http(*server, "GET", "/../../etc/passwd"),
              Not(HasSubstr("root:")));

  const std::string page = Http(*server, "GET", "/");
  EXPECT_THAT(page, HasSubstr("Content-Type: text/html; charset=utf-8\r\n"));
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;host&lt;/b&gt;"));
  const std::string holds = Http(*server, "GET", "/holds");
  EXPECT_THAT(holds, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(holds, Not(HasSubstr("<script>")));
  EXPECT_THAT(Http(*server, "GET", "/coverage"),
              HasSubstr("zswap: attach fexit/zswap_store: EINVAL"));
  EXPECT_THAT(Http(*server, "GET", "/assets/charts.js"),
              HasSubstr("Content-Type: text/javascript"));

  for (const char* path : {"/", "/kernels", "/verdicts", "/pipeline",
                           "/assets/page.css", "/metrics", "/api/v1/fleet"}) {
    const std::string head = Http(*server, "HEAD", path);
    EXPECT_THAT(head, StartsWith("HTTP/1.1 200 ")) << path;
    EXPECT_THAT(head, HasSubstr("Content-Length: ")) << path;
    EXPECT_TRUE(absl::EndsWith(head, "\r\n\r\n")) << path;
  }
  EXPECT_THAT(Http(*server, "GET", "/api/v1/fleet?kernel=6.18.15"),
              HasSubstr("\"kernel_release\":\"6.18.15\""));
  EXPECT_THAT(Http(*server, "GET", "/api/v1/fleet?kernel=6%2E12"),
              Not(HasSubstr("6.18.15")));
  EXPECT_THAT(Http(*server, "GET", "/api/v1/verdicts"),
              HasSubstr("{\"verdicts\":[],\"incidents\":[]"));
}

// What the host said last of the moment: over gRPC, as JSON and on its page.
TEST(ServerTest, AnswersWhatHostsAreDoingNow) {
  const auto server = StartOn(NewDirectory());
  Agent agent(*server, "a");
  Window window = MakeWindow("a", 180);  // its end is now
  window.holds_in_progress = window.top_holds;
  window.holds_in_progress[0].comm = "stuck";
  window.context.complete = true;
  window.context.gauges["zswap/pool_bytes"] = 4096;
  window.context.facts["zswap/compressor"] = "lzo";
  ASSERT_TRUE(agent.Send(window).has_ack());

  const auto stub = v1::Query::NewStub(ChannelTo(*server));
  const auto ask = [&stub](const v1::GetFleetRequest& request) {
    grpc::ClientContext context;
    v1::Fleet fleet;
    EXPECT_TRUE(stub->GetFleet(&context, request, &fleet).ok());
    return fleet;
  };
  v1::GetFleetRequest request;
  v1::Fleet fleet = ask(request);
  ASSERT_EQ(fleet.holds_in_progress_size(), 1);
  EXPECT_EQ(fleet.holds_in_progress(0).host_id(), "a");
  EXPECT_EQ(fleet.holds_in_progress(0).hold().comm(), "stuck");
  EXPECT_EQ(fleet.holds_in_progress(0).key().device(), "zram0");
  EXPECT_EQ(fleet.holds_in_progress(0).as_of_unix_ns(), window.end_unix_ns);
  EXPECT_EQ(fleet.hosts(0).environment().swap_backend(), "zram");
  EXPECT_FALSE(fleet.hosts(0).has_context());
  request.set_with_context(true);
  fleet = ask(request);
  EXPECT_TRUE(fleet.hosts(0).context().complete());
  EXPECT_EQ(fleet.hosts(0).context().gauges().at("zswap/pool_bytes"), 4096u);
  EXPECT_EQ(fleet.hosts(0).context_unix_ns(), window.end_unix_ns);
  request.set_host_id("b");
  fleet = ask(request);
  EXPECT_EQ(fleet.hosts_size(), 0);
  EXPECT_EQ(fleet.top_holds_size(), 0);
  EXPECT_EQ(fleet.holds_in_progress_size(), 0);

  EXPECT_THAT(Http(*server, "GET", "/api/v1/fleet?context=1"),
              HasSubstr("\"zswap/compressor\":\"lzo\""));
  EXPECT_THAT(Http(*server, "GET", "/api/v1/fleet"),
              Not(HasSubstr("zswap/compressor")));
  EXPECT_THAT(Http(*server, "GET", "/host?id=a"), HasSubstr("compressor lzo"));
  EXPECT_THAT(Http(*server, "GET", "/host?id=b"), StartsWith("HTTP/1.1 404 "));

  // The host's next window has none of it.
  ASSERT_TRUE(agent.Send(MakeWindow("a", 181)).has_ack());
  EXPECT_EQ(ask({}).holds_in_progress_size(), 0);
}

// Calls a method with the bytes of one message; the answer's bytes.
std::string Call(const Server& server, const std::string& method,
                 const std::string& request) {
  grpc::GenericStub stub(ChannelTo(server));
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const grpc::Slice slice(request);
  const auto call = stub.PrepareUnaryCall(&context, method,
                                          grpc::ByteBuffer(&slice, 1), &queue);
  call->StartCall();
  grpc::ByteBuffer reply;
  grpc::Status status;
  call->Finish(&reply, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  EXPECT_TRUE(queue.Next(&tag, &ok));
  EXPECT_TRUE(status.ok()) << method << ": " << status.error_message();
  std::vector<grpc::Slice> slices;
  if (status.ok()) {
    EXPECT_TRUE(reply.Dump(&slices).ok());
  }
  std::string bytes;
  for (const grpc::Slice& part : slices) {
    bytes.append(reinterpret_cast<const char*>(part.begin()), part.size());
  }
  return bytes;
}

// grpc.health.v1.HealthCheckResponse: field 1, the status, is 1 for SERVING.
TEST(ServerTest, HealthServiceSaysServing) {
  const auto server = StartOn(NewDirectory());
  EXPECT_EQ(Call(*server, "/grpc.health.v1.Health/Check", ""), "\x08\x01");
}

TEST(ServerTest, ReflectionListsTheServices) {
  const auto server = StartOn(NewDirectory());
  const auto* factory = google::protobuf::MessageFactory::generated_factory();
  const auto* pool = google::protobuf::DescriptorPool::generated_pool();
  const auto make = [&](const char* name) {
    const auto* type = pool->FindMessageTypeByName(
        absl::StrCat("grpc.reflection.v1alpha.", name));
    return std::unique_ptr<google::protobuf::Message>(
        const_cast<google::protobuf::MessageFactory*>(factory)
            ->GetPrototype(type)
            ->New());
  };
  const auto request = make("ServerReflectionRequest");
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "list_services: '*'", request.get()));
  const auto reply = make("ServerReflectionResponse");
  ASSERT_TRUE(reply->ParseFromString(Call(
      *server, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
      request->SerializeAsString())));
  const std::string text = reply->ShortDebugString();
  for (const char* service : {"swaplock.v1.Telemetry", "swaplock.v1.Query",
                              "grpc.health.v1.Health"}) {
    EXPECT_THAT(text, HasSubstr(absl::StrCat("name: \"", service, "\"")));
  }
}

TEST(ServerTest, AnswersQueries) {
  const auto server = StartOn(NewDirectory());
  for (int i = 0; i < 9; ++i) {
    for (const char* kernel : {"6.12.57", "6.18.15"}) {
      const std::string host = absl::StrCat(kernel, "-", i);
      Agent agent(*server, host);
      ASSERT_TRUE(agent.Send(MakeWindow(host, 1, kernel)).has_ack());
    }
  }
  const auto stub = v1::Query::NewStub(ChannelTo(*server));
  grpc::ClientContext context;
  v1::GetFleetRequest request;
  request.set_kernel_release("6.18.15");
  v1::Fleet fleet;
  ASSERT_TRUE(stub->GetFleet(&context, request, &fleet).ok());
  EXPECT_EQ(fleet.hosts_size(), 9);
  ASSERT_EQ(fleet.cohorts_size(), 1);
  EXPECT_EQ(fleet.cohorts(0).hosts(), 9u);
  EXPECT_EQ(fleet.cohorts(0).windows(), 9u);
  EXPECT_EQ(fleet.cohorts(0).cells_size(), 2);
  EXPECT_EQ(fleet.top_holds_size(), 9);
  EXPECT_EQ(fleet.top_holds(0).hold().runnable_ns(), 10'000'000u);
}

TEST(ServerTest, ShowsVerdictsEverywhere) {
  const auto server = StartOn(NewDirectory());
  ASSERT_TRUE(server->RefreshVerdicts().ok());
  EXPECT_THAT(Http(*server, "GET", "/verdicts"), HasSubstr("None yet."));
  EXPECT_THAT(Http(*server, "GET", "/verdict?id=1"),
              StartsWith("HTTP/1.1 404"));
  const auto stub = v1::Verdicts::NewStub(ChannelTo(*server));
  grpc::ClientContext context;
  v1::VerdictBook book;
  ASSERT_TRUE(stub->ListVerdicts(&context, {}, &book).ok());
  EXPECT_EQ(book.verdicts_size(), 0);
}

TEST(ServerTest, RefusesAPortThatIsTaken) {
  const auto first = StartOn(NewDirectory());
  ServerOptions options;
  options.grpc_listen =
      *ParseListenAddress(absl::StrCat("127.0.0.1:", first->grpc_port()));
  options.http_listen = *ParseListenAddress("127.0.0.1:0");
  auto ledger = SqliteLedger::Open(NewDirectory());
  ASSERT_TRUE(ledger.ok());
  EXPECT_EQ(Server::Start(*std::move(ledger), options).status().code(),
            absl::StatusCode::kUnavailable);
  ledger = SqliteLedger::Open(NewDirectory());
  ASSERT_TRUE(ledger.ok());
  options.grpc_listen.port = 0;
  options.http_listen.port = static_cast<uint16_t>(first->http_port());
  EXPECT_EQ(Server::Start(*std::move(ledger), options).status().code(),
            absl::StatusCode::kUnavailable);
}

grpc::Status AskForDeepDive(const Server& server, const std::string& host,
                            const std::string& token,
                            uint32_t interval_ms = 200) {
  grpc::ClientContext context;
  if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
  v1::DeepDiveRequest request;
  request.set_host_id(host);
  request.set_interval_ms(interval_ms);
  request.set_lease_ms(60'000);
  v1::DeepDiveReply reply;
  return v1::Admin::NewStub(ChannelTo(server))
      ->DeepDive(&context, request, &reply);
}

TEST(ServerTest, HostsAreToldTheSettingsOfTheFileAndOneOfThemMeasuresCloser) {
  const std::string directory = NewDirectory();
  ServerOptions options;
  options.settings_file = directory + "/settings";
  options.access.operators_file = directory + "/operators";
  options.access.operator_tokens = directory + "/tokens";
  ASSERT_TRUE(
      ReplaceFile(options.settings_file, "interval_ms: 5000", 0644).ok());
  ASSERT_TRUE(
      ReplaceFile(options.access.operators_file, "ann a web-*\n", 0644).ok());
  ASSERT_TRUE(ReplaceFile(options.access.operator_tokens,
                          "ann aaaaaaaaaaaaaaaa-9\n", 0600)
                  .ok());
  const auto server = StartOn(*SqliteLedger::Open(directory), options);
  Agent agent(*server, "a");
  EXPECT_TRUE(agent.welcome().has_welcome());
  EXPECT_EQ(agent.Said().settings().interval_ms(), 5'000u);

  EXPECT_EQ(AskForDeepDive(*server, "a", "").error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(AskForDeepDive(*server, "b", "aaaaaaaaaaaaaaaa-9").error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(AskForDeepDive(*server, "a", "aaaaaaaaaaaaaaaa-9", 7).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  const grpc::Status done = AskForDeepDive(*server, "a", "aaaaaaaaaaaaaaaa-9");
  ASSERT_TRUE(done.ok()) << done.error_message();
  EXPECT_EQ(agent.Said().settings().interval_ms(), 5'000u);
  const v1::ServerMessage closer = agent.Said();
  EXPECT_EQ(closer.settings().interval_ms(), 200u);
  EXPECT_GT(closer.settings().lease_ms(), 0u);
  EXPECT_TRUE(agent.Send(MakeWindow("a", 1)).has_ack());

  ASSERT_TRUE(ReplaceFile(options.settings_file, "interval_ms: x", 0644).ok());
  EXPECT_FALSE(server->ReadSettingsIfChanged().ok());
  EXPECT_TRUE(agent.Send(MakeWindow("a", 2)).has_ack());
  EXPECT_TRUE(agent.End().ok());
}

TEST(ServerTest, AHostThatIsSetAsideStaysSoOverARestartUntilItIsReleased) {
  const std::string directory = NewDirectory();
  ServerOptions options;
  options.access.operators_file = directory + "/operators";
  options.access.operator_tokens = directory + "/tokens";
  ASSERT_TRUE(ReplaceFile(options.access.operators_file, "ann a\n", 0644).ok());
  ASSERT_TRUE(ReplaceFile(options.access.operator_tokens,
                          "ann aaaaaaaaaaaaaaaa-9\n", 0600)
                  .ok());
  {
    const auto server = StartOn(*SqliteLedger::Open(directory), options);
    Agent agent(*server, "a");
    Window bad = MakeWindow("a", 1);
    bad.environment.preempt = std::string(17, 'x');
    for (int i = 0; i < Quarantine::kRefusals; ++i) {
      EXPECT_TRUE(agent.Send(bad).has_reject());
    }
  }
  const auto server = StartOn(*SqliteLedger::Open(directory), options);
  {
    Agent agent(*server, "a");
    const grpc::Status status = agent.End();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
    EXPECT_THAT(status.error_message(), HasSubstr("is set aside for "));
  }
  const auto release = [&server](const std::string& host,
                                 const std::string& token,
                                 v1::ReleaseReply* reply) {
    grpc::ClientContext context;
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    v1::ReleaseRequest request;
    request.set_host_id(host);
    return v1::Admin::NewStub(ChannelTo(*server))
        ->Release(&context, request, reply);
  };
  v1::ReleaseReply reply;
  EXPECT_EQ(release("a", "", &reply).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(release("b", "aaaaaaaaaaaaaaaa-9", &reply).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  ASSERT_TRUE(release("a", "aaaaaaaaaaaaaaaa-9", &reply).ok());
  EXPECT_TRUE(reply.was_set_aside());
  ASSERT_TRUE(release("a", "aaaaaaaaaaaaaaaa-9", &reply).ok());
  EXPECT_FALSE(reply.was_set_aside());
  Agent agent(*server, "a");
  EXPECT_TRUE(agent.Send(MakeWindow("a", 1)).has_ack());
  EXPECT_TRUE(agent.End().ok());
  EXPECT_TRUE((*SqliteLedger::Open(NewDirectory()))
                  ->quarantine()
                  ->LoadQuarantine()
                  ->empty());
}

TEST(ServerTest, OnShutdownHostsAreAskedToComeAnewOneAfterTheOther) {
  const auto server = StartOn(NewDirectory());
  Agent agent(*server, "a");
  std::thread shutdown([&server] { server->Shutdown(absl::Seconds(20)); });
  EXPECT_EQ(agent.Said().reconnect().within_ms(), 1'000u);
  EXPECT_TRUE(agent.End().ok());
  shutdown.join();
}

}  // namespace
}  // namespace swaplock
