// A message of the stream as the server takes it apart: hello, window, neither.
#include <google/protobuf/stubs/logging.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "common/plain_text.h"
#include "common/window.h"
#include "proto/fleet.pb.h"
#include "server/admission/admit.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace swaplock;  // NOLINT(google-build-using-namespace)
  // It would say of each string that is no UTF-8 that it is none.
  static auto* const before = google::protobuf::SetLogHandler(nullptr);
  (void)before;
  v1::AgentMessage message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return 0;
  if (message.has_hello()) {
    const auto refusal = RefuseHost(message.hello().host_id());
    if (!refusal.has_value() && !IsPlainText(message.hello().host_id())) {
      std::abort();
    }
  }
  if (message.has_window()) {
    const absl::StatusOr<Window> window = FromProto(message.window());
    if (!window.ok()) {
      if (!IsPlainText(window.status().message())) std::abort();
      return 0;
    }
    const auto refusal = Refuse(*window, "a");
    // The sentence goes to the agent's log and into the quarantine's list.
    if (refusal.has_value() && !IsPlainText(refusal->sentence)) std::abort();
  }
  return 0;
}
