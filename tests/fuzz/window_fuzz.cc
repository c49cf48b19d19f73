// A window's way from bytes into the fleet: what parses is the same after
// writing and reading it once more, and what is admitted can be merged, shown
// and asked for.
#include <google/protobuf/stubs/logging.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/string_view.h"
#include "common/window.h"
#include "common/window_table.h"
#include "server/admission/admit.h"
#include "server/admission/cardinality.h"
#include "server/fleet/fleet_state.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace swaplock;  // NOLINT(google-build-using-namespace)
  // It would say of each string that is no UTF-8 that it is none.
  static auto* const before = google::protobuf::SetLogHandler(nullptr);
  (void)before;
  const absl::StatusOr<Window> window =
      ParseWindow({reinterpret_cast<const char*>(data), size});
  if (!window.ok()) return 0;
  const std::string bytes = Serialize(*window);
  const absl::StatusOr<Window> again = ParseWindow(bytes);
  if (!again.ok() || Serialize(*again) != bytes) std::abort();
  if (Refuse(*window, window->key.host_id).has_value()) return 0;

  const absl::Time now = absl::FromUnixSeconds(1'768'478'400);
  Window fitted = *window;
  Cardinality cardinality({}, {});
  cardinality.Fit(&fitted, now);
  FleetState state;
  Merge(fitted, Outcome(), now, &state);
  if (state.windows_merged != 1) std::abort();
  if (WindowText(fitted).empty()) std::abort();
  return 0;
}
