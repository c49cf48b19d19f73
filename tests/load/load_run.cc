#include "tests/load/load_run.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "tests/load/load_certificates.h"
#include "tests/load/load_fleet.h"
#include "tests/load/load_server.h"
#include "tests/load/scraper.h"
#include "tests/load/silent_peers.h"
#include "tests/load/simulated_windows.h"

namespace swaplock {
namespace {

constexpr absl::Duration kScrapeEvery = absl::Seconds(1);
constexpr absl::Duration kWitnessEvery = absl::Seconds(1);
constexpr uint64_t kUntilStopped = std::numeric_limits<uint64_t>::max();
// Windows end before now, also when many are sent at once.
constexpr absl::Duration kPast = absl::Hours(3);
constexpr size_t kHostThreads = 2;

double SecondsSince(absl::Time begin) {
  return absl::ToDoubleSeconds(absl::Now() - begin);
}

class LoadRun {
 public:
  LoadRun(const LoadPlan& plan, LoadCertificates certificates)
      : certificates_(std::move(certificates)),
        windows_(plan.seed, absl::Now() - kPast),
        server_(plan.server, plan.folder, ServerFlags(plan)) {
    report_.plan = plan;
  }

  absl::StatusOr<LoadReport> Run() {
    for (const auto part :
         {&LoadRun::Begin, &LoadRun::ConnectAll, &LoadRun::SendAll,
          &LoadRun::Storm, &LoadRun::EndAll, &LoadRun::Compare}) {
      if (absl::Status s = (this->*part)(); !s.ok()) return s;
    }
    return report_;
  }

 private:
  const LoadPlan& plan() const { return report_.plan; }

  std::vector<std::string> ServerFlags(const LoadPlan& plan) const {
    std::vector<std::string> flags = certificates_.ServerFlags();
    flags.insert(flags.end(), plan.server_flags.begin(),
                 plan.server_flags.end());
    return flags;
  }

  std::unique_ptr<LoadFleet> MakeFleet(size_t hosts, size_t threads,
                                       LoadHostKind kind, LoadTally* tally) {
    LoadHost::Surroundings around;
    around.server = server_.address();
    around.backoff_cap = plan().backoff_cap;
    around.windows = &windows_;
    around.tally = tally;
    const LoadFleet::Group group = {next_number_, hosts, threads, kind};
    next_number_ += hosts;
    return std::make_unique<LoadFleet>(around, group, [this](uint64_t number) {
      return certificates_.Host(SimulatedWindows::HostId(number));
    });
  }

  absl::Status Wait(LoadFleet* fleet, const std::string& what) {
    const size_t left = fleet->Wait(plan().patience);
    if (left == 0) return absl::OkStatus();
    return absl::DeadlineExceededError(
        absl::StrCat(left, " of ", fleet->size(), " hosts did not ", what,
                     " in time; the server's log:\n", server_.Log()));
  }

  absl::Status Resident(uint64_t* bytes) const {
    absl::StatusOr<uint64_t> now = server_.ResidentBytes();
    if (now.ok()) *bytes = *now;
    return now.status();
  }

  absl::Status Begin() {
    if (absl::Status s = server_.Start(); !s.ok()) return s;
    if (absl::Status s = Resident(&report_.rss_empty); !s.ok()) return s;
    hosts_ = MakeFleet(plan().hosts, kHostThreads, LoadHostKind::kGood, &good_);
    witnesses_ =
        MakeFleet(plan().witnesses, 1, LoadHostKind::kGood, &witnessed_);
    poisoned_ = MakeFleet(plan().poisoned, 1, LoadHostKind::kPoisoned, &bad_);
    deaf_ = MakeFleet(plan().deaf, 1, LoadHostKind::kDeaf, &bad_);
    silent_ = std::make_unique<SilentPeers>(server_.grpc_port(), plan().silent);
    report_.silent_connected = silent_->connected();
    return absl::OkStatus();
  }

  absl::Status ConnectAll() {
    witnesses_->Connect();
    if (absl::Status s = Wait(witnesses_.get(), "connect"); !s.ok()) return s;
    const absl::Time begin = absl::Now();
    hosts_->Connect();
    if (absl::Status s = Wait(hosts_.get(), "connect"); !s.ok()) return s;
    report_.connect_s = SecondsSince(begin);
    return Resident(&report_.rss_connected);
  }

  absl::Status SendAll() {
    scraper_ = std::make_unique<Scraper>(&server_, kScrapeEvery);
    for (LoadFleet* bad : {poisoned_.get(), deaf_.get()}) {
      bad->Connect();
      if (absl::Status s = Wait(bad, "connect"); !s.ok()) return s;
      bad->Send(plan().windows, absl::ZeroDuration());
    }
    const absl::StatusOr<double> cpu_before = server_.CpuSeconds();
    const absl::Time begin = absl::Now();
    hosts_->Send(plan().windows, plan().interval);
    if (absl::Status s = Wait(hosts_.get(), "send"); !s.ok()) return s;
    report_.send_s = SecondsSince(begin);
    const absl::StatusOr<double> cpu = server_.CpuSeconds();
    report_.acknowledge = good_.TakeLatency();
    const LoadTally::Numbers numbers = good_.numbers();
    report_.sent_windows = numbers.windows;
    if (numbers.windows > 0 && cpu.ok() && cpu_before.ok()) {
      const auto windows = static_cast<double>(numbers.windows);
      report_.cpu_us_per_window = (*cpu - *cpu_before) * 1e6 / windows;
      report_.window_bytes = numbers.bytes / numbers.windows;
    }
    for (LoadFleet* bad : {poisoned_.get(), deaf_.get()}) {
      if (absl::Status s = Wait(bad, "send"); !s.ok()) return s;
    }
    return Resident(&report_.rss_sent);
  }

  absl::Status Storm() {
    if (!plan().storm) return absl::OkStatus();
    witnesses_->Send(kUntilStopped, kWitnessEvery);
    absl::SleepFor(plan().calm);  // what is measured is these seconds
    report_.witnesses_calm = witnessed_.TakeLatency();
    hosts_->Drop();
    if (absl::Status s = Wait(hosts_.get(), "drop"); !s.ok()) return s;
    const uint64_t streams_before = good_.numbers().streams;
    const absl::StatusOr<double> cpu_before = server_.CpuSeconds();
    const absl::Time begin = absl::Now();
    hosts_->Connect();
    if (absl::Status s = Wait(hosts_.get(), "come back"); !s.ok()) return s;
    report_.storm_s = SecondsSince(begin);
    const absl::StatusOr<double> cpu = server_.CpuSeconds();
    if (cpu.ok() && cpu_before.ok()) report_.storm_cpu_s = *cpu - *cpu_before;
    report_.storm_streams = good_.numbers().streams - streams_before;
    report_.witnesses_storm = witnessed_.TakeLatency();
    witnesses_->Stop();
    if (absl::Status s = Wait(witnesses_.get(), "stop"); !s.ok()) return s;
    hosts_->Send(1, absl::ZeroDuration());
    return Wait(hosts_.get(), "send one more");
  }

  absl::Status EndAll() {
    report_.silent_open = silent_->StillOpen();
    for (LoadFleet* fleet :
         {hosts_.get(), witnesses_.get(), poisoned_.get(), deaf_.get()}) {
      fleet->Drop();
      if (absl::Status s = Wait(fleet, "drop"); !s.ok()) return s;
    }
    scraper_->Stop();
    report_.scrape = scraper_->times();
    report_.scrape_bytes = scraper_->most_bytes();
    report_.scrapes_failed = scraper_->failed();
    const absl::StatusOr<LoadServer::Scrape> last = server_.ScrapeNow();
    if (!last.ok()) return last.status();
    report_.connections_delayed =
        last->Value("swaplock_connections_delayed_total");
    report_.ledger_bytes = server_.LedgerBytes();
    const absl::StatusOr<uint64_t> most = server_.MostResidentBytes();
    if (!most.ok()) return most.status();
    report_.rss_most = *most;
    return absl::OkStatus();
  }

  absl::Status Compare() {
    report_.numbers = good_.numbers();
    report_.poisoned = bad_.numbers();
    SimulatedWindows::Counts counts = report_.numbers.acknowledged;
    for (const LoadTally::Numbers& more :
         {witnessed_.numbers(), report_.poisoned}) {
      for (size_t i = 0; i < counts.size(); ++i) {
        counts[i] += more.acknowledged[i];
      }
    }
    const Totals sent = windows_.Sum(counts);
    const absl::StatusOr<Totals> counted =
        server_.Counted(certificates_.Reader());
    if (!counted.ok()) return counted.status();
    // What is only in memory does not count.
    server_.Kill();
    if (absl::Status s = server_.Start(); !s.ok()) return s;
    const absl::StatusOr<Totals> again =
        server_.Counted(certificates_.Reader());
    if (!again.ok()) return again.status();
    report_.exit_status = server_.End();
    report_.acknowledged = sent.windows;
    report_.counted = counted->windows;
    report_.counted_again = again->windows;
    report_.same =
        counted->Text() == sent.Text() && again->Text() == sent.Text();
    return absl::OkStatus();
  }

  const LoadCertificates certificates_;
  const SimulatedWindows windows_;
  LoadServer server_;
  LoadReport report_;
  uint64_t next_number_ = 0;
  LoadTally good_;
  LoadTally witnessed_;
  LoadTally bad_;
  std::unique_ptr<LoadFleet> hosts_;
  std::unique_ptr<LoadFleet> witnesses_;
  std::unique_ptr<LoadFleet> poisoned_;
  std::unique_ptr<LoadFleet> deaf_;
  std::unique_ptr<SilentPeers> silent_;
  std::unique_ptr<Scraper> scraper_;
};

std::string Mib(uint64_t bytes) {
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string List(const std::map<std::string, uint64_t>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", name, " ", count);
  }
  return text.empty() ? "none" : text;
}

void Row(const std::string& what, const std::string& figure,
         std::string* text) {
  absl::StrAppend(text, "| ", what, " | ", figure, " |\n");
}

void StormRows(const LoadReport& r, std::string* text) {
  Row("all come back at once: until the last is welcome",
      absl::StrFormat("%.1f s, %d attempts, %.1f s of the server's CPU",
                      r.storm_s, r.storm_streams, r.storm_cpu_s),
      text);
  Row("those that stayed, before: acknowledged after (median, p99, most)",
      r.witnesses_calm.ToString(), text);
  Row("those that stayed, meanwhile", r.witnesses_storm.ToString(), text);
  Row("times a connection waited for its turn", r.connections_delayed, text);
}

}  // namespace

std::string LoadReport::Text() const {
  std::string text = absl::StrFormat(
      "| %d hosts, %s, seed %d | |\n|---|--:|\n", plan.hosts + plan.witnesses,
      plan.tls ? "mutual TLS" : "plaintext", plan.seed);
  Row("until all are welcome", absl::StrFormat("%.1f s", connect_s), &text);
  Row("resident: empty, all connected, all sent, most",
      absl::StrCat(Mib(rss_empty), ", ", Mib(rss_connected), ", ",
                   Mib(rss_sent), ", ", Mib(rss_most)),
      &text);
  Row("windows", absl::StrCat(sent_windows, " of ", window_bytes, " bytes"),
      &text);
  Row("rate",
      absl::StrFormat("%.0f windows/s", static_cast<double>(sent_windows) /
                                            std::max(send_s, 1e-3)),
      &text);
  Row("server's CPU per window", absl::StrFormat("%.0f us", cpu_us_per_window),
      &text);
  Row("acknowledged after (median, p99, most)", acknowledge.ToString(), &text);
  if (plan.storm) StormRows(*this, &text);
  Row("scrape of /metrics (median, p99, most)",
      absl::StrFormat("%s; %d bytes, %d times, %d failed", scrape.ToString(),
                      scrape_bytes, scrape.count, scrapes_failed),
      &text);
  Row("told to come later", absl::StrCat(numbers.postponed), &text);
  Row("streams that the server ended", List(numbers.ended), &text);
  if (plan.poisoned > 0) {
    Row("poisoned: windows refused", List(poisoned.rejected), &text);
    Row("poisoned: streams ended",
        absl::StrCat(List(poisoned.ended), "; told when to come again ",
                     poisoned.hints),
        &text);
  }
  if (plan.silent > 0) {
    Row("silent connections, still open at the end",
        absl::StrCat(silent_connected, ", ", silent_open), &text);
  }
  Row("ledger", Mib(ledger_bytes), &text);
  Row("acknowledged; in the ledger; there after kill -9",
      absl::StrCat(acknowledged, "; ", counted, "; ", counted_again,
                   same ? "; every bucket the same" : "; THEY DIFFER"),
      &text);
  return text;
}

absl::StatusOr<LoadReport> RunLoad(const LoadPlan& plan) {
  LoadCertificates certificates;
  if (plan.tls) {
    auto made = LoadCertificates::Make(plan.folder);
    if (!made.ok()) return made.status();
    certificates = *std::move(made);
  }
  return std::make_unique<LoadRun>(plan, std::move(certificates))->Run();
}

}  // namespace swaplock
