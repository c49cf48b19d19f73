#include "agent/delivery/spool_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/delivery/spool_file.h"
#include "common/durable_file.h"
#include "common/log.h"

namespace swaplock {
namespace {

class FolderDisk final : public SpoolDisk {
 public:
  FolderDisk(DurableFile lock, DurableFile file, uint64_t size)
      : lock_(std::move(lock)), file_(std::move(file)), size_(size) {}

  uint64_t size() const override { return size_; }

  absl::StatusOr<std::string> Read(uint64_t offset,
                                   size_t size) const override {
    absl::StatusOr<std::string> bytes = file_.ReadAt(offset, size);
    if (bytes.ok()) bytes->resize(size);
    return bytes;
  }

  absl::Status Write(uint64_t offset, absl::string_view bytes) override {
    return file_.WriteAt(offset, bytes);
  }

  absl::Status Sync() override { return file_.Sync(); }

 private:
  const DurableFile lock_;
  DurableFile file_;
  const uint64_t size_;
};

// FailedPrecondition is left to the lock.
absl::Status OfDisk(const absl::Status& status) {
  if (!absl::IsFailedPrecondition(status)) return status;
  return absl::UnavailableError(status.message());
}

// Under another name until it is whole: a file called "spool" has its bytes.
absl::StatusOr<DurableFile> Make(const std::string& path, uint64_t size) {
  const std::string unfinished = absl::StrCat(path, ".new");
  absl::StatusOr<DurableFile> file = DurableFile::OpenToWrite(unfinished);
  if (!file.ok()) return file.status();
  absl::Status status = file->Truncate(0);
  if (status.ok()) status = file->Allocate(size);
  if (status.ok()) status = file->Sync();
  if (status.ok()) status = file->RenameTo(path);
  if (!status.ok()) {
    unlink(unfinished.c_str());  // gives the space back
    return status;
  }
  return file;
}

absl::StatusOr<std::unique_ptr<SpoolDisk>> OpenFile(const std::string& folder,
                                                    DurableFile lock,
                                                    uint64_t size) {
  const std::string path = absl::StrCat(folder, "/spool");
  if (access(path.c_str(), F_OK) == 0) {
    absl::StatusOr<DurableFile> file = DurableFile::OpenToWrite(path);
    if (!file.ok()) return file.status();
    absl::StatusOr<uint64_t> present = file->Size();
    if (!present.ok()) return present.status();
    absl::StatusOr<std::string> head = file->ReadAt(0, SpoolFile::kHeadBytes);
    if (!head.ok()) return head.status();
    if (SpoolFile::MayBeSpool(*head)) {
      return std::make_unique<FolderDisk>(std::move(lock), *std::move(file),
                                          std::max(*present, size));
    }
    Log(LogLevel::kWarning,
        absl::StrCat("spool: ", path, " is no spool of this version: moved to ",
                     path, ".damaged"));
    if (absl::Status s = file->RenameTo(absl::StrCat(path, ".damaged"));
        !s.ok()) {
      return s;
    }
  }
  absl::StatusOr<DurableFile> file = Make(path, size);
  if (!file.ok()) return file.status();
  return std::make_unique<FolderDisk>(std::move(lock), *std::move(file), size);
}

}  // namespace

absl::StatusOr<std::unique_ptr<SpoolDisk>> OpenSpoolFolder(
    const std::string& folder, uint64_t size) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return OfDisk(
        absl::ErrnoToStatus(errno, absl::StrCat("make folder ", folder)));
  }
  // A file of its own, because the other one may be moved aside.
  absl::StatusOr<DurableFile> lock =
      DurableFile::OpenToWrite(absl::StrCat(folder, "/lock"));
  if (!lock.ok()) return OfDisk(lock.status());
  if (absl::Status s = lock->LockForThisProcess(); !s.ok()) return s;
  absl::StatusOr<std::unique_ptr<SpoolDisk>> disk =
      OpenFile(folder, *std::move(lock), size);
  if (!disk.ok()) return OfDisk(disk.status());
  return disk;
}

}  // namespace swaplock
