// The whole server of one process: ledger, writer, fleet, verdicts, the gRPC
// port (telemetry, query, health, reflection) and the HTTP port: /metrics,
// /healthz, /readyz, /api/v1/verdicts, /api/v1/fleet (with kernel=RELEASE,
// host=ID and context=1 if wanted), the page at /, those of verdicts at
// /verdicts and /verdict?id=ID, and that of a host at /host?id=ID.
#ifndef SWAPLOCK_SERVER_SERVER_H_
#define SWAPLOCK_SERVER_SERVER_H_

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "server/admin.h"
#include "server/admission/acceptor.h"
#include "server/admission/access.h"
#include "server/admission/admission.h"
#include "server/admission/server_credentials.h"
#include "server/fleet/fleet.h"
#include "server/ingest.h"
#include "server/judge/verdict_engine.h"
#include "server/ledger/ledger.h"
#include "server/ledger/writer.h"
#include "server/listen_address.h"
#include "server/metrics/exporter.h"
#include "server/metrics/otlp_exporter.h"
#include "server/query.h"
#include "server/steering/settings_file.h"
#include "server/steering/steering.h"
#include "server/verdict_service.h"
#include "server/web/http_server.h"

namespace swaplock {

struct ServerOptions {
  ListenAddress grpc_listen;
  ListenAddress http_listen;  // plaintext
  ServerTls tls;              // of the gRPC port
  AccessOptions access;       // its `tls` follows from the above
  AcceptLimits accept;
  AdmissionLimits admission;
  // After it a connection is to come anew, with the certificate of then: its
  // stream gets kLastWords to end.
  absl::Duration connection_age = absl::Hours(1);
  VerdictOptions verdicts;
  // What hosts are told: server/steering/settings_file.h. Empty: nothing.
  std::string settings_file;
  // Where metrics are sent besides; by default nowhere.
  OtlpOptions otlp;
  // What every answer says of hosts that do not exist; empty for real ones.
  std::string replay;
  Clock clock;
};

class Server {
 public:
  // Loads the fleet from `ledger` and serves. Unavailable when a port is taken,
  // otherwise what the ledger or a file of `options` says.
  static absl::StatusOr<std::unique_ptr<Server>> Start(
      std::unique_ptr<Ledger> ledger, ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int grpc_port() const { return acceptor_->port(); }
  int http_port() const { return http_->port(); }

  // Commits since the start. Waits, as every request does, for the lock of what
  // is known now: a watchdog may ask it whether the server lives.
  uint64_t commits() const { return fleet_.commits(); }

  // Reads --settings anew: in any case, or if it changed. What cannot be used
  // changes nothing, and is said in one sentence. Of one thread.
  absl::Status ReadSettings();
  absl::Status ReadSettingsIfChanged();

  // Judges what is due, as the server does by itself every few seconds.
  absl::Status RefreshVerdicts();

  // Says not serving, asks hosts to come anew when they can, lets calls end for
  // `grace`, cancels those left, commits what was received. A second call does
  // nothing.
  void Shutdown(absl::Duration grace);

 private:
  Server(std::unique_ptr<Ledger> ledger, FleetState state,
         std::unique_ptr<Access> access, ServerOptions options);
  absl::Status RestoreQuarantine();
  absl::Status StartGrpc();
  absl::Status StartHttp();
  std::map<std::string, HttpServer::Page> HttpPages();
  std::string Metrics();
  void CountConnections();
  void StartOtlp();
  VerdictSources SourcesOfVerdicts();
  void JudgeUntilShutdown();

  const ServerOptions options_;
  const std::unique_ptr<Ledger> ledger_;
  const std::unique_ptr<Access> access_;
  Admission admission_;
  Steering steering_;
  SettingsFile settings_;
  Fleet fleet_;
  VerdictEngine verdicts_;
  Exporter exporter_;
  Writer writer_;
  Ingest ingest_;
  QueryService query_;
  VerdictService verdict_service_;
  AdminService admin_;
  std::atomic<bool> serving_ = false;
  // gRPC's core asks it for certificates as long as there is a server.
  std::shared_ptr<grpc::ServerCredentials> credentials_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> connections_;
  std::unique_ptr<grpc::Server> grpc_;
  std::unique_ptr<Acceptor> acceptor_;
  std::unique_ptr<HttpServer> http_;
  absl::Mutex mutex_;
  bool shutting_down_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread judge_;
  std::unique_ptr<OtlpExporter> otlp_;  // null: none is wanted
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_SERVER_H_
