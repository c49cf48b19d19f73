// An operation of a subsystem: what one verdict is about.
#ifndef SWAPLOCK_SERVER_VERDICT_OPERATION_KEY_H_
#define SWAPLOCK_SERVER_VERDICT_OPERATION_KEY_H_

#include <utility>

#include "common/cell.h"

namespace swaplock {

using OperationKey = std::pair<Subsystem, Operation>;

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_OPERATION_KEY_H_
