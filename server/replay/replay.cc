#include "server/replay/replay.h"

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/version.h"
#include "server/ingest.h"
#include "server/replay/host_calendar.h"
#include "server/replay/recordings.h"

namespace swaplock {
namespace {

constexpr absl::Duration kDay = absl::Hours(24);
constexpr uint64_t kSeed = 1;
// Before today: the last reboots are 10 days ago, so every host's week after
// it is whole and was judged more than once.
constexpr int kFirstBoot = 14;
constexpr int kGroupHosts = 16;
// Too few for a verdict: what one boot of 7.3 under emulation shows is not to
// be said of 7.3 (docs/VERDICTS.md).
constexpr int kCanaries = 4;
// As hosts say them; verdicts tell kernels apart by their release only.
constexpr char k612[] = "6.12.118";
constexpr char k618Lazy[] = "6.18.15";
constexpr char k618None[] = "6.18.15-none";
constexpr char k73[] = "7.3.4";
constexpr int kDaysBefore = 16;  // of the first windows, before that

int64_t Today() { return (absl::Now() - absl::UnixEpoch()) / kDay; }

absl::Time BeginOf(int64_t day) { return absl::UnixEpoch() + day * kDay; }

ResampledRollout Plan() {
  ResampledRollout rollout;
  rollout.boot_day = Today() - kFirstBoot;
  rollout.last_day = Today() - 1;
  return rollout;
}

// The reader takes files. `release`: what the fleet calls the kernel.
absl::StatusOr<RecordedKernel> Recorded(const std::string& name,
                                        const std::string& release,
                                        const std::string& directory) {
  const std::string path = absl::StrCat(directory, "/", name);
  std::ofstream file(path, std::ios::binary);
  file << EmbeddedRecording(name);
  file.close();
  if (!file) return absl::UnavailableError(absl::StrCat("cannot write ", path));
  absl::StatusOr<RecordedKernel> recorded = ReadRecordedKernel(path, release);
  if (recorded.ok() && recorded->windows.empty()) {
    return absl::DataLossError(absl::StrCat("nothing is recorded in ", name));
  }
  return recorded;
}

// By its number: a machine without a network may not resolve "localhost".
std::string AddressOf(const Server& server, ListenAddress address) {
  address.port = static_cast<uint16_t>(server.grpc_port());
  return address.ToString();
}

absl::Status StatusOf(const grpc::Status& status) {
  return {static_cast<absl::StatusCode>(status.error_code()),
          status.error_message()};
}

}  // namespace

// As an agent's: of one host, one thing under way at a time.
class Replay::HostStream {
 public:
  HostStream(v1::Telemetry::Stub* stub, const std::string& host)
      : stream_(stub->Stream(&context_)) {
    v1::AgentMessage message;
    message.mutable_hello()->set_protocol(Ingest::kNewestProtocol);
    message.mutable_hello()->set_host_id(host);
    message.mutable_hello()->set_agent_version(std::string(kVersion));
    // What goes wrong shows when an answer is read.
    stream_->Write(message);
  }
  ~HostStream() { context_.TryCancel(); }
  HostStream(const HostStream&) = delete;
  HostStream& operator=(const HostStream&) = delete;

  void Send(v1::Window* window) {
    v1::AgentMessage message;
    message.mutable_window()->Swap(window);
    stream_->Write(message);
  }

  absl::Status ReadAnswer() {
    v1::ServerMessage answer;
    while (stream_->Read(&answer)) {
      if (answer.has_ack()) return absl::OkStatus();
      if (answer.has_reject()) {
        return absl::InternalError(
            absl::StrCat("a window was refused: ", answer.reject().reason()));
      }
    }
    const absl::Status status = StatusOf(stream_->Finish());
    return status.ok() ? absl::UnavailableError("a stream ended") : status;
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AgentMessage, v1::ServerMessage>>
      stream_;
};

absl::Time Replay::Beginning() {
  return BeginOf(Today() - kFirstBoot - kDaysBefore);
}

Replay::Replay(Server* server, ReplayClock clock, const Options& options)
    : server_(server),
      clock_(std::move(clock)),
      interval_(options.interval),
      fleet_(Plan(), kSeed),
      stub_(v1::Telemetry::NewStub(
          grpc::CreateChannel(AddressOf(*server, options.server),
                              grpc::InsecureChannelCredentials()))) {}

absl::StatusOr<std::unique_ptr<Replay>> Replay::Start(Server* server,
                                                      ReplayClock clock,
                                                      const Options& options) {
  std::unique_ptr<Replay> replay(new Replay(server, std::move(clock), options));
  absl::Status status = replay->AddHosts(options);
  if (status.ok()) status = replay->ReplayDays();
  if (!status.ok()) return status;
  replay->thread_ = std::thread([r = replay.get()] { r->GoOn(); });
  return replay;
}

Replay::~Replay() {
  stopping_.Notify();
  if (thread_.joinable()) thread_.join();
}

absl::Status Replay::AddHosts(const Options& options) {
  std::map<std::string, RecordedKernel> kernels;
  for (const auto& [release, name] :
       {std::make_pair(k612, "6.12-voluntary.slk"),
        std::make_pair(k618Lazy, "6.18-lazy.slk"),
        std::make_pair(k618None, "6.18-none.slk"),
        std::make_pair(k73, "7.3-lazy.slk")}) {
    auto kernel = Recorded(name, release, options.scratch_directory);
    if (!kernel.ok()) return kernel.status();
    kernels[release] = *std::move(kernel);
  }
  // As messages, which have no room for what is zero.
  const auto take = [this](const Window& window) {
    days_[DayOf(window)].push_back(ToProto(window));
  };
  const struct {
    const char* hosts;
    int count;
    const char* before;
    const char* after;
  } groups[] = {
      {"keeps-6.12", kGroupHosts, k612, k612},
      {"to-6.18", kGroupHosts, k612, k618Lazy},
      {"keeps-6.18", kGroupHosts, k618Lazy, k618Lazy},
      {"to-6.18-none", kGroupHosts, k618Lazy, k618None},
      {"to-7.3", kCanaries, k618Lazy, k73},
  };
  for (const auto& group : groups) {
    fleet_.AddHosts(group.hosts, group.count, kernels[group.before],
                    kernels[group.after], take);
  }
  return absl::OkStatus();
}

absl::Status Replay::ReplayDays() {
  for (auto& [day, windows] : days_) {
    // Just before midnight: a day whose windows are on their way is not judged.
    clock_.StandAt(BeginOf(day + 1) - absl::Seconds(1));
    if (absl::Status s = Send(std::move(windows)); !s.ok()) return s;
  }
  days_.clear();
  clock_.CatchUp();
  return server_->RefreshVerdicts();
}

void Replay::GoOn() {
  do {
    std::vector<v1::Window> windows;
    for (const Window& window : fleet_.WindowsUntil(clock_.Now())) {
      windows.push_back(ToProto(window));
    }
    if (absl::Status s = Send(std::move(windows)); !s.ok()) {
      // As agents do: with new streams, next time.
      streams_.clear();
      static LogSite site(absl::Minutes(10));
      site.Log(LogLevel::kWarning, absl::StrCat("replay: ", s.ToString()));
    }
  } while (!stopping_.WaitForNotificationWithTimeout(interval_));
}

absl::Status Replay::Send(std::vector<v1::Window> windows) {
  std::vector<HostStream*> sent;
  sent.reserve(windows.size());
  for (v1::Window& window : windows) {
    std::unique_ptr<HostStream>& stream = streams_[window.host_id()];
    if (stream == nullptr) {
      stream = std::make_unique<HostStream>(stub_.get(), window.host_id());
    }
    stream->Send(&window);
    sent.push_back(stream.get());
  }
  for (HostStream* stream : sent) {
    if (absl::Status s = stream->ReadAnswer(); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace swaplock
