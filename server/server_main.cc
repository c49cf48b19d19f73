// swaplock-server: takes windows from agents, keeps them in a ledger, and shows
// metrics, a page, an API and verdicts.
#include <google/protobuf/stubs/logging.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/command_line.h"
#include "common/durable_file.h"
#include "common/log.h"
#include "common/service_state.h"
#include "common/spiffe_id.h"
#include "common/thread_room.h"
#include "common/version.h"
#include "server/ledger/sqlite_ledger.h"
#include "server/ledger/sqlite_upkeep.h"
#include "server/listen_address.h"
#include "server/replay/replay.h"
#include "server/replay/replay_clock.h"
#include "server/server.h"

ABSL_FLAG(std::string, data_dir, "",
          "Directory of the ledger; made if it is not there. Required but for "
          "--demo.");
ABSL_FLAG(bool, demo, false,
          "Show a replay: hosts that do not exist, made of windows that were "
          "recorded on real kernels, in a ledger that is deleted at the end; "
          "in place of --data_dir.");
ABSL_FLAG(std::string, otlp_endpoint, "",
          "host:port of an OpenTelemetry collector (OTLP over gRPC) that gets "
          "what /metrics shows; empty: none.");
ABSL_FLAG(absl::Duration, otlp_interval, absl::Minutes(1),
          "Time between two of these, at least 1s.");
ABSL_FLAG(
    std::string, otlp_tls_ca, "",
    "Certificate of the CA that signed the collector's; empty: plaintext, "
    "to this machine only.");
ABSL_FLAG(std::string, grpc_listen, "127.0.0.1:7787",
          "Address for agents and queries (gRPC); port 0 takes a free one. One "
          "that other machines reach needs TLS.");
ABSL_FLAG(std::string, http_listen, "127.0.0.1:7788",
          "Address for /metrics, /healthz, /readyz, /api/v1 and the page "
          "(plaintext); port 0 takes a free one.");
ABSL_FLAG(std::string, tls_cert, "", "Certificate of the gRPC port (PEM).");
ABSL_FLAG(std::string, tls_key, "", "Its key (PEM, mode 0600).");
ABSL_FLAG(std::string, tls_ca, "",
          "Certificate of the CA that signs those of hosts and readers (PEM). "
          "The three are read again when they change.");
ABSL_FLAG(std::string, trust_domain, "swaplock",
          "Domain in the certificates' names: spiffe://DOMAIN/host/ID.");
ABSL_FLAG(std::string, hosts_file, "",
          "File with one host id a line: others are refused, with their next "
          "window when a line is taken away. Empty: all that are certified.");
ABSL_FLAG(std::string, host_tokens, "",
          "File, mode 0600, of lines \"ID TOKEN\": tokens of hosts that have "
          "no certificate.");
ABSL_FLAG(std::string, reader_tokens, "",
          "File, mode 0600, of lines \"NAME TOKEN\": one of these tokens is "
          "then needed to read over HTTP, and one or a reader's certificate "
          "to query over gRPC.");
ABSL_FLAG(std::string, operator_tokens, "",
          "File, mode 0600, of lines \"NAME TOKEN\": one of these or an "
          "operator's certificate is then needed to act on a verdict or to "
          "have a host measure closer; both also read.");
ABSL_FLAG(std::string, operators, "",
          "File with one operator a line, \"NAME HOSTS...\": of which hosts "
          "(patterns with * and ?) he may say how they measure. Empty: there "
          "are no operators.");
ABSL_FLAG(std::string, settings, "",
          "File that says how hosts are to measure (proto/settings_file.proto)"
          "; read again when it changes and on SIGHUP. A file that cannot be "
          "used then changes nothing.");
ABSL_FLAG(uint64_t, max_connections, 12'000, "Connections and streams open.");
ABSL_FLAG(uint64_t, max_connections_per_address, 1'024,
          "Of these, from one address that is not of this machine.");
ABSL_FLAG(double, max_handshakes_per_second, 200,
          "Connections accepted; those above it wait.");
ABSL_FLAG(uint64_t, max_hosts, 50'000, "Hosts that the ledger may know.");
ABSL_FLAG(double, max_windows_per_second, 200,
          "Windows of one host; a burst of ten times as many is taken.");
ABSL_FLAG(bool, set_aside_damaged, false,
          "Rename a ledger that is damaged and begin a new one, which knows "
          "nothing; without it the server does not start.");
ABSL_FLAG(std::string, back_up_to, "",
          "Copy the ledger of --data_dir to this new file, while a server may "
          "be using it, and end.");
ABSL_FLAG(std::string, port_file, "",
          "File that gets the line \"grpc=PORT http=PORT\" once both serve.");
ABSL_FLAG(bool, insecure_non_loopback, false,
          "Allow plaintext on addresses that other machines can reach.");
ABSL_FLAG(uint64_t, verdict_min_operations, 100'000,
          "A host with fewer operations does not count for a verdict.");
ABSL_FLAG(absl::Duration, verdict_interval, absl::Hours(1),
          "Time between looks at the same day, for windows that came late.");
ABSL_FLAG(absl::Duration, verdict_close_delay, absl::Hours(1),
          "A day (UTC) is judged so long after its end.");
ABSL_FLAG(std::string, verdict_pairs, "",
          "File of lines \"baseline KERNEL\", \"pair OLD NEW\" and \"end NEW "
          "YYYY-MM-DD\": which kernels are compared. Empty: each with the one "
          "most of its hosts ran before.");
ABSL_FLAG(uint64_t, verdict_self_test_splits, 200,
          "Comparisons of equal kernels per night; 0: no self-test.");

namespace swaplock {
namespace {

// Between SIGTERM and the end of streams that are still open.
constexpr absl::Duration kGrace = absl::Seconds(2);
// Ours, the HTTP server's and those of gRPC: 24 with one stream on 2 CPUs.
constexpr int kThreads = 32;

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
                                          const std::string& value, bool tls) {
  absl::StatusOr<ListenAddress> address = ParseListenAddress(value);
  if (!address.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, ": ", address.status().message()));
  }
  if (!tls && !address->IsLoopback() &&
      !absl::GetFlag(FLAGS_insecure_non_loopback)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--", name, "=", value,
        " would let other machines connect in plaintext; ",
        name == "grpc_listen" ? "give --tls_cert, --tls_key and --tls_ca, or "
                              : "put a proxy with TLS before it, or ",
        "add --insecure_non_loopback to allow it"));
  }
  return address;
}

absl::StatusOr<ServerOptions> OptionsOfFlags() {
  ServerOptions options;
  options.tls.files = {absl::GetFlag(FLAGS_tls_ca),
                       absl::GetFlag(FLAGS_tls_cert),
                       absl::GetFlag(FLAGS_tls_key)};
  const TlsFiles& tls = options.tls.files;
  if (!tls.empty() &&
      (tls.ca.empty() || tls.certificate.empty() || tls.key.empty())) {
    return absl::InvalidArgumentError(
        "--tls_cert, --tls_key and --tls_ca come together");
  }
  auto grpc_listen = AddressFlag(
      "grpc_listen", absl::GetFlag(FLAGS_grpc_listen), !tls.empty());
  if (!grpc_listen.ok()) return grpc_listen.status();
  auto http_listen = AddressFlag(
      "http_listen", absl::GetFlag(FLAGS_http_listen), /*tls=*/false);
  if (!http_listen.ok()) return http_listen.status();
  options.grpc_listen = *grpc_listen;
  options.http_listen = *http_listen;
  options.access.trust_domain = absl::GetFlag(FLAGS_trust_domain);
  options.access.hosts_file = absl::GetFlag(FLAGS_hosts_file);
  options.access.host_tokens = absl::GetFlag(FLAGS_host_tokens);
  options.access.reader_tokens = absl::GetFlag(FLAGS_reader_tokens);
  options.access.operators_file = absl::GetFlag(FLAGS_operators);
  options.access.operator_tokens = absl::GetFlag(FLAGS_operator_tokens);
  options.settings_file = absl::GetFlag(FLAGS_settings);
  if (!IsTrustDomain(options.access.trust_domain)) {
    return absl::InvalidArgumentError(
        "--trust_domain is 1 to 255 of a-z, 0-9, '.', '-' and '_'");
  }
  // Who reads such a token on its way is that host from then on.
  for (const auto& [flag, file] :
       {std::make_pair("--host_tokens", options.access.host_tokens),
        std::make_pair("--operator_tokens", options.access.operator_tokens)}) {
    if (file.empty() || !tls.empty() || options.grpc_listen.IsLoopback()) {
      continue;
    }
    return absl::InvalidArgumentError(
        absl::StrCat(flag,
                     " would travel in plaintext; give --tls_cert, --tls_key "
                     "and --tls_ca too"));
  }
  options.accept.connections = absl::GetFlag(FLAGS_max_connections);
  options.accept.connections_per_address =
      absl::GetFlag(FLAGS_max_connections_per_address);
  options.accept.per_second = absl::GetFlag(FLAGS_max_handshakes_per_second);
  options.accept.burst = 2 * options.accept.per_second + 1;
  options.admission.streams = options.accept.connections;
  options.admission.hosts = absl::GetFlag(FLAGS_max_hosts);
  options.admission.windows_per_second =
      absl::GetFlag(FLAGS_max_windows_per_second);
  options.admission.windows_at_once =
      10 * options.admission.windows_per_second + 1;
  if (options.accept.connections == 0 ||
      !(options.accept.per_second > 0 && options.accept.per_second <= 1e6) ||
      !(options.admission.windows_per_second > 0 &&
        options.admission.windows_per_second <= 1e6)) {
    return absl::InvalidArgumentError(
        "--max_connections is at least 1, --max_handshakes_per_second and "
        "--max_windows_per_second are above 0 and at most 1e6");
  }
  options.otlp.endpoint = absl::GetFlag(FLAGS_otlp_endpoint);
  options.otlp.interval = absl::GetFlag(FLAGS_otlp_interval);
  options.otlp.identity.tls.ca = absl::GetFlag(FLAGS_otlp_tls_ca);
  if (absl::Status s = CheckOtlp(options.otlp); !s.ok()) return s;
  options.verdicts.rules.min_operations =
      absl::GetFlag(FLAGS_verdict_min_operations);
  options.verdicts.look_interval = absl::GetFlag(FLAGS_verdict_interval);
  options.verdicts.close_delay = absl::GetFlag(FLAGS_verdict_close_delay);
  options.verdicts.pairs_file = absl::GetFlag(FLAGS_verdict_pairs);
  options.verdicts.self_test_splits =
      absl::GetFlag(FLAGS_verdict_self_test_splits);
  if (options.verdicts.look_interval < absl::Seconds(1) ||
      options.verdicts.close_delay < absl::ZeroDuration() ||
      options.verdicts.close_delay > absl::Hours(24)) {
    return absl::InvalidArgumentError(
        "--verdict_interval is at least 1s, --verdict_close_delay between 0 "
        "and 24h");
  }
  return options;
}

void Say(const absl::Status& settings) {
  if (settings.ok()) return;
  Log(LogLevel::kError,
      absl::StrCat("server: the old settings stay: ", settings.message()));
}

// Which of `signals` ends the server. Until then shows the watchdog that it
// answers, and reads settings that changed.
int WaitForSignal(const sigset_t& signals, Server* server) {
  Watchdog watchdog;
  const timespec turn =
      absl::ToTimespec(std::min(watchdog.period() / 2, absl::Seconds(5)));
  while (true) {
    server->commits();
    watchdog.Alive();
    const int received = sigtimedwait(&signals, nullptr, &turn);
    if (received == SIGHUP) {
      Say(server->ReadSettings());
    } else if (received > 0) {
      return received;
    } else {
      Say(server->ReadSettingsIfChanged());
    }
  }
}

// A folder that is deleted with all that is in it.
class TemporaryDirectory {
 public:
  static absl::StatusOr<std::unique_ptr<TemporaryDirectory>> Make() {
    std::error_code error;
    std::filesystem::path path = std::filesystem::temp_directory_path(error);
    std::string name = (path / "swaplock-demo-XXXXXX").string();
    if (error || mkdtemp(name.data()) == nullptr) {
      return absl::FailedPreconditionError(
          absl::StrCat("make a temporary directory ", name, ": ",
                       error ? error.message() : std::strerror(errno)));
    }
    return std::unique_ptr<TemporaryDirectory>(
        new TemporaryDirectory(std::move(name)));
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

// Hosts that do not exist have no credentials, and nobody may give them any.
absl::Status CheckDemoFlags(const ServerOptions& options) {
  const AccessOptions& access = options.access;
  if (!absl::GetFlag(FLAGS_data_dir).empty() ||
      !absl::GetFlag(FLAGS_back_up_to).empty() ||
      absl::GetFlag(FLAGS_set_aside_damaged) || !options.tls.files.empty() ||
      !access.host_tokens.empty() || !access.hosts_file.empty() ||
      !options.grpc_listen.IsLoopback()) {
    return absl::InvalidArgumentError(
        "--demo has a ledger of its own and takes no other hosts: it goes "
        "without --data_dir, --back_up_to, --set_aside_damaged, --tls_*, "
        "--host_tokens and --hosts_file, and --grpc_listen is of this machine");
  }
  return absl::OkStatus();
}

// What --demo changes.
void SetUpDemo(const ReplayClock& clock, ServerOptions* options) {
  options->clock = clock.AsClock();
  options->replay = kReplayNotice;
  options->verdicts.close_delay = absl::ZeroDuration();
}

int Run() {
  const bool demo = absl::GetFlag(FLAGS_demo);
  std::string data_dir = absl::GetFlag(FLAGS_data_dir);
  if (data_dir.empty() && !demo) {
    return Fail(kExitUsage, "--data_dir or --demo is required");
  }
  if (const std::string target = absl::GetFlag(FLAGS_back_up_to);
      !target.empty() && !demo) {
    const absl::Status status = BackUp(data_dir, target);
    if (status.ok()) return 0;
    return Fail(absl::IsUnavailable(status) ? kExitUnavailable : kExitConfig,
                absl::StrCat("back up: ", status.message()));
  }
  absl::StatusOr<ServerOptions> options = OptionsOfFlags();
  if (!options.ok()) {
    return Fail(kExitUsage, std::string(options.status().message()));
  }

  // Debian's Abseil looks for deadlocks at each lock, which all threads then
  // wait for. The tests have it on.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);

  // Before any thread starts, so that all inherit it and only sigwait sees
  // them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  // gRPC's own log says in many lines what our one sentence says.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  // Nor may a host fill the log by sending what is no UTF-8.
  google::protobuf::SetLogHandler(nullptr);

  if (absl::Status s = CheckThreadRoom(kThreads); !s.ok()) {
    return Fail(kExitUnavailable, std::string(s.message()));
  }
  std::unique_ptr<TemporaryDirectory> temporary;
  ReplayClock replay_clock;
  if (demo) {
    if (absl::Status s = CheckDemoFlags(*options); !s.ok()) {
      return Fail(kExitUsage, std::string(s.message()));
    }
    auto made = TemporaryDirectory::Make();
    if (!made.ok()) {
      return Fail(kExitConfig, std::string(made.status().message()));
    }
    temporary = *std::move(made);
    data_dir = temporary->path();
    replay_clock.StandAt(Replay::Beginning());
    SetUpDemo(replay_clock, &*options);
  }

  auto ledger = absl::GetFlag(FLAGS_set_aside_damaged)
                    ? SqliteLedger::OpenAnew(data_dir)
                    : SqliteLedger::Open(data_dir);
  if (!ledger.ok()) {
    return Fail(kExitConfig, absl::StrCat("open data directory: ",
                                          ledger.status().message()));
  }
  const ListenAddress grpc_listen = options->grpc_listen;
  auto server = Server::Start(*std::move(ledger), *std::move(options));
  if (!server.ok()) {
    return Fail(
        absl::IsUnavailable(server.status()) ? kExitUnavailable : kExitConfig,
        std::string(server.status().message()));
  }
  std::unique_ptr<Replay> replay;
  if (demo) {
    auto started =
        Replay::Start(server->get(), replay_clock, {data_dir, grpc_listen});
    if (!started.ok()) {
      return Fail(kExitUnavailable,
                  absl::StrCat("replay: ", started.status().message()));
    }
    replay = *std::move(started);
  }
  const std::string port_file = absl::GetFlag(FLAGS_port_file);
  if (!port_file.empty()) {
    if (absl::Status s = WritePortFile(port_file, **server); !s.ok()) {
      return Fail(kExitConfig, std::string(s.message()));
    }
  }
  Log(LogLevel::kInfo,
      absl::StrCat(
          "server: version ", kVersion, " serves gRPC on port ",
          (*server)->grpc_port(), " and HTTP on port ", (*server)->http_port(),
          demo ? "; this is a replay, of hosts that do not exist" : ""));
  NotifyReady(absl::StrCat("gRPC on port ", (*server)->grpc_port(),
                           ", HTTP on port ", (*server)->http_port()));
  const int received = WaitForSignal(signals, server->get());
  NotifyStopping();
  Log(LogLevel::kInfo, absl::StrCat("server: ends on ", strsignal(received)));
  replay.reset();
  (*server)->Shutdown(kGrace);
  return 0;
}

}  // namespace
}  // namespace swaplock

int main(int argc, char** argv) {
  const std::vector<std::string> rest = swaplock::ParseCommandLine(
      "swaplock-server --data_dir=DIRECTORY [flags]\n"
      "swaplock-server --demo [flags]\n\n"
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
