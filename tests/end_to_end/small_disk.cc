#include "tests/end_to_end/small_disk.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace swaplock {

bool CanMountSmallDisks() {
  return unshare(CLONE_NEWNS) == 0 &&
         mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

SmallDisk::SmallDisk(const std::string& folder, uint64_t bytes)
    : ballast_(absl::StrCat(folder, "/ballast")) {
  mkdir(folder.c_str(), 0700);
  if (mount("none", folder.c_str(), "tmpfs", 0,
            absl::StrCat("size=", bytes, ",mode=0700").c_str()) != 0) {
    std::perror("mount a small disk");
    std::abort();
  }
}

void SmallDisk::Fill() const {
  const int fd =
      open(ballast_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  for (const size_t piece : {size_t{1} << 20, size_t{4096}}) {
    const std::string bytes(piece, 'x');
    while (write(fd, bytes.data(), bytes.size()) ==
           static_cast<ssize_t>(bytes.size())) {
    }
  }
  close(fd);
}

void SmallDisk::Clear() const { unlink(ballast_.c_str()); }

}  // namespace swaplock
