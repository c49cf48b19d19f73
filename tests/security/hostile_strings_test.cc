// Strings that pass as plain text and mean harm to whoever prints them: in
// every field of a window, followed to the metrics, the pages, the JSON, the
// CLI and the log.
#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "cli/query/fleet_text.h"
#include "common/log.h"
#include "common/plain_text.h"
#include "common/testing.h"
#include "proto/query.pb.h"
#include "tests/security/site.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// At most 15 bytes each, as a task's name is.
const std::vector<std::string>& Hostile() {
  static const auto* const kTexts = new std::vector<std::string>{
      "<script>x()", "\"} 1",     "{le=\"x\"}",   "a\\nb 1\\",
      "' OR 1=1 --", "&lt;b&gt;", "%0d%0aX: y",   "$(reboot)",
      "`id`;#",      "../../etc", "javascript:x", "\xf0\x9f\x94\x92",
      "%s%n%d",      "# TYPE x",  "NaN +Inf",     "\"onload=\"x",
      "]]></style>", "{{7*7}}",   "\\u0000",      "-->",
  };
  return *kTexts;
}

// The window with `text` wherever a string may be.
Window Everywhere(const std::string& host, const std::string& text) {
  Window window = MakeWindow(host, 180);
  window.environment.kernel_version = text;
  window.environment.kernel_build_id = text;
  window.environment.architecture = text;
  window.environment.preempt = text;
  window.environment.agent_version = text;
  window.environment.swap_backend = text;
  window.environment.labels = {{text, text}};
  for (Cell& cell : window.cells) {
    cell.key.device = text;
    cell.key.algorithm = text;
  }
  Hold& hold = window.top_holds[0];
  hold.comm = hold.cgroup = text;
  hold.preemptors = {{1, text, 0, 0, 5'000, false}};
  hold.waiters = {{2, text, 0, 0, 5'000, true}};
  hold.release_stack = hold.switch_stack = {text};
  window.holds_in_progress = window.top_holds;
  for (Probe& probe : window.coverage.probes) probe.name = probe.reason = text;
  window.coverage.not_measured = {text};
  window.context.complete = true;
  window.context.gauges = {{text, 1}};
  window.context.facts = {{text, text}};
  return window;
}

bool IsPrintable(const std::string& text) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!IsPlainText(line)) return false;
  }
  return true;
}

class HostileStringsTest : public ::testing::Test {
 protected:
  HostileStringsTest() {
    site_.Start({});
    for (size_t i = 0; i < Hostile().size(); ++i) {
      // A host id may be such a text, too.
      const std::string host = absl::StrCat(Hostile()[i], i);
      hosts_.push_back(host);
      OpenStream stream(site_, {}, host);
      EXPECT_TRUE(stream.welcomed()) << host;
      v1::ServerMessage answer;
      EXPECT_TRUE(stream.Send(Everywhere(host, Hostile()[i]), &answer));
      EXPECT_TRUE(answer.has_ack()) << answer.ShortDebugString();
    }
  }
  static std::string BodyOf(const std::string& answer) {
    return answer.substr(answer.find("\r\n\r\n") + 4);
  }

  Site site_;
  std::vector<std::string> hosts_;
};

TEST_F(HostileStringsTest, MetricsKeepTheirForm) {
  // The text format, line by line: a name, labels whose values have every quote
  // and backslash escaped, a number.
  const std::regex line_form(
      R"re([a-zA-Z_:][a-zA-Z0-9_:]*(\{([a-z_]+="([^"\\]|\\[\\n"])*",?)*\})? [-+.eE0-9a-zA-Z]+)re");
  const std::string text = BodyOf(site_.Http("/metrics"));
  EXPECT_TRUE(IsPrintable(text));
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (line.empty() || absl::StartsWith(line, "# HELP ") ||
        absl::StartsWith(line, "# TYPE ")) {
      continue;
    }
    EXPECT_TRUE(std::regex_match(std::string(line), line_form)) << line;
  }
  EXPECT_THAT(text, HasSubstr("algorithm=\"{le=\\\"x\\\"}\""));
  EXPECT_THAT(text, HasSubstr("algorithm=\"a\\\\nb 1\\\\\""));
  EXPECT_EQ(site_.Metric("swaplock_hosts{state=\"seen\"}"),
            absl::StrCat(Hostile().size()));
}

TEST_F(HostileStringsTest, PagesShowThemAsText) {
  std::vector<std::string> pages;
  for (const char* path :
       {"/", "/kernels", "/holds", "/coverage", "/pipeline", "/verdicts"}) {
    pages.push_back(site_.Http(path));
    EXPECT_THAT(pages.back(), HasSubstr("HTTP/1.1 200 ")) << path;
  }
  for (const std::string& host : hosts_) {
    std::string id;
    for (const char c : host) {
      absl::StrAppend(
          &id, "%", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    }
    pages.push_back(site_.Http(absl::StrCat("/host?id=", id)));
    EXPECT_THAT(pages.back(), HasSubstr("HTTP/1.1 200 ")) << host;
  }
  const std::regex tag(R"(<(/?)([a-z0-9!]*)([^>]*)>)");
  for (const std::string& page : pages) {
    // The page's own are a file of this server and data of charts.
    const std::string foreign = absl::StrReplaceAll(
        page, {{"<script defer src=\"/assets/charts.js\"></script>", ""},
               {"<script type=\"application/json\">", ""}});
    EXPECT_THAT(foreign, Not(HasSubstr("<script")));
    EXPECT_THAT(page, Not(HasSubstr("\nX: y"))) << "no header was made";
    const std::string body = BodyOf(page);
    EXPECT_TRUE(IsPrintable(body));
    for (std::sregex_iterator it(body.begin(), body.end(), tag), end; it != end;
         ++it) {
      const std::string attributes = (*it)[3];
      EXPECT_THAT(attributes, Not(HasSubstr("onload="))) << it->str();
      EXPECT_THAT(attributes, Not(HasSubstr("href=\"javascript"))) << it->str();
    }
  }
}

TEST_F(HostileStringsTest, JsonAndCliCarryThemWhole) {
  v1::Fleet fleet;
  const auto status = google::protobuf::util::JsonStringToMessage(
      BodyOf(site_.Http("/api/v1/fleet?context=1")), &fleet);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(static_cast<size_t>(fleet.hosts_size()), hosts_.size());
  std::vector<std::string> named;
  for (const auto& host : fleet.hosts()) named.push_back(host.host_id());
  EXPECT_THAT(named, ::testing::UnorderedElementsAreArray(hosts_));

  FleetTextOptions options;
  options.explain = true;
  const std::string text =
      FleetText(fleet, absl::FromUnixNanos(kTestUnixNs), options);
  EXPECT_TRUE(IsPrintable(text));
  EXPECT_THAT(text, HasSubstr("$(reboot)"));
}

TEST_F(HostileStringsTest, WhatIsNotPlainTextIsRefusedAndNamedPlainly) {
  for (const std::string& text : {std::string("a\nb"), std::string("\x1b[2J"),
                                  std::string("\xff"), std::string("a\0b", 3),
                                  std::string("\xe2\x80\xae"
                                              "fdp.exe"),
                                  std::string("\xc2\x9b"
                                              "31m"),
                                  std::string(100'000, 'x')}) {
    OpenStream stream(site_, {}, "h");
    v1::Window message = ToProto(MakeWindow("h", 1));
    message.mutable_cells(0)->mutable_key()->set_algorithm(text);
    const auto window = FromProto(message);
    ASSERT_TRUE(window.ok());
    v1::ServerMessage answer;
    // Text that is no UTF-8 does not even parse on the other side.
    if (!stream.Send(*window, &answer)) continue;
    ASSERT_TRUE(answer.has_reject());
    EXPECT_TRUE(IsPlainText(answer.reject().reason()));
    EXPECT_LT(answer.reject().reason().size(), 300u);
    const std::string line =
        FormatLogLine(absl::UnixEpoch(), LogLevel::kWarning, text);
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 0);
  }
  // As a host's name it opens no stream, and none is in the answer.
  for (const std::string& name : {std::string("a\nb"), std::string("\x1b[2J"),
                                  std::string(129, 'x'), std::string()}) {
    const Attempt attempt = site_.Report({}, name);
    EXPECT_FALSE(attempt.welcomed);
    EXPECT_EQ(attempt.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_TRUE(IsPlainText(attempt.status.error_message()));
  }
}

// Queries of the HTTP port are hostile as well.
TEST_F(HostileStringsTest, QueryParametersAreOnlyText) {
  for (const char* path :
       {"/host?id=<script>", "/host?id=%3Cscript%3E", "/host?id=%00",
        "/host?id=%0d%0aX:%20y", "/host?id=%", "/host?id=%zz", "/host?",
        "/host?id", "/host?id=&id=&&&=", "/api/v1/fleet?kernel=%22%7D",
        "/api/v1/fleet?host=%ff%fe", "/api/v1/fleet?%=%"}) {
    const std::string answer = site_.Http(path);
    EXPECT_THAT(answer, HasSubstr("HTTP/1.1 ")) << path;
    EXPECT_THAT(answer, Not(HasSubstr("<script"))) << path;
    EXPECT_THAT(answer, Not(HasSubstr("\nX: y"))) << path;
    EXPECT_TRUE(IsPrintable(BodyOf(answer))) << path;
  }
  const std::string longest =
      absl::StrCat("/host?id=", std::string(100'000, 'a'));
  EXPECT_THAT(site_.Http(longest), Not(HasSubstr("HTTP/1.1 200")));
  EXPECT_THAT(site_.Http("/healthz"), HasSubstr("HTTP/1.1 200 "));
}

}  // namespace
}  // namespace swaplock
