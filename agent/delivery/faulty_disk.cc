#include "agent/delivery/faulty_disk.h"

#include <algorithm>

namespace swaplock {

class FaultyDisk final : public SpoolDisk {
 public:
  explicit FaultyDisk(Platter* platter) : platter_(platter) {}

  uint64_t size() const override { return platter_->cached.size(); }

  absl::StatusOr<std::string> Read(uint64_t offset,
                                   size_t size) const override {
    if (absl::Status s = Fault(DiskCall::kRead); !s.ok()) return s;
    std::string bytes =
        offset < platter_->cached.size()
            ? platter_->cached.substr(static_cast<size_t>(offset), size)
            : "";
    bytes.resize(size);
    return bytes;
  }

  absl::Status Write(uint64_t offset, absl::string_view bytes) override {
    absl::Status fault = Fault(DiskCall::kWrite);
    if (!fault.ok()) bytes = bytes.substr(0, platter_->torn);
    if (offset + bytes.size() > platter_->cached.size()) {
      return absl::ResourceExhaustedError("beyond the end of the disk");
    }
    const auto at = static_cast<size_t>(offset);
    platter_->unsynced_.push_back({at, std::string(bytes)});
    platter_->cached.replace(at, bytes.size(),
                             platter_->unsynced_.back().bytes);
    return fault;
  }

  absl::Status Sync() override {
    absl::Status fault = Fault(DiskCall::kSync);
    for (const Platter::Unsynced& write : platter_->unsynced_) {
      if (!fault.ok()) break;
      platter_->durable.replace(write.offset, write.bytes.size(), write.bytes);
    }
    if (fault.ok() || platter_->failed_sync_drops) platter_->unsynced_.clear();
    return fault;
  }

 private:
  absl::Status Fault(DiskCall call) const {
    const uint64_t number = platter_->calls++;
    return platter_->fault ? platter_->fault(call, number) : absl::OkStatus();
  }

  Platter* const platter_;
};

void Platter::LosePower(std::mt19937_64* random, size_t piece) {
  for (const Unsynced& write : unsynced_) {
    for (size_t at = 0; at < write.bytes.size(); at += piece) {
      if ((*random)() % 2 == 0) continue;
      const size_t size = std::min(piece, write.bytes.size() - at);
      durable.replace(static_cast<size_t>(write.offset) + at, size, write.bytes,
                      at, size);
    }
  }
  unsynced_.clear();
  cached = durable;
}

OpenSpoolDisk Platter::Opener() {
  return [this]() -> absl::StatusOr<std::unique_ptr<SpoolDisk>> {
    return std::make_unique<FaultyDisk>(this);
  };
}

}  // namespace swaplock
