// Windows recorded on real kernels in the lab (record_lab_windows.sh), kept in
// the program.
#ifndef SWAPLOCK_SERVER_REPLAY_RECORDINGS_H_
#define SWAPLOCK_SERVER_REPLAY_RECORDINGS_H_

#include "absl/strings/string_view.h"

namespace swaplock {

// The bytes of a file of recordings/, "6.18-lazy.slk"; empty for any other
// name.
absl::string_view EmbeddedRecording(absl::string_view name);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_REPLAY_RECORDINGS_H_
