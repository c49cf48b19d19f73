// A real swaplock-server process under load, and what it costs.
#ifndef SWAPLOCK_TESTS_LOAD_LOAD_SERVER_H_
#define SWAPLOCK_TESTS_LOAD_LOAD_SERVER_H_

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tests/end_to_end/child_process.h"
#include "tests/end_to_end/totals.h"

namespace swaplock {

class LoadServer {
 public:
  struct Scrape {
    double time_ms = 0;
    std::string text;

    // Of a series such as `swaplock_connections`; empty if it is absent.
    std::string Value(const std::string& series) const;
  };

  // Runs `program` with its ledger in `folder` and `flags` besides.
  LoadServer(std::string program, std::string folder,
             std::vector<std::string> flags);

  // Returns once it serves, on the same port as before; ends it first if it
  // runs.
  absl::Status Start();
  // With SIGKILL.
  void Kill() { process_.reset(); }
  // With SIGTERM: its exit status.
  int End();

  bool Running() { return process_ != nullptr && process_->Running(); }
  std::string address() const;
  int grpc_port() const { return grpc_port_; }
  // The end of what it wrote.
  std::string Log() const;

  // Of the process now; nothing when it has ended.
  absl::StatusOr<double> CpuSeconds() const;
  absl::StatusOr<uint64_t> ResidentBytes() const;
  absl::StatusOr<uint64_t> MostResidentBytes() const;
  uint64_t LedgerBytes() const;

  absl::StatusOr<Scrape> ScrapeNow() const;
  absl::StatusOr<Totals> Counted(
      const std::shared_ptr<grpc::ChannelCredentials>& reader) const;

 private:
  absl::StatusOr<uint64_t> StatusBytes(const std::string& field) const;

  const std::string program_;
  const std::string folder_;
  const std::vector<std::string> flags_;
  int grpc_port_ = 0;
  int http_port_ = 0;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_LOAD_SERVER_H_
