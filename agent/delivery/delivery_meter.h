// What spool and uplink say of themselves, as it travels in a window.
//
// Not thread-safe.
#ifndef SWAPLOCK_AGENT_DELIVERY_DELIVERY_METER_H_
#define SWAPLOCK_AGENT_DELIVERY_DELIVERY_METER_H_

#include "agent/delivery/spool.h"
#include "agent/delivery/uplink.h"
#include "common/window.h"

namespace swaplock {

class DeliveryMeter {
 public:
  // What is there now, and what happened since the call before.
  Delivery Take(const Spool::Stats& spool, const Uplink::Stats& uplink) {
    Delivery out;
    out.waiting = spool.pending;
    out.waiting_bytes = spool.pending_bytes;
    out.only_in_memory = spool.only_in_memory;
    out.merged = spool.merged - spool_.merged;
    out.lost = spool.refused - spool_.refused;
    out.damaged = spool.damaged - spool_.damaged;
    out.disk_errors = spool.disk_errors - spool_.disk_errors;
    out.held = spool.held - spool_.held;
    out.streams = uplink.streams - uplink_.streams;
    out.postponed = uplink.postponed - uplink_.postponed;
    out.refused = uplink.refused - uplink_.refused;
    out.in_doubt = uplink.in_doubt - uplink_.in_doubt;
    spool_ = spool;
    uplink_ = uplink;
    return out;
  }

 private:
  Spool::Stats spool_;
  Uplink::Stats uplink_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_DELIVERY_DELIVERY_METER_H_
