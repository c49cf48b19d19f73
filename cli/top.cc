#include <google/protobuf/util/json_util.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "cli/line_width.h"
#include "cli/query/fleet_text.h"
#include "cli/query/server_flags.h"
#include "cli/subcommands.h"
#include "common/command_line.h"

ABSL_FLAG(std::string, kernel, "", "show this kernel release only");
ABSL_FLAG(absl::Duration, interval, absl::Seconds(1),
          "time between two looks, or length of a window; at least 100ms");
ABSL_FLAG(bool, once, false, "look once");
ABSL_FLAG(bool, explain, false,
          "say of each of the longest holds why it was long, as far as it is "
          "known: who ran instead, who waited, stacks");

namespace swaplock {
namespace {

// Home, and everything below cleared: a redraw without flicker.
constexpr absl::string_view kHome = "\x1b[H";
constexpr absl::string_view kClearBelow = "\x1b[J";
constexpr absl::string_view kClearAll = "\x1b[2J";

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

}  // namespace

int Top(const Words& words) {
  struct {
    std::string server = absl::GetFlag(FLAGS_server);
    bool json = absl::GetFlag(FLAGS_output) == "json";
    std::string kernel = absl::GetFlag(FLAGS_kernel);
    absl::Duration interval = absl::GetFlag(FLAGS_interval);
    int seconds = absl::GetFlag(FLAGS_seconds);
    bool once = absl::GetFlag(FLAGS_once);
    bool explain = absl::GetFlag(FLAGS_explain);
  } options;
  if (options.interval < absl::Milliseconds(100)) {
    return UsageError("top", "--interval is at least 100ms");
  }
  if (!words.words.empty() || words.dashes) {
    return UsageError("top", "it takes flags only");
  }
  const bool terminal = isatty(STDOUT_FILENO) && !options.once && !options.json;
  const bool bold = terminal && std::getenv("NO_COLOR") == nullptr;
  const sigset_t signals = BlockStopSignals();  // before gRPC's threads begin
  absl::StatusOr<QueryClient> client = ConnectAsFlagsSay();
  if (!client.ok()) {
    std::fprintf(stderr, "swaplock: %s\n",
                 std::string(client.status().message()).c_str());
    return kExitConfig;
  }
  absl::Duration left = options.seconds == 0 ? absl::InfiniteDuration()
                                             : absl::Seconds(options.seconds);
  bool answered = false;
  if (terminal) Write(kClearAll);
  while (true) {
    const absl::StatusOr<v1::Fleet> fleet = client->GetFleet(options.kernel);
    const absl::Time now = absl::Now();
    if (fleet.ok()) {
      answered = true;
      const std::string text =
          options.json ? Json(*fleet)
                       : FleetText(*fleet, now, {LineWidth(), options.explain});
      const std::string title = absl::StrCat(
          bold ? "\x1b[1m" : "", "swaplock ", options.server, "  ",
          absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", now, absl::UTCTimeZone()),
          bold ? "\x1b[0m" : "", "\n");
      const bool written = Write(
          absl::StrCat(terminal ? kHome : "", terminal ? kClearBelow : "",
                       options.json ? "" : title, text,
                       terminal || options.once || options.json ? "" : "\n"));
      if (!written) return 0;  // the reader has seen enough
    } else {
      std::fprintf(stderr, "swaplock: %s\n", fleet.status().ToString().c_str());
      if (!answered) return kExitUnavailable;
    }
    if (options.once) return 0;
    const absl::Duration wait = std::min(options.interval, left);
    if (WaitForStop(signals, wait)) return 0;
    left -= wait;
    if (left <= absl::ZeroDuration()) return 0;
  }
}

}  // namespace swaplock
