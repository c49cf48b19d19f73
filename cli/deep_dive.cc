#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "cli/query/admin_client.h"
#include "cli/query/server_flags.h"
#include "cli/subcommands.h"
#include "common/command_line.h"

ABSL_FLAG(absl::Duration, top_hold, absl::ZeroDuration(),
          "shorter holds are not among the longest; 0: as for all hosts");
ABSL_FLAG(absl::Duration, lease, absl::Minutes(10),
          "for how long, at most 1h; it ends by itself");
ABSL_FLAG(bool, end, false, "end the host's deep-dive now");
ABSL_DECLARE_FLAG(absl::Duration, interval);  // of top
ABSL_DECLARE_FLAG(int, top_k);                // of record

namespace swaplock {
namespace {

constexpr absl::Duration kShortest = absl::Milliseconds(100);
constexpr absl::Duration kLongest = absl::Hours(1);

}  // namespace

int DeepDive(const Words& words) {
  if (words.words.size() != 1 || words.dashes) {
    return UsageError("deep-dive", "it takes one host");
  }
  const absl::Duration interval = absl::GetFlag(FLAGS_interval);
  const absl::Duration lease = absl::GetFlag(FLAGS_lease);
  const absl::Duration top_hold = absl::GetFlag(FLAGS_top_hold);
  const int top_k = absl::GetFlag(FLAGS_top_k);
  if (interval < kShortest || interval > kLongest) {
    return UsageError("deep-dive", "--interval is 100ms to 1h");
  }
  if (lease < absl::Milliseconds(1) || lease > kLongest) {
    return UsageError("deep-dive", "--lease is above 0 and at most 1h");
  }
  if (top_hold < absl::ZeroDuration() || top_hold > kLongest) {
    return UsageError("deep-dive", "--top_hold is 0 to 1h");
  }
  if (top_k < 0 || top_k > 64) {
    return UsageError("deep-dive", "--top_k is 0 to 64");
  }
  v1::DeepDiveRequest request;
  request.set_host_id(words.words[0]);
  if (!absl::GetFlag(FLAGS_end)) {
    request.set_interval_ms(
        static_cast<uint32_t>(absl::ToInt64Milliseconds(interval)));
    request.set_top_k(static_cast<uint32_t>(top_k));
    request.set_top_hold_ns(
        static_cast<uint64_t>(absl::ToInt64Nanoseconds(top_hold)));
    request.set_lease_ms(
        static_cast<uint32_t>(absl::ToInt64Milliseconds(lease)));
  }
  const absl::StatusOr<v1::DeepDiveReply> reply = AskForDeepDive(
      absl::GetFlag(FLAGS_server), IdentityAsFlagsSay(), request);
  if (!reply.ok()) return AdminFailed("deep-dive", reply.status());
  const std::string what =
      absl::GetFlag(FLAGS_end)
          ? "measures as all do again"
          : absl::StrCat("measures every ", absl::FormatDuration(interval),
                         " for ", absl::FormatDuration(lease));
  std::printf("%s %s%s\n", words.words[0].c_str(), what.c_str(),
              reply->streams() == 0
                  ? "; it is not connected and is told when it comes"
                  : "");
  return 0;
}

}  // namespace swaplock
