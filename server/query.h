// The Query service: the fleet as messages, for the CLI over
// gRPC and, by the same functions, for /api/v1 as JSON.
#ifndef SWAPLOCK_SERVER_QUERY_H_
#define SWAPLOCK_SERVER_QUERY_H_

#include <string>
#include <utility>

#include "absl/time/time.h"
#include "common/clock.h"
#include "proto/query.grpc.pb.h"
#include "server/admission/access.h"
#include "server/fleet/fleet.h"

namespace swaplock {

// As in v1::GetFleetRequest.
struct FleetQuestion {
  std::string kernel_release;  // empty: all
  std::string host_id;         // empty: all
  bool with_context = false;
};

v1::TopHold TopHoldMessage(const TopHold& top);
// Top holds of the last 24 hours, longest first.
v1::Fleet FleetMessage(const FleetSnapshot& snapshot, absl::Time now,
                       const FleetQuestion& question);

// The same as JSON; all fields present, enumerations by name.
std::string FleetJson(const FleetSnapshot& snapshot, absl::Time now,
                      const FleetQuestion& question);

class QueryService : public v1::Query::CallbackService {
 public:
  // `fleet` and `access` outlive the service's server.
  QueryService(const Fleet* fleet, Access* access, Clock clock)
      : fleet_(fleet), access_(access), clock_(std::move(clock)) {}

  grpc::ServerUnaryReactor* GetFleet(grpc::CallbackServerContext* context,
                                     const v1::GetFleetRequest* request,
                                     v1::Fleet* reply) override;

 private:
  // OK, or with what the call ends.
  grpc::Status MayRead(const grpc::CallbackServerContext& context);

  const Fleet* const fleet_;
  Access* const access_;
  const Clock clock_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_QUERY_H_
