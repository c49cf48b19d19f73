// A damaged spool: it opens, gives the windows that are whole, and takes new
// ones. An input that begins with 'p' is a list of changes to a good file,
// three bytes each (where, little-endian, and what); any other one is the file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "agent/delivery/spool.h"
#include "agent/delivery/spool_disk.h"
#include "common/testing.h"

namespace {

class MemoryDisk final : public swaplock::SpoolDisk {
 public:
  explicit MemoryDisk(std::string* bytes) : bytes_(bytes) {}
  uint64_t size() const override { return bytes_->size(); }
  absl::StatusOr<std::string> Read(uint64_t offset,
                                   size_t size) const override {
    std::string out;
    if (offset < bytes_->size()) out = bytes_->substr(offset, size);
    out.resize(size);
    return out;
  }
  absl::Status Write(uint64_t offset, absl::string_view bytes) override {
    if (offset + bytes.size() > bytes_->size()) std::abort();
    bytes_->replace(offset, bytes.size(), bytes.data(), bytes.size());
    return absl::OkStatus();
  }
  absl::Status Sync() override { return absl::OkStatus(); }

 private:
  std::string* const bytes_;
};

}  // namespace

namespace {

std::unique_ptr<swaplock::Spool> OpenOn(std::string* bytes) {
  swaplock::Spool::Options options;
  options.folder = "/nonexistent";
  options.open_disk =
      [bytes]() -> absl::StatusOr<std::unique_ptr<swaplock::SpoolDisk>> {
    return std::make_unique<MemoryDisk>(bytes);
  };
  auto spool = swaplock::Spool::Open(options);
  return spool.ok() ? *std::move(spool) : nullptr;
}

constexpr size_t kBytes = 32 << 10;

std::string GoodFile() {
  std::string bytes(kBytes, '\0');
  const auto spool = OpenOn(&bytes);
  for (uint64_t seq = 1; seq <= 4; ++seq) {
    if (!spool->Append(swaplock::MakeWindow("a", seq)).ok()) std::abort();
  }
  spool->Acknowledge(*spool->Oldest());
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string* const good = new std::string(GoodFile());
  std::string bytes = *good;
  if (size > 0 && data[0] == 'p') {
    for (size_t i = 1; i + 2 < size; i += 3) {
      const size_t where = data[i] | static_cast<size_t>(data[i + 1]) << 8;
      bytes[where % bytes.size()] = static_cast<char>(data[i + 2]);
    }
  } else {
    bytes.assign(reinterpret_cast<const char*>(data), size);
    bytes.resize(std::max(bytes.size() & ~size_t{15}, kBytes));
  }
  const auto spool = OpenOn(&bytes);
  if (spool == nullptr) return 0;
  spool->Append(swaplock::MakeWindow("fuzz", 1)).IgnoreError();
  for (int i = 0; i < 1'000 && !spool->Empty(); ++i) {
    const std::optional<swaplock::WindowKey> oldest = spool->Oldest();
    if (!oldest.has_value()) break;
    spool->NextToSend(oldest->host_id, 1).status().IgnoreError();
    spool->Acknowledge(*oldest);
  }
  if (!spool->Empty()) std::abort();
  return 0;
}
