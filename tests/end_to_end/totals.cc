#include "tests/end_to_end/totals.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "common/durable_file.h"
#include "common/window_table.h"
#include "proto/query.grpc.pb.h"

namespace swaplock {

void Totals::Add(const Window& window) {
  ++windows;
  for (const Cell& cell : window.cells) AddCell(cell);
}

void Totals::AddCell(Cell cell) {
  cell.key.device.clear();
  const auto [found, added] = cells.emplace(cell.key, cell);
  if (!added) found->second.Merge(cell);
}

std::string Totals::CellsText() const {
  std::vector<Cell> all;
  std::string bytes;
  for (const auto& [key, cell] : cells) {
    all.push_back(cell);
    absl::StrAppend(&bytes, ToProto(cell).SerializeAsString());
  }
  return absl::StrCat(CellTable(all), OperationTable(all),
                      "checksum: ", Crc32c(bytes), "\n");
}

std::string Totals::Text() const {
  return absl::StrCat("windows: ", windows, "\n", CellsText());
}

absl::StatusOr<Totals> CountedBy(const std::shared_ptr<grpc::Channel>& server) {
  const std::unique_ptr<v1::Query::Stub> stub = v1::Query::NewStub(server);
  grpc::ClientContext context;
  v1::Fleet fleet;
  const grpc::Status status = stub->GetFleet(&context, {}, &fleet);
  if (!status.ok()) {
    return absl::UnavailableError(
        absl::StrCat("get the fleet: ", status.error_message()));
  }
  Totals totals;
  for (const v1::Cohort& cohort : fleet.cohorts()) {
    totals.windows += cohort.windows();
    for (const v1::Cell& message : cohort.cells()) {
      absl::StatusOr<Cell> cell = FromProto(message);
      if (!cell.ok()) return cell.status();
      totals.AddCell(*std::move(cell));
    }
  }
  return totals;
}

}  // namespace swaplock
