// The Telemetry service: one stream per host, one window in flight on each.
//
// A stream is a chain: read, hand to the writer, write the answer, read again.
// Exactly one of the three is under way at any time, so a stream needs no lock,
// a peer that does not read stops its own stream only, and a broken connection
// shows as the failure of whichever is under way.
#ifndef SWAPLOCK_SERVER_INGEST_H_
#define SWAPLOCK_SERVER_INGEST_H_

#include "proto/fleet.grpc.pb.h"
#include "server/fleet.h"
#include "server/writer.h"

namespace swaplock {

class Ingest : public v1::Telemetry::CallbackService {
 public:
  // Protocol versions that agents may speak.
  static constexpr uint32_t kOldestProtocol = 1;
  static constexpr uint32_t kNewestProtocol = 1;

  // Both outlive the service's server.
  Ingest(Writer* writer, Fleet* fleet) : writer_(writer), fleet_(fleet) {}

  grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage>* Stream(
      grpc::CallbackServerContext* context) override;

 private:
  Writer* const writer_;
  Fleet* const fleet_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_INGEST_H_
