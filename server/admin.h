// The Admin service: operators have one host measure closer for a while, and
// have one that was set aside heard again.
#ifndef SWAPLOCK_SERVER_ADMIN_H_
#define SWAPLOCK_SERVER_ADMIN_H_

#include <string>
#include <utility>

#include "common/clock.h"
#include "proto/admin.grpc.pb.h"
#include "server/admission/access.h"
#include "server/admission/quarantine_store.h"
#include "server/fleet/fleet.h"
#include "server/steering/steering.h"

namespace swaplock {

class AdminService : public v1::Admin::CallbackService {
 public:
  // All outlive the service's server.
  AdminService(Access* access, Steering* steering, Fleet* fleet,
               QuarantineStore* quarantine, Clock clock)
      : access_(access),
        steering_(steering),
        fleet_(fleet),
        quarantine_(quarantine),
        clock_(std::move(clock)) {}

  // PermissionDenied or Unauthenticated before anything else is looked at.
  grpc::ServerUnaryReactor* DeepDive(grpc::CallbackServerContext* context,
                                     const v1::DeepDiveRequest* request,
                                     v1::DeepDiveReply* reply) override;
  // Internal when it would not survive a restart.
  grpc::ServerUnaryReactor* Release(grpc::CallbackServerContext* context,
                                    const v1::ReleaseRequest* request,
                                    v1::ReleaseReply* reply) override;

 private:
  absl::Status DeepDive(const Peer& peer, const v1::DeepDiveRequest& request,
                        v1::DeepDiveReply* reply);
  absl::Status Release(const Peer& peer, const v1::ReleaseRequest& request,
                       v1::ReleaseReply* reply);
  // Whether the peer may say what becomes of the host.
  absl::Status Check(const Peer& peer, const std::string& host_id);

  Access* const access_;
  Steering* const steering_;
  Fleet* const fleet_;
  QuarantineStore* const quarantine_;
  const Clock clock_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_ADMIN_H_
