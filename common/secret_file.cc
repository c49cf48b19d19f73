#include "common/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace swaplock {
namespace {

constexpr size_t kMaxBytes = 1 << 20;

absl::Status Failed(absl::string_view tried, const std::string& path) {
  const int error = errno;
  const std::string text =
      absl::StrCat(tried, " ", path, ": ", std::strerror(error));
  return error == ENOENT ? absl::NotFoundError(text)
                         : absl::FailedPreconditionError(text);
}

struct Descriptor {
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
  int fd;
};

absl::StatusOr<std::string> Read(const std::string& path, mode_t forbidden) {
  // Not blocking, should it be a pipe.
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat entry = {};
  if (file.fd < 0 || fstat(file.fd, &entry) != 0) return Failed("read", path);
  if (!S_ISREG(entry.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat("read ", path, ": it is not a regular file"));
  }
  if ((entry.st_mode & forbidden) != 0) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s is open to others (mode %04o): chmod 0600 it", path,
                        static_cast<unsigned>(entry.st_mode & 07777)));
  }
  std::string out;
  char buffer[4096];
  ssize_t got = 0;
  while ((got = read(file.fd, buffer, sizeof(buffer))) > 0) {
    out.append(buffer, static_cast<size_t>(got));
    if (out.size() > kMaxBytes) {
      return absl::FailedPreconditionError(
          absl::StrCat("read ", path, ": it is larger than 1 MiB"));
    }
  }
  if (got < 0) return Failed("read", path);
  return out;
}

}  // namespace

absl::StatusOr<std::string> ReadSmallFile(const std::string& path) {
  return Read(path, 0);
}

absl::StatusOr<std::string> ReadSecretFile(const std::string& path) {
  return Read(path, S_IWGRP | S_IXGRP | S_IRWXO);
}

absl::Status ReplaceFile(const std::string& path, absl::string_view content,
                         mode_t mode) {
  const std::string temporary = absl::StrCat(path, ".new");
  if (unlink(temporary.c_str()) != 0 && errno != ENOENT) {
    return Failed("remove", temporary);
  }
  const Descriptor file{
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)};
  // The umask may have taken bits away.
  if (file.fd < 0 || fchmod(file.fd, mode) != 0) {
    return Failed("create", temporary);
  }
  while (!content.empty()) {
    const ssize_t wrote = write(file.fd, content.data(), content.size());
    if (wrote < 0) return Failed("write", temporary);
    content.remove_prefix(static_cast<size_t>(wrote));
  }
  if (fsync(file.fd) != 0) return Failed("write", temporary);
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    return Failed("replace", path);
  }
  return absl::OkStatus();
}

FileStamp FileStamp::Of(const std::string& path) {
  struct stat entry = {};
  if (stat(path.c_str(), &entry) != 0) return {};
  const auto ns = [](const timespec& t) {
    return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
  };
  return {entry.st_dev, entry.st_ino, entry.st_size,
          std::max(ns(entry.st_mtim), ns(entry.st_ctim))};
}

bool FileStamp::operator==(const FileStamp& other) const {
  return std::tie(device, inode, size, changed_ns) ==
         std::tie(other.device, other.inode, other.size, other.changed_ns);
}

}  // namespace swaplock
