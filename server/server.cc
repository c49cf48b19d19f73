#include "server/server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "server/page.h"

namespace swaplock {
namespace {

// The agent splits windows above 256 KiB.
constexpr int kMaxMessageBytes = 1 << 20;

// "" when it was not given.
std::string ValueOf(const std::map<std::string, std::string>& query,
                    const std::string& name) {
  const auto it = query.find(name);
  return it == query.end() ? "" : it->second;
}

HttpReply Json(std::string body) {
  return {200, "application/json", std::move(body)};
}

}  // namespace

Server::Server(std::unique_ptr<Ledger> ledger, FleetState state,
               ServerOptions options)
    : options_(std::move(options)),
      ledger_(std::move(ledger)),
      fleet_(std::move(state)),
      exporter_(&fleet_, options_.clock),
      writer_(ledger_.get(), &fleet_, options_.clock),
      ingest_(&writer_, &fleet_),
      query_(&fleet_, options_.clock) {}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(
    std::unique_ptr<Ledger> ledger, ServerOptions options) {
  absl::StatusOr<FleetState> state = ledger->Load(options.clock.wall());
  if (!state.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("load the ledger: ", state.status().ToString()));
  }
  std::unique_ptr<Server> server(
      new Server(std::move(ledger), *std::move(state), std::move(options)));
  if (absl::Status s = server->RefreshVerdicts(); !s.ok()) {
    return absl::FailedPreconditionError(s.ToString());
  }
  if (absl::Status s = server->StartHttp(); !s.ok()) return s;
  if (absl::Status s = server->StartGrpc(); !s.ok()) return s;
  server->serving_ = true;
  server->judge_ = std::thread([s = server.get()] { s->JudgeUntilShutdown(); });
  return server;
}

absl::Status Server::StartGrpc() {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  // Agents ping every 30 s or more, also between windows.
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // A host that vanished is noticed within 40 s.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  // Otherwise a second server on the port would start and take half the hosts.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  const std::string address = options_.grpc_listen.ToString();
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(),
                           &grpc_port_);
  builder.RegisterService(&ingest_);
  builder.RegisterService(&query_);
  grpc_ = builder.BuildAndStart();
  if (grpc_ == nullptr || grpc_port_ == 0) {
    return absl::UnavailableError(
        absl::StrCat("listen for gRPC on ", address,
                     ": the address is in use or cannot be bound"));
  }
  return absl::OkStatus();
}

absl::Status Server::StartHttp() {
  using Query = std::map<std::string, std::string>;
  const auto now = options_.clock.wall;
  std::map<std::string, HttpServer::Page> pages;
  pages["/metrics"] = [this](const Query&) {
    return HttpReply{200, "text/plain; version=0.0.4; charset=utf-8",
                     exporter_.Text()};
  };
  pages["/healthz"] = [](const Query&) {
    return HttpReply{200, "text/plain; charset=utf-8", "ok\n"};
  };
  pages["/readyz"] = [this](const Query&) {
    HttpReply reply;
    reply.body = "ready\n";
    if (!serving_) {
      reply.status = 503;
      reply.body = "starting or shutting down\n";
    } else if (!writer_.can_commit()) {
      reply.status = 503;
      reply.body = "the last commit to the ledger failed\n";
    }
    return reply;
  };
  pages["/api/v1/fleet"] = [this, now](const Query& query) {
    return Json(FleetJson(fleet_.Snapshot(), now(),
                          {ValueOf(query, "kernel"), ValueOf(query, "host"),
                           ValueOf(query, "context") == "1"}));
  };
  pages["/api/v1/verdicts"] = [this](const Query&) {
    return Json(VerdictsJson(fleet_.Snapshot()));
  };
  pages["/host"] = [this, now](const Query& query) {
    const std::string page =
        RenderHostPage(fleet_.Snapshot(), now(), ValueOf(query, "id"));
    if (page.empty()) {
      return HttpReply{404, "text/plain; charset=utf-8", "no such host\n"};
    }
    return HttpReply{200, "text/html; charset=utf-8", page};
  };
  pages["/"] = [this, now](const Query&) {
    return HttpReply{200, "text/html; charset=utf-8",
                     RenderPage(fleet_.Snapshot(), now())};
  };
  auto http =
      HttpServer::Start(options_.http_listen.ToString(), std::move(pages));
  if (!http.ok()) return http.status();
  http_ = *std::move(http);
  return absl::OkStatus();
}

absl::Status Server::RefreshVerdicts() {
  absl::StatusOr<std::vector<HostCell>> cells = ledger_->HostCells();
  if (!cells.ok()) return cells.status();
  fleet_.SetVerdicts(Judge(*cells, options_.verdict_rules));
  return absl::OkStatus();
}

void Server::JudgeUntilShutdown() {
  uint64_t judged = 0;
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (mutex_.AwaitWithTimeout(absl::Condition(&shutting_down_),
                                  options_.verdict_interval)) {
        return;
      }
    }
    const uint64_t commits = fleet_.commits();
    if (commits == judged) continue;
    if (absl::Status s = RefreshVerdicts(); !s.ok()) {
      Log(LogLevel::kWarning, absl::StrCat("verdicts: ", s.ToString()));
      continue;
    }
    judged = commits;
  }
}

void Server::Shutdown(absl::Duration grace) {
  {
    absl::MutexLock lock(&mutex_);
    if (shutting_down_) return;
    shutting_down_ = true;
  }
  serving_ = false;
  if (grpc_ != nullptr) {
    grpc_->GetHealthCheckService()->SetServingStatus(false);
    grpc_->Shutdown(absl::ToChronoTime(absl::Now() + grace));
    grpc_->Wait();
  }
  if (judge_.joinable()) judge_.join();
  http_.reset();
}

// The members end in reverse order: the writer commits what is left before the
// ledger closes.
Server::~Server() { Shutdown(absl::ZeroDuration()); }

}  // namespace swaplock
