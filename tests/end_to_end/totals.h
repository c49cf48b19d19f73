// What was measured, summed up, so that two accounts of it can be compared:
// what hosts sent, and what a server says it counted. Test code only.
#ifndef SWAPLOCK_TESTS_END_TO_END_TOTALS_H_
#define SWAPLOCK_TESTS_END_TO_END_TOTALS_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/cell.h"
#include "common/window.h"

namespace swaplock {

// What is in a set of windows, devices merged, as the server's cohorts are:
// number of windows, and serialized cells.
struct Totals {
  uint64_t windows = 0;
  std::map<CellKey, Cell> cells;

  void Add(const Window& window);
  void AddCell(Cell cell);
  // To compare and to print: the cells as a table, and a checksum over every
  // number, the buckets included.
  std::string CellsText() const;
  // And the number of windows, which is less when agents merged some.
  std::string Text() const;
};

// What the server at the other end says it counted.
absl::StatusOr<Totals> CountedBy(const std::shared_ptr<grpc::Channel>& server);

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_END_TO_END_TOTALS_H_
