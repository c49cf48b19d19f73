// swaplock-server: takes windows from agents, keeps them in a ledger, and shows
// metrics, a page, an API and verdicts.
#include <signal.h>
#include <stdlib.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/command_line.h"
#include "common/durable_file.h"
#include "common/log.h"
#include "common/version.h"
#include "server/listen_address.h"
#include "server/server.h"
#include "server/sqlite_ledger.h"

ABSL_FLAG(std::string, data_dir, "",
          "Directory of the ledger; made if it is not there. Required.");
ABSL_FLAG(std::string, grpc_listen, "127.0.0.1:7787",
          "Address for agents and queries (gRPC, plaintext); port 0 takes a "
          "free one.");
ABSL_FLAG(std::string, http_listen, "127.0.0.1:7788",
          "Address for /metrics, /healthz, /readyz, /api/v1 and the page; "
          "port 0 takes a free one.");
ABSL_FLAG(std::string, port_file, "",
          "File that gets the line \"grpc=PORT http=PORT\" once both serve.");
ABSL_FLAG(bool, insecure_non_loopback, false,
          "Allow plaintext on addresses that other machines can reach.");
ABSL_FLAG(uint64_t, verdict_min_operations, 100'000,
          "A host with fewer operations does not count for a verdict.");
ABSL_FLAG(absl::Duration, verdict_interval, absl::Seconds(10),
          "Time between evaluations of verdicts.");

namespace swaplock {
namespace {

// Between SIGTERM and the end of streams that are still open.
constexpr absl::Duration kGrace = absl::Seconds(2);

int Fail(int status, const std::string& sentence) {
  std::fprintf(stderr, "swaplock-server: %s\n", sentence.c_str());
  return status;
}

absl::Status WritePortFile(const std::string& path, const Server& server) {
  const std::string temporary = path + ".new";
  auto file = DurableFile::OpenToWrite(temporary);
  if (!file.ok()) return file.status();
  if (absl::Status s = file->Truncate(0); !s.ok()) return s;
  absl::Status s =
      file->WriteAt(0, absl::StrCat("grpc=", server.grpc_port(),
                                    " http=", server.http_port(), "\n"));
  if (s.ok()) s = file->Sync();
  return s.ok() ? file->RenameTo(path) : s;
}

absl::StatusOr<ListenAddress> AddressFlag(absl::string_view name,
                                          const std::string& value) {
  absl::StatusOr<ListenAddress> address = ParseListenAddress(value);
  if (!address.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, ": ", address.status().message()));
  }
  if (!address->IsLoopback() && !absl::GetFlag(FLAGS_insecure_non_loopback)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, "=", value,
                     " would let other machines connect in "
                     "plaintext; add --insecure_non_loopback to allow it"));
  }
  return address;
}

int Run() {
  const std::string data_dir = absl::GetFlag(FLAGS_data_dir);
  if (data_dir.empty()) return Fail(kExitUsage, "--data_dir is required");
  ServerOptions options;
  auto grpc_listen =
      AddressFlag("grpc_listen", absl::GetFlag(FLAGS_grpc_listen));
  if (!grpc_listen.ok()) {
    return Fail(kExitUsage, std::string(grpc_listen.status().message()));
  }
  auto http_listen =
      AddressFlag("http_listen", absl::GetFlag(FLAGS_http_listen));
  if (!http_listen.ok()) {
    return Fail(kExitUsage, std::string(http_listen.status().message()));
  }
  options.grpc_listen = *grpc_listen;
  options.http_listen = *http_listen;
  options.verdict_interval = absl::GetFlag(FLAGS_verdict_interval);
  options.verdict_rules.min_operations =
      absl::GetFlag(FLAGS_verdict_min_operations);

  // Before any thread starts, so that all inherit it and only sigwait sees
  // them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  // gRPC's own log says in many lines what our one sentence says.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);

  auto ledger = SqliteLedger::Open(data_dir);
  if (!ledger.ok()) {
    return Fail(kExitConfig, absl::StrCat("open data directory: ",
                                          ledger.status().message()));
  }
  auto server = Server::Start(*std::move(ledger), std::move(options));
  if (!server.ok()) {
    return Fail(
        absl::IsUnavailable(server.status()) ? kExitUnavailable : kExitConfig,
        std::string(server.status().message()));
  }
  const std::string port_file = absl::GetFlag(FLAGS_port_file);
  if (!port_file.empty()) {
    if (absl::Status s = WritePortFile(port_file, **server); !s.ok()) {
      return Fail(kExitConfig, std::string(s.message()));
    }
  }
  Log(LogLevel::kInfo,
      absl::StrCat("server: version ", kVersion, " serves gRPC on port ",
                   (*server)->grpc_port(), " and HTTP on port ",
                   (*server)->http_port()));
  int received = 0;
  sigwait(&signals, &received);
  Log(LogLevel::kInfo, absl::StrCat("server: ends on ", strsignal(received)));
  (*server)->Shutdown(kGrace);
  return 0;
}

}  // namespace
}  // namespace swaplock

int main(int argc, char** argv) {
  const std::vector<std::string> rest = swaplock::ParseCommandLine(
      "swaplock-server --data_dir=DIRECTORY [flags]\n\n"
      "Takes windows from swaplock agents, keeps them, and shows metrics, a "
      "page, an\nAPI and verdicts on kernels. Exit status: 0 after SIGTERM or "
      "SIGINT, 2 for\nwrong flags, 69 when a port is taken, 78 when the data "
      "directory cannot be\nused.",
      argc, argv);
  if (!rest.empty()) {
    return swaplock::Fail(swaplock::kExitUsage,
                          absl::StrCat("\"", rest[0], "\" is not a flag"));
  }
  return swaplock::Run();
}
