#include "server/web/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "absl/strings/match.h"
#include "common/testing.h"
#include "server/verdict/verdict_testing.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What each page says, by path, of a fleet of one host.
std::map<std::string, std::string> BodiesOf(const std::string& replay) {
  const Window window = MakeWindow("a", 1);
  const auto now = [end_ns = window.end_unix_ns] {
    return absl::FromUnixNanos(static_cast<int64_t>(end_ns));
  };
  FleetState state;
  Merge(window, {}, now(), &state);
  const Fleet fleet(state, replay);
  const FakeDesk desk;
  std::map<std::string, std::string> bodies;
  for (const auto& [path, page] : PagesOf(&fleet, &desk, now)) {
    if (absl::StartsWith(path, "/assets/")) continue;
    bodies[path] = page({{"id", path == "/host" ? "a" : "1"}}).body;
  }
  return bodies;
}

TEST(RoutesTest, EachPageOfAReplaySaysSo) {
  for (const auto& [path, body] : BodiesOf("<no host of yours>")) {
    if (path == "/hold") continue;  // no such hold
    EXPECT_THAT(body, HasSubstr("&lt;no host of yours&gt;</aside>\n<main"))
        << path;
  }
}

TEST(RoutesTest, NoPageOfARealFleetDoes) {
  for (const auto& [path, body] : BodiesOf("")) {
    EXPECT_THAT(body, Not(HasSubstr("<aside"))) << path;
  }
}

}  // namespace
}  // namespace swaplock
