// swaplock-agent: takes windows from the kernel or from a recording and hands
// them to whoever asked: stdout, a record file, the spool and the server.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "agent/capture/bpf_source.h"
#include "agent/cut_event.h"
#include "agent/delivery/delivery_meter.h"
#include "agent/delivery/fitted_window.h"
#include "agent/delivery/spool.h"
#include "agent/delivery/uplink.h"
#include "agent/identity.h"
#include "agent/local_server.h"
#include "agent/privileges.h"
#include "agent/replay_source.h"
#include "agent/stop_event.h"
#include "common/channel.h"
#include "common/command_line.h"
#include "common/log.h"
#include "common/plain_text.h"
#include "common/record_file.h"
#include "common/service_state.h"
#include "common/spiffe_id.h"
#include "common/thread_room.h"
#include "common/tls_files.h"
#include "common/version.h"
#include "common/window_table.h"

ABSL_FLAG(std::vector<std::string>, server, {},
          "host:port of the server to send windows to, or several: the first "
          "one that answers, as long as it does; empty: none");
ABSL_FLAG(std::string, tls_ca, "",
          "certificate of the CA that signed the server's; empty: plaintext");
ABSL_FLAG(std::string, tls_cert, "",
          "this host's certificate; its name is the host's id");
ABSL_FLAG(std::string, tls_key, "", "its key, mode 0600");
ABSL_FLAG(std::string, tls_server_name, "",
          "name in the server's certificate, if it is not that of --server");
ABSL_FLAG(std::string, token_file, "",
          "file, mode 0600, with this host's token, where it has no "
          "certificate");
ABSL_FLAG(std::string, state_dir, "",
          "folder where windows wait for the server and survive a restart; "
          "empty: they wait in memory");
ABSL_FLAG(int64_t, spool_bytes, 32 << 20,
          "size of the file in --state_dir, when it is made; 64 KiB to 4 GiB");
ABSL_FLAG(std::string, host_id, "",
          "name of this host in its windows; empty: that in --tls_cert, or a "
          "hash of the machine id");
ABSL_FLAG(std::vector<std::string>, labels, {},
          "name=value pairs that go into every window");
ABSL_FLAG(absl::Duration, interval, absl::Seconds(10),
          "length of a window, 100ms to 1h");
ABSL_FLAG(int, top_k, 16, "longest holds kept per window");
ABSL_FLAG(std::string, print, "",
          "write windows to stdout: text (also a bare --print) or json, one "
          "line each");
ABSL_FLAG(std::string, record, "", "file that windows are appended to");
ABSL_FLAG(std::string, listen, "",
          "unix:PATH of a socket for programs of this host that want the "
          "windows as they come (swaplock record --agent); empty: none");
ABSL_FLAG(std::string, replay, "",
          "file to take windows from, instead of this kernel");
ABSL_FLAG(double, replay_speed, 0,
          "1: as fast as it was recorded, 2: twice as fast, 0: without waits");
ABSL_FLAG(int, seconds, 0, "stop after so many seconds; 0: never");
ABSL_FLAG(bool, once, false, "stop after one window");
ABSL_FLAG(absl::Duration, drain, absl::Seconds(5),
          "at the end, how long to go on sending what waits");
ABSL_FLAG(absl::Duration, backoff_cap, absl::Seconds(120),
          "longest wait before connecting again");
ABSL_FLAG(double, cpu_budget, 1,
          "percent of one CPU that timing holds may take; above it only some "
          "are timed, all are counted; 0: no limit");
ABSL_FLAG(bool, probe_zram_devices, true,
          "find a zram device's locks by reading one sector of it");
ABSL_FLAG(std::vector<std::string>, without, {},
          "for tests: do without fentry, kprobe or tp_btf (a list)");

namespace swaplock {
namespace {

// As many replayed windows as may wait before the replay waits for them.
constexpr uint64_t kReplayedAhead = 64;

const StopEvent* stop_event = nullptr;
std::atomic<bool> stop_signalled{false};

void OnStopSignal(int signal_number) {
  // The second one means it: whoever sends it waits no longer.
  if (stop_signalled.exchange(true)) _exit(128 + signal_number);
  stop_event->Raise();
}

void OnAlarm(int) { stop_event->Raise(); }

void Handle(int signal_number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal_number, &action, nullptr);
}

int ExitStatusOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kUnavailable:
      return kExitUnavailable;
    default:
      return kExitConfig;
  }
}

// With a server: ours and those of gRPC, which has 12 on 2 CPUs.
constexpr int kThreads = 16;

int Fail(absl::string_view what, const absl::Status& status) {
  Log(LogLevel::kError, absl::StrCat(what, ": ", status.ToString()));
  return ExitStatusOf(status);
}

int Usage(absl::string_view message) {
  std::fprintf(stderr, "swaplock-agent: %s\n", std::string(message).c_str());
  return kExitUsage;
}

std::map<std::string, std::string> Labels() {
  std::map<std::string, std::string> labels;
  for (const std::string& label : absl::GetFlag(FLAGS_labels)) {
    labels.insert(absl::StrSplit(label, absl::MaxSplits('=', 1)));
  }
  return labels;
}

// What is wrong with the texts that go into every window: the server would take
// none of them.
std::string TextError() {
  const auto fits = [](const std::string& text, size_t max_bytes) {
    return text.size() <= max_bytes && IsPlainText(text);
  };
  if (!fits(absl::GetFlag(FLAGS_host_id), 128)) {
    return "--host_id is UTF-8 of at most 128 bytes without control characters";
  }
  const std::map<std::string, std::string> labels = Labels();
  if (labels.size() > 32) return "--labels: at most 32";
  for (const auto& [name, value] : labels) {
    if (!fits(name, 64) || !fits(value, 256)) {
      return "--labels: names are UTF-8 of at most 64 bytes, values of at most "
             "256, without control characters";
    }
  }
  return "";
}

// What is wrong with the flags; empty if nothing is.
std::string FlagError() {
  const absl::Duration interval = absl::GetFlag(FLAGS_interval);
  if (interval < absl::Milliseconds(100) || interval > absl::Hours(1)) {
    return "--interval is 100ms to 1h";
  }
  const int64_t spool_bytes = absl::GetFlag(FLAGS_spool_bytes);
  if (spool_bytes < (64 << 10) || spool_bytes > (int64_t{4} << 30)) {
    return "--spool_bytes is 65536 to 4294967296";
  }
  if (absl::GetFlag(FLAGS_seconds) < 0) return "--seconds is at least 0";
  // The server takes no more.
  if (absl::GetFlag(FLAGS_top_k) < 0 || absl::GetFlag(FLAGS_top_k) > 64) {
    return "--top_k is 0 to 64";
  }
  const double cpu_budget = absl::GetFlag(FLAGS_cpu_budget);
  if (!(cpu_budget >= 0 && cpu_budget <= 100)) {
    return "--cpu_budget is 0 to 100";
  }
  const std::string print = absl::GetFlag(FLAGS_print);
  if (!print.empty() && print != "text" && print != "json") {
    return "--print is text or json";
  }
  for (const std::string& label : absl::GetFlag(FLAGS_labels)) {
    if (label.find('=') == std::string::npos || label[0] == '=') {
      return absl::StrCat("--labels: \"", label, "\" is not name=value");
    }
  }
  if (std::string error = TextError(); !error.empty()) return error;
  for (const std::string& server : absl::GetFlag(FLAGS_server)) {
    if (server.empty()) return "--server: a name between its commas is empty";
  }
  if (print.empty() && absl::GetFlag(FLAGS_server).empty() &&
      absl::GetFlag(FLAGS_record).empty() &&
      absl::GetFlag(FLAGS_state_dir).empty() &&
      absl::GetFlag(FLAGS_listen).empty()) {
    return "nowhere to put windows: give --server, --print, --record, "
           "--listen or --state_dir";
  }
  return "";
}

absl::StatusOr<std::unique_ptr<WindowSource>> MakeSource(
    const WindowKey& identity, const StopEvent& stop, const CutEvent& cut) {
  const std::string replay = absl::GetFlag(FLAGS_replay);
  if (!replay.empty()) {
    return ReplaySource::Open(replay, absl::GetFlag(FLAGS_replay_speed), stop);
  }
  BpfSourceOptions options;
  options.interval = absl::GetFlag(FLAGS_interval);
  options.top_k = absl::GetFlag(FLAGS_top_k);
  options.host_id = identity.host_id;
  options.boot_id = identity.boot_id;
  options.epoch = identity.epoch;
  options.agent_version = std::string(kVersion);
  options.labels = Labels();
  options.probe_zram_devices = absl::GetFlag(FLAGS_probe_zram_devices);
  options.without = absl::GetFlag(FLAGS_without);
  options.cpu_budget = absl::GetFlag(FLAGS_cpu_budget) / 100;
  options.cut = &cut;
  return MakeBpfSource(options, stop);
}

ChannelIdentity Credentials() {
  ChannelIdentity out;
  out.tls = {absl::GetFlag(FLAGS_tls_ca), absl::GetFlag(FLAGS_tls_cert),
             absl::GetFlag(FLAGS_tls_key)};
  out.server_name = absl::GetFlag(FLAGS_tls_server_name);
  out.token_file = absl::GetFlag(FLAGS_token_file);
  return out;
}

// By --host_id, else by the certificate, else by the machine.
absl::StatusOr<std::string> HostId() {
  const std::string given = absl::GetFlag(FLAGS_host_id);
  const std::string certificate = absl::GetFlag(FLAGS_tls_cert);
  if (certificate.empty()) return given.empty() ? LocalHostId() : given;
  const absl::StatusOr<TlsMaterial> material = ReadTlsFiles(Credentials().tls);
  if (!material.ok()) return material.status();
  const absl::StatusOr<std::vector<std::string>> uris =
      UriNames(material->certificate);
  if (!uris.ok()) return uris.status();
  const absl::StatusOr<SpiffeId> named = OnlySpiffeId(*uris);
  if (!named.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(certificate, ": ", named.status().message()));
  }
  if (named->kind != PeerKind::kHost) {
    return absl::FailedPreconditionError(absl::StrCat(
        certificate, " is of ", named->ToString(), ", not a host"));
  }
  if (!given.empty() && given != named->name) {
    return absl::FailedPreconditionError(absl::StrCat(
        certificate, " is of host ", named->name, ", but --host_id is ", given,
        ": the server would refuse its windows"));
  }
  return named->name;
}

// This agent's, or in a replay the one of its first window.
absl::StatusOr<WindowKey> Identity() {
  WindowKey identity;
  absl::StatusOr<std::string> host_id = HostId();
  if (!host_id.ok()) return host_id.status();
  identity.host_id = *std::move(host_id);
  identity.epoch = EpochOf(Clock());
  absl::StatusOr<std::string> boot_id = LocalBootId();
  if (!boot_id.ok()) return boot_id.status();
  identity.boot_id = *std::move(boot_id);
  if (const std::string replay = absl::GetFlag(FLAGS_replay); !replay.empty()) {
    absl::StatusOr<std::unique_ptr<RecordReader>> reader =
        RecordReader::Open(replay);
    if (!reader.ok()) return reader.status();
    const absl::StatusOr<Window> first = (*reader)->Next();
    if (first.ok()) identity = first->key;
  }
  return identity;
}

absl::StatusOr<std::unique_ptr<Spool>> OpenSpool() {
  Spool::Options options;
  options.folder = absl::GetFlag(FLAGS_state_dir);
  options.max_bytes = static_cast<uint64_t>(absl::GetFlag(FLAGS_spool_bytes));
  return Spool::Open(options);
}

// Writes windows to stdout. Coverage is written when it changes.
class Printer {
 public:
  // False when stdout takes no more.
  bool Print(const Window& window) {
    const std::string print = absl::GetFlag(FLAGS_print);
    if (closed_ || print.empty()) return !closed_;
    std::string text;
    if (print == "json") {
      absl::StatusOr<std::string> json = WindowJson(window);
      if (!json.ok()) {
        Log(LogLevel::kError, json.status().message());
        return true;
      }
      text = *std::move(json);
    } else {
      std::string coverage = CoverageText(window.coverage);
      if (coverage != coverage_) text = absl::StrCat(coverage, "\n");
      coverage_ = std::move(coverage);
      absl::StrAppend(&text, WindowText(window));
    }
    closed_ = std::puts(text.c_str()) < 0 || std::fflush(stdout) != 0;
    if (closed_) Log(LogLevel::kWarning, "print: stdout takes no more");
    return !closed_;
  }

 private:
  std::string coverage_;
  bool closed_ = false;
};

// Where windows go, in this order; each may be absent.
struct Sinks {
  std::unique_ptr<RecordWriter> record;
  std::unique_ptr<Spool> spool;
  std::unique_ptr<Uplink> uplink;  // uses the spool: destroyed first
  std::unique_ptr<LocalServer> local;
  DeliveryMeter meter;
  Printer printer;
};

absl::StatusOr<std::unique_ptr<LocalServer>> Listen(const CutEvent& cut) {
  LocalServer::Options options;
  options.address = absl::GetFlag(FLAGS_listen);
  options.agent_version = std::string(kVersion);
  options.interval = absl::GetFlag(FLAGS_interval);
  if (absl::GetFlag(FLAGS_replay).empty()) options.cut = &cut;
  return LocalServer::Start(options);
}

absl::StatusOr<Sinks> OpenSinks(const WindowKey& identity,
                                const CutEvent& cut) {
  Sinks sinks;
  if (!absl::GetFlag(FLAGS_listen).empty()) {
    absl::StatusOr<std::unique_ptr<LocalServer>> local = Listen(cut);
    if (!local.ok()) return local.status();
    sinks.local = *std::move(local);
  }
  if (const std::string path = absl::GetFlag(FLAGS_record); !path.empty()) {
    absl::StatusOr<std::unique_ptr<RecordWriter>> record =
        RecordWriter::Open(path);
    if (!record.ok()) return record.status();
    sinks.record = *std::move(record);
  }
  const std::vector<std::string> servers = absl::GetFlag(FLAGS_server);
  if (servers.empty() && absl::GetFlag(FLAGS_state_dir).empty()) return sinks;

  absl::StatusOr<std::unique_ptr<Spool>> spool = OpenSpool();
  if (!spool.ok()) return spool.status();
  sinks.spool = *std::move(spool);
  // A crash between recording a window and spooling it leaves it recorded but
  // not sent. Whether it was, only the server knows.
  if (sinks.record != nullptr && sinks.record->last_found().has_value()) {
    const absl::Status status =
        sinks.spool->AppendInDoubt(*sinks.record->last_found());
    if (!status.ok()) return status;
  }
  if (servers.empty()) return sinks;
  Uplink::Options options;
  options.servers = servers;
  options.credentials = Credentials();
  for (const std::string& server : servers) {
    if (absl::Status s = CheckIdentity(options.credentials, server); !s.ok()) {
      return s;
    }
  }
  options.identity = identity;
  options.agent_version = std::string(kVersion);
  options.backoff_cap = absl::GetFlag(FLAGS_backoff_cap);
  sinks.uplink = std::make_unique<Uplink>(options, sinks.spool.get());
  return sinks;
}

// False when nothing is left to do it for.
bool Deliver(const Window& window, Sinks* sinks) {
  absl::Status status;
  if (sinks->record != nullptr) status = sinks->record->Append(window);
  if (!status.ok()) {
    static LogSite site(absl::Minutes(1));
    site.Log(LogLevel::kError, absl::StrCat("record: ", status.ToString()));
  }
  if (sinks->spool != nullptr) {
    status = sinks->spool->Append(window);
    if (!status.ok()) Log(LogLevel::kError, status.ToString());
    if (sinks->uplink != nullptr) sinks->uplink->Wake();
  }
  if (sinks->local != nullptr) sinks->local->Publish(window);
  return sinks->printer.Print(window) || sinks->record != nullptr ||
         sinks->spool != nullptr || sinks->local != nullptr;
}

void DropPrivileges() {
  const std::string listen = absl::GetFlag(FLAGS_listen);
  const absl::StatusOr<std::string> left = KeepOnly(NeededCapabilities(
      {absl::GetFlag(FLAGS_record), absl::GetFlag(FLAGS_state_dir),
       std::string(absl::StripPrefix(listen, "unix:"))}));
  if (left.ok()) {
    Log(LogLevel::kInfo,
        absl::StrCat("capabilities kept: ", left->empty() ? "none" : *left));
  } else {
    Log(LogLevel::kWarning, std::string(left.status().message()));
  }
}

int Run(const StopEvent& stop) {
  absl::StatusOr<WindowKey> identity = Identity();
  if (!identity.ok()) return Fail("start", identity.status());
  const absl::StatusOr<std::unique_ptr<CutEvent>> cut = CutEvent::Create();
  if (!cut.ok()) return Fail("start", cut.status());
  absl::StatusOr<std::unique_ptr<WindowSource>> source =
      MakeSource(*identity, stop, **cut);
  if (!source.ok()) return Fail("start", source.status());
  // The probes are attached, and no other thread has begun.
  DropPrivileges();
  if (!absl::GetFlag(FLAGS_server).empty()) {
    if (absl::Status s = CheckThreadRoom(kThreads); !s.ok()) {
      return Fail("start", s);
    }
  }
  absl::StatusOr<Sinks> sinks = OpenSinks(*identity, **cut);
  if (!sinks.ok()) return Fail("start", sinks.status());

  const bool replay = !absl::GetFlag(FLAGS_replay).empty();
  int exit_status = 0;
  Watchdog watchdog;
  NotifyReady("measures");
  while (true) {
    absl::Duration window_length = absl::GetFlag(FLAGS_interval);
    if (sinks->uplink != nullptr) {
      const SourceSettings settings = sinks->uplink->settings();
      (*source)->Apply(settings);
      window_length = std::max(window_length, settings.interval);
    }
    watchdog.Alive(window_length);
    absl::StatusOr<Window> window = (*source)->Next();
    if (absl::IsOutOfRange(window.status())) break;
    if (!window.ok()) {
      exit_status = Fail("measure", window.status());
      break;
    }
    if (FitWindow(kMaxWindowBytes, &*window)) {
      static LogSite site(absl::Minutes(10));
      site.Log(
          LogLevel::kWarning,
          "window: too large to be sent with all its longest holds, or with "
          "each device apart");
    }
    if (!replay && sinks->uplink != nullptr) {
      window->overhead.delivery =
          sinks->meter.Take(sinks->spool->stats(), sinks->uplink->stats());
    }
    if (!Deliver(*window, &*sinks) || absl::GetFlag(FLAGS_once)) break;
    // A recording waits for the server; only time does not.
    while (replay && sinks->uplink != nullptr &&
           sinks->spool->stats().pending >= kReplayedAhead &&
           !stop.WaitFor(absl::Milliseconds(10))) {
    }
  }

  NotifyStopping();
  if (sinks->uplink == nullptr) return exit_status;
  if (sinks->uplink->Drain(absl::GetFlag(FLAGS_drain))) return exit_status;
  const uint64_t left = sinks->spool->stats().pending;
  const std::string state_dir = absl::GetFlag(FLAGS_state_dir);
  Log(LogLevel::kWarning,
      state_dir.empty()
          ? absl::StrCat("end: ", left,
                         " windows did not reach the server "
                         "and are lost, for there is no --state_dir")
          : absl::StrCat("end: ", left, " windows wait in ", state_dir,
                         " for the next start"));
  if (replay && !stop.Raised() && exit_status == 0) return kExitUnavailable;
  return exit_status;
}

int Main(int argc, char** argv) {
  // absl wants a value for every flag that is no bool.
  std::string print_text = "--print=text";
  std::replace_if(
      argv + 1, argv + argc,
      [](absl::string_view arg) { return arg == "--print" || arg == "-print"; },
      print_text.data());
  const std::vector<std::string> left = ParseCommandLine(
      "Measures the locks on the swap-compression path of this kernel.", argc,
      argv);
  if (!left.empty()) {
    return Usage(absl::StrCat("unexpected argument \"", left[0], "\""));
  }
  if (const std::string error = FlagError(); !error.empty()) {
    return Usage(error);
  }

  absl::StatusOr<std::unique_ptr<StopEvent>> stop = StopEvent::Create();
  if (!stop.ok()) return Fail("start", stop.status());
  stop_event = stop->get();
  Handle(SIGTERM, OnStopSignal);
  Handle(SIGINT, OnStopSignal);
  Handle(SIGALRM, OnAlarm);
  Handle(SIGPIPE, SIG_IGN);  // stdout and the server may go away
  alarm(static_cast<unsigned int>(absl::GetFlag(FLAGS_seconds)));
  return Run(**stop);
}

}  // namespace
}  // namespace swaplock

int main(int argc, char** argv) { return swaplock::Main(argc, argv); }
