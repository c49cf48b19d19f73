// The whole server of one process: ledger, writer, fleet, verdicts, the gRPC
// port (telemetry, query, health, reflection) and the HTTP port: /metrics,
// /healthz, /readyz, /api/v1/verdicts, /api/v1/fleet (with kernel=RELEASE,
// host=ID and context=1 if wanted), the page at / and that of a host at
// /host?id=ID.
#ifndef SWAPLOCK_SERVER_SERVER_H_
#define SWAPLOCK_SERVER_SERVER_H_

#include <grpcpp/server.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "server/exporter.h"
#include "server/fleet.h"
#include "server/http_server.h"
#include "server/ingest.h"
#include "server/ledger.h"
#include "server/listen_address.h"
#include "server/query.h"
#include "server/verdict/verdicts.h"
#include "server/writer.h"

namespace swaplock {

struct ServerOptions {
  ListenAddress grpc_listen;  // plaintext
  ListenAddress http_listen;
  VerdictRules verdict_rules;
  // Between evaluations of verdicts; none is made when nothing was committed.
  absl::Duration verdict_interval = absl::Seconds(10);
  Clock clock;
};

class Server {
 public:
  // Loads the fleet from `ledger` and serves. Unavailable when a port is taken,
  // otherwise what the ledger says.
  static absl::StatusOr<std::unique_ptr<Server>> Start(
      std::unique_ptr<Ledger> ledger, ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int grpc_port() const { return grpc_port_; }
  int http_port() const { return http_->port(); }

  // Evaluates the verdicts of everything committed so far.
  absl::Status RefreshVerdicts();

  // Says not serving, lets calls end for `grace`, cancels those left, commits
  // what was received. A second call does nothing.
  void Shutdown(absl::Duration grace);

 private:
  Server(std::unique_ptr<Ledger> ledger, FleetState state,
         ServerOptions options);
  absl::Status StartGrpc();
  absl::Status StartHttp();
  void JudgeUntilShutdown();

  const ServerOptions options_;
  const std::unique_ptr<Ledger> ledger_;
  Fleet fleet_;
  Exporter exporter_;
  Writer writer_;
  Ingest ingest_;
  QueryService query_;
  std::atomic<bool> serving_ = false;
  int grpc_port_ = 0;
  std::unique_ptr<grpc::Server> grpc_;
  std::unique_ptr<HttpServer> http_;
  absl::Mutex mutex_;
  bool shutting_down_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread judge_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_SERVER_H_
