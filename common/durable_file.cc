#include "common/durable_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

absl::Status Errno(absl::string_view what, absl::string_view path) {
  return absl::ErrnoToStatus(errno, absl::StrCat(what, " ", path));
}

// Makes a new name in the folder as durable as the bytes behind it.
absl::Status SyncFolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "."
                             : slash == 0               ? "/"
                                                        : path.substr(0, slash);
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Errno("open folder", folder);
  absl::Status status =
      fsync(fd) == 0 ? absl::OkStatus() : Errno("sync folder", folder);
  close(fd);
  return status;
}

}  // namespace

absl::StatusOr<DurableFile> DurableFile::OpenToRead(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Errno("open", path);
  return DurableFile(fd, path);
}

absl::StatusOr<DurableFile> DurableFile::OpenToWrite(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return Errno("open to write", path);
  DurableFile file(fd, path);
  if (absl::Status s = SyncFolderOf(path); !s.ok()) return s;
  return file;
}

DurableFile& DurableFile::operator=(DurableFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  return *this;
}

DurableFile::~DurableFile() {
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<std::string> DurableFile::ReadAt(uint64_t offset,
                                                size_t size) const {
  std::string bytes(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t got = pread(fd_, bytes.data() + done, size - done,
                              static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Errno("read", path_);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

absl::StatusOr<bool> DurableFile::OnlyZerosFrom(uint64_t offset) const {
  while (true) {
    absl::StatusOr<std::string> bytes = ReadAt(offset, 1 << 16);
    if (!bytes.ok()) return bytes.status();
    if (bytes->empty()) return true;
    if (bytes->find_first_not_of('\0') != std::string::npos) return false;
    offset += bytes->size();
  }
}

absl::StatusOr<uint64_t> DurableFile::Size() const {
  struct stat status;
  if (fstat(fd_, &status) != 0) return Errno("stat", path_);
  return static_cast<uint64_t>(status.st_size);
}

absl::Status DurableFile::WriteAt(uint64_t offset, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put =
        pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return Errno("write", path_);
    bytes.remove_prefix(static_cast<size_t>(put));
    offset += static_cast<uint64_t>(put);
  }
  return absl::OkStatus();
}

absl::Status DurableFile::Truncate(uint64_t size) {
  if (ftruncate(fd_, static_cast<off_t>(size)) != 0) {
    return Errno("truncate", path_);
  }
  return absl::OkStatus();
}

absl::Status DurableFile::Allocate(uint64_t size) {
  int error = EINTR;
  while (error == EINTR) {
    error = posix_fallocate(fd_, 0, static_cast<off_t>(size));
  }
  if (error == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(
      error, absl::StrCat("allocate ", size, " bytes of ", path_));
}

absl::Status DurableFile::Sync() {
  return fdatasync(fd_) == 0 ? absl::OkStatus() : Errno("sync", path_);
}

absl::Status DurableFile::LockForThisProcess() {
  if (flock(fd_, LOCK_EX | LOCK_NB) == 0) return absl::OkStatus();
  if (errno != EWOULDBLOCK) return Errno("lock", path_);
  return absl::FailedPreconditionError(
      absl::StrCat("lock ", path_, ": another process has it"));
}

absl::Status DurableFile::RenameTo(const std::string& path) {
  if (rename(path_.c_str(), path.c_str()) != 0) {
    return Errno(absl::StrCat("rename ", path_, " to"), path);
  }
  path_ = path;
  return SyncFolderOf(path);
}

std::string EncodeFixed32(uint32_t value) {
  std::string bytes(4, '\0');
  for (size_t i = 0; i < 4; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  return bytes;
}

std::string EncodeFixed64(uint64_t value) {
  return EncodeFixed32(static_cast<uint32_t>(value)) +
         EncodeFixed32(static_cast<uint32_t>(value >> 32));
}

uint32_t DecodeFixed32(absl::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 4; i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  }
  return value;
}

uint64_t DecodeFixed64(absl::string_view bytes) {
  return DecodeFixed32(bytes) | uint64_t{DecodeFixed32(bytes.substr(4))} << 32;
}

uint32_t Crc32c(absl::string_view bytes) {
  static const std::array<uint32_t, 256> kTable = [] {
    std::array<uint32_t, 256> table = {};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) {
        crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
      }
      table[i] = crc;
    }
    return table;
  }();
  uint32_t crc = ~uint32_t{0};
  for (const char c : bytes) {
    crc = crc >> 8 ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  }
  return ~crc;
}

}  // namespace swaplock
