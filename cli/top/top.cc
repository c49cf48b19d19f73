#include <google/protobuf/util/json_util.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "cli/line_width.h"
#include "cli/query/command_answer.h"
#include "cli/query/fleet_text.h"
#include "cli/query/server_flags.h"
#include "cli/subcommands.h"
#include "cli/top/fleet_source.h"
#include "cli/top/fleet_view.h"
#include "cli/top/screen.h"
#include "common/command_line.h"

ABSL_DECLARE_FLAG(std::string, agent);  // defined in record.cc

ABSL_FLAG(std::string, kernel, "", "show this kernel release only");
ABSL_FLAG(absl::Duration, interval, absl::Seconds(1),
          "time between two looks, or length of a window; at least 100ms");
ABSL_FLAG(bool, once, false, "look once");
ABSL_FLAG(bool, explain, false,
          "say of each of the longest holds why it was long, as far as it is "
          "known: who ran instead, who waited, stacks");

namespace swaplock {
namespace {

struct Options {
  std::string server;
  std::string agent;
  bool json = false;
  std::string kernel;
  absl::Duration interval;
  absl::Duration until = absl::InfiniteDuration();  // from the start
  bool once = false;
  bool explain = false;

  const std::string& where() const { return agent.empty() ? server : agent; }
};

// How often keys and signals are looked for.
constexpr absl::Duration kTick = absl::Milliseconds(100);

std::string Json(const v1::Fleet& fleet) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status =
      google::protobuf::util::MessageToJsonString(fleet, &json, options);
  if (!status.ok()) std::fprintf(stderr, "swaplock: write JSON\n");
  return absl::StrCat(json, "\n");
}

bool Write(absl::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
         std::fflush(stdout) == 0;
}

// Interrupt and termination end the loop between two looks, with status 0.
sigset_t BlockStopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// True when a signal came.
bool WaitForStop(const sigset_t& signals, absl::Duration wait) {
  const timespec timeout = absl::ToTimespec(wait);
  int got = -1;
  do {
    got = sigtimedwait(&signals, nullptr, &timeout);
  } while (got < 0 && errno == EINTR);
  return got > 0;
}

// The looks of a source, made in a thread of their own: a server that does not
// answer does not hold up the keys.
class Watch {
 public:
  explicit Watch(FleetSource* source) : source_(source) {
    thread_ = std::thread([this] { Run(); });
  }
  ~Watch() {
    source_->Stop();
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // The newest look since the last call; nothing when there is none.
  std::optional<absl::StatusOr<v1::Fleet>> Take() {
    absl::MutexLock lock(&mutex_);
    return std::exchange(newest_, std::nullopt);
  }

 private:
  void Run() {
    while (true) {
      absl::StatusOr<v1::Fleet> look = source_->Look();
      const bool ended =
          absl::IsCancelled(look.status()) || absl::IsOutOfRange(look.status());
      absl::MutexLock lock(&mutex_);
      newest_ = std::move(look);
      if (ended) return;
    }
  }

  FleetSource* const source_;
  absl::Mutex mutex_;
  std::optional<absl::StatusOr<v1::Fleet>> newest_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

int FullScreen(const Options& options, FleetSource* source,
               const sigset_t& signals) {
  absl::StatusOr<std::unique_ptr<Screen>> screen = Screen::Open();
  if (!screen.ok()) {
    std::fprintf(stderr, "swaplock: %s\n",
                 std::string(screen.status().message()).c_str());
    return kExitConfig;
  }
  FleetView view(options.where());
  Watch watch(source);
  const absl::Time end = absl::Now() + options.until;
  const auto draw = [&] {
    (*screen)->Show(view.Draw((*screen)->rows(), (*screen)->columns()));
  };
  draw();
  while (absl::Now() < end) {
    const int key = (*screen)->WaitForKey(kTick);
    if (key < 0 || (key > 0 && !view.Press(key))) return 0;
    if (WaitForStop(signals, absl::ZeroDuration())) return 0;
    if (auto look = watch.Take(); look.has_value()) {
      if (look->ok()) {
        view.Take(**look, absl::Now());
      } else {
        view.Failed(look->status().message());
      }
    }
    draw();
  }
  return 0;
}

// A table after the other, or one.
int Lines(const Options& options, FleetSource* source,
          const sigset_t& signals) {
  Watch watch(source);
  const absl::Time end = absl::Now() + options.until;
  bool answered = false;
  while (absl::Now() < end) {
    if (WaitForStop(signals, kTick)) return 0;
    const auto look = watch.Take();
    if (!look.has_value()) continue;
    if (!look->ok()) {
      std::fprintf(stderr, "swaplock: %s\n", look->status().ToString().c_str());
      if (absl::IsOutOfRange(look->status())) return 0;  // the agent ended
      if (!answered) return kExitUnavailable;
      continue;
    }
    const v1::Fleet& fleet = **look;
    if (!std::exchange(answered, true)) NoteReplay(fleet.replay());
    const absl::Time now = absl::Now();
    const std::string text =
        options.json
            ? Json(fleet)
            : absl::StrCat(
                  "swaplock ", options.where(), "  ",
                  absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", now,
                                   absl::UTCTimeZone()),
                  "\n", FleetText(fleet, now, {LineWidth(), options.explain}),
                  options.once ? "" : "\n");
    if (!Write(text) || options.once) return 0;  // the reader has seen enough
  }
  return 0;
}

}  // namespace

int Top(const Words& words) {
  Options options;
  options.server = absl::GetFlag(FLAGS_server);
  options.agent = absl::GetFlag(FLAGS_agent);
  options.json = absl::GetFlag(FLAGS_output) == "json";
  options.kernel = absl::GetFlag(FLAGS_kernel);
  options.interval = absl::GetFlag(FLAGS_interval);
  if (const int seconds = absl::GetFlag(FLAGS_seconds); seconds != 0) {
    options.until = absl::Seconds(seconds);
  }
  options.once = absl::GetFlag(FLAGS_once);
  options.explain = absl::GetFlag(FLAGS_explain);
  if (options.interval < absl::Milliseconds(100)) {
    return UsageError("top", "--interval is at least 100ms");
  }
  if (!words.words.empty() || words.dashes) {
    return UsageError("top", "it takes flags only");
  }
  const sigset_t signals = BlockStopSignals();  // before gRPC's threads begin
  std::unique_ptr<FleetSource> source;
  if (options.agent.empty()) {
    absl::StatusOr<QueryClient> client = ConnectAsFlagsSay();
    if (!client.ok()) {
      std::fprintf(stderr, "swaplock: %s\n",
                   std::string(client.status().message()).c_str());
      return kExitConfig;
    }
    source =
        MakeServerSource(*std::move(client), options.kernel, options.interval);
  } else {
    absl::StatusOr<std::unique_ptr<FleetSource>> agent =
        MakeAgentSource(options.agent);
    if (!agent.ok()) {
      std::fprintf(stderr, "swaplock: %s\n",
                   std::string(agent.status().message()).c_str());
      return kExitUnavailable;
    }
    source = *std::move(agent);
  }
  const bool terminal = isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
  return terminal && !options.once && !options.json
             ? FullScreen(options, source.get(), signals)
             : Lines(options, source.get(), signals);
}

}  // namespace swaplock
