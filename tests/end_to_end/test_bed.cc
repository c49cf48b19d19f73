#include "tests/end_to_end/test_bed.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/record_file.h"

namespace swaplock {
namespace {

constexpr char kServer[] = "server/swaplock-server";
constexpr char kAgent[] = "agent/swaplock-agent";

std::string NewFolder() {
  std::string pattern = absl::StrCat(testing::TempDir(), "/bed.XXXXXX");
  return mkdtemp(pattern.data());
}

}  // namespace

bool Eventually(const std::function<bool()>& question) {
  const absl::Time deadline = absl::Now() + absl::Minutes(1);
  while (!question()) {
    if (absl::Now() > deadline) return false;
    absl::SleepFor(absl::Milliseconds(5));
  }
  return true;
}

TestBed::TestBed() : folder_(NewFolder()) {}

std::string TestBed::Path(const std::string& name) const {
  return absl::StrCat(folder_, "/", name);
}

void TestBed::StartServer() {
  server_.reset();
  const std::string ports = Path("ports");
  unlink(ports.c_str());
  server_ = std::make_unique<ChildProcess>(
      std::vector<std::string>{
          kServer, absl::StrCat("--data_dir=", Path("data")),
          absl::StrCat("--grpc_listen=127.0.0.1:", port_),
          "--http_listen=127.0.0.1:0", absl::StrCat("--port_file=", ports)},
      Path("server.log"));
  int http_port = 0;
  const auto serves = [&] {
    std::string line;
    std::ifstream file(ports);
    return std::getline(file, line) &&
           std::sscanf(line.c_str(), "grpc=%d http=%d", &port_, &http_port) ==
               2;
  };
  ASSERT_TRUE(Eventually([&] { return serves() || !server_->Running(); }));
  ASSERT_TRUE(server_->Running()) << "the server ended\n" << Logs();
}

std::vector<std::string> TestBed::AgentWords(
    const std::string& replay, const std::vector<std::string>& more,
    const std::string& host) {
  hosts_.insert(host);
  std::vector<std::string> words = {
      kAgent,
      absl::StrCat("--replay=", replay),
      absl::StrCat("--record=", Path(host), ".slk"),
      absl::StrCat("--state_dir=", Path(host), ".state"),
      absl::StrCat("--server=127.0.0.1:", port_),
      "--backoff_cap=100ms",
      "--drain=60s"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::unique_ptr<ChildProcess> TestBed::StartAgent(
    const std::string& replay, const std::vector<std::string>& more,
    const std::string& host) {
  return std::make_unique<ChildProcess>(AgentWords(replay, more, host),
                                        Path("agent.log"));
}

absl::StatusOr<Totals> TestBed::Counted() const {
  return CountedBy(grpc::CreateChannel(absl::StrCat("127.0.0.1:", port_),
                                       grpc::InsecureChannelCredentials()));
}

absl::StatusOr<Totals> TestBed::Recorded() const {
  Totals totals;
  for (const std::string& host : hosts_) {
    absl::StatusOr<std::unique_ptr<RecordReader>> reader =
        RecordReader::Open(absl::StrCat(Path(host), ".slk"));
    if (!reader.ok()) return reader.status();
    std::set<WindowKey> seen;
    absl::StatusOr<Window> window = (*reader)->Next();
    for (; window.ok(); window = (*reader)->Next()) {
      if (seen.insert(window->key).second) totals.Add(*window);
    }
    if (!absl::IsOutOfRange(window.status())) return window.status();
  }
  return totals;
}

std::string TestBed::Logs() const {
  std::ostringstream logs;
  for (const char* name : {"server.log", "agent.log"}) {
    logs << name << ":\n" << std::ifstream(Path(name)).rdbuf() << "\n";
    logs.clear();  // an empty file sets the fail bit
  }
  return logs.str();
}

}  // namespace swaplock
