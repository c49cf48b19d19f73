// Asks a server what its ledger and its verdicts say, and tells it what is to
// become of these. One call at a time; an answer that takes longer than ten
// seconds (a comparison: five minutes) is an error.
#ifndef SWAPLOCK_CLI_QUERY_QUERY_CLIENT_H_
#define SWAPLOCK_CLI_QUERY_QUERY_CLIENT_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/channel.h"
#include "proto/query.grpc.pb.h"
#include "proto/verdict_query.grpc.pb.h"

namespace swaplock {

class QueryClient {
 public:
  // `server` is host:port of its gRPC side.
  static absl::StatusOr<QueryClient> Connect(const std::string& server,
                                             const ChannelIdentity& identity);

  // `kernel_release` empty: all kernels.
  absl::StatusOr<v1::Fleet> GetFleet(const std::string& kernel_release);
  absl::StatusOr<v1::VerdictBook> ListVerdicts(
      const v1::ListVerdictsRequest& request);
  // NotFound when there is no such verdict.
  absl::StatusOr<v1::VerdictExplanation> GetVerdict(
      const v1::GetVerdictRequest& request);
  // NotFound likewise; PermissionDenied or Unauthenticated for who is no
  // operator.
  absl::StatusOr<v1::StoredVerdict> Acknowledge(
      const v1::AcknowledgeVerdictRequest& request);
  absl::StatusOr<v1::StoredVerdict> Suppress(
      const v1::SuppressVerdictRequest& request);
  absl::StatusOr<v1::StoredVerdict> Reopen(
      const v1::ReopenVerdictRequest& request);
  // NotFound when no host ran one of the kernels.
  absl::StatusOr<v1::KernelComparison> CompareKernels(
      const v1::CompareKernelsRequest& request);

 private:
  QueryClient(std::string server, ChannelIdentity identity,
              const std::shared_ptr<grpc::Channel>& channel);
  // One call of a stub's method, within `patience`.
  template <typename Reply, typename Stub, typename Request>
  absl::StatusOr<Reply> Call(Stub* stub,
                             grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                          const Request&,
                                                          Reply*),
                             const Request& request,
                             std::chrono::seconds patience);

  std::string server_;
  ChannelIdentity identity_;
  std::unique_ptr<v1::Query::Stub> stub_;
  std::unique_ptr<v1::Verdicts::Stub> verdicts_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_QUERY_QUERY_CLIENT_H_
