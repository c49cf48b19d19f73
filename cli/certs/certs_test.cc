#include "cli/certs/certs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/secret_file.h"
#include "common/tls_files.h"

namespace swaplock {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CertsTest : public ::testing::Test {
 protected:
  CertsTest() {
    std::string pattern = ::testing::TempDir() + "/certs.XXXXXX";
    request_.folder = mkdtemp(pattern.data());
    request_.now = absl::Now();
  }
  absl::Status Make(const std::vector<std::string>& words) {
    return MakeCerts(words, request_).status();
  }
  TlsFiles Files(const std::string& base) const {
    return {request_.folder + "/ca.crt",
            absl::StrCat(request_.folder, "/", base, ".crt"),
            absl::StrCat(request_.folder, "/", base, ".key")};
  }

  CertsRequest request_;
};

TEST_F(CertsTest, MakesFilesThatFitTogether) {
  ASSERT_TRUE(Make({"ca"}).ok());
  ASSERT_TRUE(Make({"server", "db1.example", "127.0.0.1", "::1"}).ok());
  ASSERT_TRUE(Make({"host", "web-17"}).ok());
  ASSERT_TRUE(Make({"reader", "ops"}).ok());
  ASSERT_TRUE(Make({"operator", "ops"}).ok());
  for (const char* base :
       {"server", "host-web-17", "reader-ops", "operator-ops"}) {
    EXPECT_TRUE(ReadTlsFiles(Files(base)).ok()) << base;
    struct stat entry = {};
    ASSERT_EQ(stat(Files(base).key.c_str(), &entry), 0);
    EXPECT_EQ(entry.st_mode & 07777, 0600u);
  }
  const auto host = ReadTlsFiles(Files("host-web-17"));
  EXPECT_THAT(*UriNames(host->certificate),
              ElementsAre("spiffe://swaplock/host/web-17"));
  EXPECT_THAT(*UriNames(ReadTlsFiles(Files("reader-ops"))->certificate),
              ElementsAre("spiffe://swaplock/reader/ops"));
  EXPECT_THAT(*UriNames(ReadTlsFiles(Files("operator-ops"))->certificate),
              ElementsAre("spiffe://swaplock/operator/ops"));
  EXPECT_THAT(*UriNames(ReadTlsFiles(Files("server"))->certificate),
              ElementsAre());
}

TEST_F(CertsTest, ReplacesACertificateButNeverTheCa) {
  ASSERT_TRUE(Make({"ca"}).ok());
  ASSERT_TRUE(Make({"host", "a"}).ok());
  const std::string before = *ReadSmallFile(Files("host-a").certificate);
  ASSERT_TRUE(Make({"host", "a"}).ok());
  EXPECT_NE(*ReadSmallFile(Files("host-a").certificate), before);
  EXPECT_TRUE(ReadTlsFiles(Files("host-a")).ok());
  const absl::Status again = Make({"ca"});
  EXPECT_EQ(again.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(again.ToString(), HasSubstr("ca.crt is there already"));
}

TEST_F(CertsTest, SaysWhatIsWrong) {
  EXPECT_THAT(Make({"host", "a"}).ToString(), HasSubstr("certs ca"));
  ASSERT_TRUE(Make({"ca"}).ok());
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{},
                                             {"ca", "x"},
                                             {"server"},
                                             {"server", "a b"},
                                             {"server", ""},
                                             {"host"},
                                             {"host", "a", "b"},
                                             {"host", "a/b"},
                                             {"host", ".."},
                                             {"host", "a\n"},
                                             {"reader", ""},
                                             {"client", "a"}}) {
    EXPECT_EQ(Make(words).code(), absl::StatusCode::kInvalidArgument)
        << (words.empty() ? "nothing" : words[0]);
  }
  request_.domain = "Not A Domain";
  EXPECT_EQ(Make({"host", "a"}).code(), absl::StatusCode::kInvalidArgument);
  request_.domain = "d";
  ASSERT_EQ(chmod((request_.folder + "/ca.key").c_str(), 0644), 0);
  EXPECT_THAT(Make({"host", "a"}).ToString(), HasSubstr("open to others"));
  ASSERT_TRUE(ReplaceFile(request_.folder + "/ca.key", "junk", 0600).ok());
  EXPECT_THAT(Make({"host", "a"}).ToString(), HasSubstr("not the certificate"));
}

TEST_F(CertsTest, FilesThatDoNotFitAreRefusedBeforeUse) {
  ASSERT_TRUE(Make({"ca"}).ok());
  ASSERT_TRUE(Make({"host", "a"}).ok());
  ASSERT_TRUE(Make({"host", "b"}).ok());
  TlsFiles files = Files("host-a");
  files.key = Files("host-b").key;
  EXPECT_THAT(ReadTlsFiles(files).status().ToString(),
              HasSubstr("not the key of the certificate"));
  files = Files("host-a");
  files.ca = files.key;
  EXPECT_THAT(ReadTlsFiles(files).status().ToString(),
              HasSubstr("no certificate in PEM form"));
  files = Files("host-a");
  files.key.clear();
  EXPECT_FALSE(ReadTlsFiles(files).ok());
  files = Files("host-a");
  files.ca.clear();
  EXPECT_FALSE(ReadTlsFiles(files).ok());
  files = Files("none");
  EXPECT_EQ(ReadTlsFiles(files).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace swaplock
