#include "server/verdict_service.h"

#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/plain_text.h"
#include "server/fleet/exemplar_holds.h"
#include "server/json_answer.h"
#include "server/query.h"
#include "server/verdict/verdict_book_message.h"
#include "server/verdict/verdict_listing.h"

namespace swaplock {
namespace {

grpc::Status GrpcStatus(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.raw_code()),
          std::string(status.message())};
}

grpc::ServerUnaryReactor* Finished(grpc::CallbackServerContext* context,
                                   const absl::Status& status) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(GrpcStatus(status));
  return reactor;
}

VerdictFilter FilterOf(const v1::ListVerdictsRequest& request) {
  VerdictFilter out;
  out.kernel_base = request.kernel_base();
  out.kernel_new = request.kernel_new();
  out.kernel = request.kernel();
  for (const int kind : request.kinds()) {
    out.kinds.push_back(static_cast<VerdictKind>(kind));
  }
  out.subsystem = static_cast<Subsystem>(request.subsystem());
  out.operation = static_cast<Operation>(request.operation());
  for (const int state : request.states()) {
    out.states.push_back(static_cast<VerdictState>(state - 1));
  }
  out.incident = request.incident();
  return out;
}

absl::Status NoVerdict(uint64_t id) {
  return absl::NotFoundError(absl::StrCat("there is no verdict ", id));
}

}  // namespace

std::string VerdictsJson(const VerdictBook& book, const std::string& replay) {
  v1::VerdictBook message = ToProto(book);
  message.set_replay(replay);
  return JsonAnswer(message);
}

VerdictService::~VerdictService() {
  std::thread comparison;
  {
    absl::MutexLock lock(&mutex_);
    comparison = std::move(comparison_);
  }
  if (comparison.joinable()) comparison.join();
}

absl::Status VerdictService::MayRead(
    const grpc::CallbackServerContext& context) {
  return access_->MayRead(Peer::Of(context));
}

grpc::ServerUnaryReactor* VerdictService::ListVerdicts(
    grpc::CallbackServerContext* context,
    const v1::ListVerdictsRequest* request, v1::VerdictBook* reply) {
  const absl::Status status = MayRead(*context);
  if (status.ok()) {
    *reply = ToProto(Chosen(*desk_->Book(), FilterOf(*request)));
    reply->set_replay(fleet_->replay());
  }
  return Finished(context, status);
}

absl::Status VerdictService::Explain(const v1::GetVerdictRequest& request,
                                     v1::VerdictExplanation* reply) {
  const std::shared_ptr<const VerdictBook> book = desk_->Book();
  const StoredVerdict* verdict = FindVerdict(*book, request.id());
  if (verdict == nullptr) return NoVerdict(request.id());
  reply->set_replay(fleet_->replay());
  *reply->mutable_verdict() = ToProto(*verdict);
  for (const Incident& incident : book->incidents) {
    if (incident.id == verdict->incident) {
      *reply->mutable_incident() = ToProto(incident);
    }
  }
  const VerdictRecord& record = verdict->record;
  for (const JudgedPair& pair : book->pairs) {
    if (pair.pair.base == record.kernel_base &&
        pair.pair.newer == record.kernel_new) {
      *reply->mutable_pair() = ToProto(pair);
    }
  }
  const FleetSnapshot snapshot = fleet_->Snapshot();
  for (const TopHold* top :
       ExemplarHolds(snapshot.state, clock_.wall(), record)) {
    *reply->add_exemplars() = TopHoldMessage(*top);
  }
  if (!request.with_history()) return absl::OkStatus();
  const absl::StatusOr<std::vector<StoredVerdict>> history =
      desk_->History(request.id());
  if (!history.ok()) return history.status();
  for (const StoredVerdict& version : *history) {
    *reply->add_history() = ToProto(version);
  }
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* VerdictService::GetVerdict(
    grpc::CallbackServerContext* context, const v1::GetVerdictRequest* request,
    v1::VerdictExplanation* reply) {
  absl::Status status = MayRead(*context);
  if (status.ok()) status = Explain(*request, reply);
  return Finished(context, status);
}

grpc::ServerUnaryReactor* VerdictService::Act(
    grpc::CallbackServerContext* context, uint64_t id, const std::string& by,
    const std::function<absl::Status(const std::string&)>& act,
    v1::StoredVerdict* reply) {
  const absl::StatusOr<std::string> name =
      access_->MayOperate(Peer::Of(*context));
  if (!name.ok()) return Finished(context, name.status());
  absl::Status status = act(name->empty() ? PlainText(by, 128) : *name);
  if (status.ok()) {
    const std::shared_ptr<const VerdictBook> book = desk_->Book();
    const StoredVerdict* verdict = FindVerdict(*book, id);
    if (verdict == nullptr) {
      status = NoVerdict(id);
    } else {
      Log(LogLevel::kInfo,
          absl::StrCat("verdicts: ", id, " is ", Name(verdict->mark.state),
                       " now, says ", PlainText(verdict->mark.by, 128)));
      *reply = ToProto(*verdict);
    }
  }
  return Finished(context, status);
}

grpc::ServerUnaryReactor* VerdictService::AcknowledgeVerdict(
    grpc::CallbackServerContext* context,
    const v1::AcknowledgeVerdictRequest* request, v1::StoredVerdict* reply) {
  return Act(
      context, request->id(), request->by(),
      [&](const std::string& by) {
        return desk_->Acknowledge(request->id(), by,
                                  PlainText(request->reason()));
      },
      reply);
}

grpc::ServerUnaryReactor* VerdictService::SuppressVerdict(
    grpc::CallbackServerContext* context,
    const v1::SuppressVerdictRequest* request, v1::StoredVerdict* reply) {
  return Act(
      context, request->id(), request->by(),
      [&](const std::string& by) {
        return desk_->Suppress(request->id(), by, PlainText(request->reason()),
                               absl::FromUnixNanos(static_cast<int64_t>(
                                   request->until_unix_ns())));
      },
      reply);
}

grpc::ServerUnaryReactor* VerdictService::ReopenVerdict(
    grpc::CallbackServerContext* context,
    const v1::ReopenVerdictRequest* request, v1::StoredVerdict* reply) {
  return Act(
      context, request->id(), request->by(),
      [&](const std::string& by) { return desk_->Reopen(request->id(), by); },
      reply);
}

grpc::ServerUnaryReactor* VerdictService::CompareKernels(
    grpc::CallbackServerContext* context,
    const v1::CompareKernelsRequest* request, v1::KernelComparison* reply) {
  if (absl::Status s = MayRead(*context); !s.ok()) return Finished(context, s);
  absl::MutexLock lock(&mutex_);
  if (comparing_) {
    return Finished(context, absl::UnavailableError(
                                 "another comparison runs; ask again later"));
  }
  comparing_ = true;
  // The last one has said that it is done, so it does not wait for this lock.
  if (comparison_.joinable()) comparison_.join();
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const KernelPair pair = {request->kernel_base(), request->kernel_new()};
  comparison_ = std::thread([this, pair, reactor, reply] {
    const absl::StatusOr<PairComparison> compared = desk_->Compare(pair);
    if (compared.ok()) *reply = ToProto(*compared);
    reply->set_replay(fleet_->replay());
    {
      absl::MutexLock done(&mutex_);
      comparing_ = false;
    }
    reactor->Finish(GrpcStatus(compared.status()));
  });
  return reactor;
}

}  // namespace swaplock
