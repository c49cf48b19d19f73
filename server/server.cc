#include "server/server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "server/admission/cardinality.h"
#include "server/web/http_query.h"
#include "server/web/routes.h"

namespace swaplock {
namespace {

// The agent splits windows above 256 KiB.
constexpr int kMaxMessageBytes = 1 << 20;

// After connection_age, between the request to come anew and the end.
constexpr absl::Duration kLastWords = absl::Seconds(30);

// Between looks for verdicts that are due.
constexpr absl::Duration kJudgePause = absl::Seconds(10);

// What gRPC may have in buffers: less than an idle connection needs leaves none
// for windows, much more lets peers fill the memory.
size_t QuotaBytes(const AcceptLimits& limits) {
  return (size_t{64} << 20) + limits.connections * (size_t{64} << 10);
}

int Ms(absl::Duration duration) {
  return static_cast<int>(absl::ToInt64Milliseconds(duration));
}

void BoundConnections(const ServerOptions& options,
                      grpc::ServerBuilder* builder) {
  // Agents ping every 30 s or more, also between windows.
  builder->AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // A host that vanished is noticed within 40 s, one that says nothing at all
  // within 10.
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  builder->AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10'000);
  // One without a stream: gRPC's clients (1.51) keep a connection whose answer
  // came after they gave it up, and never use it.
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, 20'000);
  // gRPC spreads it by a tenth either way.
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS,
                              Ms(options.connection_age));
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
                              Ms(kLastWords));
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 100);
  builder->AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 8 << 10);
  builder->SetMaxReceiveMessageSize(kMaxMessageBytes);
  grpc::ResourceQuota quota("swaplock-server");
  builder->SetResourceQuota(quota.Resize(QuotaBytes(options.accept)));
}

HttpReply Json(std::string body) {
  return {200, "application/json", std::move(body)};
}

}  // namespace

Server::Server(std::unique_ptr<Ledger> ledger, FleetState state,
               std::unique_ptr<Access> access, ServerOptions options)
    : options_(std::move(options)),
      ledger_(std::move(ledger)),
      access_(std::move(access)),
      admission_(options_.admission),
      steering_(options_.clock),
      settings_(options_.settings_file, &steering_),
      fleet_(std::move(state), options_.replay),
      verdicts_(SourcesOfVerdicts(), options_.verdicts),
      exporter_(&fleet_, &verdicts_, options_.clock),
      writer_(ledger_.get(), &fleet_, options_.clock),
      ingest_({&writer_, &fleet_, access_.get(), &admission_, &steering_,
               ledger_->quarantine()},
              options_.clock),
      query_(&fleet_, access_.get(), options_.clock),
      verdict_service_(&verdicts_, &fleet_, access_.get(), options_.clock),
      admin_(access_.get(), &steering_, &fleet_, ledger_->quarantine(),
             options_.clock) {}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(
    std::unique_ptr<Ledger> ledger, ServerOptions options) {
  absl::StatusOr<FleetState> state = ledger->Load(options.clock.wall());
  if (!state.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("load the ledger: ", state.status().ToString()));
  }
  options.access.tls = !options.tls.files.empty();
  options.tls.certificate_optional = !options.access.host_tokens.empty() ||
                                     !options.access.reader_tokens.empty() ||
                                     !options.access.operator_tokens.empty();
  absl::StatusOr<std::unique_ptr<Access>> access = Access::Open(options.access);
  if (!access.ok()) return access.status();
  std::unique_ptr<Server> server(
      new Server(std::move(ledger), *std::move(state), *std::move(access),
                 std::move(options)));
  if (absl::Status s = server->RestoreQuarantine(); !s.ok()) return s;
  if (absl::Status s = server->ReadSettings(); !s.ok()) return s;
  if (absl::Status s = server->verdicts_.Load(); !s.ok()) {
    return absl::FailedPreconditionError(s.message());
  }
  if (absl::Status s = server->StartHttp(); !s.ok()) return s;
  if (absl::Status s = server->StartGrpc(); !s.ok()) return s;
  server->StartOtlp();
  server->serving_ = true;
  server->judge_ = std::thread([s = server.get()] { s->JudgeUntilShutdown(); });
  return server;
}

absl::Status Server::StartGrpc() {
  auto credentials = MakeServerCredentials(options_.tls);
  if (!credentials.ok()) return credentials.status();
  credentials_ = *std::move(credentials);
  auto acceptor = Acceptor::Listen(options_.grpc_listen, options_.accept);
  if (!acceptor.ok()) return acceptor.status();
  acceptor_ = *std::move(acceptor);

  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  BoundConnections(options_, &builder);
  connections_ = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      credentials_);
  builder.RegisterService(&ingest_);
  builder.RegisterService(&query_);
  builder.RegisterService(&verdict_service_);
  builder.RegisterService(&admin_);
  grpc_ = builder.BuildAndStart();
  if (grpc_ == nullptr) return absl::UnavailableError("gRPC does not start");
  acceptor_->Start([this](int fd) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters p;
    p.fd = fd;
    connections_->HandleNewConnection(&p);
  });
  return absl::OkStatus();
}

void Server::CountConnections() {
  const Acceptor::Stats stats =
      serving_ ? acceptor_->stats() : Acceptor::Stats();
  fleet_.SetConnections({stats.open, stats.refused, stats.delayed});
}

void Server::StartOtlp() {
  if (options_.otlp.endpoint.empty()) return;
  OtlpOptions otlp = options_.otlp;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  otlp.instance = absl::StrCat(host, ":", http_port());
  otlp_ = std::make_unique<OtlpExporter>(std::move(otlp), [this] {
    CountConnections();
    return exporter_.Collect();
  });
  exporter_.Watch(otlp_.get());
}

std::string Server::Metrics() {
  CountConnections();
  return exporter_.Text();
}

std::map<std::string, HttpServer::Page> Server::HttpPages() {
  using Query = std::map<std::string, std::string>;
  const auto now = options_.clock.wall;
  std::map<std::string, HttpServer::Page> pages =
      PagesOf(&fleet_, &verdicts_, now);
  pages["/pipeline"] = [this, page = pages["/pipeline"]](const Query& query) {
    CountConnections();
    return page(query);
  };
  pages["/metrics"] = [this](const Query&) {
    return HttpReply{200, "text/plain; version=0.0.4; charset=utf-8",
                     Metrics()};
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
    return Json(VerdictsJson(*verdicts_.Book(), fleet_.replay()));
  };
  return pages;
}

absl::Status Server::StartHttp() {
  HttpServer::Options http_options;
  http_options.address = options_.http_listen.ToString();
  http_options.pages = HttpPages();
  http_options.may_read = [this](absl::string_view authorization) {
    return access_->MayReadHttp(authorization);
  };
  // What asks whether the server lives has no secrets to show.
  http_options.open = {"/healthz", "/readyz"};
  auto http = HttpServer::Start(std::move(http_options));
  if (!http.ok()) return http.status();
  http_ = *std::move(http);
  return absl::OkStatus();
}

VerdictSources Server::SourcesOfVerdicts() {
  VerdictSources sources;
  sources.evidence = [this] { return ledger_->OpenEvidence(); };
  sources.store = ledger_->verdicts();
  sources.now = options_.clock.wall;
  sources.hosts_aside = [this] {
    std::set<std::string> aside;
    for (const QuarantinedHost& host :
         fleet_.SetAsideNow(options_.clock.wall())) {
      aside.insert(host.host_id);
    }
    return aside;
  };
  sources.other_kernel = kOtherName;
  return sources;
}

absl::Status Server::RestoreQuarantine() {
  const absl::StatusOr<std::vector<QuarantinedHost>> hosts =
      ledger_->quarantine()->LoadQuarantine();
  if (!hosts.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("load the quarantine: ", hosts.status().message()));
  }
  fleet_.Restore(*hosts);
  return absl::OkStatus();
}

absl::Status Server::ReadSettings() {
  if (options_.settings_file.empty()) return absl::OkStatus();
  return settings_.Read(options_.clock.wall());
}

absl::Status Server::ReadSettingsIfChanged() {
  if (options_.settings_file.empty()) return absl::OkStatus();
  return settings_.ReadIfChanged(options_.clock.wall());
}

absl::Status Server::RefreshVerdicts() { return verdicts_.RunDue(); }

void Server::JudgeUntilShutdown() {
  const absl::Duration pause =
      std::min(kJudgePause, options_.verdicts.look_interval);
  while (true) {
    if (absl::Status s = RefreshVerdicts(); !s.ok()) {
      static LogSite site(absl::Minutes(1));
      site.Log(LogLevel::kWarning, absl::StrCat("verdicts: ", s.ToString()));
    }
    absl::MutexLock lock(&mutex_);
    if (mutex_.AwaitWithTimeout(absl::Condition(&shutting_down_), pause)) {
      return;
    }
  }
}

void Server::Shutdown(absl::Duration grace) {
  {
    absl::MutexLock lock(&mutex_);
    if (shutting_down_) return;
    shutting_down_ = true;
  }
  serving_ = false;
  verdicts_.Stop();
  if (acceptor_ != nullptr) acceptor_->Stop();
  if (grpc_ != nullptr) {
    grpc_->GetHealthCheckService()->SetServingStatus(false);
    // No faster than they can be accepted by whoever comes after this server.
    steering_.ReconnectAll(options_.accept.per_second);
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
