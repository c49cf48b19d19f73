#include "cli/workload/workload_options.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace swaplock {
namespace {

constexpr int kMaxTasks = 1024;
constexpr int kMaxMib = 64 * 1024;
constexpr int kMaxBlockKib = 1024;
constexpr int kPageKib = 4;

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(what);
}

bool IsNumber(absl::string_view text) {
  return !text.empty() && text.size() <= 6 &&
         std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

// "zram12" for the prefix "zram".
bool IsNumbered(absl::string_view name, absl::string_view prefix) {
  return absl::ConsumePrefix(&name, prefix) && IsNumber(name);
}

absl::Status CheckCount(absl::string_view flag, int value, int least) {
  if (value == -1 || (value >= least && value <= kMaxTasks)) {
    return absl::OkStatus();
  }
  return Bad(absl::StrCat("--", flag, " is ", least, " to ", kMaxTasks,
                          ", not ", value));
}

absl::Status CheckBlock(absl::string_view flag, int kib) {
  if (kib % kPageKib == 0 && kib >= 0 && kib <= kMaxBlockKib) {
    return absl::OkStatus();
  }
  return Bad(absl::StrCat("--", flag, " is a multiple of ", kPageKib, " up to ",
                          kMaxBlockKib, ", not ", kib));
}

absl::Status CheckTime(absl::string_view flag, absl::Duration value,
                       absl::Duration least, absl::Duration most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return Bad(absl::StrCat("--", flag, " is ", absl::FormatDuration(least),
                          " to ", absl::FormatDuration(most), ", not ",
                          absl::FormatDuration(value)));
}

absl::Status CheckZram(const WorkloadOptions& options) {
  if (options.setup || !options.swap_device.empty()) {
    return Bad("--setup and --swap_device are for zswap-inversion");
  }
  if (!options.low.empty() && options.low != "read" && options.low != "write") {
    return Bad(
        absl::StrCat("--low is write or read, not \"", options.low, "\""));
  }
  if (!options.device.empty() && !IsNumbered(options.device, "zram")) {
    return Bad(absl::StrCat("--device is zramN, not \"", options.device, "\""));
  }
  if (!options.device.empty() && !options.codec.empty()) {
    return Bad("--codec is for a device of its own, not for --device");
  }
  absl::Status status = CheckBlock("block_kib", options.block_kib);
  status.Update(CheckBlock("low_block_kib", options.low_block_kib));
  return status;
}

absl::Status CheckZswap(const WorkloadOptions& options) {
  if (!options.low.empty() || options.block_kib != 0 ||
      options.low_block_kib != 0 || !options.device.empty()) {
    return Bad(
        "--low, --block_kib, --low_block_kib and --device are for "
        "zram-inversion");
  }
  if (!options.setup && !options.codec.empty()) {
    return Bad("--codec needs --setup: else zswap's is used as it is");
  }
  if (!options.setup && !options.swap_device.empty()) {
    return Bad("--swap_device needs --setup");
  }
  // It is overwritten, so nothing that may hold more than a test's data.
  if (!options.swap_device.empty() &&
      !IsNumbered(options.swap_device, "/dev/ram")) {
    return Bad(absl::StrCat("--swap_device is a RAM disk, /dev/ramN, not \"",
                            options.swap_device, "\""));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckGiven(const WorkloadOptions& options) {
  absl::Status status = CheckCount("workers", options.workers, 0);
  status.Update(CheckCount("hogs", options.hogs, 0));
  status.Update(CheckCount("readers", options.readers, 1));
  status.Update(CheckTime("duration", options.duration, absl::Milliseconds(100),
                          absl::Hours(1)));
  status.Update(CheckTime("pause", options.pause, absl::ZeroDuration(),
                          absl::Seconds(1)));
  // More would need more than the kernel lets real-time tasks have.
  status.Update(CheckTime("slow_holder", options.slow_holder,
                          absl::ZeroDuration(), absl::Milliseconds(500)));
  if (!status.ok()) return status;
  if (options.slow_holder > absl::ZeroDuration() && options.workers == 0) {
    return Bad("--slow_holder needs a worker");
  }
  if (!(options.ratio >= 1 && options.ratio <= 64)) {
    return Bad(absl::StrCat("--ratio is 1 to 64, not ", options.ratio));
  }
  if (options.mib < 0 || options.mib > kMaxMib) {
    return Bad(absl::StrCat("--mib is 1 to ", kMaxMib, ", not ", options.mib));
  }
  if (!std::all_of(options.codec.begin(), options.codec.end(), [](char c) {
        return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' ||
               c == '_';
      })) {
    return Bad("--codec is a name such as zstd, lz4 or lzo-rle");
  }
  return options.kind == WorkloadKind::kZramInversion ? CheckZram(options)
                                                      : CheckZswap(options);
}

void FillDefaults(int cpus, WorkloadOptions* options) {
  const bool zswap = options->kind == WorkloadKind::kZswapInversion;
  if (options->workers == -1) {
    options->workers = std::min(kMaxTasks, std::max(2 * cpus, zswap ? 4 : 2));
  }
  if (options->hogs == -1) options->hogs = std::min(kMaxTasks, cpus);
  if (options->readers == -1) options->readers = std::min(kMaxTasks, cpus);
  if (options->mib == 0) options->mib = 16;
  if (zswap) {
    if (options->swap_device.empty()) options->swap_device = "/dev/ram0";
    return;
  }
  if (options->low.empty()) options->low = "write";
  if (options->block_kib == 0) options->block_kib = kPageKib;
  if (options->low_block_kib == 0) options->low_block_kib = 256;
}

const char* Name(WorkloadKind kind) {
  return kind == WorkloadKind::kZswapInversion ? "zswap-inversion"
                                               : "zram-inversion";
}

}  // namespace swaplock
