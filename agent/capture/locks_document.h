// docs/LOCKS.md: what the lock catalogue says of every recorded kernel, as
// text. Generated, so that it cannot say something else than the code does:
//   bazel run //agent/capture:locks_document -- $PWD/agent/capture/testdata >
//   docs/LOCKS.md
#ifndef SWAPLOCK_AGENT_CAPTURE_LOCKS_DOCUMENT_H_
#define SWAPLOCK_AGENT_CAPTURE_LOCKS_DOCUMENT_H_

#include <string>
#include <utility>
#include <vector>

#include "agent/capture/kernel_symbols.h"

namespace swaplock {

// The kernels whose lists are in testdata, oldest first: what a reader calls
// them, and the list's name.
const std::vector<std::pair<const char*, const char*>>& RecordedKernels();

// `kernels` by what a reader calls them.
std::string LocksDocument(
    const std::vector<std::pair<std::string, KernelSymbols>>& kernels);

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_CAPTURE_LOCKS_DOCUMENT_H_
