// One simulated host: a connection and a stream of its own, as an agent's, but
// without spool. Exactly one operation of it is under way at any time.
//
// It does what it is told (Connect, Send, Drop) until that is done, however
// often the server sends it away meanwhile, and then says Done.
//
// Everything happens on the thread of its loop.
#ifndef SWAPLOCK_TESTS_LOAD_LOAD_HOST_H_
#define SWAPLOCK_TESTS_LOAD_LOAD_HOST_H_

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "agent/delivery/backoff.h"
#include "proto/fleet.grpc.pb.h"
#include "tests/load/load_loop.h"
#include "tests/load/load_tally.h"
#include "tests/load/outstanding.h"
#include "tests/load/simulated_windows.h"

namespace swaplock {

enum class LoadHostKind {
  kGood,
  // Sends what a server must not take; is done once it was set aside.
  kPoisoned,
  // Sends its first window again and again and reads no answer.
  kDeaf,
};

class LoadHost final : public LoadLoop::Event {
 public:
  // What hosts share, and what outlives them.
  struct Surroundings {
    std::string server;  // "127.0.0.1:7787"
    absl::Duration first_backoff = absl::Seconds(1);
    absl::Duration backoff_cap = absl::Seconds(120);
    const SimulatedWindows* windows = nullptr;
    LoadTally* tally = nullptr;
    Outstanding* outstanding = nullptr;
  };

  LoadHost(const Surroundings& around, LoadLoop* loop, uint64_t number,
           LoadHostKind kind,
           std::shared_ptr<grpc::ChannelCredentials> credentials);

  // Done when it is welcome.
  void Connect();
  // Done when so many windows are acknowledged, or it was stopped; one each
  // `interval`, the first at a random part of it.
  void Send(uint64_t windows, absl::Duration interval);
  // Send no more than what is under way.
  void Stop() { windows_left_ = 0; }
  // Done when the stream has ended.
  void Drop();

  void Run(bool ok) override;

 private:
  // What is under way.
  enum class Step {
    kNothing,
    kStart,
    kHello,    // being written
    kWelcome,  // being read
    kPause,    // between two windows
    kWindow,   // being written
    kAnswer,   // being read
    kFlood,    // a window nobody needs, being written
    kEnd,      // the call's status is coming
    kBackoff,  // before the next attempt
  };

  void Begin();
  void Read(Step step);
  void SayHello();
  void Welcomed();
  void SendNext();
  void SendWindow();
  void Answered();
  void WasAcknowledged(bool duplicate);
  void WasRejected(const v1::Reject& reject);
  void Cancelled();
  void End();
  void Ended();
  void Dropped();
  void Wait(Step step, absl::Duration time);
  void Done();

  const Surroundings around_;
  LoadLoop* const loop_;
  const uint64_t number_;
  const LoadHostKind kind_;
  const std::shared_ptr<grpc::ChannelCredentials> credentials_;
  Backoff backoff_;
  Backoff::Random random_;

  Step step_ = Step::kNothing;
  bool told_ = false;       // it was told something and is not done
  bool dropping_ = false;   // that is to drop its stream
  bool out_of_it_ = false;  // the server has set it aside
  int times_refused_ = 0;
  uint64_t seq_ = 1;
  uint64_t windows_left_ = 0;
  absl::Duration interval_;
  // The window under way, for the first time.
  absl::Time sent_ = absl::InfinitePast();
  absl::Time due_;  // the next window

  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<
      grpc::ClientAsyncReaderWriter<v1::AgentMessage, v1::ServerMessage>>
      stream_;
  v1::AgentMessage out_;
  v1::ServerMessage in_;
  grpc::Status status_;
  grpc::Alarm alarm_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_LOAD_HOST_H_
