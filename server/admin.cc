#include "server/admin.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/plain_text.h"
#include "common/spiffe_id.h"

namespace swaplock {

namespace {

// Says in the log who asked for what, and answers.
grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                 const std::string& what,
                                 const absl::Status& status) {
  Log(status.ok() ? LogLevel::kInfo : LogLevel::kWarning,
      absl::StrCat("admin: ", context->peer(), ": ", what, ": ",
                   status.ok() ? "done" : std::string(status.message())));
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish({static_cast<grpc::StatusCode>(status.raw_code()),
                   std::string(status.message())});
  return reactor;
}

}  // namespace

absl::Status AdminService::Check(const Peer& peer, const std::string& host_id) {
  if (absl::Status s = access_->MaySteer(peer, host_id); !s.ok()) return s;
  if (IsSpiffeName(host_id)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("\"", PlainText(host_id, 128), "\" is no host's name"));
}

absl::Status AdminService::Release(const Peer& peer,
                                   const v1::ReleaseRequest& request,
                                   v1::ReleaseReply* reply) {
  const std::string& host_id = request.host_id();
  if (absl::Status s = Check(peer, host_id); !s.ok()) return s;
  if (absl::Status s = quarantine_->Forget(host_id); !s.ok()) {
    return absl::InternalError(
        absl::StrCat("the release would not survive a restart: ", s.message()));
  }
  reply->set_was_set_aside(fleet_->Release(host_id, clock_.wall()));
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* AdminService::Release(
    grpc::CallbackServerContext* context, const v1::ReleaseRequest* request,
    v1::ReleaseReply* reply) {
  const absl::Status status = Release(Peer::Of(*context), *request, reply);
  return Answer(
      context,
      absl::StrCat("release of host ", PlainText(request->host_id(), 128)),
      status);
}

absl::Status AdminService::DeepDive(const Peer& peer,
                                    const v1::DeepDiveRequest& request,
                                    v1::DeepDiveReply* reply) {
  if (absl::Status s = Check(peer, request.host_id()); !s.ok()) return s;
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
  return Answer(
      context,
      absl::StrCat("deep-dive of host ", PlainText(request->host_id(), 128),
                   " for ", request->lease_ms(), " ms"),
      status);
}

}  // namespace swaplock
