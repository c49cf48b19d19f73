// Where `swaplock top` looks: a server's fleet, or what an agent on this host
// measures.
#ifndef SWAPLOCK_CLI_TOP_FLEET_SOURCE_H_
#define SWAPLOCK_CLI_TOP_FLEET_SOURCE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/cut_event.h"
#include "cli/query/query_client.h"
#include "cli/record/agent_source.h"
#include "cli/top/host_fleet.h"
#include "proto/query.pb.h"

namespace swaplock {

class FleetSource {
 public:
  virtual ~FleetSource() = default;

  // Waits until there is something new, or `interval` has passed since the last
  // look. After an error it may be asked again.
  virtual absl::StatusOr<v1::Fleet> Look() = 0;

  // Ends a Look() that waits, and every later one. From any thread.
  virtual void Stop() = 0;
};

// Asks every `interval`, the first time at once.
std::unique_ptr<FleetSource> MakeServerSource(QueryClient client,
                                              std::string kernel,
                                              absl::Duration interval);

// Once per window of the agent's. Unavailable when nobody listens at `address`,
// unix:PATH.
absl::StatusOr<std::unique_ptr<FleetSource>> MakeAgentSource(
    const std::string& address);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_TOP_FLEET_SOURCE_H_
