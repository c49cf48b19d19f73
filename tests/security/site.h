// A small site of one test: a CA, a server with TLS, and peers that show it
// whatever certificate or token the test likes.
#ifndef SWAPLOCK_TESTS_SECURITY_SITE_H_
#define SWAPLOCK_TESTS_SECURITY_SITE_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "cli/certs/certificate_maker.h"
#include "common/window.h"
#include "proto/fleet.grpc.pb.h"
#include "server/server.h"

namespace swaplock {

// A CA of its own, and what it signs now.
class TestAuthority {
 public:
  TestAuthority();
  const std::string& certificate() const {
    return maker_.authority().certificate;
  }

  KeyPair Host(const std::string& id) const;
  KeyPair Reader(const std::string& name) const;
  KeyPair Server() const;  // of 127.0.0.1
  KeyPair Issue(const CertificateRequest& request) const;

 private:
  CertificateMaker maker_;
};

// Valid now, for a client with these URIs.
CertificateRequest ClientRequest(std::vector<std::string> uris);

// What became of a call.
struct Attempt {
  bool welcomed = false;
  bool acknowledged = false;
  grpc::Status status;
  std::string retry_after_ms;  // of the trailers
};

// What a peer shows. Empty parts are left out; without `ca` it is plaintext.
struct Shown {
  std::string ca;  // that it trusts
  KeyPair pair;
  std::string token;
};

class Site {
 public:
  // Folder of this test, without a server yet.
  Site();

  std::string Path(const std::string& name) const {
    return folder_ + "/" + name;
  }
  void WriteServerFiles(const std::string& ca, const KeyPair& pair);
  // TLS as by WriteServerFiles, ledger in the folder, free ports.
  ServerOptions TlsOptions() const;
  void Start(ServerOptions options);
  Server& server() { return *server_; }
  void Stop() { server_.reset(); }

  std::shared_ptr<grpc::Channel> Connect(const Shown& shown) const;
  // Connects, says hello for `host`, and sends window 1 of `sends` (else of the
  // host).
  Attempt Report(const Shown& shown, const std::string& host,
                 const std::string& sends = "") const;
  grpc::Status Query(const Shown& shown) const;
  // The body of an answer over HTTP, with the status line first.
  std::string Http(const std::string& path,
                   const std::string& authorization = "") const;
  // Value of a series of /metrics, such as `swaplock_hosts{state="seen"}`.
  std::string Metric(const std::string& series,
                     const std::string& authorization = "") const;

 private:
  const std::string folder_;
  std::unique_ptr<Server> server_;
};

// One stream that is kept open.
class OpenStream {
 public:
  OpenStream(const Site& site, const Shown& shown, const std::string& host);
  bool welcomed() const { return welcomed_; }
  // False when the stream ended.
  bool Send(const Window& window, v1::ServerMessage* answer);
  // Leaves out what the server said unasked.
  grpc::Status Finish() {
    v1::ServerMessage said;
    while (stream_->Read(&said)) {
    }
    return stream_->Finish();
  }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  grpc::ClientContext context_;
  std::unique_ptr<v1::Telemetry::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AgentMessage, v1::ServerMessage>>
      stream_;
  bool welcomed_ = false;
};

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_SECURITY_SITE_H_
