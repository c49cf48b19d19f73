#include "cli/workload/workload_setup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace swaplock {
namespace {

constexpr char kZramControl[] = "/sys/class/zram-control";
constexpr size_t kMaxSettingBytes = 1 << 16;

absl::Status Missing(absl::string_view what) {
  return absl::UnavailableError(what);
}

// "write /sys/...: Invalid argument"
absl::Status SystemError(absl::string_view action, absl::string_view path,
                         int error) {
  return Missing(
      absl::StrCat("cannot ", action, " ", path, ": ", std::strerror(error)));
}

absl::Status WriteSetting(const std::string& path, absl::string_view value) {
  OwnedFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_TRUNC));
  if (!fd.ok()) return SystemError("open", path, errno);
  // One write: the kernel takes each as a whole value.
  if (write(fd.get(), value.data(), value.size()) !=
      static_cast<ssize_t>(value.size())) {
    return SystemError(absl::StrCat("write \"", value, "\" to"), path, errno);
  }
  return absl::OkStatus();
}

// Tries again for a while: udev opens what is new or changed for a moment.
absl::Status Insist(absl::Duration limit,
                    const std::function<absl::Status()>& action) {
  const absl::Time end = absl::Now() + limit;
  while (true) {
    absl::Status status = action();
    if (status.ok() || absl::Now() >= end) return status;
    absl::SleepFor(absl::Milliseconds(50));
  }
}

absl::Status RemoveZram(const std::string& index) {
  const std::string disk = absl::StrCat("/sys/block/zram", index);
  absl::Status status = Insist(absl::Seconds(20), [&] {
    absl::Status reset = WriteSetting(absl::StrCat(disk, "/reset"), "1");
    if (!reset.ok()) return reset;
    return WriteSetting(absl::StrCat(kZramControl, "/hot_remove"), index);
  });
  if (status.ok()) return status;
  return Missing(absl::StrCat(
      "cannot remove /dev/zram", index, " (", status.message(), "); echo 1 >",
      disk, "/reset; echo ", index, " >", kZramControl, "/hot_remove"));
}

absl::Status SetUpZram(const std::string& name,
                       const WorkloadOptions& options) {
  const std::string disk = absl::StrCat("/sys/block/", name);
  const std::string codecs = absl::StrCat(disk, "/comp_algorithm");
  if (!options.codec.empty() && !WriteSetting(codecs, options.codec).ok()) {
    const absl::StatusOr<std::string> known = ReadSetting(codecs);
    return Missing(absl::StrCat("zram here has no codec ", options.codec,
                                known.ok() ? ", only " : "",
                                known.ok() ? *known : ""));
  }
  return WriteSetting(absl::StrCat(disk, "/disksize"),
                      absl::StrCat(options.mib, "M"));
}

// Alone: fails if it is mounted, swap, or held by someone else like this.
absl::StatusOr<int> OpenAlone(const std::string& path) {
  int fd = -1;
  absl::Status status = Insist(absl::Seconds(3), [&] {
    fd = open(path.c_str(), O_RDWR | O_EXCL | O_CLOEXEC);
    // Right after it was made its node may not be there yet.
    return fd >= 0 ? absl::OkStatus() : SystemError("open", path, errno);
  });
  if (!status.ok()) return status;
  return fd;
}

absl::Status MakeSwap(const std::string& path, int fd, size_t page_bytes) {
  uint64_t bytes = 0;
  if (ioctl(fd, BLKGETSIZE64, &bytes) != 0) {
    return SystemError("size", path, errno);
  }
  if (bytes < 16 * page_bytes) {
    return Missing(absl::StrCat(path, " is too small for swap"));
  }
  // union swap_header, include/linux/swap.h.
  std::string page(page_bytes, '\0');
  if (pread(fd, page.data(), page_bytes, 0) !=
      static_cast<ssize_t>(page_bytes)) {
    return SystemError("read", path, errno);
  }
  constexpr absl::string_view kMagic = "SWAPSPACE2";
  const size_t magic_at = page_bytes - kMagic.size();
  const bool blank = page.find_first_not_of('\0') == std::string::npos;
  if (!blank && page.compare(magic_at, kMagic.size(), kMagic.data(),
                             kMagic.size()) != 0) {
    return Missing(absl::StrCat(
        path,
        " holds something that is not swap: clear it or name another by "
        "--swap_device"));
  }
  std::fill(page.begin(), page.end(), '\0');
  const uint32_t version_and_last[] = {
      1, static_cast<uint32_t>(bytes / page_bytes - 1)};
  std::memcpy(&page[1024], version_and_last, sizeof(version_and_last));
  std::memcpy(&page[magic_at], kMagic.data(), kMagic.size());
  if (pwrite(fd, page.data(), page_bytes, 0) !=
          static_cast<ssize_t>(page_bytes) ||
      fsync(fd) != 0) {
    return SystemError("write", path, errno);
  }
  return absl::OkStatus();
}

absl::Status SwitchSwapOn(const std::string& path, size_t page_bytes,
                          Undo* undo) {
  if (access(path.c_str(), F_OK) != 0) {
    return Missing(absl::StrCat("there is no ", path,
                                ": modprobe brd rd_nr=1 rd_size=1048576"));
  }
  absl::StatusOr<int> opened = OpenAlone(path);
  if (!opened.ok()) return opened.status();
  OwnedFd fd(*opened);
  absl::Status status = MakeSwap(path, fd.get(), page_bytes);
  if (!status.ok()) return status;
  // The swap's own hold on it takes over.
  fd.Close();
  // Ahead of every other swap.
  if (swapon(path.c_str(), SWAP_FLAG_PREFER | SWAP_FLAG_PRIO_MASK) != 0) {
    return SystemError("swapon", path, errno);
  }
  undo->Add([path] {
    if (swapoff(path.c_str()) == 0) return absl::OkStatus();
    return SystemError("swapoff", path, errno);
  });
  return absl::OkStatus();
}

absl::Status SetUpZswap(const WorkloadOptions& options, Undo* undo,
                        const std::string& root) {
  if (geteuid() != 0) return Missing("--setup needs root");
  const std::string zswap = absl::StrCat(root, "/sys/module/zswap/parameters/");
  if (access(zswap.c_str(), F_OK) != 0) {
    return Missing("this kernel has no zswap (CONFIG_ZSWAP)");
  }
  const std::string compressor = absl::StrCat(zswap, "compressor");
  if (!options.codec.empty() &&
      !ChangeSetting(compressor, options.codec, undo).ok()) {
    return Missing(absl::StrCat("zswap here has no codec ", options.codec));
  }
  // Up to 6.17 there is a choice of allocators; later kernels always use this.
  const std::string zpool = absl::StrCat(zswap, "zpool");
  if (access(zpool.c_str(), F_OK) == 0) {
    absl::Status status = ChangeSetting(zpool, "zsmalloc", undo);
    if (!status.ok()) return status;
  }
  absl::Status status =
      ChangeSetting(absl::StrCat(zswap, "max_pool_percent"), "50", undo);
  const std::string shrinker = absl::StrCat(zswap, "shrinker_enabled");
  if (status.ok() && access(shrinker.c_str(), F_OK) == 0) {
    status = ChangeSetting(shrinker, "N", undo);
  }
  if (status.ok()) {
    status = ChangeSetting(absl::StrCat(root, "/proc/sys/vm/page-cluster"), "0",
                           undo);
  }
  if (status.ok()) {
    status = ChangeSetting(absl::StrCat(zswap, "enabled"), "Y", undo);
  }
  if (!status.ok()) return status;
  // Before it is enabled the first time, older zswap refuses nothing.
  const absl::StatusOr<std::string> now = ReadSetting(compressor);
  if (!options.codec.empty() && (!now.ok() || *now != options.codec)) {
    return Missing(absl::StrCat("zswap here has no codec ", options.codec));
  }
  return SwitchSwapOn(absl::StrCat(root, options.swap_device),
                      static_cast<size_t>(sysconf(_SC_PAGESIZE)), undo);
}

absl::Status CheckZswap(const WorkloadOptions& options,
                        const std::string& root) {
  const auto read = [&root](absl::string_view path) {
    const absl::StatusOr<std::string> text =
        ReadSetting(absl::StrCat(root, path));
    return text.ok() ? *text : "";
  };
  const std::string enabled = read("/sys/module/zswap/parameters/enabled");
  if (enabled.empty())
    return Missing("this kernel has no zswap (CONFIG_ZSWAP)");
  if (enabled != "Y" && enabled != "1") {
    return Missing(
        "zswap is off: echo Y >/sys/module/zswap/parameters/enabled, or give "
        "--setup");
  }
  // The first line is a title.
  if (!absl::StrContains(read("/proc/swaps"), '\n')) {
    return Missing("no swap is on: swapon a device, or give --setup");
  }
  const std::string cluster = read("/proc/sys/vm/page-cluster");
  if (cluster != "0") {
    return Missing(
        absl::StrCat("vm.page-cluster is ", cluster,
                     ", so that more than what is read is read ahead: sysctl "
                     "vm.page-cluster=0, or give --setup"));
  }
  const uint64_t needed_kib =
      static_cast<uint64_t>(options.workers + options.readers) *
      static_cast<uint64_t>(options.mib) * 1024;
  const std::string memory = read("/proc/meminfo");
  for (const absl::string_view name : {"SwapFree", "MemAvailable"}) {
    const uint64_t kib = Figure(memory, absl::StrCat(name, ":"));
    if (kib >= needed_kib) continue;
    return Missing(absl::StrCat("the buffers need ", needed_kib / 1024,
                                " MiB and ", name, " is ", kib / 1024,
                                " MiB: give fewer tasks or a smaller --mib"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Undo::Run() {
  absl::Status first;
  while (!steps_.empty()) {
    const std::function<absl::Status()> step = std::move(steps_.back());
    steps_.pop_back();
    first.Update(step());
  }
  return first;
}

OwnedFd::~OwnedFd() { Close(); }

void OwnedFd::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

absl::StatusOr<std::string> ReadSetting(const std::string& path) {
  OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.ok()) {
    if (errno == ENOENT) {
      return absl::NotFoundError(absl::StrCat("there is no ", path));
    }
    return SystemError("open", path, errno);
  }
  std::string text;
  char part[4096];
  ssize_t got = 0;
  while (text.size() < kMaxSettingBytes &&
         (got = read(fd.get(), part, sizeof(part))) > 0) {
    text.append(part, static_cast<size_t>(got));
  }
  if (got < 0) return SystemError("read", path, errno);
  return std::string(absl::StripTrailingAsciiWhitespace(text));
}

absl::Status ChangeSetting(const std::string& path, absl::string_view value,
                           Undo* undo) {
  const absl::StatusOr<std::string> before = ReadSetting(path);
  if (!before.ok()) return before.status();
  if (*before == value) return absl::OkStatus();
  absl::Status status = WriteSetting(path, value);
  if (!status.ok()) return status;
  undo->Add([path, old = *before] { return WriteSetting(path, old); });
  return absl::OkStatus();
}

std::string Chosen(absl::string_view choices) {
  const size_t open = choices.find('[');
  const size_t close = choices.find(']', open);
  if (open == absl::string_view::npos || close == absl::string_view::npos) {
    return std::string(choices);
  }
  return std::string(choices.substr(open + 1, close - open - 1));
}

absl::StatusOr<ZramForRun> PrepareZram(const WorkloadOptions& options,
                                       Undo* undo) {
  ZramForRun out;
  out.name = options.device;
  if (options.device.empty()) {
    if (geteuid() != 0) {
      return Missing("a zram device of its own needs root");
    }
    if (access(kZramControl, F_OK) != 0) {
      return Missing("there is no zram: modprobe zram");
    }
    const absl::StatusOr<std::string> index =
        ReadSetting(absl::StrCat(kZramControl, "/hot_add"));
    if (!index.ok()) return index.status();
    undo->Add([index = *index] { return RemoveZram(index); });
    out.name = absl::StrCat("zram", *index);
    absl::Status status = SetUpZram(out.name, options);
    if (!status.ok()) return status;
  }
  const std::string disk = absl::StrCat("/sys/block/", out.name);
  const absl::StatusOr<std::string> size =
      ReadSetting(absl::StrCat(disk, "/disksize"));
  if (!size.ok()) return Missing(absl::StrCat("there is no ", out.name));
  uint64_t bytes = 0;
  if (!absl::SimpleAtoi(*size, &bytes) || bytes == 0) {
    return Missing(absl::StrCat(out.name, " is not set up: echo 64M >", disk,
                                "/disksize"));
  }
  out.bytes = std::min(bytes, static_cast<uint64_t>(options.mib) << 20);
  const int largest_kib = std::max(options.block_kib, options.low_block_kib);
  if (out.bytes < static_cast<uint64_t>(largest_kib) * 1024) {
    return Missing(absl::StrCat(out.name, " is smaller than a block of ",
                                largest_kib, " KiB"));
  }
  const absl::StatusOr<std::string> codecs =
      ReadSetting(absl::StrCat(disk, "/comp_algorithm"));
  if (codecs.ok()) out.codec = Chosen(*codecs);

  const absl::StatusOr<int> fd = OpenAlone(absl::StrCat("/dev/", out.name));
  if (!fd.ok()) return fd.status();
  undo->Add([fd = *fd] {
    close(fd);
    return absl::OkStatus();
  });
  return out;
}

absl::StatusOr<ZswapForRun> PrepareZswap(const WorkloadOptions& options,
                                         Undo* undo, const std::string& root) {
  absl::Status status;
  if (options.setup) status = SetUpZswap(options, undo, root);
  if (status.ok()) status = CheckZswap(options, root);
  if (!status.ok()) return status;
  ZswapForRun out;
  const absl::StatusOr<std::string> codec = ReadSetting(
      absl::StrCat(root, "/sys/module/zswap/parameters/compressor"));
  if (codec.ok()) out.codec = *codec;
  return out;
}

uint64_t Figure(absl::string_view text, absl::string_view name) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    uint64_t value = 0;
    if (words.size() >= 2 && words[0] == name &&
        absl::SimpleAtoi(words[1], &value)) {
      return value;
    }
  }
  return 0;
}

}  // namespace swaplock
