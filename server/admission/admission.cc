#include "server/admission/admission.h"

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

constexpr absl::Duration kRetryStreams = absl::Seconds(30);
constexpr absl::Duration kRetryHosts = absl::Minutes(10);
// Hosts without a stream whose rate is remembered, so that connecting anew does
// not begin a new burst.
constexpr size_t kMaxIdle = 4096;
constexpr absl::Duration kSweepEvery = absl::Seconds(1);

}  // namespace

std::optional<Admission::Refusal> Admission::OpenStream(
    const std::string& host_id, bool is_known, size_t known_hosts) {
  absl::MutexLock lock(&mutex_);
  if (streams_ >= limits_.streams) {
    return Refusal{"streams",
                   absl::StrCat("this server has ", streams_,
                                " streams open, which is all it takes"),
                   kRetryStreams};
  }
  const auto found = hosts_.find(host_id);
  const bool is_new = found == hosts_.end() || found->second.streams == 0;
  if (!is_new && found->second.streams >= limits_.streams_per_host) {
    return Refusal{
        "streams_of_host",
        absl::StrCat("host ", host_id, " has ", found->second.streams,
                     " streams open already: is its id used by several?"),
        kRetryStreams};
  }
  if (is_new && !is_known && known_hosts + unknown_hosts_ >= limits_.hosts) {
    return Refusal{"hosts",
                   absl::StrCat("this server knows ", known_hosts,
                                " hosts and takes no new ones"),
                   kRetryHosts};
  }
  Host& host = hosts_
                   .emplace(host_id, Host{0, is_known,
                                          RateLimit(limits_.windows_per_second,
                                                    limits_.windows_at_once)})
                   .first->second;
  if (is_new) {
    if (found != hosts_.end()) --idle_;
    host.is_known = is_known;
    if (!is_known) ++unknown_hosts_;
  }
  ++host.streams;
  ++streams_;
  return std::nullopt;
}

void Admission::CloseStream(const std::string& host_id, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  const auto it = hosts_.find(host_id);
  if (it == hosts_.end() || it->second.streams == 0) return;
  --streams_;
  if (--it->second.streams > 0) return;
  if (!it->second.is_known) --unknown_hosts_;
  if (it->second.windows.IsFull(now)) {
    hosts_.erase(it);
    return;
  }
  if (idle_ >= kMaxIdle && now - swept_ >= kSweepEvery) ForgetIdle(now);
  if (idle_ >= kMaxIdle) {
    hosts_.erase(it);
  } else {
    ++idle_;
  }
}

void Admission::ForgetIdle(absl::Time now) {
  swept_ = now;
  for (auto it = hosts_.begin(); it != hosts_.end();) {
    if (it->second.streams == 0 && it->second.windows.IsFull(now)) {
      it = hosts_.erase(it);
      --idle_;
    } else {
      ++it;
    }
  }
}

absl::Duration Admission::TakeWindow(const std::string& host_id,
                                     absl::Time now) {
  absl::MutexLock lock(&mutex_);
  const auto it = hosts_.find(host_id);
  return it == hosts_.end() ? absl::ZeroDuration()
                            : it->second.windows.Take(now);
}

size_t Admission::streams() const {
  absl::MutexLock lock(&mutex_);
  return streams_;
}

}  // namespace swaplock
