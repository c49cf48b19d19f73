// Hosts whose windows break the rules again and again are set aside: for an
// hour at first, twice as long each time after, up to a day. Meanwhile the
// server takes nothing of them, so they keep it in their spools, and their
// numbers are out of every verdict.
//
// Bounded: kMaxHosts are remembered, the ones set aside before others. A store
// (quarantine_store.h) keeps them over a restart. Plain value, not thread-safe.
#ifndef SWAPLOCK_SERVER_ADMISSION_QUARANTINE_H_
#define SWAPLOCK_SERVER_ADMISSION_QUARANTINE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace swaplock {

struct QuarantinedHost {
  std::string host_id;
  std::string reason;  // of the last window refused: "implausible: ..."
  absl::Time since;
  absl::Time until;
  uint64_t refused = 0;  // windows, ever
  int times = 0;         // set aside
};

class Quarantine {
 public:
  static constexpr size_t kMaxHosts = 1024;
  // Refusals within kWithin that set a host aside.
  static constexpr int kRefusals = 8;
  static constexpr absl::Duration kWithin = absl::Minutes(10);
  static constexpr absl::Duration kFirst = absl::Hours(1);
  static constexpr absl::Duration kLongest = absl::Hours(24);

  // As they were stored.
  void Restore(const std::vector<QuarantinedHost>& hosts);

  // A window of the host was refused for good. The host, when it is set aside
  // now and was not before.
  std::optional<QuarantinedHost> Refused(const std::string& host_id,
                                         absl::string_view reason,
                                         absl::Time now);
  // Forgets all of the host. False when it was not set aside.
  bool Release(const std::string& host_id, absl::Time now);

  // Zero when it is not set aside.
  absl::Duration LeftOf(const std::string& host_id, absl::Time now) const;
  // Empty when it is not set aside.
  std::string ReasonOf(const std::string& host_id, absl::Time now) const;

  // Those set aside now, by name.
  std::vector<QuarantinedHost> List(absl::Time now) const;

 private:
  struct Record {
    QuarantinedHost host;
    int refusals = 0;  // since `first`
    absl::Time first;
  };

  void MakeRoom(absl::Time now);

  std::map<std::string, Record> records_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_ADMISSION_QUARANTINE_H_
