// Which certificates and tokens the server takes, over a real port: each that
// is wrong is refused in its way, and leaves nothing behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/secret_file.h"
#include "common/testing.h"
#include "server/ledger/sqlite_ledger.h"
#include "tests/security/site.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kHostToken[] = "a-token-of-host-a-0123456789";
constexpr char kOldHostToken[] = "an-old-token-of-host-a-0123456789";
constexpr char kReaderToken[] = "a-token-of-a-reader-0123456789";

class CertificatesTest : public ::testing::Test {
 protected:
  CertificatesTest() {
    site_.WriteServerFiles(authority_.certificate(), authority_.Server());
  }
  void Start() { site_.Start(site_.TlsOptions()); }
  Shown With(const KeyPair& pair) const {
    return {authority_.certificate(), pair, ""};
  }
  // Nothing of whoever was refused is kept, in memory or in the ledger.
  void ExpectNoState() {
    EXPECT_EQ(site_.Metric("swaplock_hosts{state=\"seen\"}"), "0");
    EXPECT_EQ(site_.Metric("swaplock_hosts{state=\"connected\"}"), "0");
    EXPECT_EQ(site_.Metric("swaplock_windows_total{result=\"merged\"}"), "0");
    EXPECT_EQ(site_.Metric("swaplock_windows_total{result=\"rejected\"}"), "0");
  }

  const TestAuthority authority_;
  Site site_;
};

TEST_F(CertificatesTest, AHostWithItsCertificateReports) {
  Start();
  const Attempt attempt = site_.Report(With(authority_.Host("a")), "a");
  EXPECT_TRUE(attempt.acknowledged) << attempt.status.error_message();
  EXPECT_TRUE(attempt.status.ok());
  EXPECT_EQ(site_.Metric("swaplock_windows_total{result=\"merged\"}"), "1");
}

TEST_F(CertificatesTest, TheMatrix) {
  Start();
  const TestAuthority other;
  const std::string name = "spiffe://swaplock/host/a";
  CertificateRequest expired = ClientRequest({name});
  expired.not_before = absl::Now() - absl::Hours(3);
  expired.not_after = absl::Now() - absl::Hours(2);
  CertificateRequest future = ClientRequest({name});
  future.not_before = absl::Now() + absl::Hours(2);
  future.not_after = absl::Now() + absl::Hours(3);
  CertificateRequest for_servers = ClientRequest({name});
  for_servers.client = false;
  for_servers.server = true;
  CertificateRequest by_dns = ClientRequest({});
  by_dns.dns_names = {"a"};

  using grpc::StatusCode;
  const struct {
    const char* what;
    KeyPair pair;
    StatusCode code;
    const char* sentence;  // of the server; "" when TLS refused it
  } kCases[] = {
      {"self-signed", *MakeSelfSigned(ClientRequest({name})),
       StatusCode::UNAVAILABLE, ""},
      {"expired", authority_.Issue(expired), StatusCode::UNAVAILABLE, ""},
      {"not yet valid", authority_.Issue(future), StatusCode::UNAVAILABLE, ""},
      {"of another CA", other.Host("a"), StatusCode::UNAVAILABLE, ""},
      {"of a server", authority_.Issue(for_servers), StatusCode::UNAVAILABLE,
       ""},
      {"none", {}, StatusCode::UNAVAILABLE, ""},
      {"without a name", authority_.Issue(ClientRequest({})),
       StatusCode::PERMISSION_DENIED, "by 0 URIs"},
      {"with a DNS name only", authority_.Issue(by_dns),
       StatusCode::PERMISSION_DENIED, "by 0 URIs"},
      {"with two names",
       authority_.Issue(ClientRequest({name, "spiffe://swaplock/host/b"})),
       StatusCode::PERMISSION_DENIED, "by 2 URIs"},
      {"with its name and another URI",
       authority_.Issue(ClientRequest({name, "https://a.example/"})),
       StatusCode::PERMISSION_DENIED, "by 2 URIs"},
      {"of another host", authority_.Host("b"), StatusCode::PERMISSION_DENIED,
       "is of host b, which cannot speak for host a"},
      {"of a host whose name differs in case", authority_.Host("A"),
       StatusCode::PERMISSION_DENIED, "is of host A"},
      {"of another domain",
       authority_.Issue(ClientRequest({"spiffe://else/host/a"})),
       StatusCode::PERMISSION_DENIED, "trust domain else"},
      {"of a reader", authority_.Reader("a"), StatusCode::PERMISSION_DENIED,
       "not of a host"},
      {"of a name that is none",
       authority_.Issue(ClientRequest({"spiffe://swaplock/host/a/b"})),
       StatusCode::PERMISSION_DENIED, "is not spiffe://"},
  };
  int identity = 0;
  for (const auto& test : kCases) {
    SCOPED_TRACE(test.what);
    const Attempt attempt = site_.Report(With(test.pair), "a");
    EXPECT_FALSE(attempt.welcomed);
    EXPECT_EQ(attempt.status.error_code(), test.code)
        << attempt.status.error_message();
    EXPECT_THAT(attempt.status.error_message(), HasSubstr(test.sentence));
    if (test.code == StatusCode::PERMISSION_DENIED) {
      ++identity;
      EXPECT_EQ(attempt.retry_after_ms, "60000");
    }
    ExpectNoState();
  }
  EXPECT_EQ(site_.Metric("swaplock_streams_refused_total{reason=\"identity\"}"),
            absl::StrCat(identity));
  // And whoever is right is not affected.
  EXPECT_TRUE(site_.Report(With(authority_.Host("a")), "a").acknowledged);
}

TEST_F(CertificatesTest, AnAgentDoesNotTalkToAnotherServer) {
  const TestAuthority other;
  site_.WriteServerFiles(authority_.certificate(), other.Server());
  Start();
  EXPECT_EQ(site_.Report(With(authority_.Host("a")), "a").status.error_code(),
            grpc::StatusCode::UNAVAILABLE);
  // Nor to a host that poses as one.
  site_.WriteServerFiles(authority_.certificate(), authority_.Host("b"));
  EXPECT_EQ(site_.Report(With(authority_.Host("a")), "a").status.error_code(),
            grpc::StatusCode::UNAVAILABLE);
  ExpectNoState();
}

TEST_F(CertificatesTest, PlaintextOnTlsAndTlsOnPlaintextEnd) {
  Start();
  EXPECT_EQ(site_.Report({}, "a").status.error_code(),
            grpc::StatusCode::UNAVAILABLE);
  ExpectNoState();
  site_.Stop();
  site_.Start({});
  EXPECT_EQ(site_.Report(With(authority_.Host("a")), "a").status.error_code(),
            grpc::StatusCode::UNAVAILABLE);
  ExpectNoState();
  EXPECT_TRUE(site_.Report({}, "a").acknowledged);
}

// An agent sends windows all the time while the server's certificate and then
// the CA are exchanged: nothing breaks, and each step takes effect at once.
TEST_F(CertificatesTest, RotatesUnderLoad) {
  Start();
  OpenStream stream(site_, With(authority_.Host("busy")), "busy");
  ASSERT_TRUE(stream.welcomed());
  std::atomic<bool> stop = false;
  std::atomic<uint64_t> sent = 0;
  std::thread load([&] {
    for (uint64_t seq = 1; !stop; ++seq) {
      v1::ServerMessage answer;
      if (!stream.Send(MakeWindow("busy", seq), &answer)) break;
      if (answer.has_ack()) ++sent;
    }
  });
  const KeyPair host = authority_.Host("a");
  const TestAuthority next;
  const std::string both =
      absl::StrCat(authority_.certificate(), next.certificate());

  // A key whose certificate has not come yet: the old pair serves on.
  const KeyPair renewed = authority_.Server();
  ASSERT_TRUE(ReplaceFile(site_.Path("server.key"), renewed.key, 0600).ok());
  EXPECT_TRUE(site_.Report(With(host), "a").welcomed);
  ASSERT_TRUE(
      ReplaceFile(site_.Path("server.crt"), renewed.certificate, 0644).ok());
  EXPECT_TRUE(site_.Report(With(host), "a").welcomed);
  // A key that others can read, and no file at all: likewise.
  ASSERT_EQ(chmod(site_.Path("server.key").c_str(), 0644), 0);
  EXPECT_TRUE(site_.Report(With(host), "a").welcomed);
  ASSERT_EQ(unlink(site_.Path("ca.crt").c_str()), 0);
  EXPECT_TRUE(site_.Report(With(host), "a").welcomed);

  // Both CAs, then a server of the new one, then the old one goes.
  site_.WriteServerFiles(both, renewed);
  EXPECT_TRUE(site_.Report(With(host), "a").welcomed);
  const Shown by_new = {both, next.Host("b"), ""};
  EXPECT_TRUE(site_.Report(by_new, "b").welcomed);
  site_.WriteServerFiles(both, next.Server());
  EXPECT_TRUE(site_.Report({both, host, ""}, "a").welcomed);
  EXPECT_EQ(site_.Report(With(host), "a").status.error_code(),
            grpc::StatusCode::UNAVAILABLE)
      << "it does not trust the new CA";
  site_.WriteServerFiles(next.certificate(), next.Server());
  EXPECT_TRUE(site_.Report(by_new, "b").welcomed);
  EXPECT_EQ(site_.Report({both, host, ""}, "a").status.error_code(),
            grpc::StatusCode::UNAVAILABLE)
      << "its CA was taken away";

  stop = true;
  load.join();
  v1::ServerMessage answer;
  EXPECT_TRUE(stream.Send(MakeWindow("busy", 1'000'000), &answer))
      << "an open stream stays open";
  EXPECT_GT(sent, 0u);
}

TEST_F(CertificatesTest, WhoIsTakenOffTheListEndsWithItsNextWindow) {
  ServerOptions options = site_.TlsOptions();
  options.access.hosts_file = site_.Path("hosts");
  ASSERT_TRUE(ReplaceFile(site_.Path("hosts"), "a\nb\n", 0644).ok());
  site_.Start(options);
  OpenStream stream(site_, With(authority_.Host("a")), "a");
  ASSERT_TRUE(stream.welcomed());
  v1::ServerMessage answer;
  ASSERT_TRUE(stream.Send(MakeWindow("a", 1), &answer));
  EXPECT_TRUE(answer.has_ack());

  ASSERT_TRUE(ReplaceFile(site_.Path("hosts"), "b\n", 0644).ok());
  EXPECT_FALSE(stream.Send(MakeWindow("a", 2), &answer));
  const grpc::Status status = stream.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(status.error_message(), HasSubstr("not in the server's list"));
  EXPECT_EQ(site_.Report(With(authority_.Host("a")), "a").status.error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(site_.Report(With(authority_.Host("b")), "b").acknowledged);
  EXPECT_EQ(site_.Metric("swaplock_windows_total{result=\"merged\"}"), "2");
}

TEST_F(CertificatesTest, TokensAreTheFallback) {
  ServerOptions options = site_.TlsOptions();
  options.access.host_tokens = site_.Path("host-tokens");
  ASSERT_TRUE(ReplaceFile(site_.Path("host-tokens"),
                          absl::StrCat("a ", kOldHostToken, "\na ", kHostToken),
                          0600)
                  .ok());
  site_.Start(options);
  const auto with = [this](const std::string& token) {
    return Shown{authority_.certificate(), {}, token};
  };
  EXPECT_EQ(site_.Report(with(""), "a").status.error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(
      site_.Report(with("something-else-entirely"), "a").status.error_code(),
      grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(site_.Report(with(kHostToken), "b").status.error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  // A certificate that is shown must be good, whatever token comes with it.
  Shown bad = with(kHostToken);
  bad.pair = TestAuthority().Host("a");
  EXPECT_EQ(site_.Report(bad, "a").status.error_code(),
            grpc::StatusCode::UNAVAILABLE);
  bad.pair = authority_.Host("b");
  EXPECT_EQ(site_.Report(bad, "a").status.error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  ExpectNoState();
  EXPECT_TRUE(site_.Report(with(kHostToken), "a").acknowledged);
  EXPECT_TRUE(site_.Report(with(kOldHostToken), "a").acknowledged);
  EXPECT_TRUE(site_.Report(With(authority_.Host("b")), "b").acknowledged);
}

TEST_F(CertificatesTest, ReadersAskAndHostsDoNot) {
  Start();
  EXPECT_TRUE(site_.Query(With(authority_.Reader("ops"))).ok());
  EXPECT_EQ(site_.Query(With(authority_.Host("a"))).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(site_.Query(With({})).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(site_.Http("/metrics"), StartsWith("HTTP/1.1 200 "))
      << "on loopback, and no token was asked for";
}

TEST_F(CertificatesTest, ReadersTokensOpenBothPorts) {
  ServerOptions options = site_.TlsOptions();
  options.access.reader_tokens = site_.Path("reader-tokens");
  ASSERT_TRUE(ReplaceFile(site_.Path("reader-tokens"),
                          absl::StrCat("ops ", kReaderToken), 0600)
                  .ok());
  site_.Start(options);
  Shown shown = {authority_.certificate(), {}, kReaderToken};
  EXPECT_TRUE(site_.Query(shown).ok());
  EXPECT_EQ(site_.Report(shown, "a").status.error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  shown.token = "something-else-entirely";
  EXPECT_EQ(site_.Query(shown).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(site_.Query(With(authority_.Reader("ops"))).ok());

  for (const char* path :
       {"/", "/metrics", "/api/v1/fleet", "/host?id=a", "/api/v1/verdicts",
        "/no/such", "//metrics", "/%6detrics", "/healthz/../metrics"}) {
    SCOPED_TRACE(path);
    EXPECT_THAT(site_.Http(path), StartsWith("HTTP/1.1 401 "));
    EXPECT_THAT(site_.Http(path, "Bearer something-else-entirely"),
                StartsWith("HTTP/1.1 401 "));
  }
  EXPECT_THAT(site_.Http("/"), HasSubstr("WWW-Authenticate: Basic "));
  for (const char* path : {"/", "/metrics", "/api/v1/fleet"}) {
    EXPECT_THAT(site_.Http(path, absl::StrCat("Bearer ", kReaderToken)),
                StartsWith("HTTP/1.1 200 "))
        << path;
  }
  EXPECT_THAT(site_.Http("/healthz"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(site_.Http("/readyz"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(CertificatesTest, FilesThatCannotBeUsedAreSaidAtTheStart) {
  const auto start = [this](const ServerOptions& given) {
    ServerOptions options = given;
    options.grpc_listen = *ParseListenAddress("127.0.0.1:0");
    options.http_listen = options.grpc_listen;
    auto ledger = SqliteLedger::Open(site_.Path("data"));
    EXPECT_TRUE(ledger.ok()) << ledger.status();
    return Server::Start(*std::move(ledger), options).status();
  };
  ServerOptions options = site_.TlsOptions();
  options.access.host_tokens = site_.Path("none");
  EXPECT_THAT(start(options).ToString(), HasSubstr(site_.Path("none")));
  ASSERT_EQ(chmod(site_.Path("server.key").c_str(), 0644), 0);
  EXPECT_THAT(start(site_.TlsOptions()).ToString(),
              HasSubstr("server.key is open to others"));
}

}  // namespace
}  // namespace swaplock
