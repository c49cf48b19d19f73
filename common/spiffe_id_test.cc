#include "common/spiffe_id.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

TEST(SpiffeIdTest, ReadsWhatItWrites) {
  const SpiffeId host = {"example.org", PeerKind::kHost, "web-17.rack_2"};
  EXPECT_EQ(host.ToString(), "spiffe://example.org/host/web-17.rack_2");
  const auto read = ParseSpiffeId(host.ToString());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->domain, "example.org");
  EXPECT_EQ(read->kind, PeerKind::kHost);
  EXPECT_EQ(read->name, "web-17.rack_2");
  EXPECT_EQ(ParseSpiffeId("spiffe://d/reader/ops")->kind, PeerKind::kReader);
  EXPECT_EQ(ParseSpiffeId("spiffe://d/operator/ops")->kind,
            PeerKind::kOperator);
}

TEST(SpiffeIdTest, RefusesWhatIsNone) {
  for (const std::string& uri : {
           std::string(),
           std::string("spiffe://"),
           std::string("spiffe://d"),
           std::string("spiffe://d/host"),
           std::string("spiffe://d/host/"),
           std::string("spiffe://d/host/a/b"),
           std::string("spiffe://d/host/a/"),
           std::string("spiffe://d/host/.."),
           std::string("spiffe://d//a"),
           std::string("spiffe:///host/a"),
           std::string("spiffe://D/host/a"),
           std::string("spiffe://d:1/host/a"),
           std::string("spiffe://u@d/host/a"),
           std::string("spiffe://d/host/a%2f"),
           std::string("spiffe://d/host/a?b"),
           std::string("spiffe://d/host/a b"),
           std::string("spiffe://d/host/a\n"),
           std::string("spiffe://d/host/a\0b", 19),
           std::string("spiffe://d/admin/a"),
           std::string("SPIFFE://d/host/a"),
           std::string("https://d/host/a"),
           absl::StrCat("spiffe://d/host/", std::string(129, 'a')),
       }) {
    EXPECT_FALSE(ParseSpiffeId(uri).ok()) << uri;
  }
}

TEST(SpiffeIdTest, ACertificateHasOneName) {
  EXPECT_TRUE(OnlySpiffeId({"spiffe://d/host/a"}).ok());
  EXPECT_FALSE(OnlySpiffeId({}).ok());
  EXPECT_FALSE(OnlySpiffeId({"spiffe://d/host/a", "spiffe://d/host/b"}).ok());
  EXPECT_FALSE(OnlySpiffeId({"spiffe://d/host/a", "https://d/"}).ok());
}

}  // namespace
}  // namespace swaplock
