// The Verdicts service: verdicts as messages, for the CLI over gRPC and, by the
// same function, for /api/v1/verdicts as JSON; and what operators say of them.
#ifndef SWAPLOCK_SERVER_VERDICT_SERVICE_H_
#define SWAPLOCK_SERVER_VERDICT_SERVICE_H_

#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "common/clock.h"
#include "proto/verdict_query.grpc.pb.h"
#include "server/admission/access.h"
#include "server/fleet/fleet.h"
#include "server/verdict/verdict_book.h"
#include "server/verdict/verdict_desk.h"

namespace swaplock {

// The whole book; all fields present, numbers that do not exist as "NaN".
// `replay`: as of Fleet.
std::string VerdictsJson(const VerdictBook& book, const std::string& replay);

class VerdictService : public v1::Verdicts::CallbackService {
 public:
  // All outlive the service's server.
  VerdictService(VerdictDesk* desk, const Fleet* fleet, Access* access,
                 Clock clock)
      : desk_(desk), fleet_(fleet), access_(access), clock_(std::move(clock)) {}
  // Waits for a comparison under way.
  ~VerdictService() override;
  VerdictService(const VerdictService&) = delete;
  VerdictService& operator=(const VerdictService&) = delete;

  grpc::ServerUnaryReactor* ListVerdicts(grpc::CallbackServerContext* context,
                                         const v1::ListVerdictsRequest* request,
                                         v1::VerdictBook* reply) override;
  grpc::ServerUnaryReactor* GetVerdict(grpc::CallbackServerContext* context,
                                       const v1::GetVerdictRequest* request,
                                       v1::VerdictExplanation* reply) override;
  grpc::ServerUnaryReactor* AcknowledgeVerdict(
      grpc::CallbackServerContext* context,
      const v1::AcknowledgeVerdictRequest* request,
      v1::StoredVerdict* reply) override;
  grpc::ServerUnaryReactor* SuppressVerdict(
      grpc::CallbackServerContext* context,
      const v1::SuppressVerdictRequest* request,
      v1::StoredVerdict* reply) override;
  grpc::ServerUnaryReactor* ReopenVerdict(
      grpc::CallbackServerContext* context,
      const v1::ReopenVerdictRequest* request,
      v1::StoredVerdict* reply) override;
  // Judges on a thread of its own. Unavailable while another one runs.
  grpc::ServerUnaryReactor* CompareKernels(
      grpc::CallbackServerContext* context,
      const v1::CompareKernelsRequest* request,
      v1::KernelComparison* reply) override;

 private:
  absl::Status MayRead(const grpc::CallbackServerContext& context);
  absl::Status Explain(const v1::GetVerdictRequest& request,
                       v1::VerdictExplanation* reply);
  // Lets an operator do `act`, in whose name it is given (`by` where nobody has
  // a credential), and answers with the verdict as it is then.
  grpc::ServerUnaryReactor* Act(
      grpc::CallbackServerContext* context, uint64_t id, const std::string& by,
      const std::function<absl::Status(const std::string&)>& act,
      v1::StoredVerdict* reply);

  VerdictDesk* const desk_;
  const Fleet* const fleet_;
  Access* const access_;
  const Clock clock_;
  absl::Mutex mutex_;
  bool comparing_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread comparison_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_SERVICE_H_
