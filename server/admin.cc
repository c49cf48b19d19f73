#include "server/admin.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/plain_text.h"
#include "common/spiffe_id.h"

namespace swaplock {

absl::Status AdminService::DeepDive(const Peer& peer,
                                    const v1::DeepDiveRequest& request,
                                    v1::DeepDiveReply* reply) {
  if (absl::Status s = access_->MaySteer(peer, request.host_id()); !s.ok()) {
    return s;
  }
  if (!IsSpiffeName(request.host_id())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", PlainText(request.host_id(), 128), "\" is no host's name"));
  }
  v1::Settings settings;
  settings.set_interval_ms(request.interval_ms());
  settings.set_top_k(request.top_k());
  settings.set_top_hold_ns(request.top_hold_ns());
  settings.set_lease_ms(request.lease_ms());
  const absl::StatusOr<size_t> told =
      steering_->DeepDive(request.host_id(), settings);
  if (!told.ok()) return told.status();
  reply->set_streams(static_cast<uint32_t>(*told));
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* AdminService::DeepDive(
    grpc::CallbackServerContext* context, const v1::DeepDiveRequest* request,
    v1::DeepDiveReply* reply) {
  const absl::Status status = DeepDive(Peer::Of(*context), *request, reply);
  Log(status.ok() ? LogLevel::kInfo : LogLevel::kWarning,
      absl::StrCat(
          "admin: ", context->peer(), ": deep-dive of host ",
          PlainText(request->host_id(), 128), " for ", request->lease_ms(),
          " ms: ", status.ok() ? "done" : std::string(status.message())));
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish({static_cast<grpc::StatusCode>(status.raw_code()),
                   std::string(status.message())});
  return reactor;
}

}  // namespace swaplock
