// Asks a server what its ledger and its verdicts say. One call at a time; an
// answer that takes longer than ten seconds is an error.
#ifndef SWAPLOCK_CLI_QUERY_QUERY_CLIENT_H_
#define SWAPLOCK_CLI_QUERY_QUERY_CLIENT_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/channel.h"
#include "proto/query.grpc.pb.h"

namespace swaplock {

class QueryClient {
 public:
  // `server` is host:port of its gRPC side.
  static absl::StatusOr<QueryClient> Connect(const std::string& server,
                                             const ChannelIdentity& identity);

  // `kernel_release` empty: all kernels.
  absl::StatusOr<v1::Fleet> GetFleet(const std::string& kernel_release);
  absl::StatusOr<v1::VerdictList> ListVerdicts();

 private:
  QueryClient(std::string server, ChannelIdentity identity,
              std::shared_ptr<grpc::Channel> channel);
  absl::Status Prepare(grpc::ClientContext* context) const;

  std::string server_;
  ChannelIdentity identity_;
  std::unique_ptr<v1::Query::Stub> stub_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_QUERY_QUERY_CLIENT_H_
