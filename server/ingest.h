// The Telemetry service: one stream per host, one window in flight on each.
//
// A stream is a chain: read, hand to the writer, write the answer, read again.
// Exactly one of the three is under way at any time, so a peer that does not
// read stops its own stream only. Beside it the stream may be told to say
// something unasked (steering.h), which waits for the answer on its way, as
// answers wait for it. A broken connection shows in the next read.
#ifndef SWAPLOCK_SERVER_INGEST_H_
#define SWAPLOCK_SERVER_INGEST_H_

#include <utility>

#include "common/clock.h"
#include "proto/fleet.grpc.pb.h"
#include "server/admission/access.h"
#include "server/admission/admission.h"
#include "server/fleet/fleet.h"
#include "server/ledger/writer.h"
#include "server/steering/steering.h"

namespace swaplock {

class Ingest : public v1::Telemetry::CallbackService {
 public:
  // Protocol versions that agents may speak.
  static constexpr uint32_t kOldestProtocol = 1;
  static constexpr uint32_t kNewestProtocol = 1;

  // All outlive the service's server.
  struct Parts {
    Writer* writer;
    Fleet* fleet;
    Access* access;
    Admission* admission;
    Steering* steering;
    QuarantineStore* quarantine;
  };

  Ingest(const Parts& parts, Clock clock)
      : parts_(parts), clock_(std::move(clock)) {}

  // A stream that ends because of what the peer is or sends says when to come
  // back in its trailer retry-after-ms.
  grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage>* Stream(
      grpc::CallbackServerContext* context) override;

 private:
  const Parts parts_;
  const Clock clock_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_INGEST_H_
