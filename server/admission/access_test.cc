#include "server/admission/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kTokenA[] = "aaaaaaaaaaaaaaaa-1";
constexpr char kTokenA2[] = "aaaaaaaaaaaaaaaa-2";
constexpr char kTokenB[] = "bbbbbbbbbbbbbbbb-1";
constexpr char kTokenOps[] = "oooooooooooooooo-1";

std::string NewFile(const std::string& content, mode_t mode = 0600) {
  std::string pattern = ::testing::TempDir() + "/access.XXXXXX";
  const std::string folder = mkdtemp(pattern.data());
  EXPECT_TRUE(ReplaceFile(folder + "/file", content, mode).ok());
  return folder + "/file";
}

std::unique_ptr<Access> Open(const AccessOptions& options) {
  auto access = Access::Open(options);
  EXPECT_TRUE(access.ok()) << access.status();
  return *std::move(access);
}

Peer WithCertificate(std::vector<std::string> uris) {
  Peer peer;
  peer.certificate = true;
  peer.uris = std::move(uris);
  return peer;
}

Peer WithToken(const std::string& token) {
  Peer peer;
  peer.token = token;
  return peer;
}

TEST(AccessTest, OnLoopbackWithoutSecretsEverybodyIsWhoTheySay) {
  const auto access = Open({});
  EXPECT_TRUE(access->MayReport({}, "a").ok());
  EXPECT_TRUE(access->MayRead({}).ok());
  EXPECT_TRUE(access->MayReadHttp(""));
}

TEST(AccessTest, ACertificateSpeaksForItsHostOnly) {
  AccessOptions options;
  options.tls = true;
  const auto access = Open(options);
  const auto code = [&](const Peer& peer) {
    return access->MayReport(peer, "a").code();
  };
  EXPECT_EQ(code(WithCertificate({"spiffe://swaplock/host/a"})),
            absl::StatusCode::kOk);
  for (const std::vector<std::string>& uris :
       std::vector<std::vector<std::string>>{
           {},
           {"spiffe://swaplock/host/b"},
           {"spiffe://swaplock/host/A"},
           {"spiffe://other/host/a"},
           {"spiffe://swaplock/reader/a"},
           {"https://swaplock/host/a"},
           {"spiffe://swaplock/host/a", "spiffe://swaplock/host/b"},
           {"spiffe://swaplock/host/a", "spiffe://swaplock/host/a"}}) {
    EXPECT_EQ(code(WithCertificate(uris)), absl::StatusCode::kPermissionDenied);
  }
  EXPECT_EQ(code({}), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(code(WithToken(kTokenA)), absl::StatusCode::kUnauthenticated);
}

TEST(AccessTest, OnlyAnOperatorActs) {
  const auto open = Open({});
  EXPECT_EQ(*open->MayOperate({}), "");

  AccessOptions options;
  options.tls = true;
  options.reader_tokens = NewFile(absl::StrCat("ops ", kTokenA, "\n"));
  options.operator_tokens = NewFile(absl::StrCat("oncall ", kTokenOps, "\n"));
  const auto access = Open(options);
  EXPECT_EQ(*access->MayOperate(WithToken(kTokenOps)), "oncall");
  EXPECT_EQ(
      *access->MayOperate(WithCertificate({"spiffe://swaplock/operator/a"})),
      "a");
  const auto refused = [&](const Peer& peer) {
    return access->MayOperate(peer).status().code();
  };
  EXPECT_EQ(refused(WithToken(kTokenA)), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(refused(WithToken(kTokenB)), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(refused({}), absl::StatusCode::kUnauthenticated);
  for (const char* uri :
       {"spiffe://swaplock/reader/a", "spiffe://swaplock/host/a",
        "spiffe://other/operator/a"}) {
    EXPECT_EQ(refused(WithCertificate({uri})),
              absl::StatusCode::kPermissionDenied);
  }
  // An operator reads too, but reports for nobody.
  EXPECT_TRUE(access->MayRead(WithToken(kTokenOps)).ok());
  EXPECT_TRUE(
      access->MayRead(WithCertificate({"spiffe://swaplock/operator/a"})).ok());
  EXPECT_TRUE(access->MayReadHttp(absl::StrCat("Bearer ", kTokenOps)));
  EXPECT_FALSE(
      access->MayReport(WithCertificate({"spiffe://swaplock/operator/a"}), "a")
          .ok());
}

// Who may read may not act, also where readers alone have tokens.
TEST(AccessTest, WithReadersAloneNobodyActs) {
  AccessOptions options;
  options.reader_tokens = NewFile(absl::StrCat("ops ", kTokenA, "\n"));
  const auto access = Open(options);
  EXPECT_FALSE(access->MayOperate(WithToken(kTokenA)).ok());
  EXPECT_FALSE(access->MayOperate({}).ok());
}

TEST(AccessTest, HostsDoNotReadAndReadersDoNotReport) {
  AccessOptions options;
  options.tls = true;
  const auto access = Open(options);
  EXPECT_TRUE(
      access->MayRead(WithCertificate({"spiffe://swaplock/reader/x"})).ok());
  EXPECT_EQ(
      access->MayRead(WithCertificate({"spiffe://swaplock/host/a"})).code(),
      absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(access->MayRead({}).code(), absl::StatusCode::kUnauthenticated);
}

TEST(AccessTest, TwoTokensOfAHostAreValidAndOneIsTakenAway) {
  AccessOptions options;
  options.host_tokens = NewFile(absl::StrCat("# ours\n\na ", kTokenA, "\r\n",
                                             "a\t", kTokenA2, "\nb ", kTokenB));
  const auto access = Open(options);
  EXPECT_TRUE(access->MayReport(WithToken(kTokenA), "a").ok());
  EXPECT_TRUE(access->MayReport(WithToken(kTokenA2), "a").ok());
  const absl::Status other = access->MayReport(WithToken(kTokenB), "a");
  EXPECT_EQ(other.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(other.ToString(), Not(HasSubstr(kTokenB)));
  EXPECT_EQ(access->MayReport({}, "a").code(),
            absl::StatusCode::kUnauthenticated);
  for (const char* token :
       {"", "a", "aaaaaaaaaaaaaaaa-", "aaaaaaaaaaaaaaaa-3"}) {
    EXPECT_EQ(access->MayReport(WithToken(token), "a").code(),
              absl::StatusCode::kUnauthenticated);
  }
  ASSERT_TRUE(
      ReplaceFile(options.host_tokens, absl::StrCat("a ", kTokenA2), 0600)
          .ok());
  EXPECT_FALSE(access->MayReport(WithToken(kTokenA), "a").ok());
  EXPECT_TRUE(access->MayReport(WithToken(kTokenA2), "a").ok());
  // A file that cannot be used lets nobody in, and does again when it can.
  ASSERT_EQ(chmod(options.host_tokens.c_str(), 0644), 0);
  EXPECT_FALSE(access->MayReport(WithToken(kTokenA2), "a").ok());
  ASSERT_EQ(chmod(options.host_tokens.c_str(), 0600), 0);
  EXPECT_TRUE(access->MayReport(WithToken(kTokenA2), "a").ok());
}

TEST(AccessTest, WhoIsTakenOffTheListIsRefused) {
  AccessOptions options;
  options.tls = true;
  options.hosts_file = NewFile("a\n b \n# c\n", 0644);
  const auto access = Open(options);
  const auto may = [&](const std::string& host) {
    return access
        ->MayReport(WithCertificate({"spiffe://swaplock/host/" + host}), host)
        .ok();
  };
  EXPECT_TRUE(may("a"));
  EXPECT_TRUE(may("b"));
  EXPECT_FALSE(may("c"));
  ASSERT_TRUE(ReplaceFile(options.hosts_file, "b\n", 0644).ok());
  EXPECT_FALSE(may("a"));
  EXPECT_TRUE(may("b"));
  ASSERT_EQ(unlink(options.hosts_file.c_str()), 0);
  EXPECT_FALSE(may("b"));
}

TEST(AccessTest, ReadersShowATokenAlsoOverHttp) {
  AccessOptions options;
  options.reader_tokens = NewFile(absl::StrCat("ops ", kTokenOps));
  const auto access = Open(options);
  EXPECT_TRUE(access->MayRead(WithToken(kTokenOps)).ok());
  EXPECT_FALSE(access->MayRead(WithToken(kTokenA)).ok());
  EXPECT_FALSE(access->MayRead({}).ok());
  EXPECT_TRUE(access->MayReport({}, "a").ok());  // readers only
  EXPECT_TRUE(access->MayReadHttp(absl::StrCat("Bearer ", kTokenOps)));
  EXPECT_TRUE(access->MayReadHttp(absl::StrCat("bearer  ", kTokenOps, " ")));
  // echo -n any:oooooooooooooooo-1 | base64
  EXPECT_TRUE(access->MayReadHttp("Basic YW55Om9vb29vb29vb29vb29vb28tMQ=="));
  for (const char* header :
       {"", "Bearer", "Bearer ", "Bearer oooooooooooooooo-2",
        "Basic oooooooooooooooo-1", "Basic !!", "Basic YW55",
        "Digest username=x", "oooooooooooooooo-1"}) {
    EXPECT_FALSE(access->MayReadHttp(header)) << header;
  }
}

TEST(AccessTest, SaysWhatIsWrongWithAFile) {
  AccessOptions options;
  options.host_tokens = NewFile("a short");
  EXPECT_THAT(Access::Open(options).status().ToString(), HasSubstr("line 1"));
  options.host_tokens = NewFile("a b cccccccccccccccccc");
  EXPECT_FALSE(Access::Open(options).ok());
  options.host_tokens = NewFile(absl::StrCat("a ", kTokenA), 0644);
  EXPECT_THAT(Access::Open(options).status().ToString(),
              HasSubstr("open to others"));
  options.host_tokens = "/nonexistent";
  EXPECT_EQ(Access::Open(options).status().code(), absl::StatusCode::kNotFound);
  options = {};
  options.hosts_file = "/nonexistent";
  EXPECT_EQ(Access::Open(options).status().code(), absl::StatusCode::kNotFound);
}

TEST(AccessTest, OnlyAnOperatorSteersAndOnlyHisHosts) {
  AccessOptions options;
  options.tls = true;
  options.operators_file = NewFile("# who\nann web-* db1\r\nbob\n", 0644);
  options.operator_tokens = NewFile("ann aaaaaaaaaaaaaaaa-9\n");
  const auto access = Open(options);
  const Peer ann = WithCertificate({"spiffe://swaplock/operator/ann"});
  EXPECT_TRUE(access->MaySteer(ann, "web-17").ok());
  EXPECT_TRUE(access->MaySteer(ann, "db1").ok());
  EXPECT_TRUE(access->MaySteer(WithToken("aaaaaaaaaaaaaaaa-9"), "db1").ok());
  EXPECT_FALSE(access->MaySteer(ann, "db2").ok());
  for (const char* uri :
       {"spiffe://swaplock/operator/bob", "spiffe://swaplock/operator/eve",
        "spiffe://swaplock/reader/ann", "spiffe://swaplock/host/db1",
        "spiffe://other/operator/ann"}) {
    EXPECT_EQ(access->MaySteer(WithCertificate({uri}), "db1").code(),
              absl::StatusCode::kPermissionDenied)
        << uri;
  }
  EXPECT_EQ(access->MaySteer({}, "db1").code(),
            absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(access->MaySteer(WithToken(kTokenB), "db1").code(),
            absl::StatusCode::kUnauthenticated);
  EXPECT_FALSE(access->MayReport(ann, "web-17").ok());
  EXPECT_TRUE(access->MayRead(ann).ok());
}

TEST(AccessTest, WithoutOperatorsNobodySteers) {
  EXPECT_EQ(Open({})->MaySteer({}, "a").code(),
            absl::StatusCode::kUnauthenticated);
  AccessOptions options;
  options.operator_tokens = NewFile("ann aaaaaaaaaaaaaaaa-9\n");
  EXPECT_EQ(
      Open(options)->MaySteer(WithToken("aaaaaaaaaaaaaaaa-9"), "a").code(),
      absl::StatusCode::kPermissionDenied);
}

}  // namespace
}  // namespace swaplock
