#include "tests/load/load_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"

namespace swaplock {
namespace {

constexpr absl::Duration kStart = absl::Minutes(2);

std::string ReadAll(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

uint64_t SizeOf(const std::string& path) {
  struct stat entry = {};
  return stat(path.c_str(), &entry) == 0 ? static_cast<uint64_t>(entry.st_size)
                                         : 0;
}

absl::Status Failed(const std::string& what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(errno)));
}

// The answer as a whole, its head included.
absl::StatusOr<std::string> Get(int port, const std::string& path) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return Failed("make a socket");
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const std::string request =
      absl::StrCat("GET ", path, " HTTP/1.0\r\nHost: x\r\n\r\n");
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) !=
          0 ||
      write(fd, request.data(), request.size()) !=
          static_cast<ssize_t>(request.size())) {
    absl::Status status = Failed(absl::StrCat("get ", path));
    close(fd);
    return status;
  }
  std::string answer;
  char buffer[1 << 16];
  for (ssize_t n = 0; (n = read(fd, buffer, sizeof(buffer))) > 0;) {
    answer.append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  return answer;
}

}  // namespace

std::string LoadServer::Scrape::Value(const std::string& series) const {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, series + " ")) return std::string(line);
  }
  return "";
}

LoadServer::LoadServer(std::string program, std::string folder,
                       std::vector<std::string> flags)
    : program_(std::move(program)),
      folder_(std::move(folder)),
      flags_(std::move(flags)) {}

std::string LoadServer::address() const {
  return absl::StrCat("127.0.0.1:", grpc_port_);
}

std::string LoadServer::Log() const {
  const std::string text = ReadAll(folder_ + "/server.log");
  return text.size() > 4000 ? text.substr(text.size() - 4000) : text;
}

absl::Status LoadServer::Start() {
  process_.reset();
  const std::string ports = folder_ + "/ports";
  unlink(ports.c_str());
  std::vector<std::string> words = {
      program_, absl::StrCat("--data_dir=", folder_, "/data"),
      absl::StrCat("--grpc_listen=127.0.0.1:", grpc_port_),
      "--http_listen=127.0.0.1:0", absl::StrCat("--port_file=", ports)};
  words.insert(words.end(), flags_.begin(), flags_.end());
  process_ = std::make_unique<ChildProcess>(words, folder_ + "/server.log");
  const absl::Time deadline = absl::Now() + kStart;
  while (std::sscanf(ReadAll(ports).c_str(), "grpc=%d http=%d\n", &grpc_port_,
                     &http_port_) != 2) {
    if (!process_->Running() || absl::Now() > deadline) {
      return absl::UnavailableError(
          absl::StrCat(program_, " does not serve:\n", Log()));
    }
    absl::SleepFor(absl::Milliseconds(5));
  }
  return absl::OkStatus();
}

int LoadServer::End() {
  process_->Signal(SIGTERM);
  const int status = process_->Wait();
  process_.reset();
  return status;
}

absl::StatusOr<double> LoadServer::CpuSeconds() const {
  const std::string path = absl::StrCat("/proc/", process_->pid(), "/stat");
  const std::string text = ReadAll(path);
  // After the name, which may have blanks in it: state, then numbers.
  const std::vector<std::string> words = absl::StrSplit(
      text.substr(std::min(text.rfind(')') + 1, text.size())), ' ');
  uint64_t user = 0;
  uint64_t system = 0;
  if (words.size() < 15 || !absl::SimpleAtoi(words[12], &user) ||
      !absl::SimpleAtoi(words[13], &system)) {
    return absl::UnavailableError(absl::StrCat("read ", path));
  }
  return static_cast<double>(user + system) /
         static_cast<double>(sysconf(_SC_CLK_TCK));
}

absl::StatusOr<uint64_t> LoadServer::StatusBytes(
    const std::string& field) const {
  const std::string path = absl::StrCat("/proc/", process_->pid(), "/status");
  for (absl::string_view line : absl::StrSplit(ReadAll(path), '\n')) {
    uint64_t kilobytes = 0;
    if (absl::ConsumePrefix(&line, field + ":") &&
        absl::ConsumeSuffix(&line, "kB") &&
        absl::SimpleAtoi(line, &kilobytes)) {
      return kilobytes << 10;
    }
  }
  return absl::UnavailableError(absl::StrCat("read ", field, " of ", path));
}

absl::StatusOr<uint64_t> LoadServer::ResidentBytes() const {
  return StatusBytes("VmRSS");
}

absl::StatusOr<uint64_t> LoadServer::MostResidentBytes() const {
  return StatusBytes("VmHWM");
}

uint64_t LoadServer::LedgerBytes() const {
  const std::string file = folder_ + "/data/ledger.db";
  return SizeOf(file) + SizeOf(file + "-wal");
}

absl::StatusOr<LoadServer::Scrape> LoadServer::ScrapeNow() const {
  const absl::Time begin = absl::Now();
  absl::StatusOr<std::string> answer = Get(http_port_, "/metrics");
  if (!answer.ok()) return answer.status();
  Scrape scrape;
  scrape.time_ms = absl::ToDoubleMilliseconds(absl::Now() - begin);
  if (!absl::StrContains(answer->substr(0, 20), " 200 ")) {
    return absl::UnavailableError(
        absl::StrCat("get /metrics: ", answer->substr(0, answer->find('\r'))));
  }
  const size_t body = answer->find("\r\n\r\n");
  if (body != std::string::npos) scrape.text = answer->substr(body + 4);
  return scrape;
}

absl::StatusOr<Totals> LoadServer::Counted(
    const std::shared_ptr<grpc::ChannelCredentials>& reader) const {
  grpc::ChannelArguments args;
  args.SetMaxReceiveMessageSize(-1);
  return CountedBy(grpc::CreateCustomChannel(address(), reader, args));
}

}  // namespace swaplock
