#include "cli/top/fleet_source.h"

#include <utility>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"

namespace swaplock {
namespace {

class ServerSource final : public FleetSource {
 public:
  ServerSource(QueryClient client, std::string kernel, absl::Duration interval)
      : client_(std::move(client)),
        kernel_(std::move(kernel)),
        interval_(interval) {}

  absl::StatusOr<v1::Fleet> Look() override {
    if (stopped_.WaitForNotificationWithTimeout(
            std::max(next_ - absl::Now(), absl::ZeroDuration()))) {
      return absl::CancelledError("stopped");
    }
    next_ = absl::Now() + interval_;
    return client_.GetFleet(kernel_);
  }

  void Stop() override {
    if (!stopped_.HasBeenNotified()) stopped_.Notify();
  }

 private:
  QueryClient client_;
  const std::string kernel_;
  const absl::Duration interval_;
  absl::Time next_ = absl::InfinitePast();
  absl::Notification stopped_;
};

class HostSource final : public FleetSource {
 public:
  HostSource(std::unique_ptr<CutEvent> cut, std::unique_ptr<AgentSource> agent)
      : cut_(std::move(cut)), agent_(std::move(agent)) {}

  absl::StatusOr<v1::Fleet> Look() override {
    const absl::StatusOr<Window> window = agent_->Next();
    if (!window.ok()) return window.status();
    fleet_.Take(*window);
    return fleet_.ToFleet();
  }

  void Stop() override { agent_->Cancel(); }

 private:
  const std::unique_ptr<CutEvent> cut_;  // never requested
  const std::unique_ptr<AgentSource> agent_;
  HostFleet fleet_;
};

}  // namespace

std::unique_ptr<FleetSource> MakeServerSource(QueryClient client,
                                              std::string kernel,
                                              absl::Duration interval) {
  return std::make_unique<ServerSource>(std::move(client), std::move(kernel),
                                        interval);
}

absl::StatusOr<std::unique_ptr<FleetSource>> MakeAgentSource(
    const std::string& address) {
  absl::StatusOr<std::unique_ptr<CutEvent>> cut = CutEvent::Create();
  if (!cut.ok()) return cut.status();
  absl::StatusOr<std::unique_ptr<AgentSource>> agent =
      AgentSource::Connect(address, **cut);
  if (!agent.ok()) return agent.status();
  return std::make_unique<HostSource>(*std::move(cut), *std::move(agent));
}

}  // namespace swaplock
