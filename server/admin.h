// The Admin service: operators have one host measure closer for a while.
#ifndef SWAPLOCK_SERVER_ADMIN_H_
#define SWAPLOCK_SERVER_ADMIN_H_

#include "proto/admin.grpc.pb.h"
#include "server/admission/access.h"
#include "server/steering/steering.h"

namespace swaplock {

class AdminService : public v1::Admin::CallbackService {
 public:
  // Both outlive the service's server.
  AdminService(Access* access, Steering* steering)
      : access_(access), steering_(steering) {}

  // PermissionDenied or Unauthenticated before anything else is looked at.
  grpc::ServerUnaryReactor* DeepDive(grpc::CallbackServerContext* context,
                                     const v1::DeepDiveRequest* request,
                                     v1::DeepDiveReply* reply) override;

 private:
  absl::Status DeepDive(const Peer& peer, const v1::DeepDiveRequest& request,
                        v1::DeepDiveReply* reply);

  Access* const access_;
  Steering* const steering_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_ADMIN_H_
