#include "tests/security/site.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "common/secret_file.h"
#include "common/spiffe_id.h"
#include "common/testing.h"
#include "proto/query.grpc.pb.h"
#include "server/ledger/sqlite_ledger.h"

namespace swaplock {
namespace {

std::string NewFolder() {
  std::string pattern = ::testing::TempDir() + "/site.XXXXXX";
  return mkdtemp(pattern.data());
}

void Prepare(const Shown& shown, grpc::ClientContext* context) {
  // A test that hangs says less than one that fails.
  context->set_deadline(std::chrono::system_clock::now() +
                        std::chrono::seconds(60));
  if (!shown.token.empty()) {
    context->AddMetadata("authorization", absl::StrCat("Bearer ", shown.token));
  }
}

CertificateMaker NewMaker() {
  auto maker = CertificateMaker::NewAuthority(
      "test CA", absl::Now() - absl::Hours(1), absl::Now() + absl::Hours(1));
  EXPECT_TRUE(maker.ok()) << maker.status();
  return *std::move(maker);
}

}  // namespace

CertificateRequest ClientRequest(std::vector<std::string> uris) {
  CertificateRequest request;
  request.common_name = "test";
  request.uris = std::move(uris);
  request.client = true;
  request.not_before = absl::Now() - absl::Hours(1);
  request.not_after = absl::Now() + absl::Hours(1);
  return request;
}

TestAuthority::TestAuthority() : maker_(NewMaker()) {}

KeyPair TestAuthority::Issue(const CertificateRequest& request) const {
  auto pair = maker_.Issue(request);
  EXPECT_TRUE(pair.ok()) << pair.status();
  return *std::move(pair);
}

KeyPair TestAuthority::Host(const std::string& id) const {
  return Issue(
      ClientRequest({SpiffeId{"swaplock", PeerKind::kHost, id}.ToString()}));
}

KeyPair TestAuthority::Reader(const std::string& name) const {
  return Issue(ClientRequest(
      {SpiffeId{"swaplock", PeerKind::kReader, name}.ToString()}));
}

KeyPair TestAuthority::Server() const {
  CertificateRequest request = ClientRequest({});
  request.client = false;
  request.server = true;
  request.addresses = {"127.0.0.1"};
  return Issue(request);
}

Site::Site() : folder_(NewFolder()) {}

void Site::WriteServerFiles(const std::string& ca, const KeyPair& pair) {
  ASSERT_TRUE(ReplaceFile(Path("ca.crt"), ca, 0644).ok());
  ASSERT_TRUE(ReplaceFile(Path("server.key"), pair.key, 0600).ok());
  ASSERT_TRUE(ReplaceFile(Path("server.crt"), pair.certificate, 0644).ok());
}

ServerOptions Site::TlsOptions() const {
  ServerOptions options;
  options.tls.files = {Path("ca.crt"), Path("server.crt"), Path("server.key")};
  return options;
}

void Site::Start(ServerOptions options) {
  options.grpc_listen = *ParseListenAddress("127.0.0.1:0");
  options.http_listen = *ParseListenAddress("127.0.0.1:0");
  options.clock.wall = [] {
    return absl::FromUnixNanos(kTestUnixNs) + absl::Minutes(30);
  };
  auto ledger = SqliteLedger::Open(Path("data"));
  ASSERT_TRUE(ledger.ok()) << ledger.status();
  auto server = Server::Start(*std::move(ledger), std::move(options));
  ASSERT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
}

std::shared_ptr<grpc::Channel> Site::Connect(const Shown& shown) const {
  grpc::ChannelArguments args;
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  args.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  std::shared_ptr<grpc::ChannelCredentials> credentials =
      grpc::InsecureChannelCredentials();
  if (!shown.ca.empty()) {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = shown.ca;
    options.pem_cert_chain = shown.pair.certificate;
    options.pem_private_key = shown.pair.key;
    credentials = grpc::SslCredentials(options);
  }
  return grpc::CreateCustomChannel(
      absl::StrCat("127.0.0.1:", server_->grpc_port()), credentials, args);
}

Attempt Site::Report(const Shown& shown, const std::string& host,
                     const std::string& sends) const {
  const auto stub = v1::Telemetry::NewStub(Connect(shown));
  grpc::ClientContext context;
  Prepare(shown, &context);
  const auto stream = stub->Stream(&context);
  v1::AgentMessage message;
  message.mutable_hello()->set_protocol(1);
  message.mutable_hello()->set_host_id(host);
  stream->Write(message);
  Attempt out;
  v1::ServerMessage answer;
  out.welcomed = stream->Read(&answer) && answer.has_welcome();
  if (out.welcomed) {
    *message.mutable_window() =
        ToProto(MakeWindow(sends.empty() ? host : sends, 1));
    stream->Write(message);
    out.acknowledged = stream->Read(&answer) && answer.has_ack();
    stream->WritesDone();
  }
  out.status = stream->Finish();
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto it = trailers.find("retry-after-ms");
  if (it != trailers.end()) {
    out.retry_after_ms = std::string(it->second.data(), it->second.size());
  }
  return out;
}

grpc::Status Site::Query(const Shown& shown) const {
  const auto stub = v1::Query::NewStub(Connect(shown));
  grpc::ClientContext context;
  Prepare(shown, &context);
  v1::Fleet fleet;
  return stub->GetFleet(&context, {}, &fleet);
}

std::string Site::Http(const std::string& path,
                       const std::string& authorization) const {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(server_->http_port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address),
            0);
  const std::string request =
      absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: x\r\n",
                   authorization.empty()
                       ? ""
                       : absl::StrCat("Authorization: ", authorization, "\r\n"),
                   "\r\n");
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

std::string Site::Metric(const std::string& series,
                         const std::string& authorization) const {
  const std::string text = Http("/metrics", authorization);
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, series + " ")) return std::string(line);
  }
  return "absent";
}

OpenStream::OpenStream(const Site& site, const Shown& shown,
                       const std::string& host)
    : channel_(site.Connect(shown)), stub_(v1::Telemetry::NewStub(channel_)) {
  Prepare(shown, &context_);
  stream_ = stub_->Stream(&context_);
  v1::AgentMessage message;
  message.mutable_hello()->set_protocol(1);
  message.mutable_hello()->set_host_id(host);
  v1::ServerMessage answer;
  welcomed_ =
      stream_->Write(message) && stream_->Read(&answer) && answer.has_welcome();
}

bool OpenStream::Send(const Window& window, v1::ServerMessage* answer) {
  v1::AgentMessage message;
  *message.mutable_window() = ToProto(window);
  return stream_->Write(message) && stream_->Read(answer);
}

}  // namespace swaplock
