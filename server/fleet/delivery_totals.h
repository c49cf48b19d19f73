// How all hosts together fare with bringing their windows, by what their
// windows say of it.
//
// In memory only, since start. Plain value, not thread-safe.
#ifndef SWAPLOCK_SERVER_FLEET_DELIVERY_TOTALS_H_
#define SWAPLOCK_SERVER_FLEET_DELIVERY_TOTALS_H_

#include <cstdint>
#include <map>
#include <string>

#include "common/window.h"

namespace swaplock {

class DeliveryTotals {
 public:
  // The window is merged; `newest` of its host.
  void Take(const Window& window, bool newest);

  // Events of Delivery, added up; `waiting`, `waiting_bytes` and
  // `only_in_memory` are sums of what each host said last.
  const Delivery& all() const { return all_; }

 private:
  struct Waiting {
    uint64_t windows = 0;
    uint64_t bytes = 0;
    uint64_t only_in_memory = 0;
  };

  Delivery all_;
  std::map<std::string, Waiting> waiting_;  // by host; those with any
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_FLEET_DELIVERY_TOTALS_H_
