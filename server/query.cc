#include "server/query.h"

#include <map>

#include "common/plain_text.h"
#include "common/window.h"
#include "server/json_answer.h"

namespace swaplock {

v1::TopHold TopHoldMessage(const TopHold& top) {
  v1::TopHold out;
  out.set_host_id(top.host_id);
  out.set_kernel_release(top.kernel_release);
  *out.mutable_key() = ToProto(top.key);
  *out.mutable_hold() = ToProto(top.hold);
  out.set_end_unix_ns(top.end_unix_ns);
  return out;
}

v1::Fleet FleetMessage(const FleetSnapshot& snapshot, absl::Time now,
                       const FleetQuestion& question) {
  v1::Fleet out;
  out.set_replay(snapshot.replay);
  const auto wanted = [&question](const std::string& release) {
    return question.kernel_release.empty() ||
           release == question.kernel_release;
  };
  const auto wanted_host = [&question](const std::string& host_id) {
    return question.host_id.empty() || host_id == question.host_id;
  };
  std::map<CohortKey, uint64_t> hosts;
  for (const auto& [id, host] : snapshot.state.hosts) {
    const Environment& environment = host.environment;
    if (!wanted(environment.kernel_release)) continue;
    ++hosts[{environment.kernel_release, environment.preempt}];
    if (!wanted_host(id)) continue;
    v1::HostState* message = out.add_hosts();
    message->set_host_id(id);
    message->set_kernel_release(environment.kernel_release);
    message->set_last_seen_unix_ns(host.last_seen_unix_ns);
    message->set_windows(host.windows);
    message->set_connected(snapshot.streams.count(id) > 0);
    *message->mutable_coverage() = ToProto(host.coverage);
    const auto context =
        question.with_context ? snapshot.hosts_now.ContextOf(id) : nullptr;
    // common/window converts what is in a window.
    Window said;
    said.environment = environment;
    if (context != nullptr) said.context = context->known;
    v1::Window said_message = ToProto(said);
    message->mutable_environment()->Swap(said_message.mutable_environment());
    if (context == nullptr) continue;
    message->mutable_context()->Swap(said_message.mutable_context());
    message->set_context_unix_ns(
        static_cast<uint64_t>(absl::ToUnixNanos(context->as_of)));
  }
  for (const auto& [key, cohort] : snapshot.state.cohorts) {
    if (!wanted(key.kernel_release)) continue;
    v1::Cohort* message = out.add_cohorts();
    message->set_kernel_release(key.kernel_release);
    message->set_preempt(key.preempt);
    message->set_hosts(hosts[key]);
    message->set_windows(cohort.windows);
    for (const auto& [cell_key, cell] : cohort.cells) {
      *message->add_cells() = ToProto(cell.cell);
    }
  }
  const int64_t oldest = absl::ToUnixNanos(now - absl::Hours(24));
  for (const TopHold& top : snapshot.state.top_holds) {
    if (!wanted(top.kernel_release) || !wanted_host(top.host_id) ||
        static_cast<int64_t>(top.end_unix_ns) < oldest) {
      continue;
    }
    *out.add_top_holds() = TopHoldMessage(top);
  }
  for (const QuarantinedHost& host : snapshot.quarantine.List(now)) {
    if (!wanted_host(host.host_id)) continue;
    v1::QuarantinedHost* message = out.add_quarantined();
    message->set_host_id(host.host_id);
    message->set_reason(PlainText(host.reason));
    message->set_since_unix_ns(
        static_cast<uint64_t>(absl::ToUnixNanos(host.since)));
    message->set_until_unix_ns(
        static_cast<uint64_t>(absl::ToUnixNanos(host.until)));
    message->set_windows_refused(host.refused);
  }
  for (const HoldInProgress& held : snapshot.hosts_now.HoldsInProgress(now)) {
    if (!wanted(held.kernel_release) || !wanted_host(held.host_id)) continue;
    v1::HoldInProgress* message = out.add_holds_in_progress();
    message->set_host_id(held.host_id);
    message->set_kernel_release(held.kernel_release);
    *message->mutable_key() = ToProto(held.key);
    message->set_lock_model(static_cast<v1::LockModel>(held.lock_model));
    message->set_hold_tier(static_cast<v1::Tier>(held.hold_tier));
    *message->mutable_hold() = ToProto(held.hold);
    message->set_as_of_unix_ns(
        static_cast<uint64_t>(absl::ToUnixNanos(held.as_of)));
  }
  return out;
}

std::string FleetJson(const FleetSnapshot& snapshot, absl::Time now,
                      const FleetQuestion& question) {
  return JsonAnswer(FleetMessage(snapshot, now, question));
}

grpc::Status QueryService::MayRead(const grpc::CallbackServerContext& context) {
  const absl::Status status = access_->MayRead(Peer::Of(context));
  return {static_cast<grpc::StatusCode>(status.raw_code()),
          std::string(status.message())};
}

grpc::ServerUnaryReactor* QueryService::GetFleet(
    grpc::CallbackServerContext* context, const v1::GetFleetRequest* request,
    v1::Fleet* reply) {
  const grpc::Status status = MayRead(*context);
  if (status.ok()) {
    *reply = FleetMessage(fleet_->Snapshot(), clock_.wall(),
                          {request->kernel_release(), request->host_id(),
                           request->with_context()});
  }
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

}  // namespace swaplock
