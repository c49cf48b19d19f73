// Asks a server what its ledger and its verdicts say. One call at a time; an
// answer that takes longer than ten seconds is an error.
#ifndef SWAPLOCK_CLI_QUERY_CLIENT_H_
#define SWAPLOCK_CLI_QUERY_CLIENT_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "proto/query.grpc.pb.h"

namespace swaplock {

class QueryClient {
 public:
  // `server` is host:port of its gRPC side.
  explicit QueryClient(const std::string& server);

  // `kernel_release` empty: all kernels.
  absl::StatusOr<v1::Fleet> GetFleet(const std::string& kernel_release);
  absl::StatusOr<v1::VerdictList> ListVerdicts();

 private:
  const std::string server_;
  const std::unique_ptr<v1::Query::Stub> stub_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_QUERY_CLIENT_H_
