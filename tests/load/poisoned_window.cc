#include "tests/load/poisoned_window.h"

namespace swaplock {

void Poison(uint64_t kind, v1::Window* window) {
  v1::Cell* cell = window->mutable_cells(0);
  switch (kind % 5) {
    case 0:  // more holds than time allows
      cell->set_acquisitions(1'000'000'000'000);
      return;
    case 1:  // not the sum of its buckets
      cell->mutable_hold()->set_count(cell->hold().count() + 1);
      return;
    case 2:  // another host's
      window->set_host_id("load-000000-not");
      return;
    case 3:
      window->mutable_environment()->set_kernel_release("6.1\"} 1\n");
      return;
    default:
      cell->mutable_hold()->set_bucket_index_delta(0, 4'000'000'000);
      return;
  }
}

}  // namespace swaplock
