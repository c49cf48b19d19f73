// What a host that means harm puts into its windows.
#ifndef SWAPLOCK_TESTS_LOAD_POISONED_WINDOW_H_
#define SWAPLOCK_TESTS_LOAD_POISONED_WINDOW_H_

#include <cstdint>

#include "proto/window.pb.h"

namespace swaplock {

// Changes a good window with cells into one that no server may take; each
// `kind` in another way, of which there are five.
void Poison(uint64_t kind, v1::Window* window);

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_POISONED_WINDOW_H_
